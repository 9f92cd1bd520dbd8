#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace report' says what other programs say of the same runs, or of the same program: uftrace of functions, ltrace of
# calls of libc, time of how long a process took and how it ended, make of what a build ran. Of strace:
# report-syscalls.sh; of the heap: report-agrees-heap.sh. What is not installed is left out.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# --- uftrace: functions ----------------------------------------------------------------------------

cat >work.c <<'END'
#include <stdlib.h>
#include <unistd.h>
static int leaf(int x) { return x * 3; }
static int pong(int n);
static int ping(int n) { return n ? pong(n - 1) + leaf(n) : 0; }
static int pong(int n) { return n ? ping(n - 1) : leaf(n); }
static int again(int n) { return n ? again(n - 1) + leaf(n) : 0; }
static void nap(void) { usleep(60000); }
static void naps(void) { nap(); nap(); nap(); }
int main(int argc, char **argv)
{
	for (int i = 0; i < 100; i++)
		again(i % 7);
	for (int i = 0; i < 10; i++)
		ping(5);
	naps();
	return again(argc) == 0;
}
END

# Both are built with the same hooks, and run one after the other: calls must be equal, and times of what sleeps too, but
# for what else the machine does meanwhile, which may be much once.
uftrace_agrees() {
	uftrace record --no-event --no-libcall -d uftrace.data ./work >uftrace.log 2>&1 || fail "uftrace: $(cat uftrace.log)"
	uftrace report -d uftrace.data -f total,self,call --no-pager >uftrace.txt 2>>uftrace.log || fail "uftrace report"
	rm -rf uftrace.data
	expect_ok "$FXTRACE" run -q -o work.fxt --on-full block -- ./work
	expect_ok "$FXTRACE" report --functions --top 0 --json work.fxt
	python3 - out uftrace.txt <<'END'
import json, re, sys
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
theirs = {}
for line in open(sys.argv[2]):
    found = re.match(r"\s*([\d.]+) +(\w+) +([\d.]+) +(\w+) +(\d+) +(\w+)\s*$", line)
    if found:
        total, unit, own, own_unit, calls, name = found.groups()
        theirs[name] = (int(calls), float(total) * UNITS[unit])
ours = {r["name"]: (r["calls"], r["total_ns"]) for r in json.load(open(sys.argv[1]))["functions"]["rows"]}
names = {"main", "again", "ping", "pong", "leaf", "nap", "naps"}
print({name: (theirs.get(name), ours.get(name)) for name in sorted(names)})
assert names == ours.keys() and names <= theirs.keys(), (ours, theirs)
for name in names:
    assert theirs[name][0] == ours[name][0], name
for name in "nap", "naps", "main":
    assert ours[name][1] >= 180e6 and theirs[name][1] >= 180e6, name
# The exit status says whether the times are close.
sys.exit(0 if all(abs(theirs[n][1] - ours[n][1]) < 0.2 * ours[n][1] for n in ("nap", "naps", "main")) else 3)
END
}

if command -v uftrace >/dev/null; then
	compile work -O0 -g -finstrument-functions work.c
	for try in $(seq 10); do
		status=0
		uftrace_agrees || status=$?
		[ "$status" -eq 3 ] || break
		echo "other times in try $try"
	done
	[ "$status" -eq 0 ] || fail "not what uftrace says"
else
	echo "without uftrace"
fi

# --- ltrace: calls of libc -------------------------------------------------------------------------

cat >calls.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char text[100];

	for (int i = 0; i < 7; i++) {
		int fd = open(i % 2 ? "/dev/null" : "/no/such/file", O_RDWR);
		FILE *file = fopen("/dev/zero", "r");

		if (fd >= 0) {
			for (int j = 0; j < i; j++)
				write(fd, text, sizeof(text));
			lseek(fd, 0, SEEK_SET);
			close(fd);
		}
		fread(text, 1, sizeof(text), file);
		fclose(file);
		free(realloc(malloc(10), 20));
		access("/dev/null", R_OK);
		chdir("/");
	}
	return 0;
}
END
compile calls -O0 -w -fno-builtin calls.c
if command -v ltrace >/dev/null && ltrace -c -o ltrace.txt ./calls >ltrace.log 2>&1 && grep -q ' open$' ltrace.txt; then
	expect_ok "$FXTRACE" run -q -o calls.fxt -c '#default,malloc' --on-full block -- ./calls
	expect_ok "$FXTRACE" report --function '*' --top 0 --json calls.fxt
	python3 - out <<'END' || fail "not what ltrace says"
import json, sys
theirs = {}
for line in open("ltrace.txt"):
    fields = line.split()
    if len(fields) == 5 and fields[3].isdigit():
        theirs[fields[4]] = int(fields[3])
# It sees the program's own calls, and none of libc's: fopen() has a caller, and malloc() within it.
ours = {r["function"]: r["calls"] for r in json.load(open(sys.argv[1]))["callers"]["rows"] if r["caller"] == "(none)"}
print(theirs, {name: ours.get(name) for name in theirs})
assert len(theirs) >= 12, theirs
wrong = {name: (theirs[name], ours.get(name)) for name in theirs if theirs[name] != ours.get(name)}
assert not wrong, wrong
END
else
	echo "without ltrace"
fi

# --- time: how long, and how it ended --------------------------------------------------------------

# One run, seen by both: a process's life lies within what time(1) measures, from before its fork to after its end.
time_agrees() {
	local program=$1 status=0

	"$FXTRACE" run -q -o timed.fxt -- "$time" -q -o timed -f '%e %x' sh -c "$program" || status=$?
	expect_ok "$FXTRACE" report --processes --json timed.fxt
	python3 - out "$program" "$status" <<'END'
import json, sys
seconds, status = open("timed").read().split()
rows = json.load(open(sys.argv[1]))["processes"]["rows"]
(row,) = (r for r in rows if r.get("depth") == 1)
print(seconds, status, row)
assert row["command"] == "sh -c " + sys.argv[2], row
assert row["end"] == f"status {status}" and status == sys.argv[3], row
assert 0.3 <= row["lifetime_ns"] / 1e9 <= float(seconds) + 0.01, (row, seconds) # of which it prints hundredths
sys.exit(0 if float(seconds) - row["lifetime_ns"] / 1e9 < 0.05 else 3)
END
}

time=$(type -P time) || time=
if [ -n "$time" ]; then
	for program in 'sleep 0.3; exit 0' 'sleep 0.3; exit 42'; do
		for try in $(seq 10); do
			status=0
			time_agrees "$program" || status=$?
			[ "$status" -eq 3 ] || break
			echo "other times in try $try"
		done
		[ "$status" -eq 0 ] || fail "not what time says"
	done
else
	echo "without time"
fi

# --- make: what a build ran ------------------------------------------------------------------------

mkdir -p build/sub
cat >build/Makefile <<'END'
all: first second
	$(MAKE) -C sub
first: source
	cp source first
second: first
	cp first second
	sleep 0.1
never:
	touch never
END
cat >build/sub/Makefile <<'END'
all: one two
one two:
	touch $@
	cat $@ ../second
	ls
END
touch build/source
if command -v make >/dev/null; then
	unset MAKEFLAGS MAKELEVEL MFLAGS GNUMAKEFLAGS
	(cd build && "$FXTRACE" run -q -o ../build.fxt --on-full block -- make --trace) >make.out || fail "make"
	expect_ok "$FXTRACE" report --processes --top 0 --json build.fxt
	python3 - out <<'END' || fail "not what make says"
import json, re, sys
# It says each command before it runs it, and which folder it enters and leaves: the depth of its processes.
theirs, depth = [], 1
for line in open("make.out"):
    line = line.rstrip("\n")
    depth += "]: Entering directory" in line
    depth -= "]: Leaving directory" in line
    if not re.match(r"make\[\d+\]: |Makefile:\d+: |(one|two|Makefile)$", line):
        theirs.append((depth, line))
rows = json.load(open(sys.argv[1]))["processes"]["rows"]
ours = [(r.get("depth", 0), r["command"]) for r in rows]
print(theirs)
assert ours[0][0] == 0 and ours[0][1].startswith("make"), ours
assert len(theirs) == 10 and ours[1:] == theirs, (ours, theirs)
assert all(r["end"] == "status 0" for r in rows), rows
END
else
	echo "without make"
fi

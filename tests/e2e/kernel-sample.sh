#!/bin/bash
# SPDX-License-Identifier: MIT
# --sample: programs of known shares of processor time, which they measure themselves, have these shares in samples, with stacks
# up to main(): as they are built, without frame pointers, stripped, static, in threads, children, opened libraries and code that
# was made; and what is made of samples has as many of them as the archive.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
! is_emulated || skip "the emulator knows no performance events"
HZ=4999 # so many that chance is less than what is allowed for

# sampled PROGRAM...: its output goes to the file said, the summary to told, what was found to samples.json.
sampled() {
	expect_ok traced --sample "$HZ" -- "$@"
	! grep -q 'no samples are taken' err || skip "$(grep 'no samples' err)"
	cp out said
	cp err told
	expect_clean trace.fxt
	expect_ok "$FXTRACE" query --json trace.fxt "
		select process.pid, thread.tid, thread.name as thread, slice.ts,
			(select string_value from args where args.arg_set_id = slice.arg_set_id and key = 'stack') as stack
		from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)
		where category = 'sample'"
	mv out samples.json
}

cat >check.py <<'END'
import json, sys
from collections import Counter

samples = [dict(s, stack=s["stack"].split("\n")) for s in json.load(open("samples.json"))]

def share(part, whole):
    return len([s for s in whole if part(s)]) / max(len(whole), 1)

def said():
    return {line.split()[0]: line.split()[1:] for line in open("said")}

def expect(what, condition):
    if not condition:
        common = Counter(" ".join(s["stack"]) for s in samples).most_common(10)
        sys.exit("%s\n%s" % (what, "\n".join("%6d %s" % (n, t) for t, n in common)))

exec(sys.argv[1])
END
check() {
	python3 check.py "$1" >checked 2>&1 || fail "$(cat checked)"
}

# Within three points of what the program has measured; all but a few stacks go up to main().
shares='
computing = [s for s in samples if any(f in s["stack"] for f in ("sixty", "thirty", "ten"))]
expect("few samples: %d" % len(computing), len(computing) > 3000)
for name, (measured, ns) in said().items():
    found = share(lambda s: name in s["stack"], computing)
    expect("%s: %.3f, not %s" % (name, found, measured), abs(found - float(measured)) < 0.03)
whole = share(lambda s: "main" in s["stack"] or "part_main" in s["stack"], computing)
expect("stacks up to main: %.4f" % whole, whole > 0.99)
times = [s["ts"] for s in samples]
expect("%d samples at one time" % len(times), len(set(times)) > len(times) * 0.99)
'
compile shares -O2 "$FX_SRCDIR/tests/e2e/targets/shares.c" -ldl -pthread
sampled ./shares
check "$shares"
cp trace.fxt shares.fxt
cp samples.json shares.json

# --- What is made of them -------------------------------------------------------------------------

count=$(python3 -c 'import json; print(len(json.load(open("shares.json"))))')
expect_ok "$FXTRACE" convert -f collapsed shares.fxt -
expect_equal "$count" "$(awk '{ n += $NF } END { print n }' out)" "samples in collapsed stacks"
expect_line ';main;sixty;spin [0-9]+$' out
expect_ok "$FXTRACE" report --samples --json --top 0 shares.fxt
python3 - "$count" <<'END' >checked 2>&1 || fail "$(cat checked)"
import json, sys
rows = json.load(open("out"))["samples"]["rows"]
rows = {row["name"]: row for row in rows}
assert rows["main"]["samples"] > 0.98 * int(sys.argv[1]), rows["main"]
# Interrupts of a busy machine are the kernel's.
kernel = sum(row["self_share"] for row in rows.values() if row["name"].endswith("_[k]"))
assert rows["spin"]["self_share"] + kernel > 0.9 and rows["spin"]["total_share"] > 0.9, (rows["spin"], kernel)
assert abs(rows["sixty"]["total_share"] - 0.6) < 0.04, rows["sixty"]
assert rows["sixty"]["self_ns"] == 0 or rows["sixty"]["self_share"] < 0.01, rows["sixty"]
END
expect_ok "$FXTRACE" report shares.fxt
expect_line 'the function spin has ~(9[0-9]|100) % of the time on processors, by [0-9,]+ samples +fxtrace report --samples' out
if command -v protoc >/dev/null; then
	expect_ok "$FXTRACE" convert -f perfetto shares.fxt shares.pftrace
	protoc --decode=fx.pf.Trace -I "$FX_SRCDIR/convert/perfetto" perfetto.proto <shares.pftrace >shown || fail "not decoded"
	expect_equal "$count" "$(grep -c 'perf_sample {' shown)" "samples for Perfetto"
	! grep -q 'event_names.*"spin"' shown || fail "a sample is an event, too"
fi

# --- Other programs -------------------------------------------------------------------------------

compile stripped -O2 -fomit-frame-pointer -s "$FX_SRCDIR/tests/e2e/targets/shares.c" -ldl -pthread
sampled ./stripped
check 'expect("no module", share(lambda s: s["stack"][0].startswith("stripped+0x"), samples) > 0.9)'
expect_ok "$FXTRACE" report --samples trace.fxt
expect_line ' \[stripped\]$' out
expect_ok "$FXTRACE" report trace.fxt
expect_line 'code of \[stripped\] has ~' out
expect_no_line 'stripped\+0x' out

if compile static -O2 -static -DSTATIC "$FX_SRCDIR/tests/e2e/targets/shares.c" -pthread 2>/dev/null; then
	sampled ./static
	check "$shares"
	expect_line '^fxtrace: ./static: it is linked statically, .*; what is recorded of it, the kernel said' told
fi

sampled ./shares threads
check "$shares
for name in ('sixty', 'thirty', 'ten'):
    own = [s for s in computing if s['thread'] == name]
    expect('thread ' + name, len(own) > 100 and share(lambda s: name in s['stack'], own) > 0.98)"

sampled ./shares children
check '
for name, (pid,) in said().items():
    own = [s for s in samples if s["pid"] == int(pid)]
    # Its begin and its end are spent in the kernel, for long on some virtual machines.
    own = [s for s in own if s["stack"][0] != "[kernel]" and not s["stack"][0].endswith("_[k]")]
    expect(name, len(own) > 150 and share(lambda s: name in s["stack"] and "main" in s["stack"], own) > 0.95)'

cat >opened.c <<'END'
void opened(double (*run)(void))
{
	run();
	__asm__ volatile("");
}
END
compile libopened.so -O2 -shared -fPIC opened.c
sampled ./shares library ./libopened.so
check 'expect("opened", share(lambda s: "opened" in s["stack"] and "main" in s["stack"], samples) > 0.9)'

# The kernel's share, where it may be seen: a program that does nothing but ask it.
cat >asks.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	char bytes[65536];
	int fd = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 40000; i++)
		if (read(fd, bytes, sizeof(bytes)) < 0)
			return 1;
	return 0;
}
END
compile asks -O2 asks.c
sampled ./asks
if ! grep -q 'do not show time inside the kernel' told; then
	check '
inside = lambda s: s["stack"][0] == "[kernel]" or s["stack"][0].endswith("_[k]")
expect("kernel", share(lambda s: inside(s) and "read" in s["stack"], samples) > 0.5)'
	# Its functions have names where they may be seen. (Of a virtual machine's own ways into the kernel and out of it the time is
	# not read()'s.)
	if grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* T ' /proc/kallsyms; then
		check 'expect("names", share(lambda s: any("read" in f and f.endswith("_[k]") for f in s["stack"]), samples) > 0.2)'
	fi
fi

# Of the first program alone.
sampled "$(command -v sh)" -c './shares; ./shares' # the shell itself does next to nothing
check 'expect("children", len({s["pid"] for s in samples if "main" in s["stack"] and "sixty" in s["stack"]}) == 2)'
expect_ok traced --sample "$HZ" --no-follow -- sh -c './shares; :'
expect_ok "$FXTRACE" query --csv trace.fxt "select count(*) from slice where category = 'sample' and name = 'spin'"
expect_line '^0' out

# A process lives as long as any of its threads, and as long its functions have names.
cat >outlives.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
volatile unsigned long sum;
__attribute__((noinline)) void computes_on(void)
{
	for (unsigned long i = 0; i < 300000000; i++)
		sum += i;
}
static int first_has_ended(void)
{
	char state = 0;
	FILE *file = fopen("/proc/self/stat", "r");
	if (file && fscanf(file, "%*d %*s %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state == 'Z';
}
static void *outlives(void *unused)
{
	(void)unused;
	while (!first_has_ended())
		usleep(1000);
	usleep(100000);
	computes_on();
	exit(0);
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, outlives, NULL);
	pthread_exit(NULL);
}
END
compile outlives -O1 outlives.c
sampled ./outlives
check 'expect("outlives", share(lambda s: s["stack"][0] == "computes_on" and "outlives" in s["stack"], samples) > 0.5)'

# --- What cannot be -------------------------------------------------------------------------------

for wrong in 0 -1 abc 10001 '' 1.5; do
	expect_one_error 2 "$FXTRACE" run --sample "$wrong" -- true
done

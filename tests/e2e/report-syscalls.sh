#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace report --syscalls': counts and errors as strace has them, numbers as a script computes them from the archive's
# records; which files were not found; names that a terminal or a reader would obey.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >calls.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *count)
{
	for (int i = 0; i < *(int *)count; i++)
		chdir("/no/such/folder");
	return NULL;
}
int main(int argc, char **argv)
{
	int count = atoi(argv[1]), fd = openat(AT_FDCWD, "/dev/null", O_WRONLY), folder = openat(AT_FDCWD, "/", O_PATH);
	pthread_t threads[2];
	char text[64];

	for (int i = 0; i < count; i++) {
		getppid();
		lseek(-1, 0, SEEK_SET);
		close(openat(AT_FDCWD, "/dev/null", O_RDONLY));
		openat(AT_FDCWD, "/no/such/file", O_RDONLY);
		openat(folder, "no-such-file", O_RDONLY);
		mkdirat(AT_FDCWD, "folder", 0700);
		mkdirat(AT_FDCWD, "folder", 0700);
		unlinkat(AT_FDCWD, "folder", AT_REMOVEDIR);
		readlinkat(AT_FDCWD, "/proc/self/exe", text, sizeof(text));
		write(fd, text, 3);
		syscall(SYS_getpgid, 0);
		getpgid(0);
		if (fork() == 0)
			_exit(0);
		waitpid(-1, NULL, 0);
		waitpid(-1, NULL, 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread, &count);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return argc == 0;
}
END
compile calls -O0 -w -pthread calls.c

for count in 2 7; do
	expect_ok "$FXTRACE" run -q -o "calls.$count.fxt" --on-full block -- ./calls "$count"
	expect_ok "$FXTRACE" report --syscalls --top 0 --json "calls.$count.fxt"
	mv out "calls.$count.json"
done

# --- Against strace --------------------------------------------------------------------------------

# What the program, libc and the linker do once is the same in both runs: the difference is the loop's.
if command -v strace >/dev/null && strace -f -c -o probe true 2>/dev/null; then
	for count in 2 7; do
		strace -f -c -o "strace.$count" ./calls "$count" || fail "strace of ./calls $count"
	done
	python3 - <<'END' || fail "other counts than strace's"
import json
OURS = {"fork": "clone", "waitpid": "wait4"}
LIBC = {"mmap", "munmap", "mprotect", "madvise", "brk", "clone3", "rt_sigprocmask", "futex", "set_robust_list", "rseq",
        "exit", "exit_group", "gettid", "rt_sigreturn", "restart_syscall", "total"}
def of_strace(path):
    found = {}
    for line in open(path):
        fields = line.split()
        if len(fields) >= 5 and fields[3].isdigit():
            found[fields[-1]] = (int(fields[3]), int(fields[4]) if len(fields) == 6 else 0)
    return found
def of_report(path):
    return {OURS.get(r["name"], r["name"]): (r["calls"], r["errors"]) for r in json.load(open(path))["syscalls"]["rows"]}
def difference(read, pattern):
    few, many = (read(pattern % n) for n in (2, 7))
    zero = (0, 0)
    return {n: tuple(a - b for a, b in zip(many[n], few.get(n, zero))) for n in many if many[n] != few.get(n, zero)}
theirs, ours = difference(of_strace, "strace.%d"), difference(of_report, "calls.%d.json")
print(theirs, ours)
assert len(ours) >= 12, ours
assert ours["openat"] == (15, 10) and ours["getpgid"] == (10, 0) and ours["chdir"] == (10, 10), ours
for name in ours.keys() | theirs.keys() - LIBC:
    assert ours.get(name) == theirs.get(name), (name, ours.get(name), theirs.get(name))
END
fi

# --- Against the records ----------------------------------------------------------------------------

hostile=$'no\nsuch\e[31m<b>"\xff,file'
mkdir folder && touch folder/there || exit 99
cat >many.sh <<END
cat '$hostile' there /no/such/file /no/such/file
test -e there/below
no-such-command
grep -q x there | cat
cat . <&-
END
(cd folder && exec "$FXTRACE" run -q -o ../many.fxt --on-full block -c '#default,stdio,libc' -- sh ../many.sh) >ran 2>&1
[ -s many.fxt ] || fail "no archive: $(cat ran)"
for archive in many calls.7; do
	"$FXTRACE" dump --json "$archive.fxt" >dump.json || fail "dump of $archive"
	expect_ok "$FXTRACE" report --syscalls --top 0 --json "$archive.fxt"
	python3 "$FX_SRCDIR/tests/e2e/report_syscalls.py" dump.json out || fail "other numbers in $archive"
done

# One command says which files were not found, how often and by whom.
expect_ok "$FXTRACE" report --syscalls --top 0 --json many.fxt
mv out many.json
python3 - many.json <<'END' || fail "other files not found"
import json, sys
found = {}
for row in json.load(open(sys.argv[1]))["not_found"]["rows"]:
    if row["process"] in ("cat", "sh"):
        found.setdefault(row["path"], []).append(row)
assert sum(r["count"] for r in found["/no/such/file"]) == 2 and found["/no/such/file"][0]["process"] == "cat", found
(hostile,) = (path for path in found if path.startswith("no\n"))
assert hostile == 'no\nsuch\x1b[31m<b>"\\xFF,file', repr(hostile)
assert "there/below" in found, found.keys()
assert any(path.endswith("/no-such-command") for path in found), found.keys()
END

# On a terminal a name cannot do anything, nor begin a line; in CSV it is one field.
for columns in 80 20; do
	COLUMNS=$columns "$FXTRACE" report --syscalls --top 0 many.fxt >text || fail "no report of $columns columns"
	! grep -q "$(printf '[\001-\010\013-\037]')" text || fail "control characters: $(cat -v text)"
	expect_no_line '^such' text
	iconv -f UTF-8 -t UTF-8 text >/dev/null || fail "no UTF-8"
done
expect_ok "$FXTRACE" report --syscalls --top 0 many.fxt
expect_line 'no such\?\[31m<b>"\\xFF,file' out
"$FXTRACE" report --syscalls --top 0 --csv many.fxt >many.csv || fail "no CSV"
python3 - many.csv many.json <<'END' || fail "CSV and JSON differ"
import csv, json, sys
rows = [row for row in csv.reader(open(sys.argv[1], newline="", encoding="utf-8")) if row]
tables = json.load(open(sys.argv[2]))
assert len(rows) == sum(1 + len(t["rows"]) for t in tables.values()), len(rows)
END

# A call that waits says so; one that asks for a link's name does not.
python3 - calls.7.json <<'END' || fail "what waits"
import json, sys
report = json.load(open(sys.argv[1]))
for row in report["slowest"]["rows"]:
    assert row["waits_for"] == ("a child" if row["call"].startswith("waitpid(") else None), row
busy = report["slowest_busy"]["rows"]
assert len(busy) == 20 and all(r["waits_for"] is None and r["thread"] == "calls" for r in busy), busy
assert not any(r["call"].startswith("waitpid(") for r in busy), busy
END

# --- What was lost ----------------------------------------------------------------------------------

cat >flood.c <<'END'
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 200000; i++)
		getppid();
	return 0;
}
END
compile flood -O0 flood.c
expect_ok "$FXTRACE" run -q -o flood.fxt -m oneshot -b 64K -- ./flood
expect_ok "$FXTRACE" report --syscalls --json flood.fxt
"$FXTRACE" dump --json flood.fxt >dump.json || fail "dump of flood.fxt"
python3 - out dump.json <<'END' || fail "what was lost"
import json, sys
report = json.load(open(sys.argv[1]))
lost = sum(a["value"] for r in map(json.loads, open(sys.argv[2])) if r.get("name") == "records dropped"
           and r["type"] == "instant" for a in r["args"] if a["name"] == "count")
(row,) = (r for r in report["syscalls"]["rows"] if r["name"] == "getppid")
assert row["calls"] + lost >= 200000 > row["calls"], (row, lost)
assert any(note.startswith(f"{lost:,} records were lost") for note in report["syscalls"]["notes"]), report["syscalls"]
END

# --- What had not ended ------------------------------------------------------------------------------

# exec ends by becoming another program; a sleep whose process is killed does not end.
expect_ok "$FXTRACE" run -q -o exec.fxt -- sh -c 'exec env true'
expect_ok "$FXTRACE" report exec.fxt
expect_line 'execve' out
expect_no_line 'had not ended' out
expect_status 137 "$FXTRACE" run -q -o killed.fxt -- sh -c 'sleep 100 & sleep 0.3; kill -9 $!; wait; kill -9 $$'
expect_ok "$FXTRACE" report killed.fxt
expect_line '^[1-9] calls? had not ended' out

#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel: system calls of programs in which nothing can be preloaded, call for call as strace has them; of those that record
# themselves, none twice; which thread was woken by which.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3 strace
! is_emulated || skip "the emulator knows no performance events"
compile calls -O1 -static "$FX_SRCDIR/tests/e2e/targets/calls.c" 2>/dev/null || skip "nothing can be linked statically"

expect_ok traced --kernel -- ./calls
cp err told
! grep -qE 'is not recorded|are not recorded' told || skip "$(grep -E 'is not recorded|are not recorded' told)"
expect_line '^fxtrace: ./calls: it is linked statically, .*; what is recorded of it, the kernel said$' told
expect_line ': [0-9.]+ [kM]?B, 2 processes, 2 threads, ' told # it forks once
expect_clean trace.fxt
expect_ok strace -f -o straced ./calls
expect_ok "$FXTRACE" query --json trace.fxt "
	select process.pid, slice.ts, slice.name, category,
		(select int_value from args where args.arg_set_id = slice.arg_set_id and key = 'ret') as ret,
		(select string_value from args where args.arg_set_id = slice.arg_set_id and key = 'errno') as errno,
		(select string_value from args where args.arg_set_id = slice.arg_set_id and key = 'flags') as flags
	from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)
	order by slice.ts"
mv out calls.json
cat >agree.py <<'END'
import json, re, sys

def numbered(pids):
    return {pid: i for i, pid in enumerate(dict.fromkeys(pids))}

calls = json.load(open("calls.json"))
assert {c["category"] for c in calls} == {"syscall"}, {c["category"] for c in calls}
# A child's first call may come before its parent's clone() has returned: processes are compared one by one.
ours, theirs = {}, {}
numbers = numbered(c["pid"] for c in calls)
for c in calls:
    failed = c["errno"] is not None
    ours.setdefault(numbers[c["pid"]], []).append((c["name"], c["errno"] if failed else c["ret"]))
lines = [re.match(r"(\d+) +(\w+)\(.*\) += (-?\d+|0x[0-9a-f]+|\?)(?: (E\w+))?", line) for line in open("straced")
         if "+++" not in line and "---" not in line and "unfinished" not in line and "resumed" not in line]
resumed = [re.match(r"(\d+) +<\.\.\. (\w+) resumed>.*\) += (-?\d+|0x[0-9a-f]+|\?)(?: (E\w+))?", line)
           for line in open("straced") if "resumed" in line]
numbers = numbered(m.group(1) for m in lines if m)
for m in lines + resumed:
    assert m, "strace says something else"
    result = m.group(4) or (None if m.group(3) == "?" else int(m.group(3), 0))
    theirs.setdefault(numbers[m.group(1)], []).append((m.group(2), result))

def plain(calls):
    # Addresses and numbers of processes are others in each run, and what was resumed stands elsewhere.
    others = {"brk", "mmap", "getppid", "clone", "fork", "vfork", "set_tid_address", "wait4", "getrandom"}
    return sorted((name, "" if name in others else str(result)) for name, result in calls)

for i in theirs:
    assert plain(ours[i]) == plain(theirs[i]), (plain(ours[i]), plain(theirs[i]))
assert len(ours) == len(theirs) == 2, (len(ours), len(theirs))
assert [c[0] for c in ours[1]][-2:] == ["getuid", "exit_group"], ours[1]
assert len([c for c in ours[0] if c == ("read", 8)]) == 100, ours[0]
assert [c["flags"] for c in calls if c["name"] == "openat" and c["errno"] == "ENOENT"] == ["O_RDONLY|O_CLOEXEC"]
END
python3 agree.py >checked 2>&1 || fail "$(tail -c 3000 checked)"

# --- Beside programs that record themselves --------------------------------------------------------

cat >own.c <<'END'
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 50; i++)
		if (write(1, ".", 1) != 1)
			return 1;
	return 0;
}
END
compile own own.c
# With one that records itself before them, it has to be asked for: each call costs more then.
expect_ok traced --kernel -- sh -c './own; ./calls; ./own'
list_archive trace.fxt
expect_events 0 'category == "syscall" && process == "calls"'
expect_ok traced --kernel=calls -- sh -c './own; ./calls; ./own'
list_archive trace.fxt
expect_events 100 'category == "syscall" && name == "write" && process == "own"'
expect_events 100 'category == "syscall" && name == "read" && process == "calls" && has("ret=8")'
expect_clean trace.fxt

# --- Who woke whom ---------------------------------------------------------------------------------

cat >wakes.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int ends[2], back[2];
	char byte;
	pid_t child;

	if (pipe(ends) || pipe(back))
		return 1;
	child = fork();
	if (child == 0) {
		while (read(ends[0], &byte, 1) == 1 && byte != 'q')
			if (write(back[1], "b", 1) != 1)
				return 1;
		_exit(0);
	}
	for (int i = 0; i < 50; i++) {
		usleep(1000); /* so that the child waits */
		if (write(ends[1], "a", 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
	}
	if (write(ends[1], "q", 1) != 1)
		return 1;
	printf("%d %d\n", (int)getpid(), (int)child);
	return waitpid(child, NULL, 0) != child;
}
END
compile wakes wakes.c
expect_ok traced --kernel -- ./wakes
read -r parent child <out
expect_ok "$FXTRACE" query --csv trace.fxt "
	select count(*) from thread_state s join thread t using (utid) join thread w on s.waker_utid = w.utid
	where t.tid = $child and w.tid = $parent and s.state in ('R', 'Running')"
woken=$(tail -n 1 out | tr -d '\r')
[ "$woken" -ge 40 ] || fail "the child was woken by its parent $woken times of 50"

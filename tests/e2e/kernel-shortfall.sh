#!/bin/bash
# SPDX-License-Identifier: MIT
# What programs of BPF may not have told stands in the archive as well as on standard error, by the same number, for of `start'
# nobody reads the latter. Interrupts that come while a program of BPF runs have theirs not run: tracepoints of system calls and of
# interrupts together, until some have come so.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

! is_emulated || skip "the emulator knows no performance events"
cat >calls.c <<'END'
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 100000; i++)
		syscall(SYS_getppid);
	return 0;
}
END
compile calls -O1 calls.c
points='sched,tracepoint:raw_syscalls,tracepoint:irq,tracepoint:timer,tracepoint:sched/sched_waking'

# said_of ARCHIVE: how many records may be missing, as its event says; nothing without one.
said_of() {
	expect_ok "$FXTRACE" query --csv "$1" "
		select sum(int_value) from args join slice using (arg_set_id) where slice.name = 'records may be missing' and key = 'count'"
	tail -n +2 out | tr -d '\r' | sed 's/^\(0\|NULL\|\[NULL\]\)$//'
}

count=
for _ in $(seq 20); do
	expect_ok "$FXTRACE" run --kernel -c "$points" -o trace.fxt -- ./calls
	! grep -q 'not recorded' err || skip "$(grep 'not recorded' err)"
	count=$(sed -n 's/.* up to \([0-9]*\) records of --kernel may be missing.*/\1/p' err)
	expect_equal "$count" "$(said_of trace.fxt)" "records that may be missing, in the archive"
	[ -z "$count" ] || break
done
[ -n "$count" ] || skip "no program of BPF came in the middle of another"
expect_clean trace.fxt
echo "$count may be missing"

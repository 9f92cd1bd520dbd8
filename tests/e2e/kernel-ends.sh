#!/bin/bash
# SPDX-License-Identifier: MIT
# With --kernel, forks and ends of processes wait for nobody: not for another program that begins and ends to use a tracepoint meanwhile, for which
# the kernel holds a lock that threads with tracepoints of their own take as well. Counted are the waits themselves.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

! is_emulated || skip "the emulator knows no performance events"
[ "$(id -u)" -eq 0 ] || skip "only root has tracepoints"
# One that nobody else uses.
number=
for folder in /sys/kernel/tracing /sys/kernel/debug/tracing; do
	[ -n "$number" ] || number=$(cat $folder/events/sched/sched_process_hang/id 2>/dev/null)
done
[ -n "$number" ] || skip "there are no tracepoints"
target ends ends.c
target user tracepoint-user.c
./user "$number" >used &
user=$!
wait_for 120 test -e began || skip "no tracepoint can be used"
expect_ok ./ends 150
mv out without
# also with what is recorded of the kernel beside that, and with tracepoints of any kind: of those of the scheduler, system calls, and a group.
for also in '' kernel:irq,kernel:block tracepoint:sched/sched_switch,tracepoint:raw_syscalls/sys_enter,tracepoint:syscalls/sys_enter_openat tracepoint:signal; do
	expect_ok "$FXTRACE" run --kernel -o trace.fxt ${also:+-c "#default,$also"} -- ./ends 150
	! grep -qE 'is not recorded|are not recorded|not recorded: |are shown as addresses' err || skip "$(grep -E 'recorded|addresses' err)"
	echo "$also" >>said
	cat out >>said
	expect_clean trace.fxt
done
touch stop
wait "$user" || fail "the other program ended badly"
# It held the lock often enough.
[ "$(cat used)" -ge 5 ] || skip "a tracepoint was used $(cat used) times only"
read -r other_forks other_ends <without
while read -r also && read -r forks ends; do
	echo "${also:-nothing beside}: waits of 150 forks and ends: $forks and $ends, without $(cat without), while a tracepoint was used $(cat used) times"
	# A wait now and then is for other locks, more of them on a busy machine; there were hundreds.
	[ $((forks + ends)) -le $((2 * (other_forks + other_ends) + 30)) ] ||
		fail "$also: forks waited $forks times, ends $ends times; without: $(cat without)"
done <said

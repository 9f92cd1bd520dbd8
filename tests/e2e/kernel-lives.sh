#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel follows a process that does nothing while more others come and go than it can follow at a time, and one that a thread becomes.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
! is_emulated || skip "the emulator knows no performance events"
compile lives -O2 -static "$FX_SRCDIR/tests/e2e/targets/many-lives.c" -pthread 2>/dev/null || skip "nothing can be linked statically"
# More than it can follow at a time have so many numbers only where the kernel gives so many.
others=70000
[ "$(cat /proc/sys/kernel/pid_max)" -gt 100000 ] || others=500
expect_ok "$FXTRACE" run --kernel -c syscall -o trace.fxt -- ./lives "$others"
! grep -qE 'not recorded|are shown as addresses' err || skip "$(grep -E 'recorded|addresses' err)"
! grep -q 'are not followed' err || fail "$(cat err)"
expect_clean trace.fxt
expect_ok "$FXTRACE" query --json trace.fxt "select count(*) as n from slice where name = 'getpriority'"
calls=$(python3 -c 'import json; print(json.load(open("out"))[0]["n"])')
lost=$(sed -nE 's/.* ([0-9]+) records? (lost|of --kernel may be missing).*/\1/p' err | awk '{ sum += $1 } END { print sum + 0 }')
echo "$calls calls of two processes that make seven each, beside $others others, $lost records lost"
[ "$calls" -eq 14 ] || [ "$lost" -eq 0 ] || skip "records were lost"
expect_equal 14 "$calls" "calls recorded"

#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel and --sample of a thousand threads that are switched all the time: of each what the kernel counts for it itself, or it is said
# how much is lost; and the provider's memory has a limit.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3 pgrep
! is_emulated || skip "the emulator knows no performance events"
compile switching -O2 "$FX_SRCDIR/tests/e2e/targets/switching.c" -pthread
"$FXTRACE" run --kernel --sample 999 -c sched,sample -o trace.fxt -- ./switching 1000 20 >out 2>err &
manager=$!
most=0
while kill -0 "$manager" 2>/dev/null; do
	provider=$(pgrep -P "$manager" -x fxtrace-kernel)
	used=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/${provider:-none}/status" 2>/dev/null)
	[ "${used:-0}" -le "$most" ] || most=$used
	sleep 0.1
done
wait "$manager" || fail "the program did not end well: $(cat err)"
! grep -qE 'no samples are taken|are not recorded' err || skip "$(grep -E 'no samples|are not' err)"
cp out said
cp err told
expect_equal 1000 "$(wc -l <said)" "threads"
expect_clean trace.fxt
# What may wait to be worked on is 256 MiB; the rest is small.
[ "$most" -lt 400000 ] || fail "the provider took $most kB"
expect_ok "$FXTRACE" query --json trace.fxt "
	select tid, thread.name, ts, dur, end_state from sched join thread using (utid) order by ts"
PYTHONPATH=$FX_SRCDIR/tests/e2e python3 -B - "$(grep -cE 'records? lost' told)" <<'END' >checked 2>&1 || fail "$(tail -c 1000 checked)"
import json, sys

from switches_agree import compare

by_thread = {}
for s in json.load(open("out")):
    by_thread.setdefault(s["tid"], []).append(s)
lines = open("said").readlines()
if sys.argv[1] == "0":
    for line in lines:
        own, name = compare(by_thread.get(int(line.split()[1]), []), line)
        assert {s["name"] for s in own} == {name}, (name, {s["name"] for s in own})
        assert [s["end_state"] for s in own].count("X") == 1, own[-3:]
else:
    assert len([line for line in lines if int(line.split()[1]) in by_thread]) > 500, len(by_thread)
END

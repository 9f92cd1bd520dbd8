#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel beside perf, which records the same run at the same time: the same switches of the program's threads, with the same states and
# times.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3 perf
! is_emulated || skip "the emulator knows no performance events"
compile switches -O2 "$FX_SRCDIR/tests/e2e/targets/switches.c" -pthread
perf record -q -a -k mono -e sched:sched_switch -o perf.data -- "$FXTRACE" run --kernel -o trace.fxt -- ./switches >out 2>err ||
	skip "perf cannot record here: $(tail -n 1 err)"
! grep -qE 'not recorded' err || skip "$(grep 'not recorded' err)"
! grep -qE 'lost|may be missing' err || skip "the machine is too busy"
cp out said
perf script -i perf.data --ns -F time,event,trace >switched 2>err || skip "perf cannot read it: $(tail -n 1 err)"
expect_clean trace.fxt
expect_ok "$FXTRACE" query --json trace.fxt "
	select tid, ts, dur, end_state from sched join thread using (utid) order by ts"
python3 - <<'END' >checked 2>&1 || fail "$(tail -c 2000 checked)"
import json, re, time
slept = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
slept = slept if slept > 10**6 else 0
ours = json.load(open("out"))
tids = {int(line.split()[1]) for line in open("said")}
# Until the thread ends; that a switch is the last one, perf and we say in other words.
theirs = {tid: [] for tid in tids}
for line in open("switched"):
    m = re.match(r"\s*(\d+)\.(\d{9}): .*sched_switch: .*?(?:prev_pid=(\d+) .*prev_state=(\S+)|:(\d+) \[\d+\] (\S+)) ==>", line)
    if not m:
        continue
    tid, state = int(m.group(3) or m.group(5)), (m.group(4) or m.group(6))[0]
    if tid in tids and state not in "XZ":
        theirs[tid].append((int(m.group(1)) * 10**9 + int(m.group(2)) + slept, state))
for tid in tids:
    mine = [(s["ts"] + s["dur"], s["end_state"]) for s in ours if s["tid"] == tid and s["end_state"] != "X"]
    # Its events end with the thread; on its last way out it may still lose the processor, which only those of all threads tell.
    end = max(s["ts"] + s["dur"] for s in ours if s["tid"] == tid)
    theirs[tid] = [t for t in theirs[tid] if t[0] <= end]
    assert [m[1] for m in mine] == [t[1] for t in theirs[tid]], (tid, len(mine), len(theirs[tid]), mine[-3:], theirs[tid][-3:])
    apart = sorted(abs(m[0] - t[0]) for m, t in zip(mine, theirs[tid]))
    # One reads the clock behind the other, about a microsecond later, and may be held up between.
    assert apart[len(apart) // 2] <= 10000, apart
    assert apart[int(0.9 * len(apart))] <= 1000000, apart
END

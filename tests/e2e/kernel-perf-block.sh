#!/bin/bash
# SPDX-License-Identifier: MIT
# -c kernel:block beside perf record of the block layer's tracepoints in the same run: the same requests of the program, begun at the same time,
# and ended at the same time where perf has an end. Some kernels give no records of ends, to nobody (fxtrace-kernel(1)): there are none then.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3 perf
! is_emulated || skip "the emulator knows no performance events"
compile pages -O1 -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/pages.c"
touch go
perf record -q -a -k mono -e block:block_bio_queue,block:block_rq_complete -o perf.data -- \
	"$FXTRACE" run -c kernel:block -o trace.fxt -- ./pages >out 2>err || skip "perf cannot record here: $(tail -n 1 err)"
! grep -q '^faults 0$' out || skip "a file system in memory"
! grep -qE 'not recorded' err || skip "$(grep 'not recorded' err)"
! grep -qE 'lost|may be missing' err || skip "the machine is too busy: $(grep -E 'lost|missing' err)"
expect_clean trace.fxt
perf script -i perf.data --ns -F comm,tid,time,event,trace >theirs 2>err || skip "perf cannot read it: $(tail -n 1 err)"
expect_ok "$FXTRACE" query --json trace.fxt "
	select slice.name, ts, tid, $(for key in sector bytes duration_ns unfinished; do
	printf '(select int_value from args where args.arg_set_id = slice.arg_set_id and key = %s) as "%s",' "'$key'" "$key"
done) 0 as zero
	from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) where category = 'kernel:block' order by ts"
python3 - <<'END' >checked 2>&1 || fail "$(tail -c 2000 checked)"
import json, re, time

slept = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
slept = slept if slept > 10**6 else 0
ours = json.load(open("out"))
tids = {r["tid"] for r in ours}
begun, ended = [], []
for line in open("theirs"):
    m = re.match(r"(.*?)\s+(\d+)\s+(\d+)\.(\d{9}): +block:(\w+): +\S+ (\w+) (?:\d+ )?(?:\(.*\) )?(\d+) \+ (\d+)", line)
    if not m:
        continue
    what = {"tid": int(m.group(2)), "ts": int(m.group(3)) * 10**9 + int(m.group(4)) + slept,
            "sector": int(m.group(7)), "bytes": int(m.group(8)) * 512}
    (begun if m.group(5) == "block_bio_queue" else ended).append(what)
theirs = [b for b in begun if b["tid"] in tids]
print(len(ours), "requests of", len(begun), "and", len(ended), "ends")
key = lambda r: (r["sector"], r["bytes"])
assert len(ours) >= 80, len(ours)
assert sorted(map(key, ours)) == sorted(map(key, theirs)), (sorted(map(key, ours))[:5], sorted(map(key, theirs))[:5])
apart = sorted(abs(a["ts"] - b["ts"]) for a, b in zip(ours, theirs) if key(a) == key(b))
assert len(apart) > 0.9 * len(ours) and apart[len(apart) // 2] < 20000, apart
# An end is that of the first request done since that has the sector in it.
missing, far = 0, []
for r in ours:
    end = next((e for e in ended if e["sector"] <= r["sector"] < e["sector"] + e["bytes"] // 512 and e["ts"] >= r["ts"] - 10**6), None)
    if end and r["duration_ns"] is None:
        missing += 1
    elif end and r["bytes"] <= end["bytes"]:
        far.append(abs(r["ts"] + r["duration_ns"] - end["ts"]))
    elif not end:
        assert r["unfinished"] or r["duration_ns"], r
far.sort()
print(missing, "ends only perf has;", far)
# Each asks for them in its own way, and now and then the kernel gives one of both a record.
assert missing <= max(3, 0.1 * len(ours)) or not far, missing
assert not far or far[len(far) // 2] < 20000, far
END

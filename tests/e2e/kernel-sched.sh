#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel: when threads have a processor, and how they lost it, as the kernel counts it for the threads themselves: given up as
# often, taken away as often, and as long on processors as their clocks say.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
! is_emulated || skip "the emulator knows no performance events"
compile switches -O2 "$FX_SRCDIR/tests/e2e/targets/switches.c" -pthread
expect_ok traced --kernel -- ./switches
! grep -q 'are not recorded' err || skip "$(grep 'are not recorded' err)"
cp out said
! grep -q 'still ran' err || fail "the kernel provider is taken for a process of the program: $(grep 'still ran' err)"
expect_clean trace.fxt
expect_ok "$FXTRACE" query --json trace.fxt "
	select tid, thread.name, ts, dur, cpu, end_state from sched join thread using (utid) order by ts"
mv out sched.json
python3 - <<'END' >checked 2>&1 || fail "$(cat checked)"
import json

slices = json.load(open("sched.json"))
for line in open("said"):
    name, tid, gave_up, taken, cpu = line.split()
    own = [s for s in slices if s["tid"] == int(tid)]
    assert own, "%s is on no processor" % name
    assert {s["name"] for s in own} == {name}, (name, {s["name"] for s in own})
    # What comes behind the thread's own count is its end: at most a write() that waits, and the last switch.
    blocked = len([s for s in own if s["end_state"] in "SD"])
    runnable = len([s for s in own if s["end_state"] == "R"])
    assert int(gave_up) <= blocked <= int(gave_up) + 5, (name, gave_up, blocked)
    assert int(taken) <= runnable <= int(taken) + 5, (name, taken, runnable)
    time = sum(s["dur"] for s in own)
    assert abs(time - float(cpu)) < 0.05 * float(cpu) + 5e6, (name, time, cpu)
    for a, b in zip(own, own[1:]):
        assert a["ts"] + a["dur"] <= b["ts"], (name, a, b)
for cpu in {s["cpu"] for s in slices}:
    on = [s for s in slices if s["cpu"] == cpu]
    for a, b in zip(on, on[1:]):
        assert a["ts"] + a["dur"] <= b["ts"], (cpu, a, b)
END

# Time on processors is a weight of profiles; for Perfetto there are its switches.
expect_ok "$FXTRACE" convert -f collapsed --weight on-cpu trace.fxt -
[ -s out ] || fail "no time on processors"
if command -v protoc >/dev/null; then
	expect_ok "$FXTRACE" convert -f perfetto trace.fxt trace.pftrace
	protoc --decode=fx.pf.Trace -I "$FX_SRCDIR/convert/perfetto" perfetto.proto <trace.pftrace >shown || fail "not decoded"
	[ "$(grep -c 'sched_switch {' shown)" -gt 50 ] || fail "no switches for Perfetto"
fi

#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel: when threads have a processor, and how they lost it, as the kernel counts it for the threads themselves: given up as
# often, taken away as often, and as long on processors as their clocks say.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
! is_emulated || skip "the emulator knows no performance events"
compile switches -O2 "$FX_SRCDIR/tests/e2e/targets/switches.c" -pthread
awk '$1 == "cpu" { print $9 }' /proc/stat >stolen
expect_ok traced --kernel -- ./switches
! grep -q 'are not recorded' err || skip "$(grep 'are not recorded' err)"
cp out said
! grep -q 'still ran' err || fail "the kernel provider is taken for a process of the program: $(grep 'still ran' err)"
expect_clean trace.fxt
expect_ok "$FXTRACE" query --json trace.fxt "
	select tid, thread.name, ts, dur, cpu, end_state from sched join thread using (utid) order by ts"
mv out sched.json
PYTHONPATH=$FX_SRCDIR/tests/e2e python3 -B - <<'END' >checked 2>&1 || fail "$(cat checked)"
import json

from switches_agree import compare

slices = json.load(open("sched.json"))
for line in open("said"):
    own, name = compare(slices, line)
    assert {s["name"] for s in own} == {name}, (name, {s["name"] for s in own})
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

#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace record with --kernel and --sample: of its program, of processes that run already, of those that come later; and a kernel provider
# of its own beside a manager that waits.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

need python3
! is_emulated || skip "the emulator knows no performance events"
compile switches -O2 "$FX_SRCDIR/tests/e2e/targets/switches.c" -pthread
manager_start

# The switches of the threads that ARCHIVE's program said, in `said', are there as often as the kernel counts them.
expect_switches() {
	expect_ok "$FXTRACE" query --json "$1" "
		select tid, thread.name, ts, dur, end_state from sched join thread using (utid) order by ts"
	PYTHONPATH=$FX_SRCDIR/tests/e2e python3 -B - <<'END' >checked 2>&1 || fail "$(cat checked)"
import json
from switches_agree import compare
slices = json.load(open("out"))
lines = open("said").readlines()
assert len(lines) >= 3, lines
for line in lines:
    own, name = compare(slices, line)
    assert {s["name"] for s in own} == {name}, (name, {s["name"] for s in own})
    assert len([s for s in own if s["end_state"] == "X"]) == 1, own[-3:]
END
}

# All of the machine comes into these rings: what is lost where it is very busy is counted, and cannot be compared.
for try in 1 2 3 4 5; do
	expect_ok "$FXTRACE" record --sample 999 --kernel -o own.fxt -- ./switches
	grep -qE 'records? (lost|of --kernel may be missing)' err || break
done
! grep -qE 'records? (lost|of --kernel may be missing)' err || skip "the machine is too busy ($try tries)"
! grep -qE 'no samples are taken|are not recorded' err || skip "$(grep -E 'no samples|are not' err)"
cp out said
expect_no_line 'malformed' err
expect_clean own.fxt
expect_switches own.fxt
expect_ok "$FXTRACE" report --samples own.fxt
expect_line ' compute_main$' out
# Its status is the program's; what is not there is said as without.
expect_status 3 "$FXTRACE" record -q --kernel -o own.fxt -- sh -c 'exit 3'
expect_status 127 "$FXTRACE" record --kernel -o own.fxt -- ./nowhere
expect_line 'program not found' err

# --- Without a program -----------------------------------------------------------------------------

state_is ready || fail "the session goes on"
expect_ok "$FXTRACE" record --kernel --duration 1ms -o all.fxt
if grep -q 'of processes that run already is not recorded' err; then
	expect_line 'CAP_PERFMON' err
	exit 0
fi
cat >twice.sh <<'END'
./switches >first
touch began
until [ -e go ]; do sleep 0.01; done
./switches >second
./static >third
touch over
until [ -e end ]; do sleep 0.01; done
END
cp switches static
with_provider sh twice.sh &
program=$!
wait_for 60 test -e began || fail "it does not begin"
"$FXTRACE" record --sample 999 --kernel -o all.fxt >out 2>err &
recorder=$!
provider_runs() {
	pgrep -P "$recorder" -x fxtrace-kernel >/dev/null && [ "$("$FXTRACE" list-providers | grep -c fxtrace-kernel)" -eq 1 ]
}
wait_for 60 provider_runs || fail "there is no kernel provider: $(cat err)"
touch go
wait_for 60 test -e over || fail "it does not go on"
kill -INT "$recorder"
wait "$recorder" || fail "the recording failed: $(cat err)"
cp err told
expect_no_line 'malformed' told
touch end
wait "$program"
expect_clean all.fxt
cat second third >said
grep -qE 'records? (lost|of --kernel may be missing)' told || expect_switches all.fxt
# What was before, and what others do, is not there.
expect_ok "$FXTRACE" query --csv all.fxt "select count(*) from sched join thread using (utid) where tid in ($(awk '{ print $2 }' first | paste -sd,))"
expect_equal 0 "$(tail -n 1 out | tr -d '\r')" "switches of before"
expect_ok "$FXTRACE" query --csv all.fxt "select count(*) from sched join thread using (utid) where thread.name in ('fxtrace', 'fxtrace-kernel')"
expect_equal 0 "$(tail -n 1 out | tr -d '\r')" "switches of others"

# --- A service -------------------------------------------------------------------------------------

"$FX_BUILDDIR/fxtrace-kernel" --socket "$TEST_DIR/fxtrace/manager.sock" --everyone --switches &
service=$!
service_runs() {
	"$FXTRACE" list-providers | grep -q fxtrace-kernel
}
wait_for 60 service_runs || fail "the service does not register"
# (A busy machine may have run a short program before the service looks at it.)
service_records() {
	expect_ok "$FXTRACE" record -o service.fxt -- ./switches
	cp out said
	expect_no_line 'malformed' err
	expect_clean service.fxt
	expect_ok "$FXTRACE" query --csv service.fxt "select count(*) from sched join thread using (utid) where tid in ($(awk '{ print $2 }' said | paste -sd,))"
	[ "$(tail -n 1 out | tr -d '\r')" -gt 50 ]
}
for round in 1 2; do
	wait_for 60 service_records || fail "round $round: no switches: $(cat out)"
done
kill -TERM "$service"
wait "$service" || fail "the service ends with $?"
manager_stop

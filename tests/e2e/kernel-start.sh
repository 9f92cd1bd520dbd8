#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace start --kernel: the kernel provider comes into a session that runs, or begins with one, and ends as tracing is stopped, however that
# happens; what the kernel said before the stop is in the archive, and nothing from behind it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

need python3 pgrep
! is_emulated || skip "the emulator knows no performance events"
compile switches -O2 "$FX_SRCDIR/tests/e2e/targets/switches.c" -pthread
cat >thrice.sh <<'END'
for part in 1 2 3; do
	until [ -e "go$part" ]; do sleep 0.01; done
	./switches >"said$part"
	touch "over$part"
done
until [ -e end ]; do sleep 0.01; done
END
manager_start

# part NUMBER: has the program do it.
part() {
	touch "go$1"
	wait_for 120 test -e "over$1" || fail "part $1 does not end"
}
# switches_of NUMBER ARCHIVE: of the threads of that part, how many switches there are.
switches_of() {
	expect_ok "$FXTRACE" query --csv "$2" "
		select count(*) from sched join thread using (utid) where tid in ($(awk '{ print $2 }' "said$1" | paste -sd,))"
	tail -n 1 out | tr -d '\r'
}
has_kernel() {
	"$FXTRACE" list-providers | grep -q fxtrace-kernel
}

# --- Into a session that runs ---------------------------------------------------------------------

expect_ok "$FXTRACE" start -c '#default,-syscall' -o all.fxt
with_provider sh thrice.sh &
program=$!
part 1
expect_ok "$FXTRACE" start --kernel --sample 999
! grep -q 'of processes that run already is not recorded' err || skip "$(cat err)"
! grep -qE 'no samples are taken|are not recorded' err || skip "$(cat err)"
has_kernel || fail "there is no kernel provider"
expect_one_error 1 "$FXTRACE" start --kernel
expect_line "the kernel's events are recorded already" err
expect_one_error 2 "$FXTRACE" start --kernel -c syscall
expect_line 'tracing runs already' err
awk '$1 == "cpu" { print $9 }' /proc/stat >stolen
part 2
expect_ok "$FXTRACE" stop
! has_kernel || fail "the kernel provider goes on after a stop"
part 3
# It goes on without.
expect_ok "$FXTRACE" start
! has_kernel || fail "there is a kernel provider that nobody has asked for"
touch end
wait "$program"
expect_ok "$FXTRACE" terminate
cp err told
expect_clean all.fxt
expect_equal 0 "$(switches_of 1 all.fxt)" "switches of before"
expect_equal 0 "$(switches_of 3 all.fxt)" "switches of afterwards"
if ! grep -qE 'records? (lost|of --kernel may be missing)' told; then
	expect_ok "$FXTRACE" query --json all.fxt "select tid, thread.name, ts, dur, end_state from sched join thread using (utid) order by ts"
	PYTHONPATH=$FX_SRCDIR/tests/e2e python3 -B - <<'END' >checked 2>&1 || fail "$(cat checked)"
import json
from switches_agree import compare
slices = json.load(open("out"))
for line in open("said2"):
    own, name = compare(slices, line)
    # To the end, which comes right before the stop.
    assert len([s for s in own if s["end_state"] == "X"]) == 1, own[-3:]
END
fi
expect_ok "$FXTRACE" report --samples all.fxt
expect_line ' compute_main$' out

# --- With a session, until its end ----------------------------------------------------------------

rm -f go? over? end
expect_ok "$FXTRACE" start --json --kernel -o new.fxt
expect_line '^\{"state": "started"' out
with_provider sh thrice.sh &
program=$!
part 1
part 2
part 3
expect_ok "$FXTRACE" terminate
! has_kernel || fail "the kernel provider goes on without a session"
touch end
wait "$program"
expect_clean new.fxt
[ "$(switches_of 3 new.fxt)" -gt 50 ] || fail "no switches: $(cat out)"

# --- By a category of the kernel's ----------------------------------------------------------------

expect_ok "$FXTRACE" start -c '#default,kernel:irq' -o irq.fxt
has_kernel || fail "there is no kernel provider for kernel:irq: $(cat err)"
expect_ok "$FXTRACE" terminate
expect_ok "$FXTRACE" start -o later.fxt
expect_ok "$FXTRACE" start -c 'kernel:irq,tracepoint:sched/sched_process_exit'
has_kernel || fail "there is no kernel provider for what was asked for later: $(cat err)"
expect_ok "$FXTRACE" terminate
expect_one_error 2 "$FXTRACE" start -c kernel:syscall -o none.fxt
expect_line "'kernel:syscall': the kernel provider has no such category" err

# --- One that waits for sessions is nobody's to end -----------------------------------------------

"$FX_BUILDDIR/fxtrace-kernel" --socket "$TEST_DIR/fxtrace/manager.sock" --everyone --switches &
service=$!
wait_for 120 has_kernel || fail "the service does not register"
expect_ok "$FXTRACE" start -o service.fxt
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" terminate
has_kernel || fail "a stop ends the service"
kill -TERM "$service"
wait "$service" || fail "the service ends with $?"

# --- The manager is killed ------------------------------------------------------------------------

expect_ok "$FXTRACE" start --kernel -o killed.fxt
provider=$("$FXTRACE" list-providers | awk '$3 == "fxtrace-kernel" { print $2 }')
[ -n "$provider" ] || fail "there is no kernel provider: $(cat err)"
has_ended() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.*zombie' "/proc/$1/status"
}
! has_ended "$provider" || fail "the kernel provider has ended"
kill -9 "$MANAGER"
wait_for 120 has_ended "$provider" || fail "the kernel provider goes on without a manager"

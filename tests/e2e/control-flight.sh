#!/bin/bash
# SPDX-License-Identifier: MIT
# The flight recorder: the last moments of all processes, while tracing goes on.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

compile_busy
manager_start

# On command, again and again; the session's own archive is as if nothing had been.
provider_start ./busy 60
busy=$PROVIDER
wait_for 10 providers_are 1 || fail "the process does not register"
expect_ok "$FXTRACE" start -m circular -b 256K -o flight.fxt
sleep 0.5
for n in 1 2 3; do
	expect_ok "$FXTRACE" snapshot -o "shot.$n.fxt" --json
	[ "$(json_number events out)" -gt 100 ] || fail "snapshot $n holds too little: $(cat out)"
	expect_line '"history_seconds": [0-9]' out
	expect_clean "shot.$n.fxt"
done
# Sooner or later the buffer has gone round, and what was before is no longer in it.
gone_round() {
	rm -f text.fxt
	expect_ok "$FXTRACE" snapshot -o text.fxt
	grep -q kept err
}
wait_for 30 gone_round || fail "a buffer of 256 KiB never goes round: $(cat err)"

# On a signal to the manager.
kill -USR2 "$MANAGER"
wait_for 10 grep -q 'flight.1.fxt: a snapshot' manager.err || fail "no snapshot on SIGUSR2"
expect_clean flight.1.fxt
state_is started || fail "a snapshot ends the session"
expect_ok "$FXTRACE" terminate
expect_line 'kept' err
expect_clean flight.fxt
expect_one_error 1 "$FXTRACE" snapshot -o none.fxt
[ ! -e none.fxt ] || fail "a refused snapshot leaves a file"

# Only circular buffers have a history.
expect_ok "$FXTRACE" start -o streaming.fxt
expect_one_error 1 "$FXTRACE" snapshot -o none.fxt
expect_line 'circular' err
expect_one_error 2 "$FXTRACE" start --trigger x:snapshot
expect_ok "$FXTRACE" terminate

# When a traced process dies: its own last moments are in it.
expect_ok "$FXTRACE" start -m circular --trigger death:snapshot -o crash.fxt
sleep 0.5
kill -9 "$busy"
wait "$busy" 2>/dev/null
wait_for 10 grep -q 'crash.1.fxt: a snapshot' manager.err || fail "no snapshot when a process died"
expect_clean crash.1.fxt
"$FXTRACE" dump crash.1.fxt >crash.txt
expect_line "pid=$busy .*name=\"turn\".*unfinished" crash.txt
expect_ok "$FXTRACE" terminate
expect_clean crash.fxt
manager_stop

# fxtrace run has the same, without a manager.
"$FXTRACE" run -m circular -b 256K -o run.fxt -- ./busy 3 2>run.err &
run=$!
wait_for 10 pgrep -P "$run" || fail "the program does not start"
sleep 0.5
kill -USR2 "$run"
wait_for 10 grep -q 'run.1.fxt: a snapshot' run.err || fail "no snapshot on SIGUSR2 to fxtrace run"
wait "$run" || fail "fxtrace run ends with $?"
expect_line 'kept' run.err
expect_clean run.1.fxt run.fxt
expect_ok "$FXTRACE" run -m circular --trigger death:snapshot -o deaths.fxt -- \
	sh -c './busy 0.05; ./busy 0.05'
expect_clean deaths.1.fxt deaths.2.fxt deaths.fxt

# Ends whose begins were overwritten are left out.
expect_ok "$FXTRACE" run -m circular -b 64K --records pairs -o pairs.fxt -- ./busy 1
expect_line 'the last 0' err
expect_clean pairs.fxt

# A trigger stops, the program goes on.
expect_status 5 "$FXTRACE" run --trigger death:stop -o stop.fxt -- sh -c './busy 0.05; exit 5'
expect_clean stop.fxt

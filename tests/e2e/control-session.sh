#!/bin/bash
# SPDX-License-Identifier: MIT
# Sessions of a running manager: from the commands that begin them to their archives.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

compile_busy

# Without a manager each command says so, in one line.
export XDG_RUNTIME_DIR=$TEST_DIR
for command in status list-providers record start stop snapshot terminate; do
	expect_one_error 1 "$FXTRACE" "$command"
	expect_line 'no manager is running' err
done

manager_start
expect_equal 700 "$(stat -c %a fxtrace)" "mode of the socket's folder"
expect_one_error 1 "$FXTRACE" manager --foreground
expect_line 'listening there already' err
expect_ok "$FXTRACE" list-categories
expect_line '^\* function ' out
expect_line '^  malloc ' out

# A process that registered before any session; two starts and stops; the archive of both.
provider_start ./busy 30
busy=$PROVIDER
wait_for 10 providers_are 1 || fail "the process does not register"
expect_ok "$FXTRACE" list-providers
expect_line " $busy busy " out
expect_one_error 1 "$FXTRACE" stop
expect_line 'no session' err
expect_ok "$FXTRACE" start -o two.fxt
expect_one_error 1 "$FXTRACE" start
expect_line 'runs already' err
sleep 0.3
expect_ok "$FXTRACE" list-providers --json
expect_line '"mode": "streaming", "started": true' out
expect_ok "$FXTRACE" stop
expect_one_error 1 "$FXTRACE" stop
"$FXTRACE" status >out
expect_line 'stopped' out
expect_one_error 2 "$FXTRACE" start -b 1M
expect_ok "$FXTRACE" start -c malloc
sleep 0.2
expect_ok "$FXTRACE" terminate --json
[ "$(json_number events out)" -gt 1000 ] || fail "too few events: $(cat out)"
expect_clean two.fxt
"$FXTRACE" dump two.fxt >two.txt
expect_line 'name="leaf"' two.txt
expect_equal 2 "$(grep -c 'name="turn".*unfinished' two.txt)" "calls that a stop cut off"

# The next session has an archive of its own, with all names.
expect_ok "$FXTRACE" record -o next.fxt --duration 200ms
expect_line 'next.fxt: .* 1 process' err
expect_clean next.fxt
"$FXTRACE" dump next.fxt >next.txt
expect_line 'name="leaf"' next.txt
kill "$busy"
wait "$busy"
wait_for 10 providers_are 0 || fail "the manager keeps the dead"

# The program's own result, its arguments, and its signal.
expect_status 7 "$FXTRACE" record -q -o result.fxt -- ./busy 0.05 7
expect_status 9 "$FXTRACE" record -q -o result.fxt --append-args 0.05,9 -- ./busy
expect_clean result.fxt
# shellcheck disable=SC2016 # for the program's shell
expect_status 143 "$FXTRACE" record -q -o result.fxt -- sh -c 'kill -TERM $$'
expect_one_error 127 "$FXTRACE" record -q -o result.fxt -- ./no-such-program
expect_one_error 2 "$FXTRACE" record --no-follow -- ./busy

# The program is left alone when it is detached; the recording goes on when it is decoupled.
expect_ok "$FXTRACE" record -o detached.fxt --duration 100ms --detach -- ./busy 2
providers_are 1 || fail "the detached program is gone"
expect_clean detached.fxt
# (An emulator's programs are slow to begin.)
span=500ms
! is_emulated || span=10s
expect_ok "$FXTRACE" record --json -o decoupled.fxt --duration $span --decouple -- ./busy 0.05
expect_equal 2 "$(json_number processes out)" "processes of the decoupled recording"
expect_clean decoupled.fxt

# A recorder that is killed leaves a whole archive; one whose output dies does not stop the next.
"$FXTRACE" record -q -o killed.fxt &
recorder=$!
wait_for 10 state_is started || fail "the recording does not start"
kill -9 "$recorder"
wait_for 10 state_is ready || fail "the session outlives its client"
expect_clean killed.fxt
expect_one_error 1 "$FXTRACE" record -q -o /dev/full -- ./busy 0.3
expect_line 'aborted' err
expect_status 3 "$FXTRACE" record -q -o after.fxt -- ./busy 0.05 3
expect_clean after.fxt

# To standard output, and compressed.
"$FXTRACE" record -q -o - -- ./busy 0.05 >pipe.fxt || fail "no recording to standard output"
expect_clean pipe.fxt
expect_ok "$FXTRACE" record -q -o packed.fxt.gz -- ./busy 0.05
gzip -t packed.fxt.gz || fail "packed.fxt.gz is not gzip"
expect_clean packed.fxt.gz

# Told to end, the manager completes the archive of a session that runs.
expect_ok "$FXTRACE" start -o last.fxt
with_provider ./busy 0.1
manager_stop
expect_clean last.fxt

# Killed, it harms no program, and what it had written can be read; the next one takes its place.
manager_start
expect_ok "$FXTRACE" start -o prefix.fxt
provider_start ./busy 3 6
has_leaves() { "$FXTRACE" dump prefix.fxt 2>/dev/null | grep 'name="leaf"' >/dev/null; }
wait_for 30 has_leaves || fail "the process does not record"
kill -9 "$MANAGER"
wait "$MANAGER" 2>/dev/null
status=0
wait "$PROVIDER" || status=$?
expect_equal 6 "$status" "status of a program whose manager was killed"
has_leaves || fail "what was written cannot be read" # but for its last record, which may be cut

# Who has lost its name to another one leaves it to that.
manager_start
first=$MANAGER
rm fxtrace/manager.sock
manager_start
kill -TERM "$first"
wait "$first" || fail "the manager whose name was removed ended with $?"
expect_ok "$FXTRACE" status --json
expect_equal "$MANAGER" "$(json_number pid out)" "the manager that listens"
manager_stop

# In the background: ready when the command returns.
expect_ok "$FXTRACE" manager
expect_ok "$FXTRACE" status --json
background=$(json_number pid out)
kill -TERM "$background"
is_gone() { ! kill -0 "$1" 2>/dev/null; }
wait_for 30 is_gone "$background" || fail "the manager in the background does not end"

# --stop completes the archive, and returns when the manager has ended.
manager_start
provider_start ./busy 30
wait_for 10 providers_are 1 || fail "the process does not register"
expect_ok "$FXTRACE" start -o stopped.fxt
expect_one_error 2 "$FXTRACE" manager --stop --foreground
expect_ok "$FXTRACE" manager --stop
expect_equal "manager $MANAGER has ended" "$(cat out)" "what --stop says"
expect_clean stopped.fxt
wait "$MANAGER" || fail "the manager ended with $?"
expect_one_error 1 "$FXTRACE" manager --stop
expect_line 'no manager is running' err
kill "$PROVIDER"

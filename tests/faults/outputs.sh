#!/bin/bash
# SPDX-License-Identifier: MIT
# Outputs that fail in the middle: a disk that is full, a pipe whose reader goes away. The program is not
# disturbed, one line says what happened, and what was written is an archive of whole records.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

CALLS=3000
ENOSPC=28
EIO=5

witness_compile
./witness map $CALLS >plain.out

# The program is done when this has returned.
expect_undisturbed() { # STATUS
	expect_equal 3 "$1" "$FAULT: status ($(cat ran.err))"
	expect_same_file plain.out ran.out
	expect_equal 1 "$(grep -c "^fxtrace: $2: $3; the archive ends here" ran.err)" \
		"$FAULT: lines about it: $(cat ran.err)"
}

# --- The disk is full at the Nth write -------------------------------------------------------------

for output in trace.fxt trace.fxt.gz trace.fxt.zst; do
	for write in 1 2 4; do
		# A compressed archive may have one: what has come in 250 ms, whole.
		[ "$output" = trace.fxt ] || [ "$write" -eq 1 ] || continue
		fault_set archive_write $write fail=$ENOSPC
		FAULT="$FAULT, $output"
		rm -f map $output
		status=0
		patiently "$FXTRACE" run -o $output -b 64K --on-full block -- ./witness map $CALLS \
			>ran.out 2>ran.err || status=$?
		fault_happened || fail "$FAULT: the point is not reached"
		expect_undisturbed $status $output 'No space left on device'
		if [ -s $output ]; then
			expect_prefix $output
			expect_no_line ': error: ' checked
			expect_witnessed prefix $output map
		fi
	done
done

# The daemon's session is aborted; the next one is as good as any.
fault_set archive_write 2 fail=$EIO
manager_start
rm -f map
status=0
patiently "$FXTRACE" record -q -o trace.fxt -b 64K --on-full block -- ./witness map $CALLS \
	>ran.out 2>ran.err || status=$?
expect_equal 3 "$status" "$FAULT: status ($(cat ran.err))"
expect_same_file plain.out ran.out
expect_line 'trace.fxt: Input/output error' manager.err
expect_clean trace.fxt
expect_witnessed prefix trace.fxt map
wait_for $PATIENCE state_is ready || fail "$FAULT: the session does not end"
rm -f map
patiently "$FXTRACE" record -q -o trace.fxt -b 64K --on-full block -- ./witness map $CALLS \
	>ran.out 2>ran.err
expect_clean trace.fxt
expect_witnessed whole trace.fxt map
fault_clear
manager_stop

# --- Nobody reads ----------------------------------------------------------------------------------

# expect_stream FILE: the whole records of a stream that was cut anywhere.
expect_stream() {
	expect_prefix "$1"
	expect_witnessed prefix "$1" map
}

for bytes in 100 100000; do
	FAULT="a reader of $bytes bytes"
	rm -f map
	{
		status=0
		# shellcheck disable=SC2016 # for the shell inside
		patiently "$FXTRACE" run -o - -b 64K --on-full block -- sh -c '
			./witness map '$CALLS' >ran.out' 2>ran.err || status=$?
		echo $status >status
	} | head -c $bytes >cut.fxt
	soon test -s status || fail "$FAULT: hangs"
	expect_undisturbed "$(cat status)" 'standard output' 'Broken pipe'
	expect_stream cut.fxt
	rm -f status
done

# A reader that stops reading, and then goes: the program waits for nobody, unless it was asked to.
FAULT='a reader that sleeps'
mkfifo pipe
rm -f map
# shellcheck disable=SC2217 # it is the open end that counts
sleep 1 <pipe &
status=0
patiently "$FXTRACE" run -o pipe -b 64K -- ./witness map $CALLS >ran.out 2>ran.err || status=$?
expect_undisturbed $status pipe 'Broken pipe'
wait

# A client that asks while the session ends by itself hears why.
fault_set trace_terminate 1 stop
manager_start
FAULT="$FAULT, /dev/full"
patiently "$FXTRACE" start -o /dev/full 2>started.err &
started=$!
wait_for $PATIENCE fault_happened || fail "$FAULT: the point is not reached"
patiently "$FXTRACE" stop 2>stopped.err &
stopped=$!
sleep 0.2 # its request waits in the socket
kill -CONT "$MANAGER"
wait $started || expect_line 'the session was aborted: its archive could not be written' started.err
wait $stopped && fail "$FAULT: a session that is aborted can be stopped"
expect_equal "fxtrace stop: the manager: the session was aborted: its archive could not be written" \
	"$(cat stopped.err)" "$FAULT: what is said"
fault_clear
manager_stop

# The client's standard output, which the daemon writes.
FAULT="the daemon's output has no reader"
manager_start
rm -f map
{
	status=0
	# shellcheck disable=SC2016
	patiently "$FXTRACE" record -q -o - -b 64K --on-full block -- sh -c '
		./witness map '$CALLS' >ran.out' 2>ran.err || status=$?
	echo $status >status
} | head -c 1000 >cut.fxt
soon test -s status || fail "$FAULT: hangs"
expect_equal 3 "$(cat status)" "$FAULT: status ($(cat ran.err))"
expect_same_file plain.out ran.out
expect_line 'Broken pipe' manager.err
wait_for $PATIENCE state_is ready || fail "$FAULT: the session does not end"
manager_stop

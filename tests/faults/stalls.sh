#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread that sleeps in the middle of something, while another one of its process goes through the
# buffer again and again; and a process that is stopped there, while another one does. Nobody waits for
# it; nothing that it had completed is lost, and it goes on where it was.
# And a manager that is too busy to answer at once.
#
#	tests/faults/stalls.sh [--long]
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"

CALLS=$(scaled 10000)
PAUSE_MS=100
if [ "${1-}" = --long ]; then
	CALLS=40000
	PAUSE_MS=3000
fi

witness_compile
./witness map $CALLS >plain.out

# --- A thread --------------------------------------------------------------------------------------

# In 64K a chunk is 2 KiB, 17 calls, and a half is 15 chunks. The witness has two threads when its first one
# has made CALLS calls; then this many more are made, or chunks and halves used.
CALL=$((CALLS + CALLS / 5))
CHUNK=$((CALL / 17))
HALF=$((CALL / 17 / 15))

stall() { # HOW POINT PASSING OPTION...
	local how=$1 point=$2 passing=$3 status=0

	shift 3
	fault_set "$point" "$passing" "sleep=$PAUSE_MS"
	FAULT="$FAULT, $*"
	rm -f map
	patiently "$FXTRACE" run -q -o trace.fxt "$@" -- ./witness map $CALLS >ran.out 2>ran.err || status=$?
	fault_happened || fail "$FAULT: the point is not reached"
	expect_equal 3 "$status" "$FAULT: status ($(cat ran.err))"
	expect_same_file plain.out ran.out
	expect_clean trace.fxt
	if [ "$how" = counted ]; then
		expect_counted 40 trace.fxt map
	else
		expect_witnessed "$how" trace.fxt map
	fi
}

stall_in_each_mode() { # POINT PASSING
	stall whole "$1" "$2" -b 64K --on-full block
	case $1 in
	half_* | packet_claimed | chunk_claim | chunk_claimed) ;; # circular mode has its own
	*) stall newest "$1" "$2" -b 64K -m circular ;;
	esac
}

for point in record_reserved record_half record_publish frame_reserved frame_pop; do
	stall_in_each_mode $point $CALL
done
for point in chunk_release chunk_released chunk_claim chunk_claimed chunk_zeroed chunk_opened; do
	stall_in_each_mode $point $CHUNK
done
# With losses, who knows how many records there are; but calls are made, and each thread holds a chunk.
stall counted frame_reserved $CALL -b 64K
stall counted frame_pop $CALL -b 64K
stall newest chunk_overwrite $CHUNK -b 64K -m circular
for point in half_full half_switched packet_claimed half_posted; do
	stall_in_each_mode $point $HALF
done

# --- A process -------------------------------------------------------------------------------------


other_is_done() {
	grep -qx 'done' ran.out
}

# Late enough not to stop the shell, which is traced as well.
for point in record_half frame_reserved chunk_claimed chunk_opened half_switched; do
	passing=2000
	[ "${point%%_*}" != chunk ] || passing=100
	[ "${point%%_*}" != half ] || passing=6
	fault_set $point $passing stop
	rm -f map
	# shellcheck disable=SC2016 # for the shell inside
	patiently "$FXTRACE" run -q -o trace.fxt -b 64K --on-full block -- sh -c '
		./witness map '$CALLS' & ./witness map '$CALLS' & wait' >ran.out 2>ran.err &
	soon fault_happened || fail "$FAULT: the point is not reached"
	soon is_stopped "$(cat mark)" || fail "$FAULT: it does not stop"
	soon other_is_done || fail "$FAULT: the other process waits as well"
	kill -CONT "$(cat mark)"
	status=0
	wait $! || status=$?
	expect_equal 0 "$status" "$FAULT: status ($(cat ran.err))"
	sort ran.out >sorted
	sort plain.out plain.out | cmp -s - sorted || fail "$FAULT: $(cat ran.out)"
	expect_clean trace.fxt
	expect_witnessed whole trace.fxt map
done

# --- The manager -----------------------------------------------------------------------------------

# Longer than a process waits for an answer. One that stands still is not waited for (tests/faults/run.sh --long); this
# one is busy, as it seems to be where it gets no processor.
fault_set register_answer 1 spin=2500
rm -f map
status=0
patiently "$FXTRACE" run -q -o trace.fxt --on-full block -- ./witness map $CALLS >ran.out 2>ran.err || status=$?
fault_happened || fail "$FAULT: the point is not reached"
expect_equal 3 "$status" "$FAULT: status ($(cat ran.err))"
expect_same_file plain.out ran.out
expect_clean trace.fxt
expect_witnessed whole trace.fxt map

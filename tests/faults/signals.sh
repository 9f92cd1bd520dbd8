#!/bin/bash
# SPDX-License-Identifier: MIT
# A signal handler at every point of base/fault.def that a traced program passes while it records: one
# that traces, one that forks and whose child goes on there, one that jumps away.
#
#	tests/faults/signals.sh [--long] [POINT...]
#
# And one that a timer runs 10,000 times a second in each thread, in each mode: what is recorded and what
# is dropped is what was produced, and no record is torn. --long does that for longer. Under an emulator each point has one of
# the handlers.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"

CALLS=800
STORM_CALLS=$(scaled 30000)
if [ "${1-}" = --long ]; then
	shift
	STORM_CALLS=200000
fi
WANTED=" $* "
SIGUSR1=$(kill -l USR1)

witness_compile
./witness map $CALLS >plain.out

# Points that are passed before the program has begun have no handler to be interrupted by; what a handler
# records in a child that is not registered yet is not lost, since its tracing has not begun.
wanted() {
	case $1 in
	register_* | attach_* | fork_disowned) return 1 ;;
	esac
	[ "$WANTED" = '  ' ] || [ "${WANTED#* "$1" }" != "$WANTED" ]
}

# --- At every point --------------------------------------------------------------------------------

interrupt() { # RUN POINT PASSING
	local handler status how=whole options='-b 64K --on-full block'

	[ "$1" = provider ] || { how=newest && options='-b 64K -m circular'; }
	in_turn trace fork jump
	for handler in "${turn[@]}"; do
		fault_set "$2" "$3" "raise=$SIGUSR1"
		FAULT="$FAULT ($handler)"
		rm -f map
		status=0
		# shellcheck disable=SC2086 # several options
		WITNESS_HANDLER=$handler patiently "$FXTRACE" run -q -o trace.fxt $options -- \
			./witness map $CALLS >ran.out 2>ran.err || status=$?
		fault_happened || fail "$FAULT: the point is not reached"
		expect_equal 3 "$status" "$FAULT: status ($(cat ran.err))"
		expect_same_file plain.out ran.out
		expect_clean trace.fxt
		case $2-$handler in
		# A thread that becomes known just now has no second place to record, and a child none until it has memory.
		slot_*-trace | bring_*-trace) expect_counted 40 trace.fxt map ;;
		*) expect_witnessed "$how" trace.fxt map ;;
		esac
	done
	count=$((count + 1))
}

count=0
while read -r point run passing; do
	! wanted "$point" || interrupt "$run" "$point" $(((passing + 1) / 2))
done < <(points provider; points circular)
fault_clear
echo "$count points"
[ "$WANTED" = '  ' ] || exit 0

# --- Ten thousand times a second -------------------------------------------------------------------

WITNESS_HZ=10000
export WITNESS_HZ

# interrupted_often: handlers have run, in every thread that has worked.
interrupted_often() {
	awk 'NR % 2 == 1 && $4 < 10 { print "a handler has run " $4 " times: " $0; failed = 1 }
		END { exit failed }' lines
}

storm() { # SLACK OPTION...
	local slack=$1 status=0

	shift
	FAULT="storm $*"
	rm -f map
	patiently "$FXTRACE" run -q -o trace.fxt "$@" -- ./witness map $STORM_CALLS >ran.out 2>ran.err ||
		status=$?
	expect_equal 3 "$status" "$FAULT: status ($(cat ran.err))"
	expect_same_file plain.out ran.out
	expect_clean trace.fxt
	expect_counted "$slack" trace.fxt map
	interrupted_often >verdict || fail "$(cat verdict)"
}

# Where there is no room, what processes tell of the three that they make is lost too.
storm 0 -c function -b 64K --on-full block
storm 3 -c function -b 64K
storm 3 -c function -b 256K -m oneshot
storm overwritten -c function -b 256K -m circular
storm 0 -c function --records pairs -b 64K --on-full block
storm 3 -c function --records pairs -b 64K
storm 3 -c function --records pairs -b 256K -m oneshot
storm overwritten -c function --records pairs -b 256K -m circular
storm 0 -c function,syscall -b 64K --on-full block
storm 0 -c function,syscall --records pairs -b 64K --on-full block
storm 40 -c function,syscall -b 64K
storm 40 -c function,syscall -b 256K -m oneshot
storm overwritten -c function,syscall -b 256K -m circular

#!/bin/bash
# SPDX-License-Identifier: MIT
# Records that a signal handler costs, since it runs in the middle of recording: each cause is told in one line, by its
# own name and with a cure.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"

SIGUSR1=$(kill -l USR1)

compile loser -O1 -g -w -D_GNU_SOURCE -finstrument-functions "$FX_SRCDIR/tests/faults/loser.c"

# lose POINT HOW N OPTION...: with the signal at each passing of the point.
lose() {
	fault_set "$1" 1 "every=$SIGUSR1"
	FAULT="$FAULT ($2)"
	patiently "$FXTRACE" run -o trace.fxt "${@:4}" -- ./loser "$2" "$3" >ran.out 2>ran.err ||
		fail "$FAULT: status $? ($(cat ran.err))"
	fault_happened || fail "$FAULT: the point is not reached"
	fault_clear
	expect_clean trace.fxt
}

# Three records of a thread can be in the making at a time.
lose record_publish nest 10 -c function
expect_loss handlers-nested 10 ran.err
list_archive trace.fxt
expect_events 1+ 'type == "instant" && name == "records dropped" && /cause=handlers-nested/'

lose record_publish leave 1 -c process
expect_loss record-left 1 ran.err

lose slot_taken first 10 -c function
expect_loss handler-first 10 ran.err

# (They are waited for, for some seconds.)
lose record_publish hold 10000 -c function -b 4K --on-full block
expect_loss wait-hopeless '[0-9]+' ran.err

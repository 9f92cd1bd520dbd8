#!/bin/bash
# SPDX-License-Identifier: MIT
# Releases that come between two steps of a wait, and waits that come between two of a release: the arrow comes from
# the thread that let the other go, whoever else had the object meanwhile.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

compile between -O1 -g -D_GNU_SOURCE -pthread "$FX_SRCDIR/tests/faults/between.c"

# arrow_from NAME TID: from whom the arrow comes that ends in thread TID's call NAME; 0: from nobody.
arrow_from() {
	awk -F'\t' -v name="$1" -v tid="$2" '
		$1 == "flow-begin" { from[$9] = $3 }
		$1 == "flow-end" && $7 == name && $3 == tid { print from[$9]; n++ }
		END { if (!n) print 0 }' events
}

# expect_arrow: what the program says is what the archive has; else it is told at the end.
expect_arrow() {
	local name tid want got

	fault_happened || fail "$FAULT: the point is not reached"
	expect_clean trace.fxt
	"$FX_BUILDDIR/tests/e2e/events" trace.fxt >events || fail "cannot list trace.fxt"
	read -r name tid want <ran.out
	got=$(arrow_from "$name" "$tid")
	[ "$got" = "$want" ] || echo "$FAULT: the arrow comes from $got, not $want (to $tid)" >>wrong
}

between() { # POINT PASSING THING WAY
	fault_set "$1" "$2" "raise=$(kill -l USR1)"
	FAULT="$FAULT ($3 $4)"
	patiently "$FXTRACE" run -q --on-full block -o trace.fxt -- ./between "$3" "$4" >ran.out 2>ran.err ||
		fail "$FAULT: status $?: $(cat ran.out ran.err)"
	expect_arrow
}

for thing in reader writer second-writer mutex spin semaphore once; do
	between wait_begin 1 $thing wait
done
for thing in reader writer second-writer mutex strict nested spin; do
	between wait_begin 1 $thing wait-and-pass
	between wait_begun 1 $thing wait-and-pass
done
for thing in reader second-writer mutex strict nested spin semaphore; do
	between wait_begin 2 $thing wait-of-another
done
for thing in reader writer mutex spin semaphore signal broadcast; do
	between release_looked 1 $thing release
done
for thing in signal broadcast; do
	between wait_begun 1 $thing early
done

# Tracing begins in the middle of a round.
manager_start
fault_set wait_begun 1 "raise=$(kill -l USR1)"
FAULT="$FAULT (barrier midway)"
provider_start ./between barrier midway >ran.out
soon test -e ready || fail "$FAULT: nobody waits"
expect_ok "$FXTRACE" start -c pthread -o trace.fxt
touch go
wait "$PROVIDER" || fail "$FAULT: status $?"
expect_ok "$FXTRACE" terminate
expect_arrow
fault_clear
manager_stop

[ ! -s wrong ] || fail "$(cat wrong)"

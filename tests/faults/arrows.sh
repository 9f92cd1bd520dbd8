#!/bin/bash
# SPDX-License-Identifier: MIT
# Releases that come between two steps of a wait, and waits that come between two of a release: the arrow comes from
# the thread that let the other go, whoever else had the object meanwhile.
. "${FX_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/faults/lib.sh"

compile between -O1 -g -D_GNU_SOURCE -pthread "$FX_SRCDIR/tests/faults/between.c"

# arrow_from NAME TID: from whom the arrow comes that ends in thread TID's call NAME; 0: from nobody.
arrow_from() {
	awk -F'\t' -v name="$1" -v tid="$2" '
		$1 == "flow-begin" { from[$9] = $3 }
		$1 == "flow-end" && $7 == name && $3 == tid { print from[$9]; n++ }
		END { if (!n) print 0 }' events
}

between() { # POINT PASSING THING WAY
	local name tid want got

	fault_set "$1" "$2" "raise=$(kill -l USR1)"
	FAULT="$FAULT ($3 $4)"
	patiently "$FXTRACE" run -q --on-full block -o trace.fxt -- ./between "$3" "$4" >ran.out 2>ran.err ||
		fail "$FAULT: $(cat ran.out ran.err)"
	fault_happened || fail "$FAULT: the point is not reached"
	expect_clean trace.fxt
	"$FX_BUILDDIR/tests/e2e/events" trace.fxt >events || fail "cannot list trace.fxt"
	read -r name tid want <ran.out
	got=$(arrow_from "$name" "$tid")
	[ "$got" = "$want" ] || echo "$FAULT: the arrow comes from $got, not $want (to $tid)" >>wrong
}

for thing in reader writer second-writer mutex spin semaphore once; do
	between wait_begin 1 $thing wait
done
for thing in reader writer second-writer mutex spin; do
	between wait_begin 1 $thing wait-and-pass
	between wait_begun 1 $thing wait-and-pass
done
for thing in reader writer mutex spin semaphore signal broadcast; do
	between release_looked 1 $thing release
done
for thing in signal broadcast; do
	between wait_begun 1 $thing early
done
[ ! -s wrong ] || fail "$(cat wrong)"

#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrows of barriers and read-write locks that processes share: programs say who let them go. No arrow is wrong, also where processes are
# killed; and where none are, each wait has one, or is counted as left out. Half of the cases are others in each run.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/shared-locks.sh"

target sharing sharing.c -pthread

RANDOM=${FX_SEED:-$(date +%N | sed 's/^0*//')}

# share KIND SEED PROCESSES THREADS TURNS [WHAT]
share() {
	share_run sharing "$@"
}

turns=$(scaled 100)
for kind in barrier rwlock timed writers; do
	least=1
	for parties in "3 2" "$((RANDOM % 6 + 2)) $((RANDOM % 4 + 1))"; do
		seed=$((RANDOM))
		# shellcheck disable=SC2086 # two words
		share $kind $seed $parties "$turns"
		case $kind in
		barrier) [ "$found" -eq "$waits" ] && [ "$sum" -eq 0 ] ;;
		# (A reader who was held back for a writer that only wants to write may have waited for nobody.)
		writers) [ $((found + sum)) -le "$waits" ] ;;
		*) [ $((found + sum)) -eq "$waits" ] ;;
		esac || fail "sharing $kind $seed $parties $turns: $found of $waits waits have an arrow, $sum are left out: $(cat said)"
		[ "$found" -ge $least ] || fail "sharing $kind $seed $parties $turns: nobody has waited"
		least=0 # two may never meet
	done
done

total=0
for kind in barrier rwlock timed writers; do
	share $kind $((RANDOM)) $((RANDOM % 4 + 2)) $((RANDOM % 3 + 1)) 20000 kill
	total=$((total + found))
done
[ "$total" -gt 0 ] || fail "with processes that are killed, no wait has an arrow"

# Who comes to which round is known only by what the barrier itself said, where more come than a round is of.
for parties in "3 2" "$((RANDOM % 5 + 2)) $((RANDOM % 3 + 1))"; do
	# shellcheck disable=SC2086 # two words
	share barrier $((RANDOM)) $parties 20000 more
	[ $((found + sum)) -eq "$waits" ] || fail "a barrier with one thread too many: $found of $waits waits have an arrow, $sum are left out"
done

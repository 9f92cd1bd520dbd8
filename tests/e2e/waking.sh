#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrows of conditions that processes share: programs say who woke whom. No arrow is wrong, also where processes are killed; and where none
# are, each wait has one, or is counted as left out. Half of the cases are others in each run.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/shared-locks.sh"

need python3
target waking waking.c -pthread

RANDOM=${FX_SEED:-$(date +%N | sed 's/^0*//')}

# wake KIND SEED PROCESSES THREADS TURNS [WHAT]
wake() {
	share_run waking "$@"
	echo "waking $*: $found of $waits, $sum left out"
}

turns=$(scaled 200)
for kind in broadcast signal both loose; do
	all=0
	for parties in "1 2" "3 2" "$((RANDOM % 5 + 2)) $((RANDOM % 4 + 1))" "$((RANDOM % 4 + 1)) $((RANDOM % 6 + 2))"; do
		# shellcheck disable=SC2086 # two words
		wake $kind $((RANDOM)) $parties "$turns"
		# (A wait for the mutex may have none besides.)
		[ $((found + sum)) -ge "$waits" ] || fail "waking $kind $parties: $found of $waits waits have an arrow, $sum are left out: $(cat said)"
		[ $kind != broadcast ] || [ "$found" -eq "$waits" ] || fail "waking $kind $parties: $found of $waits waits have an arrow"
		all=$((all + found))
	done
	[ "$all" -gt 0 ] || fail "waking $kind: no wait has an arrow"
done

total=0
for kind in broadcast signal both loose; do
	wake $kind $((RANDOM)) $((RANDOM % 4 + 2)) $((RANDOM % 3 + 1)) 20000 kill
	total=$((total + found))
done
[ "$total" -gt 0 ] || fail "with processes that are killed, no wait has an arrow"

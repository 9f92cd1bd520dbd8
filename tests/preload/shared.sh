#!/bin/bash
# SPDX-License-Identifier: MIT
# What processes share: each wait is a slice. Those for all but conditions and spin locks have an arrow, of the manager's, for who let it go may be in another
# process; these have none, not even one from a thread of the same process that has been seen.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" run -q -c pthread --on-full block -o trace.fxt -- \
	"$FX_BUILDDIR/tests/preload/targets/shared"
mv out calls
expect_clean trace.fxt
"$FX_BUILDDIR/tests/e2e/events" trace.fxt >events || fail "cannot list trace.fxt"

while read -r call; do
	waits=$(awk -F'\t' -v call="$call" '$1 == "complete" && $7 == call' events | wc -l)
	[ "$waits" -ge 2 ] || fail "$waits waits of $call"
done < <(sort -u calls)
expect_equal 7 "$(wc -l <calls)" "kinds of objects"
awk -F'\t' '$1 == "flow-end" && $7 != "thread starts" && $7 != "pthread_join" && $7 != "gets" { print $7 }' events >arrows
expect_equal '' "$(cat arrows)" "arrows"
for name in pthread_mutex_unlock sem_post pthread_rwlock_unlock pthread_barrier_wait; do
	drawn=$(awk -F'\t' -v name=$name '$1 == "flow-begin" && $7 == name' events | wc -l)
	[ "$drawn" -gt 0 ] || fail "no arrow from $name"
done
awk -F'\t' '$1 == "flow-end"' events | grep -q pthread_join || fail "there are no arrows at all"

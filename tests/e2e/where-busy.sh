#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread that was stopped for its stack goes back into the call that it waits in when a processor takes it up again, which may be
# long after that: fxtrace where names its lock's holder, and the deadlock, all the same.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

! is_emulated || skip "the emulator has no other process's registers"
compile framed -O0 "$FX_SRCDIR/tests/e2e/targets/stuck.c" -pthread

nice -n 10 ./framed processes >children 2>/dev/null &
stuck=$!
busy=
for _ in $(seq $((2 * $(nproc)))); do
	(while :; do :; done) &
	busy+=" $!"
done
# shellcheck disable=SC2086 # several
at_end="kill -9 $stuck $busy 2>/dev/null"
wait_for 30 test -s children
child=$(cat children)
# dead: whether it is said of it; the child takes its first lock when it comes to it.
is_dead() {
	"$FXTRACE" where "$stuck" "$child" >out 2>err && grep -q '^DEADLOCK: ' out
}
wait_for 60 is_dead || fail "not said"$'\n'"$(cat out err)"
for i in $(seq 5); do
	is_dead || fail "not said at look $i"$'\n'"$(cat out err)"
done

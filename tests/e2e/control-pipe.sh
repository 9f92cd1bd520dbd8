#!/bin/bash
# SPDX-License-Identifier: MIT
# A client's pipe that nobody reads: the archive ends there, and nothing else hangs, be it the program, the
# stop and the end of the session, the one after it, or the manager's end.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

cat >counts.c <<'EOF'
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static int leaf(int i)
{
	return i * 3;
}

int main(void)
{
	volatile int sum = 0;

	for (int turn = 0;; turn++) {
		for (int i = 0; i < 100000; i++)
			sum += leaf(i);
		if (write(1, "turn\n", 5) != 5)
			return 1;
	}
}
EOF
compile counts counts.c -O1 -finstrument-functions
manager_start -b 256K
mkfifo pipe
exec 7<>pipe # a reader that does not read

turns_are() { # more than
	[ "$(wc -l <turns)" -gt "$1" ]
}

goes_on() {
	wait_for 60 turns_are $(($(wc -l <turns) + 3)) || fail "$1: the program does not go on"
}

provider_start ./counts >turns
wait_for 10 providers_are 1 || fail "the process does not register"
for how in stop terminate; do
	expect_ok "$FXTRACE" start -o pipe
	goes_on "$how"
	state_is started || fail "the session has ended"
	"$FXTRACE" $how >out 2>err # it may say that the archive ends
	wait_for 60 state_is ready || fail "$how: the session does not end"
	expect_line 'nobody reads it' manager.err
	goes_on "after $how"
	expect_ok "$FXTRACE" start -o after.fxt
	sleep 0.1
	expect_ok "$FXTRACE" terminate
	expect_clean after.fxt
done

# A client that waits, and is killed.
"$FXTRACE" record -o pipe >out 2>err &
client=$!
wait_for 10 state_is started || fail "the client starts no session"
goes_on "record"
kill -9 $client
wait $client 2>/dev/null
wait_for 60 state_is ready || fail "its session does not end"

# A snapshot, and one more that the manager's end finds under way.
expect_ok "$FXTRACE" start -m circular -o circular.fxt
goes_on "circular"
"$FXTRACE" snapshot -o pipe >out 2>err &
snapshot=$!
sleep 0.2
expect_ok "$FXTRACE" status
goes_on "snapshot"
expect_ok "$FXTRACE" terminate
expect_ok "$FXTRACE" start -o pipe
goes_on "the last session"
manager_stop
wait $snapshot
kill "$PROVIDER"
wait "$PROVIDER"
exit 0

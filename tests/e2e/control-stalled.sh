#!/bin/bash
# SPDX-License-Identifier: MIT
# A process that is stopped at any instruction, while its session stops and starts again: what its threads
# were in the middle of comes to the archive after their calls were told as open; and a call that sleeps
# through all of it is open at every stop.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

ROUNDS=${ROUNDS:-8}

target workers workers.c -pthread
manager_start -b 256K

cycles() { # ARCHIVE OPTION...
	local archive=$1

	shift
	rm -f go
	provider_start ./workers go
	wait_for 10 providers_are 1 || fail "the process does not register"
	expect_ok "$FXTRACE" start -o "$archive" "$@"
	touch go
	sleep 0.1
	for ((i = 0; i < ROUNDS; i++)); do
		kill -STOP "$PROVIDER"
		expect_ok "$FXTRACE" stop
		expect_ok "$FXTRACE" start --disposition clear-nondurable
		kill -CONT "$PROVIDER"
		sleep 0.00$((RANDOM % 9 + 1))
	done
	expect_ok "$FXTRACE" terminate
	expect_no_line 'malformed|corrupt' err
	expect_no_line 'malformed|corrupt' manager.err
	kill "$PROVIDER"
	wait "$PROVIDER"
	expect_clean "$archive"
}

cycles streaming.fxt -m streaming
expect_equal 1 "$("$FXTRACE" dump streaming.fxt | grep -c 'name="sleeper"')" "calls of sleeper()"
cycles pairs.fxt -m streaming --records pairs
cycles oneshot.fxt -m oneshot
cycles circular.fxt -m circular
manager_stop

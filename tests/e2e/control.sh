# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the tests of sessions with a running manager share; to be read after lib.sh.

# shellcheck disable=SC2034 # for the tests
MANAGER=

# manager_start [OPTION...]: one in the foreground, at the usual place below the test's directory.
manager_start() {
	export XDG_RUNTIME_DIR=$TEST_DIR
	"$FXTRACE" manager --foreground "$@" >manager.out 2>manager.err &
	MANAGER=$!
	wait_for 10 "$FXTRACE" status || fail "the manager does not listen: $(cat manager.err)"
}

manager_stop() {
	kill -TERM "$MANAGER"
	wait "$MANAGER" || fail "the manager ended with $?"
}

# with_provider PROGRAM...: as a program that registers with the manager.
with_provider() {
	LD_PRELOAD=$LIBFXTRACE FXTRACE_SOCKET=$TEST_DIR/fxtrace/manager.sock "$@"
}

# provider_start PROGRAM...: the same in the background; PROVIDER is its process.
provider_start() {
	LD_PRELOAD=$LIBFXTRACE FXTRACE_SOCKET=$TEST_DIR/fxtrace/manager.sock "$@" &
	# shellcheck disable=SC2034 # for the tests
	PROVIDER=$!
}

# state_is STATE, providers_are COUNT: what the manager says.
state_is() {
	"$FXTRACE" status --json | grep -q "\"state\": \"$1\""
}

providers_are() {
	"$FXTRACE" status --json | grep -q "\"providers\": $1,"
}

# json_number KEY FILE
json_number() {
	sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$2"
}

# A program that runs for SECONDS, and nearly all of that time inside a function that it has called no
# more than 0.1 s before.
compile_busy() {
	cat >busy.c <<'EOF'
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) static int leaf(int i)
{
	return i * 3;
}

__attribute__((noinline)) static int turn(void)
{
	const struct timespec nap = {0, 1000000};
	volatile int sum = 0;

	for (int naps = 0; naps < 20; naps++) {
		for (int i = 0; i < 50; i++)
			sum += leaf(i);
		nanosleep(&nap, NULL);
	}
	return sum;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? (int)(atof(argv[1]) * 40) : 40, status = argc > 2 ? atoi(argv[2]) : 0;

	while (turns--)
		turn();
	return status;
}
EOF
	compile busy busy.c -O1 -g -finstrument-functions
}

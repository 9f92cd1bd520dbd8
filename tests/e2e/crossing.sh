#!/bin/bash
# SPDX-License-Identifier: MIT
# A signal handler jumps out of instrumented code again and again, and out of the middle of recording: no two calls
# in the archive cross, and what was left out for it is told.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >jumper.c <<'EOF2'
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
static sigjmp_buf back;
static volatile sig_atomic_t ready, ticks;
static volatile int sink;
__attribute__((noinline)) static void leave(void)
{
	if (ready)
		siglongjmp(back, 1);
}
__attribute__((noinline)) static void tick(int number)
{
	(void)number;
	if (++ticks % 3 == 0)
		leave();
}
__attribute__((noinline)) static int descend(int levels)
{
	for (int i = 0; i < 100; i++)
		sink += i;
	return levels ? descend(levels - 1) + 1 : 0;
}
int main(void)
{
	struct sigaction action = {.sa_handler = tick};
	struct itimerval often = {{0, 50}, {0, 50}};
	sigaction(SIGALRM, &action, 0);
	setitimer(ITIMER_REAL, &often, 0);
	for (volatile int i = 0; i < 20000; i++) {
		if (!sigsetjmp(back, 1)) {
			ready = 1;
			descend(20);
		}
		ready = 0;
	}
	return 0;
}
EOF2
compile jumper jumper.c -O1 -finstrument-functions

for options in "" "--buffering-mode circular -b 1M"; do
	# shellcheck disable=SC2086 # words
	expect_ok "$FXTRACE" run $options -o trace.fxt -- ./jumper
	expect_ok "$FXTRACE" check trace.fxt
	expect_no_line 'partly overlaps|malformed' err
done

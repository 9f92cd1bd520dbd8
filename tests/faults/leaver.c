/* SPDX-License-Identifier: MIT */
/*
 * leaver WAY ROUNDS: calls that nest, small ones and ones with large frames, again and again, and a handler of SIGUSR1
 * that makes calls as well. WAY says what it does then: `return'; `jump' out of what it has interrupted; or `both',
 * two of three times the first. Prints how many calls have begun, counted in their bodies, and how often it jumped.
 * Half of the calls that are left are left by a jump of the program's own.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN __attribute__((no_instrument_function))
#define CALL   __attribute__((noinline)) static

static unsigned long begun, jumps, handled;
static volatile char sink;
static sigjmp_buf back, out;
static volatile sig_atomic_t may_jump;
static bool jump_always, jump_sometimes;

#define BEGUN() __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED)

CALL void leaf(void)
{
	BEGUN();
	sink++;
}

/* Its exit hook is jumped to where the compiler does so: then it runs above the frame that is gone. */
CALL void large(void)
{
	volatile char frame[20000];

	BEGUN();
	frame[0] = sink;
	leaf();
	sink = frame[0];
}

/* The same of a function that is called with something. */
CALL void large_of(int number)
{
	volatile char frame[20000];

	BEGUN();
	frame[0] = (char)number;
	leaf();
	sink = frame[0];
}

CALL int descend(int levels)
{
	int sum = 1;

	BEGUN();
	if (levels)
		sum += descend(levels - 1);
	else
		large();
	leaf();
	return sum;
}

CALL int sink_deep(int levels, bool leave)
{
	volatile char frame[100];

	BEGUN();
	frame[0] = (char)levels;
	if (levels)
		return sink_deep(levels - 1, leave) + frame[0];
	if (leave)
		siglongjmp(out, 1);
	return 0;
}

CALL void handle(void)
{
	BEGUN();
	leaf();
	large();
	if (may_jump && (jump_always || (jump_sometimes && handled % 3 == 0))) {
		jumps++;
		siglongjmp(back, 1);
	}
}

HIDDEN static void on_signal(int number)
{
	(void)number;
	handled++;
	handle();
}

CALL void round_of_calls(int number)
{
	BEGUN();
	if (!sigsetjmp(out, 0))
		sink_deep(number % 13, number % 2);
	large();
	large_of(number % 5);
	descend(number % 7);
}

HIDDEN int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	long rounds;

	if (argc != 3)
		return 1;
	/* Not atoi(), a function of a header: where that is inlined, clang has it call the hooks. */
	rounds = strtol(argv[2], NULL, 10);
	jump_always = strcmp(argv[1], "jump") == 0;
	jump_sometimes = strcmp(argv[1], "both") == 0;
	sigaction(SIGUSR1, &action, NULL);
	for (volatile int i = 0; i < rounds; i++) {
		if (!sigsetjmp(back, 1)) {
			may_jump = 1;
			round_of_calls(i);
		}
		may_jump = 0;
	}
	signal(SIGUSR1, SIG_IGN);
	leaf(); /* closes what was left last */
	printf("%lu %lu %lu\n", begun, jumps, handled);
	return 0;
}

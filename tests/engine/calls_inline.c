/* SPDX-License-Identifier: MIT */
/* Compiled with -O2 -finstrument-functions: small functions vanish into their callers, their hooks do
 * not. */
#include "tests/engine/calls.h"

#define ALWAYS static inline __attribute__((always_inline))

static jmp_buf back;
static volatile uint32_t sink;

ALWAYS void small(void)
{
	sink++;
}

ALWAYS void two_small(void)
{
	small();
	small();
}

static __attribute__((noinline)) void outer(void)
{
	two_small();
	small();
}

void inlined_calls(int rounds)
{
	while (rounds--)
		outer();
	two_small();
}

static __attribute__((noinline)) void leap(void)
{
	longjmp(back, 1);
}

ALWAYS void leaping(void)
{
	leap();
}

/* An inlined call is left by a jump and entered again at the same place. */
void inlined_jump_in_loop(int rounds)
{
	for (volatile int i = 0; i < rounds; i++) {
		if (setjmp(back) == 0)
			leaping();
		small();
	}
}

ALWAYS void leaping_from_deeper(void)
{
	small();
	leaping();
}

void inlined_nest_jump_in_loop(int rounds)
{
	for (volatile int i = 0; i < rounds; i++) {
		if (setjmp(back) == 0)
			leaping_from_deeper();
	}
	small();
}

#define NAME(f)                                                                                    \
	{                                                                                          \
		(void (*)(void))(f), #f                                                            \
	}

const struct test_function calls_inline_functions[] = {
    NAME(small),
    NAME(two_small),
    NAME(outer),
    NAME(inlined_calls),
    NAME(leap),
    NAME(leaping),
    NAME(inlined_jump_in_loop),
    NAME(leaping_from_deeper),
    NAME(inlined_nest_jump_in_loop),
    {NULL, NULL},
};

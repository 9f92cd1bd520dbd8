/* SPDX-License-Identifier: MIT */
/* Compiled with -finstrument-functions and without inlining. */
#include "tests/engine/calls.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static jmp_buf back;
static volatile uint32_t sink;

void leaf(void)
{
	sink++;
}

static void middle(void)
{
	leaf();
	leaf();
}

void nested(void)
{
	middle();
	leaf();
	middle();
}

static void jump(void)
{
	longjmp(back, 1);
}

static void jump_from_deeper(void)
{
	leaf();
	jump();
}

static void jump_from_deepest(void)
{
	jump_from_deeper();
}

void jump_over_three(void)
{
	if (setjmp(back) == 0)
		jump_from_deepest();
	leaf();
}

void jump_in_loop(int rounds)
{
	for (volatile int i = 0; i < rounds; i++) {
		if (setjmp(back) == 0)
			jump_from_deeper();
	}
	leaf();
}

/* The jump ends in the function that called the one that jumps, again and again at one place. */
void jump_to_itself_in_loop(int rounds)
{
	volatile int i = 0;

	setjmp(back);
	if (i++ < rounds)
		jump();
	leaf();
}

static void touch(void *p, size_t bytes)
{
	memset(p, (int)bytes, bytes);
}

void with_alloca(size_t bytes)
{
	leaf();
	touch(alloca(bytes), bytes);
	leaf();
}

static void alloca_and_jump(size_t bytes)
{
	touch(alloca(bytes), bytes);
	jump();
}

/* Its exit lies far below the entry of what it called before. */
void with_vla_and_jump(size_t count)
{
	if (setjmp(back) == 0)
		alloca_and_jump(16);
	touch(alloca(count), count);
	leaf();
}

/* Its frame is larger than that of whoever jumps here. */
static void large(void)
{
	uint8_t room[600];

	touch(room, sizeof room);
	leaf();
}

void jump_then_large(void)
{
	if (setjmp(back) == 0)
		jump();
	large();
	leaf();
}

void jump_over_three_then_large(void)
{
	if (setjmp(back) == 0)
		jump_from_deepest();
	large();
	leaf();
}

/* A call of a function is left by a jump back into another call of the same function. */
void jump_within_recursion(unsigned depth)
{
	if (!depth)
		longjmp(back, 1);
	if (setjmp(back) == 0)
		jump_within_recursion(0);
	large();
}

static void with_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j,
			   int k, int l, int m, int n)
{
	sink += (uint32_t)(a + b + c + d + e + f + g + h + i + j + k + l + m + n);
	leaf();
}

/* Arguments on the stack lie between the caller and what it calls. */
void jump_then_arguments(void)
{
	if (setjmp(back) == 0)
		jump();
	with_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, (int)sink);
}

static int jump_from_compare(const void *a, const void *b)
{
	longjmp(back, 1);
	return a < b;
}

static int compare(const void *a, const void *b)
{
	leaf();
	return *(const int *)a - *(const int *)b;
}

/* Callbacks of functions that have no hooks. */
void jump_out_of_sorting(void)
{
	int numbers[3] = {2, 3, 1};

	qsort(numbers, 2, sizeof numbers[0], compare);
	if (setjmp(back) == 0)
		qsort(numbers, 3, sizeof numbers[0], jump_from_compare);
	large();
	qsort(numbers, 2, sizeof numbers[0], compare);
}

/* One call site, functions with frames of all sizes. */
void large_pointers_in_loop(int rounds)
{
	static void (*const all[])(void) = {jump, large, jump_from_deepest, leaf, large};

	for (volatile int i = 0; i < rounds; i++) {
		if (setjmp(back) == 0)
			all[i % 5]();
	}
}

static void jump_by_pointer(void)
{
	longjmp(back, 1);
}

static void leaf_by_pointer(void)
{
	leaf();
}

static void jump_otherwise_by_pointer(void)
{
	leaf();
	longjmp(back, 1);
}

/* One call site, several functions, some of which never return. */
void pointers_in_loop(int rounds)
{
	static void (*const all[])(void) = {jump_by_pointer, leaf_by_pointer,
					    jump_otherwise_by_pointer};

	for (volatile int i = 0; i < rounds; i++) {
		if (setjmp(back) == 0)
			all[i % 3]();
	}
}

void recurse(unsigned depth)
{
	if (depth)
		recurse(depth - 1);
	sink++;
}

static void recurse_to_jump(unsigned depth)
{
	if (depth)
		recurse_to_jump(depth - 1);
	else if (sink != UINT32_MAX)
		longjmp(back, 1);
	sink++;
}

void recurse_and_jump(unsigned depth)
{
	if (setjmp(back) == 0)
		recurse_to_jump(depth);
	leaf();
	with_alloca(100);
}

/* Jumps from the depths back to a call that is beyond the frames as well, or at their edge. */
void recurse_and_jump_halfway(unsigned depth, unsigned back_to)
{
	touch(alloca(depth % 64 + 8), 8);
	if (depth == back_to) {
		if (setjmp(back) == 0)
			recurse_to_jump(50);
		with_alloca(64);
	} else {
		recurse_and_jump_halfway(depth - 1, back_to);
	}
	with_alloca(32);
}

static void tail_target(void)
{
	leaf();
}

static void tail_middle(void)
{
	leaf();
	tail_target();
}

void tail_caller(int rounds)
{
	while (rounds--)
		tail_middle();
}

int8_t random_log[1 << 17];
uint32_t random_log_length;

static void log_step(int8_t step) __attribute__((no_instrument_function));
static void log_step(int8_t step)
{
	random_log[random_log_length++] = step;
}

static uint32_t next(uint32_t *seed) __attribute__((no_instrument_function));
static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

void random_calls(uint32_t seed, unsigned depth)
{
	log_step(1);
	for (uint32_t n = depth ? next(&seed) % 4 : 0; n--;) {
		size_t bytes = next(&seed) % 500 + 1;

		if (bytes & 1)
			memset(alloca(bytes), 0, bytes);
		random_calls(seed + n, depth - 1);
	}
	log_step(-1);
}

static void exit_thread(void)
{
	leaf();
	pthread_exit(NULL);
}

static void exit_thread_from_deeper(void)
{
	exit_thread();
}

void exit_thread_from_three(void)
{
	exit_thread_from_deeper();
}

void run_on_signal(int sig)
{
	(void)sig;
	nested();
}

void raise_inside(int sig)
{
	leaf();
	raise(sig);
	leaf();
}

static ucontext_t caller, first, second;
static uint8_t stacks[2][65536] __attribute__((aligned(16)));

static void first_main(void)
{
	leaf();
	swapcontext(&first, &second);
	nested();
	swapcontext(&first, &second);
}

static void second_main(void)
{
	middle();
	swapcontext(&second, &first);
	leaf();
	swapcontext(&second, &caller);
}

void run_coroutines(void)
{
	getcontext(&first);
	first.uc_stack.ss_sp = stacks[0];
	first.uc_stack.ss_size = sizeof stacks[0];
	first.uc_link = &caller;
	makecontext(&first, first_main, 0);
	getcontext(&second);
	second.uc_stack.ss_sp = stacks[1];
	second.uc_stack.ss_size = sizeof stacks[1];
	second.uc_link = &caller;
	makecontext(&second, second_main, 0);
	swapcontext(&caller, &first);
	leaf();
}

#define NAME(f)                                                                                    \
	{                                                                                          \
		(void (*)(void))(f), #f                                                            \
	}

const struct test_function calls_functions[] = {
    NAME(leaf),
    NAME(middle),
    NAME(nested),
    NAME(jump),
    NAME(jump_from_deeper),
    NAME(jump_from_deepest),
    NAME(jump_over_three),
    NAME(jump_in_loop),
    NAME(jump_to_itself_in_loop),
    NAME(touch),
    NAME(with_alloca),
    NAME(alloca_and_jump),
    NAME(with_vla_and_jump),
    NAME(large),
    NAME(jump_then_large),
    NAME(jump_over_three_then_large),
    NAME(jump_within_recursion),
    NAME(with_arguments),
    NAME(jump_then_arguments),
    NAME(jump_from_compare),
    NAME(compare),
    NAME(jump_out_of_sorting),
    NAME(large_pointers_in_loop),
    NAME(jump_by_pointer),
    NAME(leaf_by_pointer),
    NAME(jump_otherwise_by_pointer),
    NAME(pointers_in_loop),
    NAME(recurse),
    NAME(recurse_to_jump),
    NAME(recurse_and_jump),
    NAME(recurse_and_jump_halfway),
    NAME(tail_target),
    NAME(tail_middle),
    NAME(tail_caller),
    NAME(random_calls),
    NAME(exit_thread),
    NAME(exit_thread_from_deeper),
    NAME(exit_thread_from_three),
    NAME(run_on_signal),
    NAME(raise_inside),
    NAME(first_main),
    NAME(second_main),
    NAME(run_coroutines),
    {NULL, NULL},
};

/* SPDX-License-Identifier: MIT */
/*
 * Functions under -finstrument-functions, for test_frame.c: calls.c is compiled without inlining,
 * calls_inline.c with it, throws.cc is C++. What is called is told by name in test_frame.c's expected
 * trees; each function is in `fx_test_functions`.
 */
#ifndef FX_TESTS_ENGINE_CALLS_H
#define FX_TESTS_ENGINE_CALLS_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct test_function {
	void (*function)(void);
	const char *name;
};

extern const struct test_function calls_functions[], calls_inline_functions[], throws_functions[];

/* calls.c */
void nested(void);
void jump_over_three(void);
void jump_in_loop(int rounds);
void jump_to_itself_in_loop(int rounds);
void with_alloca(size_t bytes);
void with_vla_and_jump(size_t count);
void jump_then_large(void);
void jump_over_three_then_large(void);
void jump_within_recursion(unsigned depth);
void jump_then_arguments(void);
void jump_out_of_sorting(void);
void large_pointers_in_loop(int rounds);
void pointers_in_loop(int rounds);
void recurse(unsigned depth);
void recurse_and_jump(unsigned depth);
void recurse_and_jump_halfway(unsigned depth, unsigned back_to);
void tail_caller(int rounds);
void random_calls(uint32_t seed, unsigned depth);
void exit_thread_from_three(void);
void run_on_signal(int sig);
void raise_inside(int sig);
void run_coroutines(void);
void leaf(void);

/* What random_calls() did: +1 at entry, -1 at exit, in order; the test's own log. */
extern int8_t random_log[1 << 17];
extern uint32_t random_log_length;

/* calls_inline.c */
void inlined_calls(int rounds);
void inlined_jump_in_loop(int rounds);
void inlined_nest_jump_in_loop(int rounds);

/* throws.cc */
void throw_over_three(void);
void throw_in_loop(int rounds);
void rethrow_through(void);
void throw_then_large(void);

#ifdef __cplusplus
}
#endif

#endif

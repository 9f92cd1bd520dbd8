/* SPDX-License-Identifier: MIT */
/*
 * Lets Criterion run under ThreadSanitizer, which keeps most of the address space for itself, and dies when
 * a thread gets the address of another that it knows.
 *
 * Criterion's tests share an arena with it that stands at the same address in all of its processes. It is
 * tried at 0x200000000000 + rand_r() * 16 MiB, and most of these addresses are ThreadSanitizer's. This
 * rand_r() gives such as are the program's: from 0x560000000000, with room behind the last.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define STEP	   (UINT64_C(1) << 24)
#define FIRST	   (UINT64_C(0x360000000000) / STEP)
#define STACK_STEP (2u << 20) /* bytes */
#define COUNT	   (UINT64_C(0x4000000000) / STEP)

/* By this name the linker takes this file in: sanitizers' libraries have a rand_r() too. */
extern const int fx_tests_arena;
const int fx_tests_arena = 1;

int rand_r(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return (int)(FIRST + (*seed >> 16) % COUNT);
}

/*
 * In a forked child the C library gives the stacks of the parent's other threads (Criterion's among them) to
 * new threads, which then have the same pthread_t. It does not if they ask for larger ones: those of the
 * tests' processes are smaller than the manager's, and grow with each fork.
 */
static size_t stack_size = STACK_STEP;

static void stacks_set(void)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack_size);
	pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

static void stacks_grow(void)
{
	stack_size += STACK_STEP;
	stacks_set();
}

static __attribute__((constructor)) void stacks_begin(void)
{
	stacks_set();
	pthread_atfork(NULL, NULL, stacks_grow);
}

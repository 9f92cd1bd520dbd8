/* SPDX-License-Identifier: MIT */
#include "base/wide-stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

/* What systems give as a rule. Memory is taken as far as it is touched. */
#define WIDE_STACK ((size_t)8 << 20)

/* A thread's, which has room for what libraries start threads for: asking for the address of a name, for instance. */
#define WIDE_THREAD_STACK ((size_t)1 << 20)

/* On the other stack nothing is passed but by this. */
static struct {
	int (*main)(int argc, char **argv);
	int argc, result;
	char **argv;
	ucontext_t narrow, wide;
} switched;

static bool is_narrow(size_t wanted)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < wanted;
}

static void threads_widen(void)
{
	pthread_attr_t attr;

	if (!is_narrow(WIDE_THREAD_STACK) || pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setstacksize(&attr, WIDE_THREAD_STACK);
	pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

/* The lowest page stays out of reach, as a guard. NULL: there is no memory. */
static char *wide_stack_make(void)
{
	const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
	/* cppcheck-suppress invalidFunctionArg ; of no file, which is -1 */
	char *stack = mmap(NULL, WIDE_STACK, PROT_NONE, flags, -1, 0);

	if (stack == MAP_FAILED)
		return NULL;
	if (mprotect(stack + guard, WIDE_STACK - guard, PROT_READ | PROT_WRITE) == 0)
		return stack;
	munmap(stack, WIDE_STACK);
	return NULL;
}

static void main_on_wide(void)
{
	switched.result = switched.main(switched.argc, switched.argv);
}

int fx_wide_stack_call(int (*main_on_it)(int argc, char **argv), int argc, char **argv)
{
	char *stack;

	threads_widen();
	stack = is_narrow(WIDE_STACK) ? wide_stack_make() : NULL;
	if (!stack || getcontext(&switched.wide) < 0)
		return main_on_it(argc, argv);
	switched.main = main_on_it;
	switched.argc = argc;
	switched.argv = argv;
	switched.wide.uc_stack.ss_sp = stack;
	switched.wide.uc_stack.ss_size = WIDE_STACK;
	switched.wide.uc_link = &switched.narrow;
	makecontext(&switched.wide, main_on_wide, 0);
	return swapcontext(&switched.narrow, &switched.wide) < 0 ? main_on_it(argc, argv)
								 : switched.result;
}

/* SPDX-License-Identifier: MIT */
/* Stacks, against those of the compiler's own unwinder, and of libunwind where configure has found it. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unwind.h>

#ifdef HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

#include <criterion/criterion.h>

#include "preload/host/find-object.h"
#include "preload/host/found.h"
#include "preload/host/unwind.h"

struct stack {
	uint64_t frames[4 * FX_UNWIND_MAX];
	unsigned count;
};

static _Unwind_Reason_Code collect(struct _Unwind_Context *context, void *opaque)
{
	struct stack *stack = opaque;
	int interrupted;
	uint64_t pc = _Unwind_GetIPInfo(context, &interrupted);

	if (pc && stack->count < sizeof stack->frames / sizeof stack->frames[0])
		stack->frames[stack->count++] = pc + (unsigned)interrupted;
	return _URC_NO_REASON;
}

/* From the function that this is inlined into; false: there is no libunwind. */
static inline __attribute__((always_inline)) bool collect_by_libunwind(struct stack *stack)
{
#ifdef HAVE_LIBUNWIND
	bool interrupted = false;
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t pc;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		if (pc)
			stack->frames[stack->count++] = pc + interrupted;
		interrupted = unw_is_signal_frame(&cursor) > 0;
	} while (stack->count < sizeof stack->frames / sizeof stack->frames[0] &&
		 unw_step(&cursor) > 0);
	return true;
#else
	(void)stack;
	return false;
#endif
}

static volatile unsigned compared;

/* Stubs of the linker have no tables on aarch64: others end there, where this one goes on. */
static bool is_end(uint64_t pc)
{
#if defined(__aarch64__)
	struct fx_cfi_code code;

	return !fx_unwind_code(pc - 1, &code);
#else
	(void)pc;
	return false;
#endif
}

static void expect_same(const uint64_t *got, unsigned count, const struct stack *want,
			const char *whose)
{
	unsigned expected = want->count < FX_UNWIND_MAX ? want->count : FX_UNWIND_MAX;

	if (want->count && want->count < count && is_end(want->frames[want->count - 1]))
		count = expected;
	cr_assert_eq(count, expected, "%u frames instead of %s's %u", count, whose, expected);
	for (unsigned i = 1; i < count; i++) {
		bool cut = i == FX_UNWIND_MAX - 1;

		cr_assert_eq(got[i], cut ? 0 : want->frames[i], "frame %u of %u is not %s's", i,
			     count, whose);
	}
}

/* All begin in this function; where in it, differs. */
static __attribute__((noinline)) void compare(void)
{
	struct stack libgcc = {.count = 0}, libunwind = {.count = 0};
	uint64_t got[FX_UNWIND_MAX];
	unsigned count = fx_unwind(got);

	cr_assert_gt(count, 3);
	_Unwind_Backtrace(collect, &libgcc);
	expect_same(got, count, &libgcc, "libgcc");
	if (collect_by_libunwind(&libunwind))
		expect_same(got, count, &libunwind, "libunwind");
	compared++;
}

TestSuite(unwind, .init = fx_found_init);

Test(unwind, plain)
{
	compare();
	compare(); /* by what is remembered of the places */
}

static __attribute__((noinline)) void recurse(unsigned depth)
{
	volatile char *room = __builtin_alloca(depth % 7 * 16 + 1);

	room[0] = 1;
	if (depth)
		recurse(depth - 1);
	else
		compare();
	room[0]++;
}

Test(unwind, deep_stacks_lose_their_outer_end)
{
	for (unsigned depth = 0; depth < 150; depth++)
		recurse(depth);
}

static __attribute__((noinline)) void realigned(void)
{
	volatile char __attribute__((aligned(128))) room[256];

	room[0] = 0;
	compare();
	room[0]++;
}

/* Clang has no such attribute; its functions have a frame pointer exactly if they take stack space as they go. */
#ifdef __clang__
#define COMPILED_WITH(option) __attribute__((noinline))
#else
#define COMPILED_WITH(option) __attribute__((noinline, optimize(option)))
#endif

static COMPILED_WITH("no-omit-frame-pointer") void with_pointer(size_t size)
{
	volatile char *room = __builtin_alloca(size);

	room[0] = 0;
	realigned();
	room[0]++;
}

static COMPILED_WITH("omit-frame-pointer") void without_pointer(void)
{
	with_pointer(100);
	__asm__ __volatile__("");
}

Test(unwind, frames_of_all_kinds)
{
	realigned();
	with_pointer(10);
	without_pointer();
}

static int order(const void *a, const void *b)
{
	compare();
	return *(const int *)a - *(const int *)b;
}

Test(unwind, through_libc)
{
	int numbers[] = {3, 1, 2};

	qsort(numbers, 3, sizeof numbers[0], order);
	cr_assert_geq(compared, 2);
}

static void handler(int signal)
{
	(void)signal;
	compare();
}

Test(unwind, in_a_signal_handler)
{
	struct sigaction action = {.sa_handler = handler};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	cr_assert_eq(compared, 1);
}

Test(unwind, on_a_signal_stack)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_size = 1 << 16};

	stack.ss_sp = malloc(stack.ss_size);
	cr_assert_eq(sigaltstack(&stack, NULL), 0);
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	cr_assert_eq(compared, 1);
	stack.ss_flags = SS_DISABLE;
	cr_assert_eq(sigaltstack(&stack, NULL), 0);
	free(stack.ss_sp);
}

/* Interrupted anywhere, prologues and epilogues included. */
Test(unwind, wherever_a_timer_interrupts)
{
	struct sigaction action = {.sa_handler = handler};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec often = {{0, 200000}, {0, 200000}}, never = {{0, 0}, {0, 0}};
	int numbers[16];
	timer_t timer;

	sigaction(SIGALRM, &action, NULL);
	cr_assert_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	cr_assert_eq(timer_settime(timer, 0, &often, NULL), 0);
	while (compared < 1000) {
		for (int i = 0; i < 16; i++)
			numbers[i] = rand();
		free(memset(malloc((size_t)numbers[0] % 1000 + 1), 0, 1));
		recurse((unsigned)numbers[1] % 8);
	}
	timer_settime(timer, 0, &never, NULL);
}

static void *thread_main(void *opaque)
{
	compare();
	return opaque;
}

Test(unwind, in_a_thread)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, thread_main, NULL), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(compared, 1);
}

/* --- The modules that are found before glibc 2.35 ---------------------------------------------- */

static void expect_first(uint64_t address)
{
	struct dl_find_object linkers;
	struct fx_found found;

	cr_assert(fx_found_among_first(address, &found));
	cr_assert(found.start <= address && address < found.end);
	cr_assert_not_null(found.tables);
	if (!_dl_find_object)
		return;
	cr_assert_eq(_dl_find_object((void *)(uintptr_t)address, &linkers), 0);
	cr_assert_eq(found.tables, linkers.dlfo_eh_frame);
	cr_assert_leq((uint64_t)(uintptr_t)linkers.dlfo_map_start, found.start);
	cr_assert_gt((uint64_t)(uintptr_t)linkers.dlfo_map_end, address);
#ifndef __aarch64__ /* segments have gaps between them there: the dynamic linker tells the end of the code */
	cr_assert_geq((uint64_t)(uintptr_t)linkers.dlfo_map_end, found.end);
#endif
}

Test(found, those_of_the_start_and_no_later_ones)
{
	void *later = dlopen("libBrokenLocale.so.1", RTLD_NOW);
	struct fx_found found;
	struct link_map *map;

	cr_assert_not_null(later, "%s", dlerror());
	cr_assert_eq(dlinfo(later, RTLD_DI_LINKMAP, &map), 0);
	fx_found_collect();
	expect_first((uint64_t)(uintptr_t)expect_first);
	expect_first((uint64_t)(uintptr_t)qsort);
	cr_assert_not(fx_found_among_first((uint64_t)(uintptr_t)map->l_ld, &found));
	cr_assert_not(fx_found_among_first((uint64_t)(uintptr_t)&found, &found));
	dlclose(later);
}

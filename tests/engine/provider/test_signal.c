/* SPDX-License-Identifier: MIT */
/* Signal handlers that trace while their thread traces, return or jump out. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/syscall.h"
#include "engine/provider/record.h"
#include "tests/engine/produce.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define TIMERS	      4u
#define PERIOD_NS     100000 /* of each timer: 10,000 calls of each handler a second */
#define PERIOD_MAX_NS 100000000
#define NESTED_MAX    16u
#define RUN_NS	      400000000ll
#define RUN_MAX_NS    (20 * RUN_NS)
#ifdef FX_TSAN
#define CALLS_MIN 0u /* it calls handlers when it likes */
#else
#define CALLS_MIN 100u /* of each handler; a sanitizer may take longer than RUN_NS for it */
#endif
#define RECORDS	   30000000u
#define MAIN	   0u /* writer numbers: the thread, then one per signal */
#define WRITERS	   (1u + TIMERS)
#define STACK_SIZE (16u << 20)
#define JUMPS_MIN  100u
#define JUMPED_MAX 2000000u /* records of the thread itself: there is room for them all */

static struct fm_manager m;
static struct produced_all got;
static uint32_t tried[WRITERS];
static timer_t timers[TIMERS];
static long periods[TIMERS]; /* ns */

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void try_one(uint32_t writer)
{
	produce(writer, __atomic_fetch_add(&tried[writer], 1, __ATOMIC_RELAXED));
}

static uint32_t tried_all(void)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < WRITERS; i++)
		sum += tried[i];
	return sum;
}

static int timer_set(uint32_t i)
{
	struct itimerspec period = {{0, periods[i]}, {0, periods[i] + 1000 * (long)i}};

	return timer_settime(timers[i], 0, &period, NULL);
}

/* Where handlers that interrupt one another come faster than they end, the thread would get no farther, and out of
 * stack: then their timer takes twice as long from now on. */
static void trace_in_handler(int sig)
{
	static _Thread_local unsigned nested;
	uint32_t i = (uint32_t)(sig - SIGRTMIN);

	if (++nested > NESTED_MAX && periods[i] < PERIOD_MAX_NS) {
		periods[i] *= 2;
		timer_set(i); /* fails if they are being stopped */
	}
	try_one(1 + i);
	nested--;
}

static void start(struct fm_config config)
{
	fm_start(&m, &config);
	produced_init(&got, WRITERS, RECORDS);
}

/* Handlers that interrupt one another in a page fault of their stack would each need a page more. */
static void stack_touch(void)
{
	volatile uint8_t below[1 << 20];

	for (size_t i = 0; i < sizeof below; i += 4096)
		below[i] = 0;
}

/* Timers that send a signal each to the calling thread. With SA_NODEFER the handlers interrupt one
 * another, else they do not. */
static void timers_start(void (*handler)(int), int flags)
{
	stack_touch();
	for (uint32_t i = 0; i < TIMERS; i++) {
		struct sigaction sa = {.sa_handler = handler, .sa_flags = flags | SA_RESTART};
		struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID,
				      .sigev_signo = SIGRTMIN + (int)i};

		if (!(flags & SA_NODEFER))
			sigfillset(&sa.sa_mask);
		ev.sigev_notify_thread_id = fx_gettid();
		cr_assert_eq(sigaction(SIGRTMIN + (int)i, &sa, NULL), 0);
		cr_assert_eq(timer_create(CLOCK_MONOTONIC, &ev, &timers[i]), 0);
		periods[i] = PERIOD_NS;
		cr_assert_eq(timer_set(i), 0);
	}
}

static void timers_stop(void)
{
	for (uint32_t i = 0; i < TIMERS; i++)
		timer_delete(timers[i]);
}

static void check_exact(void)
{
	produced_read(&got, &m);
	cr_assert_eq(got.total + fm_dropped(&m), tried_all(), "%llu recorded + %llu lost of %u",
		     (unsigned long long)got.total, (unsigned long long)fm_dropped(&m),
		     tried_all());
	for (uint32_t i = 1; i < WRITERS; i++)
		cr_assert_gt(tried[i], CALLS_MIN, "the timers did not run");
	cr_assert(got.writers[MAIN].ordered);
}

static bool handlers_ran(void)
{
	for (uint32_t i = 1; i < WRITERS; i++)
		if (tried[i] <= CALLS_MIN)
			return false;
	return true;
}

static void run_traced(void)
{
	int64_t begun = now_ns(), now;

	while ((now = now_ns()) < begun + RUN_NS || (now < begun + RUN_MAX_NS && !handlers_ran())) {
		for (int i = 0; i < 200; i++)
			try_one(MAIN);
	}
}

static void check_handlers(struct fm_config config, int flags)
{
	start(config);
	try_one(MAIN); /* adopts the thread */
	if (config.mode == FX_MODE_STREAMING)
		fm_saver_start(&m, 100);
	timers_start(trace_in_handler, flags);
	run_traced();
	timers_stop();
	if (config.mode == FX_MODE_STREAMING)
		fm_saver_stop(&m);
	check_exact();
}

Test(signal, handlers_trace_oneshot)
{
	check_handlers((struct fm_config){.size = 256 << 20}, 0);
}

Test(signal, handlers_interrupt_handlers)
{
	check_handlers((struct fm_config){.size = 256 << 20}, SA_NODEFER);
}

Test(signal, handlers_trace_streaming)
{
	check_handlers((struct fm_config){.size = 256 << 10, .mode = FX_MODE_STREAMING},
		       SA_NODEFER);
}

Test(signal, handlers_trace_while_blocked)
{
	check_handlers((struct fm_config){.size = 256 << 10,
					  .mode = FX_MODE_STREAMING,
					  .on_full = FX_ON_FULL_BLOCK},
		       0);
	cr_assert_eq(fm_dropped(&m), 0);
}

Test(signal, handlers_trace_into_a_full_buffer)
{
	check_handlers((struct fm_config){.size = 256 << 10}, SA_NODEFER);
}

/* --- Handlers on a stack of their own --------------------------------------------------------- */

struct on_stack {
	uint8_t *alternate;
	void (*run)(void);
};

static void *with_alternate_stack(void *context)
{
	struct on_stack *s = context;
	stack_t alternate = {.ss_sp = s->alternate, .ss_size = STACK_SIZE};

	cr_assert_eq(sigaltstack(&alternate, NULL), 0);
	s->run();
	return NULL;
}

/* Runs in a thread whose alternate stack lies above or below its own. All of both is there from the start: where a page
 * is slow to come, handlers would interrupt one another in that fault, each a frame deeper than the last. */
static void run_on_stack(bool alternate_above, void (*run)(void))
{
	uint8_t *both = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct on_stack s = {both + (alternate_above ? STACK_SIZE : 0), run};
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, both + (alternate_above ? 0 : STACK_SIZE), STACK_SIZE);
	cr_assert_eq(pthread_create(&thread, &attr, with_alternate_stack, &s), 0);
	pthread_join(thread, NULL);
	munmap(both, 2 * STACK_SIZE);
}

static void trace_with_handlers_on_stack(void)
{
	try_one(MAIN);
	timers_start(trace_in_handler, SA_ONSTACK | SA_NODEFER);
	run_traced();
	timers_stop();
}

Test(signal, handlers_on_a_stack_above_the_threads)
{
	start((struct fm_config){.size = 256 << 20});
	run_on_stack(true, trace_with_handlers_on_stack);
	check_exact();
}

Test(signal, handlers_on_a_stack_below_the_threads)
{
	start((struct fm_config){.size = 256 << 20});
	run_on_stack(false, trace_with_handlers_on_stack);
	check_exact();
}

/* --- Handlers that jump out ------------------------------------------------------------------- */

static sigjmp_buf back;
static volatile sig_atomic_t may_jump;
static uint32_t jumps;
static uint32_t handlers_entered, handlers_returned;

static void jump_out(int sig)
{
	__atomic_fetch_add(&handlers_entered, 1, __ATOMIC_RELAXED);
	trace_in_handler(sig);
	__atomic_fetch_add(&handlers_returned, 1, __ATOMIC_RELAXED);
	if (!may_jump)
		return;
	may_jump = 0;
	__atomic_fetch_add(&jumps, 1, __ATOMIC_RELAXED);
	siglongjmp(back, 1);
}

static void trace_and_be_jumped(int flags)
{
	int64_t begun = now_ns(), now;

	try_one(MAIN);
	timers_start(jump_out, flags);
	while ((now = now_ns()) < begun + RUN_NS ||
	       (now < begun + RUN_MAX_NS && jumps <= JUMPS_MIN)) {
		if (sigsetjmp(back, 1) == 0) {
			may_jump = 1;
			for (;;) {
				if (tried[MAIN] < JUMPED_MAX)
					try_one(MAIN);
			}
		}
	}
	may_jump = 0;
	timers_stop();
}

/* A record that a handler jumped out of may be there, be counted as lost, or never have begun. A jump
 * leaves the thread's own record, and those of the handlers that the jumping one interrupted. */
static void check_jumped(void)
{
	uint64_t left = jumps + handlers_entered - handlers_returned;
	uint64_t known;

	produced_read(&got, &m);
	known = got.total + fm_dropped(&m);
	cr_assert_gt(jumps, JUMPS_MIN);
	cr_assert_leq(known, tried_all());
	cr_assert_geq(known + left, tried_all(), "%llu of %u records are unaccounted for",
		      (unsigned long long)(tried_all() - known), tried_all());
	cr_assert_leq(fm_dropped(&m), left, "more than what was under way is lost");
}

static void jumped(void)
{
	trace_and_be_jumped(0);
}

static void jumped_nested(void)
{
	trace_and_be_jumped(SA_NODEFER);
}

static void jumped_on_stack(void)
{
	trace_and_be_jumped(SA_ONSTACK);
}

Test(signal, thread_goes_on_when_handlers_jump_out)
{
	start((struct fm_config){.size = 512 << 20});
	jumped();
	check_jumped();
}

Test(signal, thread_goes_on_when_nested_handlers_jump_out)
{
	start((struct fm_config){.size = 512 << 20});
	jumped_nested();
	check_jumped();
}

Test(signal, thread_goes_on_when_handlers_jump_from_a_stack_above)
{
	start((struct fm_config){.size = 512 << 20});
	run_on_stack(true, jumped_on_stack);
	check_jumped();
}

Test(signal, thread_goes_on_when_handlers_jump_from_a_stack_below)
{
	start((struct fm_config){.size = 512 << 20});
	run_on_stack(false, jumped_on_stack);
	check_jumped();
}

Test(signal, jumps_out_of_a_streaming_writer)
{
	start((struct fm_config){.size = 256 << 10, .mode = FX_MODE_STREAMING});
	fm_saver_start(&m, 100);
	jumped();
	fm_saver_stop(&m);
	produced_read(&got, &m);
	cr_assert_leq(got.total + fm_dropped(&m), tried_all());
	cr_assert_geq(got.total + fm_dropped(&m) + jumps, tried_all());
}

/* --- The same, step by step ------------------------------------------------------------------- */

/* Leaves a record behind that is never committed. */
static __attribute__((noinline)) void abandon(void)
{
	volatile char deep[1024] = {0}; /* deeper than what is called next, whoever compiles it */
	struct fx_reservation r;

	(void)deep;
	cr_assert_not_null(fx_record_reserve(fx_thread_on(FX_CAT_USER), 9, &r));
}

Test(signal, an_abandoned_record_is_counted_and_its_place_given_up)
{
	start((struct fm_config){0});
	cr_assert(produce(MAIN, 0));
	abandon();
	cr_assert_neq(fx_self->busy[0], 0);
	for (uint32_t i = 1; i < 100; i++)
		cr_assert(produce(MAIN, i));
	cr_assert_eq(fx_self->busy[0], 0, "the fast path is open again");
	produced_read(&got, &m);
	cr_assert_eq(got.total, 100);
	cr_assert_eq(fm_dropped(&m), 1);
	cr_assert_eq(fm_lost(&m, FX_LOSS_LEFT), 1);
}

/* As handlers that interrupt one another: each inside the record of the one before. */
static __attribute__((noinline)) bool nest(uint32_t depth)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, 8, &r);
	bool deepest = depth ? nest(depth - 1) : produce(MAIN, 0);

	if (p)
		fx_record_commit(t, p, FX_EVENT_HEADER(FX_EVENT_COUNTER, 8, 0, 0, 0), &r);
	return deepest;
}

static uint32_t counters;

static void count_counters(const struct fm_record *r, void *context)
{
	(void)context;
	counters += (r->words[0] >> 16 & 0xf) == FX_EVENT_COUNTER;
}

Test(signal, records_nest_to_the_last_level_and_are_counted_beyond)
{
	start((struct fm_config){0});
	cr_assert(nest(FX_LEVELS - 2), "one level is left");
	cr_assert_eq(fm_dropped(&m), 0);
	cr_assert_not(nest(FX_LEVELS - 1), "none is left");
	cr_assert_eq(fm_dropped(&m), 1);
	cr_assert_eq(fm_lost(&m, FX_LOSS_NESTED), 1);
	fm_each(&m, count_counters, NULL);
	cr_assert_eq(counters, FX_LEVELS - 1 + FX_LEVELS);
}

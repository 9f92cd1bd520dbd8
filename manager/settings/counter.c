/* SPDX-License-Identifier: MIT */
#include "manager/settings/counter.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/fault.h"

const char *fx_counter_text(enum fx_counter_verdict verdict)
{
	static const char *const texts[] = {
#define COUNTER_TEXT_(symbol, text) text,
	    FX_COUNTER_VERDICTS(COUNTER_TEXT_)
#undef COUNTER_TEXT_
	};

	return texts[verdict];
}

#if defined(__x86_64__)

#include <cpuid.h>

/* --- Steady ----------------------------------------------------------------------------------- */

#define LEAF_POWER    0x80000007u
#define INVARIANT_TSC (1u << 8)

static bool counter_is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(LEAF_POWER, &a, &b, &c, &d) && (d & INVARIANT_TSC);
}

/* --- Alike ------------------------------------------------------------------------------------ */

/* How often each processor has to have looked at what another one read, and how long all are given for that, in ns. */
#define LOOKS	    200u
#define LOOK_NS	    UINT64_C(2000000)
#define LOOK_MAX_NS UINT64_C(20000000)

/* Looks between two readings of the time. */
#define LOOKS_A_ROUND 32u

/* (The C library takes what each thread has of its own from it: tests/lint/threads.sh.) */
#define LOOKER_STACK (64u << 10)

struct looker;

/* What the threads that look at one another share. */
struct looking {
	uint64_t newest __attribute__((aligned(64))); /* the greatest reading of all */
	uint32_t satisfied;			      /* threads that have looked LOOKS times */
	uint32_t warped;
	uint64_t begun; /* CLOCK_MONOTONIC ns */
	uint32_t count; /* of the threads; UINT32_MAX: not known yet */
	struct looker *lookers;
};

struct looker {
	struct looking *looking;
	pthread_t thread;
	int processor;
	uint64_t shift; /* a test's: what this processor's counter is off by, in ticks */
};

/* A reading that is made after all that stands before it. */
static inline uint64_t counter_ordered(void)
{
	__builtin_ia32_lfence();
	return fx_counter();
}

/*
 * One look: what another has read and stored, this thread loads, and then reads itself.
 *
 *	processor 0          processor 1
 *	reads 100
 *	stores 100
 *	                     loads 100
 *	                     reads 98: a warp
 */
static bool looker_look(struct looker *l, uint64_t *own, uint32_t *looks)
{
	struct looking *looking = l->looking;
	/* acquire: pairs with the exchange below, in the thread that has read it */
	uint64_t seen = fx_load_acquire(&looking->newest);
	uint64_t now = counter_ordered() + l->shift;

	*looks += seen != *own && seen != 0;
	if ((int64_t)(now - seen) < 0)
		return false;
	/* release: pairs with the load above; if another was first, its reading counts */
	if (__atomic_compare_exchange_n(&looking->newest, &seen, now, false, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED))
		*own = now;
	return true;
}

static bool looking_goes_on(struct looking *looking)
{
	uint64_t passed = fx_monotonic_ns() - looking->begun;

	/* relaxed: a sign, nothing is read through it */
	if (fx_load_relaxed(&looking->warped) || passed > LOOK_MAX_NS)
		return false;
	return passed < LOOK_NS ||
	       fx_load_relaxed(&looking->satisfied) < fx_load_relaxed(&looking->count);
}

static void *looker_run(void *opaque)
{
	struct looker *l = opaque;
	uint64_t own = 0;
	uint32_t looks = 0;
	bool satisfied = false;

	while (looking_goes_on(l->looking)) {
		for (uint32_t i = 0; i < LOOKS_A_ROUND; i++) {
			if (!looker_look(l, &own, &looks)) {
				fx_store_relaxed(&l->looking->warped, 1); /* see above */
				return NULL;
			}
		}
		if (!satisfied && looks >= LOOKS) {
			satisfied = true;
			__atomic_fetch_add(&l->looking->satisfied, 1,
					   __ATOMIC_RELAXED); /* as above */
		}
	}
	return NULL;
}

/* On its processor alone. False: that is none, or not this process's to use. */
static bool looker_start(struct looker *l)
{
	size_t size = CPU_ALLOC_SIZE((size_t)l->processor + 1);
	cpu_set_t *set = CPU_ALLOC((size_t)l->processor + 1);
	pthread_attr_t attr;
	bool started = false;

	if (!set || pthread_attr_init(&attr) != 0)
		goto out;
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)l->processor, size, set);
	started = pthread_attr_setstacksize(&attr, LOOKER_STACK) == 0 &&
		  pthread_attr_setaffinity_np(&attr, size, set) == 0 &&
		  pthread_create(&l->thread, &attr, looker_run, l) == 0;
	pthread_attr_destroy(&attr);
out:
	CPU_FREE(set);
	return started;
}

/* Signals are for the thread that asked. */
static uint32_t lookers_start(struct looking *looking, uint32_t most)
{
	uint32_t started = 0;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (uint32_t i = 0; i < most; i++) {
		struct looker *l = &looking->lookers[started];

		l->looking = looking;
		l->processor = (int)i;
		if (looker_start(l))
			started++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static enum fx_counter_verdict counters_are_alike(void)
{
	long most = sysconf(_SC_NPROCESSORS_CONF);
	struct looking looking = {.count = UINT32_MAX, .begun = fx_monotonic_ns()};
	uint32_t started;

	if (most < 1)
		return FX_COUNTER_UNSEEN;
	looking.lookers = calloc((size_t)most, sizeof(*looking.lookers));
	if (!looking.lookers)
		return FX_COUNTER_UNSEEN;
	for (long i = 0; i < most; i++)
		looking.lookers[i].shift = (uint64_t)FX_FAULT_SHIFT(counter_look);
	started = lookers_start(&looking, (uint32_t)most);
	/* One alone has nobody to look at. relaxed: see looking_goes_on() */
	fx_store_relaxed(&looking.count, started > 1 ? started : 0);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(looking.lookers[i].thread, NULL);
	free(looking.lookers);
	if (looking.warped)
		return FX_COUNTER_WARPED;
	if (started == 0)
		return FX_COUNTER_UNTRIED;
	return looking.satisfied >= looking.count ? FX_COUNTER_SOUND : FX_COUNTER_UNSEEN;
}

/* --- Of one rate ------------------------------------------------------------------------------ */

/* The difference that reading the two clocks one after the other may make, in a stretch of a millisecond. */
#define RATE_TOLERANCE 1e-2

/* Of how many pairs of readings the closest counts. */
#define RATE_TRIES 8

struct moment {
	uint64_t ticks, ns;
};

static struct moment moment_take(void)
{
	struct moment best = {0};
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < RATE_TRIES; i++) {
		uint64_t before = fx_counter(), ns = fx_clock_ns(CLOCK_MONOTONIC_RAW);
		uint64_t after = fx_counter();

		if (after - before < closest) {
			closest = after - before;
			best = (struct moment){before + closest / 2, ns};
		}
	}
	best.ticks += (uint64_t)FX_FAULT_SHIFT(counter_rate);
	return best;
}

static double rate_between(struct moment from, struct moment to)
{
	return (double)(to.ticks - from.ticks) / (double)(to.ns - from.ns);
}

static bool rates_agree(struct moment first, struct moment middle, struct moment last)
{
	double before = rate_between(first, middle), after = rate_between(middle, last);

	return fabs(before - after) < RATE_TOLERANCE * before;
}

/* --- Together --------------------------------------------------------------------------------- */

enum fx_counter_verdict fx_counter_measure(void)
{
	struct moment first, middle, last;
	enum fx_counter_verdict verdict;

	if (!counter_is_invariant())
		return FX_COUNTER_CHANGING;
	first = moment_take();
	verdict = counters_are_alike();
	if (verdict != FX_COUNTER_SOUND)
		return verdict;
	middle = moment_take();
	nanosleep(&(struct timespec){.tv_nsec = (long)LOOK_NS / 2}, NULL);
	last = moment_take();
	if (last.ns == middle.ns || middle.ns == first.ns)
		return FX_COUNTER_UNEVEN;
	return rates_agree(first, middle, last) ? FX_COUNTER_SOUND : FX_COUNTER_UNEVEN;
}

#else

enum fx_counter_verdict fx_counter_measure(void)
{
	return FX_COUNTER_SOUND;
}

#endif

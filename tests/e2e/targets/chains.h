/* SPDX-License-Identifier: MIT */
/* What the programs of known critical paths measure, and say: "THREAD KIND NS". */
#ifndef FX_TARGETS_CHAINS_H
#define FX_TARGETS_CHAINS_H

#include <pthread.h>
#include <stdio.h>
#include <time.h>

/* No function of its own: the two that compute call it all the time. */
__attribute__((no_instrument_function)) static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

struct span {
	long long begin, end;
};

/* When it really slept. */
static struct span rest(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000l};
	struct span span = {.begin = now()};

	nanosleep(&t, NULL);
	span.end = now();
	return span;
}

/* How much of it lies between. */
static long long within(struct span span, long long begin, long long end)
{
	if (span.begin < begin)
		span.begin = begin;
	if (span.end > end)
		span.end = end;
	return span.end > span.begin ? span.end - span.begin : 0;
}

static void call_me(const char *name)
{
	pthread_setname_np(pthread_self(), name);
}

static void say(const char *thread, const char *kind, long long ns)
{
	printf("%s %s %lld\n", thread, kind, ns);
}

#endif

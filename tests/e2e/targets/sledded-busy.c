/* SPDX-License-Identifier: MIT */
/* A library that has threads before dlopen() returns: they call busy_part() all the time, whose results are looked at. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define UNCOUNTED __attribute__((noinline, no_instrument_function, xray_never_instrument))
#define THREADS	  3

static pthread_t threads[THREADS];
static long turns, is_over;

__attribute__((noinline)) long busy_part(long a, double b)
{
	__asm__ volatile(""); /* each call is one */
	return b > 1.0 ? a * 3 : a * 3 + (long)b;
}

static UNCOUNTED void *turn(void *unused)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		if (busy_part(7, 0.5) != 21 || busy_part(2, 2.5) != 6)
			abort();
		__atomic_fetch_add(&turns, 2, __ATOMIC_ACQ_REL);
	}
	return unused;
}

UNCOUNTED long busy_turns(void)
{
	return __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
}

UNCOUNTED long busy_end(void)
{
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return turns;
}

__attribute__((constructor)) static UNCOUNTED void busy_begin(void)
{
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, turn, NULL);
	while (busy_turns() < 1000)
		usleep(100);
}

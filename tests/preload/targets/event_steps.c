/* SPDX-License-Identifier: MIT */
/*
 * How many instructions an event of the program's own costs, at its site and in libfxtrace.so together, beyond a function
 * without one: as many as nearly every one takes. The processor stops behind each, for a signal handler that counts.
 */
#define _GNU_SOURCE
#include <fxtrace/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((noinline))
#define EACH  101

static volatile unsigned steps;

static PLAIN void nothing(int number)
{
	__asm__ volatile("" : : "r"(number));
}

static PLAIN void instant(int number)
{
	__asm__ volatile("" : : "r"(number));
	TRACE_INSTANT("steps", "instant", TRACE_SCOPE_THREAD);
}

static PLAIN void counter(int number)
{
	TRACE_COUNTER("steps", "counter", 0, "number", TA_INT64(number));
}

static PLAIN void duration(int number)
{
	__asm__ volatile("" : : "r"(number));
	TRACE_DURATION("steps", "duration");
}

static PLAIN void two_integers(int number)
{
	TRACE_DURATION("steps", "two", "number", TA_INT64(number), "seven", TA_INT32(7));
}

/* Its three texts are so short that they share what the table of strings counts as one place. */
static PLAIN void elsewhere(int number)
{
	TRACE_VTHREAD_COUNTER("steps", "v", "w", 1, 2, 3, "x", TA_INT64(number));
}

static const struct {
	const char *name;
	void (*function)(int number);
} events[] = {{"nothing", nothing},   {"instant", instant},	      {"counter", counter},
	      {"duration", duration}, {"two_integers", two_integers}, {"elsewhere", elsewhere}};

static void step(int signal)
{
	(void)signal;
	steps++;
}

static PLAIN void single_steps(int on)
{
	if (on)
		__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	else
		__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int steps_of(void (*function)(int number))
{
	int all[EACH];

	for (int i = 0; i < EACH; i++) {
		steps = 0;
		single_steps(1);
		function(i);
		single_steps(0);
		all[i] = (int)steps;
	}
	qsort(all, EACH, sizeof *all, compare);
	return all[EACH / 2];
}

int main(void)
{
	int least;

	signal(SIGTRAP, step);
	least = steps_of(nothing);
	for (size_t i = 1; i < sizeof events / sizeof *events; i++)
		printf("%s %d\n", events[i].name, steps_of(events[i].function) - least);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* A herd: threads that all wait for one condition, and are woken at once. What they do then is each program's. */
#ifndef FX_TARGETS_HERD_H
#define FX_TARGETS_HERD_H

#include "tests/e2e/targets/chains.h"

enum { HERD = 4 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open, waiting;
static struct span grazed[HERD];

/* A beast's begin: it has the gate's lock when it was let out. */
static void wait_at_gate(long number)
{
	char name[16];

	snprintf(name, sizeof(name), "beast%ld", number);
	call_me(name);
	pthread_mutex_lock(&gate);
	waiting++;
	while (!is_open)
		pthread_cond_wait(&opened, &gate);
}

/* Lets them out when all of them wait. */
static void let_out(pthread_t *threads, void *(*beast)(void *))
{
	int all = 0;

	call_me("herder");
	for (long i = 0; i < HERD; i++)
		pthread_create(&threads[i], NULL, beast, (void *)i);
	while (all < HERD) {
		pthread_mutex_lock(&gate);
		all = waiting;
		pthread_mutex_unlock(&gate);
	}
	pthread_mutex_lock(&gate);
	is_open = 1;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&gate);
}

static void say_beast(int number, long long slept)
{
	char name[16];

	snprintf(name, sizeof(name), "beast%d", number);
	say(name, "time", slept);
}

#endif

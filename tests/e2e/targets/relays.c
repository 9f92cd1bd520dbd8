/* SPDX-License-Identifier: MIT */
/*
 * More programs whose critical path is known by construction, as chains.c has: a request that is handed on four times, a
 * herd that is woken at once, threads that want a processor which another one has, and a step of a build, which is told its name and its
 * milliseconds.
 */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/targets/herd.h"

enum { STAGES = 3 };

/* --- Client, proxy, server, worker, and who holds the worker's lock in fsync() ---------------- */

struct stage {
	const char *name;
	int before, after; /* ms, of the request and of the answer */
	sem_t asked, answered;
	struct span spans[2];
	struct stage *next;
};

static pthread_mutex_t store = PTHREAD_MUTEX_INITIALIZER;
static sem_t held;
static struct span kept, synced;
static long long worker_begins;
static struct stage stages[STAGES] = {
    {.name = "proxy", .before = 40, .after = 20, .next = &stages[1]},
    {.name = "server", .before = 30, .after = 20, .next = &stages[2]},
    {.name = "worker", .after = 40},
};

static void *keeper(void *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	call_me("keeper");
	pthread_mutex_lock(&store);
	sem_post(&held);
	kept = rest(250);
	if (write(fd, "x", 1) != 1)
		abort();
	synced.begin = now();
	fsync(fd);
	synced.end = now();
	pthread_mutex_unlock(&store);
	close(fd);
	return NULL;
}

static void wait_until(sem_t *sem)
{
	while (sem_wait(sem) < 0)
		;
}

static void ask(struct stage *stage)
{
	sem_post(&stage->asked);
	wait_until(&stage->answered);
}

static void *serve(void *opaque)
{
	struct stage *stage = opaque;

	call_me(stage->name);
	wait_until(&stage->asked);
	if (stage->next) {
		stage->spans[0] = rest(stage->before);
		ask(stage->next);
		stage->spans[1] = rest(stage->after);
	} else {
		worker_begins = now();
		pthread_mutex_lock(&store);
		stage->spans[1] = rest(stage->after);
		pthread_mutex_unlock(&store);
	}
	sem_post(&stage->answered);
	return NULL;
}

static void relay(void)
{
	pthread_t threads[STAGES + 1];
	char file[] = "relayed";
	long long begin;

	call_me("client");
	sem_init(&held, 0, 0);
	for (int i = 0; i < STAGES; i++) {
		sem_init(&stages[i].asked, 0, 0);
		sem_init(&stages[i].answered, 0, 0);
		pthread_create(&threads[i], NULL, serve, &stages[i]);
	}
	pthread_create(&threads[STAGES], NULL, keeper, file);
	wait_until(&held);
	begin = now();
	ask(&stages[0]);
	for (int i = 0; i <= STAGES; i++)
		pthread_join(threads[i], NULL);
	unlink(file);
	for (int i = 0; i < STAGES; i++)
		say(stages[i].name, "time",
		    within(stages[i].spans[0], begin, LLONG_MAX) +
			within(stages[i].spans[1], begin, LLONG_MAX));
	say("keeper", "time", within(kept, worker_begins, LLONG_MAX));
	say("keeper", "file", within(synced, worker_begins, LLONG_MAX));
}

/* --- A herd: all wait for one condition, all are woken, and want one lock ---------------------- */

static pthread_mutex_t pasture = PTHREAD_MUTEX_INITIALIZER;
static long long finished[HERD];

static void *beast(void *number)
{
	long i = (long)number;

	wait_at_gate(i);
	pthread_mutex_unlock(&gate);
	pthread_mutex_lock(&pasture);
	grazed[i] = rest(80);
	pthread_mutex_unlock(&pasture);
	finished[i] = now();
	return NULL;
}

static void herd(void)
{
	long long begins[HERD], slept;
	pthread_t threads[HERD];

	let_out(threads, beast);
	for (int i = 0; i < HERD; i++) {
		begins[i] = now();
		pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < HERD; i++) {
		slept = 0;
		for (int k = 0; k < HERD; k++)
			slept += within(grazed[i], begins[k], finished[k]);
		say_beast(i, slept);
	}
}

/* --- A processor that others have, too --------------------------------------------------------- */

static volatile unsigned long sum;

static long long used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Until it has had the processor for so long. Returns for how long it had to wait for it. */
static long long compute(int ms)
{
	long long begin = now(), before = used(), had;

	do {
		sum += sum * 3 + 1;
		had = used() - before;
	} while (had < ms * 1000000ll);
	return now() - begin - had;
}

/* On one processor, with a child that computes all the time. */
static pid_t with_neighbour(void)
{
	cpu_set_t all, one;
	pid_t pid;
	int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	pid = fork();
	if (pid == 0) {
		call_me("neighbour");
		for (;;)
			sum += sum * 3 + 1;
	}
	return pid;
}

static void end_neighbour(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void starve(void)
{
	pid_t pid;

	call_me("starved");
	pid = with_neighbour();
	rest(20);
	say("starved", "processor", compute(250));
	say("starved", "cpu", 250000000);
	end_neighbour(pid);
}

/* One that has a lock wants the processor, and so one that wants the lock waits for whoever has that. */
static pthread_mutex_t wanted = PTHREAD_MUTEX_INITIALIZER;
static sem_t low_has_it;
static long long low_waited;

static void *low(void *unused)
{
	call_me("low");
	pthread_mutex_lock(&wanted);
	sem_post(&low_has_it);
	rest(20);
	low_waited = compute(200);
	pthread_mutex_unlock(&wanted);
	return unused;
}

static void inversion(void)
{
	pthread_t thread;
	pid_t pid;

	call_me("high");
	sem_init(&low_has_it, 0, 0);
	pid = with_neighbour();
	pthread_create(&thread, NULL, low, NULL);
	wait_until(&low_has_it);
	pthread_mutex_lock(&wanted);
	pthread_mutex_unlock(&wanted);
	pthread_join(thread, NULL);
	say("low", "processor", low_waited);
	say("low", "cpu", 200000000);
	end_neighbour(pid);
}

/* --- A step of a build ------------------------------------------------------------------------- */

static void step(const char *name, int ms)
{
	struct span span;

	call_me(name);
	span = rest(ms);
	say(name, "time", span.end - span.begin);
}

int main(int argc, char **argv)
{
	long long begin = now();

	if (argc == 3) {
		step(argv[1], atoi(argv[2]));
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "relay") == 0)
		relay();
	if (argc == 2 && strcmp(argv[1], "herd") == 0)
		herd();
	if (argc == 2 && strcmp(argv[1], "starve") == 0)
		starve();
	if (argc == 2 && strcmp(argv[1], "inversion") == 0)
		inversion();
	say("TOTAL", "-", now() - begin);
	return 0;
}

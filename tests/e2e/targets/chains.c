/* SPDX-License-Identifier: MIT */
/*
 * Programs whose critical path is known by construction, one for each name that it is given. Each prints what it
 * measured itself: "TOTAL - NS", and "THREAD KIND NS" for what a thread of this name was doing while the first one
 * waited for it: so the log is right however late threads get a processor.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/targets/chains.h"

enum { THREADS = 4, ITEMS = 8 };

/* --- Threads that take one lock after another, each for some time ----------------------------- */

static pthread_mutex_t convoy_lock = PTHREAD_MUTEX_INITIALIZER;
static struct span rested[THREADS];
static long long finished[THREADS];

static void *convoy_member(void *number)
{
	long i = (long)number;
	char name[16];

	snprintf(name, sizeof(name), "member%ld", i);
	call_me(name);
	pthread_mutex_lock(&convoy_lock);
	rested[i] = rest(80);
	pthread_mutex_unlock(&convoy_lock);
	finished[i] = now();
	return NULL;
}

/* What the threads slept while the first one waited for the end of each of them; or of any, where they waited for one
 * another. */
static void join_all(pthread_t *threads, const char *name, int of_any)
{
	long long slept[THREADS] = {0}, begins[THREADS];
	char text[32];

	for (int i = 0; i < THREADS; i++) {
		begins[i] = now();
		pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < THREADS; i++) {
		for (int k = of_any ? 0 : i; k < (of_any ? THREADS : i + 1); k++)
			slept[i] += within(rested[i], begins[k], finished[k]);
		snprintf(text, sizeof(text), "%s%d", name, i);
		say(text, "time", slept[i]);
	}
}

static void convoy(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, convoy_member, (void *)i);
	join_all(threads, "member", 1);
}

/* --- A client, its worker, a lock, and who holds it ------------------------------------------- */

static sem_t asked, held;
static pthread_mutex_t store = PTHREAD_MUTEX_INITIALIZER, answer_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answer_ready = PTHREAD_COND_INITIALIZER;
static int answered;
static struct span kept, synced, worked;
static long long worker_begins;

static void *keeper(void *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	call_me("keeper");
	pthread_mutex_lock(&store);
	sem_post(&held);
	kept = rest(150);
	if (write(fd, "x", 1) != 1)
		abort();
	synced.begin = now();
	fsync(fd);
	synced.end = now();
	pthread_mutex_unlock(&store);
	close(fd);
	return NULL;
}

static void *worker(void *unused)
{
	call_me("worker");
	sem_wait(&asked);
	worker_begins = now();
	pthread_mutex_lock(&store);
	worked = rest(60);
	pthread_mutex_unlock(&store);
	pthread_mutex_lock(&answer_lock);
	answered = 1;
	pthread_cond_signal(&answer_ready);
	pthread_mutex_unlock(&answer_lock);
	return unused;
}

static void chain(void)
{
	pthread_t threads[2];
	char file[] = "chained";
	long long begin, waits;

	call_me("client");
	sem_init(&asked, 0, 0);
	sem_init(&held, 0, 0);
	pthread_create(&threads[0], NULL, keeper, file);
	while (sem_wait(&held) < 0)
		;
	pthread_create(&threads[1], NULL, worker, NULL);
	sem_post(&asked);
	begin = now();
	pthread_mutex_lock(&answer_lock);
	while (!answered)
		pthread_cond_wait(&answer_ready, &answer_lock);
	pthread_mutex_unlock(&answer_lock);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	unlink(file);
	waits = begin > worker_begins ? begin : worker_begins;
	say("keeper", "time", within(kept, waits, LLONG_MAX));
	say("keeper", "file", within(synced, waits, LLONG_MAX));
	say("worker", "time", within(worked, begin, LLONG_MAX));
}

/* --- A producer that is slow, and a consumer that waits for it -------------------------------- */

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static int queued;
static struct span made[ITEMS];

static void *producer(void *unused)
{
	call_me("producer");
	for (int i = 0; i < ITEMS; i++) {
		made[i] = rest(50);
		pthread_mutex_lock(&queue_lock);
		queued++;
		pthread_cond_signal(&queue_filled);
		pthread_mutex_unlock(&queue_lock);
	}
	return unused;
}

static void conditions(void)
{
	long long begins[ITEMS], slept = 0, used = 0;
	struct span use;
	pthread_t thread;

	call_me("consumer");
	pthread_create(&thread, NULL, producer, NULL);
	for (int i = 0; i < ITEMS; i++) {
		begins[i] = now();
		pthread_mutex_lock(&queue_lock);
		while (queued == 0)
			pthread_cond_wait(&queue_filled, &queue_lock);
		queued--;
		pthread_mutex_unlock(&queue_lock);
		use = rest(20);
		used += use.end - use.begin;
	}
	pthread_join(thread, NULL);
	/* The one that was waited for is not over before it is there; until then the producer makes no other. */
	for (int i = 0; i < ITEMS; i++)
		slept += within(made[i], begins[i], LLONG_MAX);
	say("producer", "time", slept);
	say("consumer", "time", used);
}

/* --- A parent, its child, and the child's child ----------------------------------------------- */

struct family {
	struct span parent, child, grandchild;
	long long parent_waits, child_waits;
};

static void family_child(struct family *family)
{
	pid_t pid = fork();

	if (pid == 0) {
		call_me("grandchild");
		family->grandchild = rest(200);
		_exit(0);
	}
	family->child_waits = now();
	waitpid(pid, NULL, 0);
	family->child = rest(100);
	_exit(0);
}

static void grandchild(void)
{
	struct family *family =
	    mmap(NULL, sizeof(*family), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long long waits;
	pid_t pid;

	call_me("parent");
	pid = fork();
	if (pid == 0) {
		call_me("child");
		family_child(family);
	}
	family->parent_waits = now();
	waitpid(pid, NULL, 0);
	family->parent = rest(60);
	waits =
	    family->parent_waits > family->child_waits ? family->parent_waits : family->child_waits;
	say("grandchild", "time", within(family->grandchild, waits, LLONG_MAX));
	say("child", "time", within(family->child, family->parent_waits, LLONG_MAX));
	say("parent", "time", within(family->parent, 0, LLONG_MAX));
}

/* --- The slowest of four threads -------------------------------------------------------------- */

static void *sleeper(void *number)
{
	static const int lengths[THREADS] = {60, 40, 300, 20};
	long i = (long)number;
	char name[16];

	snprintf(name, sizeof(name), "sleeper%ld", i);
	call_me(name);
	rested[i] = rest(lengths[i]);
	finished[i] = now();
	return NULL;
}

static void join(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, sleeper, (void *)i);
	join_all(threads, "sleeper", 0);
}

/* --- Time alone ------------------------------------------------------------------------------- */

static void timer(void)
{
	struct timespec until;
	struct timespec some = {0, 80000000};
	long long begin = now();
	sigset_t set;
	sem_t never;

	call_me("timed");
	sem_init(&never, 0, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += until.tv_nsec >= 900000000;
	until.tv_nsec = (until.tv_nsec + 100000000) % 1000000000;
	sem_timedwait(&never, &until);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigtimedwait(&set, NULL, &some);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &some, NULL);
	say("timed", "time", now() - begin);
}

/* --- Two functions that compute --------------------------------------------------------------- */

static volatile unsigned long sum;

__attribute__((noinline)) static long long large(void)
{
	long long begin = now();

	while (now() - begin < 300000000)
		sum += sum * 3 + 1;
	return now() - begin;
}

__attribute__((noinline)) static long long small(void)
{
	long long begin = now();

	while (now() - begin < 100000000)
		sum += sum * 5 + 1;
	return now() - begin;
}

static void computing(void)
{
	long long first, second;

	call_me("computer");
	first = large();
	second = small();
	say("computer", "large", first);
	say("computer", "small", second);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
	    {"convoy", convoy},		{"chain", chain}, {"conditions", conditions},
	    {"grandchild", grandchild}, {"join", join},	  {"timer", timer},
	    {"computing", computing},
	};
	long long begin = now();

	for (size_t i = 0; argc == 2 && i < sizeof(all) / sizeof(*all); i++) {
		if (strcmp(all[i].name, argv[1]) == 0)
			all[i].run();
	}
	say("TOTAL", "-", now() - begin);
	return 0;
}

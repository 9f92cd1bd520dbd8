/* SPDX-License-Identifier: MIT */
/*
 * A program to look at in a trace: a bakery. Three bakers, a thread each, share one oven behind a
 * lock; once, Bruno forgets a loaf in it, and the others wait for him. Loaves go through a pipe to a
 * child process, which delivers them. The functions are instrumented (-finstrument-functions), so that
 * the trace shows every call.
 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BAKERS	   3
#define LOAVES	   8
#define DOUGH_SIZE 65536

#define BAKING_US     2000
#define FORGOTTEN_US  40000
#define DELIVERING_US 1000

extern char **environ;

struct baker {
	const char *name;
	int forgets; /* which loaf; -1: none */
	pthread_t thread;
};

static pthread_mutex_t oven_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int loaves_baked;
static int counter = -1;		   /* the pipe's end for loaves */
static _Atomic unsigned int dough_quality; /* keeps the kneading from being optimised away */

static void rest_us(long us)
{
	struct timespec t = {.tv_sec = 0, .tv_nsec = us * 1000};

	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		;
}

/* Some work for the processor, split over a few calls. */
static unsigned int knead_fold(const unsigned char *dough, size_t size)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + dough[i];
	return sum;
}

static unsigned int knead(unsigned char *dough, size_t size, int folds)
{
	unsigned int sum = 0;

	for (int i = 0; i < folds; i++) {
		memset(dough, i, size);
		sum ^= knead_fold(dough, size);
	}
	return sum;
}

static void bake(long us)
{
	pthread_mutex_lock(&oven_lock);
	rest_us(us);
	loaves_baked++;
	pthread_mutex_unlock(&oven_lock);
}

static int sell(const unsigned char *loaf)
{
	return write(counter, loaf, 1) == 1 ? 0 : -errno;
}

static int make_loaf(long baking_us)
{
	unsigned char *dough = malloc(DOUGH_SIZE);
	int r;

	if (!dough)
		return -ENOMEM;
	dough_quality ^= knead(dough, DOUGH_SIZE, 8);
	bake(baking_us);
	r = sell(dough);
	free(dough);
	return r;
}

static void *bakes(void *arg)
{
	const struct baker *baker = arg;

	for (int i = 0; i < LOAVES; i++) {
		if (make_loaf(i == baker->forgets ? FORGOTTEN_US : BAKING_US) != 0)
			break;
	}
	return NULL;
}

/* What the child process does, until the counter closes. */
static void deliver_loaf(void)
{
	rest_us(DELIVERING_US);
}

static int deliver(void)
{
	unsigned int delivered = 0;
	unsigned char loaf;

	while (read(STDIN_FILENO, &loaf, 1) == 1) {
		deliver_loaf();
		delivered++;
	}
	return delivered == BAKERS * LOAVES ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The child, whose standard input is the other end of the counter. */
static int start_delivery(const char *self, pid_t *ret_child)
{
	char *const argv[] = {(char *)self, (char *)"deliver", NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], r;

	if (pipe(ends) != 0)
		return -errno;
	r = posix_spawn_file_actions_init(&actions);
	if (r == 0) {
		posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
		posix_spawn_file_actions_addclose(&actions, ends[0]);
		posix_spawn_file_actions_addclose(&actions, ends[1]);
		r = posix_spawnp(ret_child, self, &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[0]);
	counter = ends[1];
	return -r;
}

static int start_bakers(struct baker *bakers)
{
	int n = 0, r;

	for (; n < BAKERS; n++) {
		r = pthread_create(&bakers[n].thread, NULL, bakes, &bakers[n]);
		if (r != 0) {
			fprintf(stderr, "demo: pthread_create: %s\n", strerror(r));
			break;
		}
		pthread_setname_np(bakers[n].thread, bakers[n].name);
	}
	return n;
}

static int run_bakery(const char *self)
{
	struct baker bakers[BAKERS] = {{.name = "Anna", .forgets = -1},
				       {.name = "Bruno", .forgets = 4},
				       {.name = "Clara", .forgets = -1}};
	pid_t child;
	int n, status = -1, r = start_delivery(self, &child);

	if (r != 0) {
		fprintf(stderr, "demo: %s: %s\n", self, strerror(-r));
		return EXIT_FAILURE;
	}
	n = start_bakers(bakers);
	while (n > 0)
		pthread_join(bakers[--n].thread, NULL);
	close(counter);
	if (waitpid(child, &status, 0) != child)
		perror("demo: waitpid");
	if (loaves_baked != BAKERS * LOAVES || status != 0)
		return EXIT_FAILURE;
	printf("%u loaves baked and delivered\n", loaves_baked);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "deliver") == 0)
		return deliver();
	return run_bakery(argv[0]);
}

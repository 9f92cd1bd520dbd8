/* SPDX-License-Identifier: MIT */
/*
 * A program to look at in a trace: a bakery. Three bakers, a thread each, share one oven behind a
 * lock; a child process delivers. The functions are instrumented
 * (-finstrument-functions), so that the trace shows every call.
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
#define DOUGH_SIZE 4096

extern char **environ;

static pthread_mutex_t oven_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int loaves_baked;
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

static void bake(void)
{
	pthread_mutex_lock(&oven_lock);
	rest_us(500);
	loaves_baked++;
	pthread_mutex_unlock(&oven_lock);
}

static int make_loaf(void)
{
	unsigned char *dough = malloc(DOUGH_SIZE);

	if (!dough)
		return -ENOMEM;
	dough_quality ^= knead(dough, DOUGH_SIZE, 40);
	bake();
	free(dough);
	return 0;
}

static void *baker(void *arg)
{
	(void)arg;
	for (int i = 0; i < LOAVES; i++) {
		if (make_loaf() != 0)
			break;
	}
	return NULL;
}

/* What the child process does: rounds through the town. */
static void deliver_to(int house)
{
	rest_us(200 + 100 * house);
}

static int deliver(void)
{
	for (int house = 0; house < 5; house++)
		deliver_to(house);
	return EXIT_SUCCESS;
}

static int start_delivery(const char *self, pid_t *ret_child)
{
	char *const argv[] = {(char *)self, (char *)"deliver", NULL};

	return -posix_spawnp(ret_child, self, NULL, NULL, argv, environ);
}

static int run_bakery(const char *self)
{
	static const char *const names[BAKERS] = {"Anna", "Bruno", "Clara"};
	pthread_t threads[BAKERS];
	pid_t child;
	int n = 0, status = -1, r;

	for (; n < BAKERS; n++) {
		r = pthread_create(&threads[n], NULL, baker, NULL);
		if (r != 0) {
			fprintf(stderr, "demo: pthread_create: %s\n", strerror(r));
			break;
		}
		pthread_setname_np(threads[n], names[n]);
	}
	r = start_delivery(self, &child);
	if (r != 0)
		fprintf(stderr, "demo: %s: %s\n", self, strerror(-r));
	else if (waitpid(child, &status, 0) != child)
		perror("demo: waitpid");
	while (n > 0)
		pthread_join(threads[--n], NULL);
	printf("%u loaves baked and delivered\n", loaves_baked);
	return loaves_baked == BAKERS * LOAVES && status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "deliver") == 0)
		return deliver();
	return run_bakery(argv[0]);
}

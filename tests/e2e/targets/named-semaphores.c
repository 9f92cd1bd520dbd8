/* SPDX-License-Identifier: MIT */
/*
 * One of several programs that know nothing of each other but the name of a semaphore: it posts, or takes what others post, and says so.
 *
 *	named-semaphores NAME make UNITS | post SEED COUNT | take SEED COUNT | lock SEED COUNT | ring I COUNT PARTIES
 *
 * lock: takes the unit and posts it again, and keeps who had it before in the file NAME.last. ring: waits for the semaphore NAME.I and posts
 * NAME.(I+1), round all parties: who posts for whom is known. A wait of 10 s is given up. Prints, before a post, "P TID NS"; after a wait,
 * "G TID BEGIN END TID-BEFORE", in ns of CLOCK_BOOTTIME, 0: not known.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int tid;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void spend(unsigned *random, unsigned most)
{
	uint64_t until = now() + (uint64_t)(rand_r(random) % (int)most);

	while (now() < until)
		;
	if (rand_r(random) % 16 == 0)
		usleep(500);
}

static void say(const char *line, int length)
{
	if (write(1, line, (size_t)length) != length)
		exit(3);
}

static sem_t *get(const char *name, int units)
{
	sem_t *sem = sem_open(name, O_CREAT, 0600, (unsigned)units);

	if (sem == SEM_FAILED)
		exit(2);
	return sem;
}

/* False: nobody posts any more. */
static int take(sem_t *sem, uint64_t *begin)
{
	struct timespec late;

	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 10;
	*begin = now();
	return sem_timedwait(sem, &late) == 0;
}

static void say_got(uint64_t begin, int before)
{
	char line[128];

	say(line, snprintf(line, sizeof(line), "G %d %llu %llu %d\n", tid,
			   (unsigned long long)begin, (unsigned long long)now(), before));
}

static void post(sem_t *sem)
{
	char line[128];

	say(line, snprintf(line, sizeof(line), "P %d %llu\n", tid, (unsigned long long)now()));
	sem_post(sem);
}

/* Who did it last. */
static volatile int *last_of(const char *name)
{
	char path[128];
	void *at;
	int fd;

	snprintf(path, sizeof(path), ".%s.last", name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 4096) < 0)
		exit(2);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		exit(2);
	close(fd);
	return at;
}

static void lock(const char *name, sem_t *sem, unsigned random, int count)
{
	volatile int *last = last_of(name + 1);
	uint64_t begin;

	for (int i = 0; i < count && take(sem, &begin); i++) {
		say_got(begin, *last);
		spend(&random, 20000);
		*last = tid;
		post(sem);
		spend(&random, 40000);
	}
}

static void ring(const char *name, int i, int count, int parties)
{
	volatile int *last;
	char own[64], next[64];
	sem_t *mine, *other;
	uint64_t begin;

	snprintf(own, sizeof(own), "%s.%d", name, i);
	snprintf(next, sizeof(next), "%s.%d", name, (i + 1) % parties);
	mine = get(own, i == 0);
	other = get(next, (i + 1) % parties == 0);
	last = last_of(name + 1);
	for (; count > 0 && take(mine, &begin); count--) {
		say_got(begin, *last);
		*last = tid;
		post(other);
	}
}

int main(int argc, char **argv)
{
	const char *name = argv[1], *what = argc > 3 ? argv[2] : "";
	unsigned random = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	int count = argc > 4 ? atoi(argv[4]) : 0;
	uint64_t begin;
	sem_t *sem;

	tid = (int)syscall(SYS_gettid);
	if (strcmp(what, "ring") == 0) {
		ring(name, atoi(argv[3]), count, atoi(argv[5]));
		return 0;
	}
	sem = get(name, strcmp(what, "make") == 0 ? atoi(argv[3]) : 0);
	if (strcmp(what, "lock") == 0)
		lock(name, sem, random, count);
	for (int i = 0; strcmp(what, "post") == 0 && i < count; i++) {
		spend(&random, 40000);
		post(sem);
	}
	for (int i = 0; strcmp(what, "take") == 0 && i < count && take(sem, &begin); i++) {
		say_got(begin, 0);
		spend(&random, 20000);
	}
	sem_close(sem);
	return 0;
}

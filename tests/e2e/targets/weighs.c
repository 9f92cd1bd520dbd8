/* SPDX-License-Identifier: MIT */
/*
 * Something of all that can be weighed: calls of several depths in two threads and a child, recursion, blocks that are
 * freed and blocks that are not, and waits for a lock, a time, a pipe and a child.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *kept[64];
static int kept_count;

static int descend(int n)
{
	return n < 2 ? n : descend(n - 1) + descend(n - 2);
}

static int odd(int n);

static int even(int n)
{
	return n == 0 ? 1 : odd(n - 1);
}

static int odd(int n)
{
	return n == 0 ? 0 : even(n - 1);
}

static void *take(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	return block;
}

static void keep(size_t size)
{
	kept[kept_count++] = take(size);
}

static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	usleep(20000);
	pthread_mutex_unlock(&lock);
	descend(9);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int ends[2], status;
	char c;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 10; i++) {
		void *block = realloc(take(100), 5000);

		free(block);
		keep(1000 + (size_t)i);
	}
	kept[kept_count++] = calloc(7, 11);
	if (posix_memalign(&kept[kept_count++], 64, 640) != 0)
		return 1;
	descend(8);
	even(9);
	poll(NULL, 0, 3);
	if (pipe(ends) != 0)
		return 1;
	if (fork() == 0) {
		keep(5);
		usleep(3000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	if (read(ends[0], &c, 1) != 1)
		return 1;
	wait(&status);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return status;
}

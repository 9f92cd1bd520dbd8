/* SPDX-License-Identifier: MIT */
/* Many short threads, one after the other, whose destructors of thread-specific data make traced calls
 * after the thread's function has returned. Prints how many of those ran. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 600

static pthread_key_t early_key, late_key;
static int destroyed;

static void destroy(void *value)
{
	close(open("/dev/null", O_RDONLY));
	free(value);
	destroyed++;
}

static void *work(void *unused)
{
	pthread_setspecific(early_key, malloc(100));
	if (late_key)
		pthread_setspecific(late_key, malloc(100));
	return unused;
}

int main(void)
{
	pthread_key_create(&early_key, destroy);
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, work, NULL) != 0 || pthread_join(t, NULL) != 0)
			return 1;
		usleep(500);
		if (!i)
			pthread_key_create(&late_key, destroy);
	}
	printf("%d\n", destroyed);
	return 0;
}

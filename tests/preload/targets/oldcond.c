/* SPDX-License-Identifier: MIT */
/* A program that was linked when glibc had the first version of condition variables alone. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#define OLD(name) __asm__(".symver " #name ", " #name "@GLIBC_2.2.5")
OLD(pthread_cond_init);
OLD(pthread_cond_destroy);
OLD(pthread_cond_wait);
OLD(pthread_cond_timedwait);
OLD(pthread_cond_signal);
OLD(pthread_cond_broadcast);
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fixed = PTHREAD_COND_INITIALIZER, *cond;
static int ready, go;

static void *wait(void *unused)
{
	pthread_mutex_lock(&mutex);
	ready++;
	pthread_cond_signal(&fixed);
	while (!go)
		pthread_cond_wait(cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

int main(void)
{
	static const struct timespec past = {1, 0};
	static pthread_cond_t made;
	pthread_t t[3];

	memset(&made, 0x5a, sizeof made); /* what stood there before */
	cond = &made;
	printf("init %d\n", pthread_cond_init(cond, NULL));
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, wait, NULL);
	pthread_mutex_lock(&mutex);
	while (ready < 3)
		pthread_cond_wait(&fixed, &mutex);
	printf("timedwait %d\n", pthread_cond_timedwait(cond, &mutex, &past));
	go = 1;
	printf("broadcast %d\n", pthread_cond_broadcast(cond));
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("destroy %d\n", pthread_cond_destroy(cond));
	return 0;
}

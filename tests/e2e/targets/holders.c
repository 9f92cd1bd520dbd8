/* SPDX-License-Identifier: MIT */
/* A thread called keeper takes each kind of lock in take_*(), and keeps it until one called guest waits for it. */
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static pthread_barrier_t together;

static void together_wait(void)
{
	pthread_barrier_wait(&together);
}

/* Of glibc: 2 says that somebody sleeps there. */
static void until_awaited(const int *word)
{
	while (__atomic_load_n(word, __ATOMIC_RELAXED) != 2)
		usleep(1000);
}

static void __attribute__((noinline)) take_mutex(void)
{
	pthread_mutex_lock(&mutex);
	__asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) take_tried(void)
{
	while (pthread_mutex_trylock(&tried) != 0)
		;
	__asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) take_rwlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
	__asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) take_c11(void)
{
	mtx_lock(&c11);
	__asm__ volatile("" ::: "memory");
}

static void *keep(void *arg)
{
	pthread_setname_np(pthread_self(), "keeper");
	take_mutex();
	take_tried();
	take_rwlock();
	take_c11();
	together_wait();
	until_awaited(&mutex.__data.__lock);
	pthread_mutex_unlock(&mutex);
	until_awaited(&tried.__data.__lock);
	pthread_mutex_unlock(&tried);
	until_awaited((const int *)&c11);
	mtx_unlock(&c11);
	/* A reader that waits is counted from the fourth bit on, and sleeps at the phase's word. */
	while (__atomic_load_n(&rwlock.__data.__readers, __ATOMIC_RELAXED) < 8 ||
	       !(__atomic_load_n(&rwlock.__data.__wrphase_futex, __ATOMIC_RELAXED) & 2))
		usleep(1000);
	pthread_rwlock_unlock(&rwlock);
	return arg;
}

static void __attribute__((noinline)) be_guest(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&tried);
	pthread_mutex_unlock(&tried);
	mtx_lock(&c11);
	mtx_unlock(&c11);
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void *visit(void *arg)
{
	pthread_setname_np(pthread_self(), "guest");
	together_wait();
	be_guest();
	return arg;
}

int main(void)
{
	pthread_t keeper, guest;

	mtx_init(&c11, mtx_plain);
	pthread_barrier_init(&together, NULL, 2);
	if (pthread_create(&keeper, NULL, keep, NULL) || pthread_create(&guest, NULL, visit, NULL))
		return 1;
	pthread_join(keeper, NULL);
	pthread_join(guest, NULL);
	return 0;
}

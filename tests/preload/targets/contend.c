/* SPDX-License-Identifier: MIT */
/* Threads that wait for one another by every kind of lock. Each wait is arranged, not a race: nothing is
 * released before glibc's own words in the lock say that the others sleep. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static mtx_t c11_mutex;
static cnd_t c11_cond;
static int go;

static void *wait_mutex(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *wait_rwlock(void *unused)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return unused;
}

static void *wait_semaphore(void *unused)
{
	sem_wait(&semaphore);
	return unused;
}

static void *wait_condition(void *unused)
{
	pthread_mutex_lock(&mutex);
	while (!go)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void release_condition(void)
{
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
}

static void *wait_reading(void *unused)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return unused;
}

static void *wait_barrier(void *unused)
{
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *wait_c11(void *unused)
{
	mtx_lock(&c11_mutex);
	mtx_unlock(&c11_mutex);
	return unused;
}

static void *wait_c11_condition(void *unused)
{
	mtx_lock(&c11_mutex);
	while (!go)
		cnd_wait(&c11_cond, &c11_mutex);
	mtx_unlock(&c11_mutex);
	return unused;
}

static void release_c11_condition(void)
{
	mtx_lock(&c11_mutex);
	go = 1;
	cnd_signal(&c11_cond);
	mtx_unlock(&c11_mutex);
}

static int load(const void *word)
{
	return __atomic_load_n((const int *)word, __ATOMIC_ACQUIRE);
}

static int mutex_waiters(void)
{
	return load(&mutex.__data.__lock) == 2;
}

static int rwlock_waiters(void)
{
	return load(&rwlock.__data.__wrphase_futex) & 2;
}

static int semaphore_waiters(void)
{
	return load((const int *)&semaphore + 1);
}

/* A thread counts itself before it gives the mutex back, for which nobody else is to wait. */
static int condition_waiters(void)
{
	return load(&mutex.__data.__lock) == 0 ? load(&cond.__data.__wrefs) >> 3 : 0;
}

static int c11_waiters(void)
{
	return load(&c11_mutex) == 2;
}

static int c11_condition_waiters(void)
{
	return load(&c11_mutex) == 0 ? load(&((pthread_cond_t *)&c11_cond)->__data.__wrefs) >> 3
				     : 0;
}

/* Both sleep: the lock counts those who want to read in bits 3 and up. */
static int reading_waiters(void)
{
	return load(&rwlock.__data.__wrphase_futex) & 2 ? load(&rwlock.__data.__readers) >> 3 : 0;
}

/* The first word counts those who have arrived. */
static int barrier_waiters(void)
{
	return load(&barrier);
}

/* The routine runs in main; the other thread comes meanwhile. */
static pthread_t late;
static int late_tid;

static void *wait_once(void *routine)
{
	__atomic_store_n(&late_tid, gettid(), __ATOMIC_RELEASE); /* pairs with run_once() */
	pthread_once(&once, (void (*)(void))routine);
	return NULL;
}

/* Whether the kernel says that the thread is in a system call whose first argument is this address. */
static int thread_waits_at(int tid, const void *address)
{
	char path[64];
	void *first = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d %p", &first) != 1)
		first = NULL;
	fclose(file);
	return first == address;
}

static void run_once(void)
{
	pthread_create(&late, NULL, wait_once, (void *)run_once);
	while (!load(&late_tid) || !thread_waits_at(load(&late_tid), &once))
		usleep(1000);
}

static void meet(void *(*waiter)(void *), int count, void (*hold)(void), int (*waiters)(void),
		 void (*release)(void))
{
	pthread_t t[2];

	hold();
	for (int i = 0; i < count; i++) {
		pthread_create(&t[i], NULL, waiter, NULL);
		while (waiters() <= i)
			usleep(1000);
	}
	release();
	for (int i = 0; i < count; i++)
		pthread_join(t[i], NULL);
}

static void nothing(void)
{
}

static void hold_mutex(void)
{
	pthread_mutex_lock(&mutex);
}

static void release_mutex(void)
{
	pthread_mutex_unlock(&mutex);
}

static void hold_rwlock(void)
{
	pthread_rwlock_rdlock(&rwlock);
}

static void release_rwlock(void)
{
	pthread_rwlock_unlock(&rwlock);
}

static void hold_writing(void)
{
	pthread_rwlock_wrlock(&rwlock);
}

static void hold_c11(void)
{
	mtx_lock(&c11_mutex);
}

static void release_c11(void)
{
	mtx_unlock(&c11_mutex);
}

static void release_barrier(void)
{
	pthread_barrier_wait(&barrier);
}

static void release_semaphore(void)
{
	sem_post(&semaphore);
}

int main(void)
{
	pid_t pid;

	sem_init(&semaphore, 0, 0);
	meet(wait_mutex, 1, hold_mutex, mutex_waiters, release_mutex);
	meet(wait_rwlock, 1, hold_rwlock, rwlock_waiters, release_rwlock);
	meet(wait_semaphore, 1, nothing, semaphore_waiters, release_semaphore);
	meet(wait_condition, 2, nothing, condition_waiters, release_condition);
	meet(wait_reading, 2, hold_writing, reading_waiters, release_rwlock);
	pthread_barrier_init(&barrier, NULL, 3);
	meet(wait_barrier, 2, nothing, barrier_waiters, release_barrier);
	mtx_init(&c11_mutex, mtx_plain);
	cnd_init(&c11_cond);
	meet(wait_c11, 1, hold_c11, c11_waiters, release_c11);
	go = 0;
	meet(wait_c11_condition, 1, nothing, c11_condition_waiters, release_c11_condition);
	pthread_once(&once, run_once);
	pthread_join(late, NULL);
	for (int i = 0; i < 1000; i++)
		wait_mutex(NULL); /* does not wait: not shown */
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Objects in memory that two processes share, made for both: threads of each wait for the other process, and for one
 * another. Prints how often each call has waited; the wait is arranged, as glibc's own words say.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
	pthread_mutex_t mutex, robust;
	pthread_rwlock_t rwlock;
	pthread_cond_t cond;
	pthread_barrier_t barrier;
	pthread_spinlock_t spin;
	sem_t sem;
	int about_to; /* spin: nothing tells that somebody waits */
	int held;     /* by the other process */
} * shared;

static int load(const void *word)
{
	return __atomic_load_n((const int *)word, __ATOMIC_ACQUIRE);
}

static void add(int *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);
}

static void make(void)
{
	const int both = PTHREAD_PROCESS_SHARED;
	pthread_barrierattr_t barrier;
	pthread_mutexattr_t mutex;
	pthread_rwlockattr_t rwlock;
	pthread_condattr_t cond;

	shared =
	    mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		exit(1);
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, both);
	pthread_mutex_init(&shared->mutex, &mutex);
	pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->robust, &mutex);
	pthread_rwlockattr_init(&rwlock);
	pthread_rwlockattr_setpshared(&rwlock, both);
	pthread_rwlock_init(&shared->rwlock, &rwlock);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, both);
	pthread_cond_init(&shared->cond, &cond);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, both);
	pthread_barrier_init(&shared->barrier, &barrier, 2);
	pthread_spin_init(&shared->spin, both);
	sem_init(&shared->sem, both, 0);
}

/* --- What is waited for ----------------------------------------------------------------------- */

static void nothing(void)
{
}

static void lock(void)
{
	pthread_mutex_lock(&shared->mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&shared->mutex);
}

static void wait_mutex(void)
{
	lock();
	unlock();
}

static bool mutex_awaited(void)
{
	return load(&shared->mutex.__data.__lock) == 2;
}

static void lock_robust(void)
{
	pthread_mutex_lock(&shared->robust);
}

static void unlock_robust(void)
{
	pthread_mutex_unlock(&shared->robust);
}

static void wait_robust(void)
{
	lock_robust();
	unlock_robust();
}

static bool robust_awaited(void)
{
	return load(&shared->robust.__data.__lock) < 0;
}

static void wrlock(void)
{
	pthread_rwlock_wrlock(&shared->rwlock);
}

static void rwunlock(void)
{
	pthread_rwlock_unlock(&shared->rwlock);
}

static void wait_reading(void)
{
	pthread_rwlock_rdlock(&shared->rwlock);
	rwunlock();
}

static bool reader_sleeps(void)
{
	return load(&shared->rwlock.__data.__wrphase_futex) & 2;
}

static void wait_condition(void)
{
	lock();
	pthread_cond_wait(&shared->cond, &shared->mutex);
	unlock();
}

static void signal_condition(void)
{
	lock();
	pthread_cond_signal(&shared->cond);
	unlock();
}

static bool condition_awaited(void)
{
	return load(&shared->cond.__data.__wrefs) >> 3;
}

static void meet(void)
{
	pthread_barrier_wait(&shared->barrier);
}

static bool one_has_come(void)
{
	return load(&shared->barrier) % 2;
}

static void spin_lock(void)
{
	pthread_spin_lock(&shared->spin);
}

static void spin_unlock(void)
{
	pthread_spin_unlock(&shared->spin);
}

static void wait_spinning(void)
{
	add(&shared->about_to);
	spin_lock();
	spin_unlock();
}

static bool spins(void)
{
	static int before;

	if (load(&shared->about_to) == before)
		return false;
	before = load(&shared->about_to);
	usleep(20000);
	return true;
}

static void wait_semaphore(void)
{
	while (sem_wait(&shared->sem) != 0)
		;
}

static void post(void)
{
	sem_post(&shared->sem);
}

static bool semaphore_awaited(void)
{
	return load((const int *)&shared->sem + 1);
}

static const struct {
	const char *call;
	void (*hold)(void);
	void (*wait)(void);
	bool (*is_awaited)(void);
	void (*release)(void);
} things[] = {
    {"pthread_mutex_lock", lock, wait_mutex, mutex_awaited, unlock},
    {"pthread_mutex_lock", lock_robust, wait_robust, robust_awaited, unlock_robust},
    {"pthread_rwlock_rdlock", wrlock, wait_reading, reader_sleeps, rwunlock},
    {"pthread_cond_wait", nothing, wait_condition, condition_awaited, signal_condition},
    {"pthread_barrier_wait", nothing, meet, one_has_come, meet},
    {"pthread_spin_lock", spin_lock, wait_spinning, spins, spin_unlock},
    {"sem_wait", nothing, wait_semaphore, semaphore_awaited, post},
};

#define THINGS (sizeof(things) / sizeof(things[0]))

/* --- Who waits for whom ----------------------------------------------------------------------- */

static void release_when_awaited(size_t i)
{
	while (!things[i].is_awaited())
		usleep(1000);
	things[i].release();
}

static void *wait_(void *i)
{
	things[(size_t)i].wait();
	return NULL;
}

/* Of this process. */
static void among_threads(size_t i)
{
	pthread_t t;

	things[i].hold();
	pthread_create(&t, NULL, wait_, (void *)i);
	release_when_awaited(i);
	pthread_join(t, NULL);
}

static void between_processes(size_t i)
{
	int round = shared->held;
	pid_t pid = fork();

	if (pid == 0) {
		things[i].hold();
		add(&shared->held);
		release_when_awaited(i);
		_exit(0);
	}
	while (load(&shared->held) == round)
		usleep(1000);
	things[i].wait();
	waitpid(pid, NULL, 0);
}

int main(void)
{
	make();
	for (size_t i = 0; i < THINGS; i++) {
		among_threads(i);
		between_processes(i);
		printf("%s\n", things[i].call);
	}
	return 0;
}

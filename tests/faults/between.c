/* SPDX-License-Identifier: MIT */
/*
 * between THING WAY: something happens between two steps of a wait or a release, where a fault lets a handler of SIGUSR1
 * run. Says "CALL TID FROM": the wait in CALL of thread TID was ended by thread FROM; 0: by nobody.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t strict = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static mtx_t nested;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;

/* The thread at the point waits for the other. */
static atomic_int at_point, go_on;
static bool is_waiter; /* it is the one who waits that comes to the point */

static pthread_t waiter;
static pthread_t sleeper; /* who begins to wait before another goes on */
static atomic_int waiter_tid;
static atomic_int other_tid;

static int load(const void *word)
{
	return __atomic_load_n((const int *)word, __ATOMIC_ACQUIRE);
}

/* --- What there is to wait for ---------------------------------------------------------------- */

struct thing {
	const char *name;
	const char *call;
	void (*prepare)(void); /* so that the wait is one */
	void (*wait)(void);
	void (*release)(void);
	void (*pass)(void);   /* another has it in between; NULL: nobody can */
	bool (*sleeps)(void); /* somebody does, as glibc's words say */
	bool pass_is_last;    /* and his release is the last then */
};

static void rdlock(void)
{
	pthread_rwlock_rdlock(&rwlock);
}

static void wrlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
}

static void rwunlock(void)
{
	pthread_rwlock_unlock(&rwlock);
}

static void wait_reading(void)
{
	rdlock();
	rwunlock();
}

static void wait_writing(void)
{
	wrlock();
	rwunlock();
}

static bool reader_sleeps(void)
{
	return load(&rwlock.__data.__readers) >> 3 && load(&rwlock.__data.__wrphase_futex) & 2;
}

static bool writer_sleeps(void)
{
	return load(&rwlock.__data.__readers) & 2 && load(&rwlock.__data.__wrphase_futex) & 2;
}

static bool second_writer_sleeps(void)
{
	return load(&rwlock.__data.__writers_futex) & 2;
}

static void lock(void)
{
	pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

static void lock_and_unlock(void)
{
	lock();
	unlock();
}

static bool locker_sleeps(void)
{
	return load(&mutex.__data.__lock) == 2;
}

static void strict_lock(void)
{
	pthread_mutex_lock(&strict);
}

static void strict_unlock(void)
{
	pthread_mutex_unlock(&strict);
}

static void strict_both(void)
{
	strict_lock();
	strict_unlock();
}

static bool strict_sleeps(void)
{
	return load(&strict.__data.__lock) == 2;
}

static void nested_lock(void)
{
	mtx_lock(&nested);
}

static void nested_unlock(void)
{
	mtx_unlock(&nested);
}

static void nested_both(void)
{
	nested_lock();
	nested_unlock();
}

static bool nested_sleeps(void)
{
	return load(&((pthread_mutex_t *)&nested)->__data.__lock) == 2;
}

/* By one who does not hold it: it is refused, and releases nothing. */
static void strict_refused(void)
{
	if (pthread_mutex_unlock(&strict) != EPERM || pthread_cond_wait(&cond, &strict) != EPERM)
		abort();
}

static void nested_refused(void)
{
	if (mtx_unlock(&nested) == thrd_success)
		abort();
}

static void spin_lock(void)
{
	pthread_spin_lock(&spin);
}

static void spin_unlock(void)
{
	pthread_spin_unlock(&spin);
}

static void spin_both(void)
{
	spin_lock();
	spin_unlock();
}

/* No word tells; the thread that begins to wait uses the processor for longer than all before its wait takes. */
static bool spins(void)
{
	struct timespec used;
	clockid_t clock;

	return pthread_getcpuclockid(sleeper, &clock) == 0 && clock_gettime(clock, &used) == 0 &&
	       (used.tv_sec > 0 || used.tv_nsec >= 20000000);
}

static void nothing(void)
{
}

static void wait_semaphore(void)
{
	while (sem_wait(&sem) != 0)
		;
}

static void post(void)
{
	sem_post(&sem);
}

static bool semaphore_sleeps(void)
{
	return load((const int *)&sem + 1) != 0;
}

/* Once, whether it was signalled or not: signalled without the mutex. */
static void wait_condition(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void signal_condition(void)
{
	pthread_cond_signal(&cond);
}

static void broadcast_condition(void)
{
	pthread_cond_broadcast(&cond);
}

static bool condition_sleeps(void)
{
	return load(&cond.__data.__wrefs) >> 3;
}

static const struct thing things[] = {
    {"reader", "pthread_rwlock_rdlock", wrlock, wait_reading, rwunlock, wait_reading, reader_sleeps,
     false},
    {"writer", "pthread_rwlock_wrlock", rdlock, wait_writing, rwunlock, wait_reading, writer_sleeps,
     true},
    {"second-writer", "pthread_rwlock_wrlock", wrlock, wait_writing, rwunlock, wait_writing,
     second_writer_sleeps, true},
    {"mutex", "pthread_mutex_lock", lock, lock_and_unlock, unlock, lock_and_unlock, locker_sleeps,
     true},
    {"strict", "pthread_mutex_lock", strict_lock, strict_both, strict_unlock, strict_refused,
     strict_sleeps, false},
    {"nested", "mtx_lock", nested_lock, nested_both, nested_unlock, nested_refused, nested_sleeps,
     false},
    {"spin", "pthread_spin_lock", spin_lock, spin_both, spin_unlock, spin_both, spins, true},
    {"semaphore", "sem_wait", nothing, wait_semaphore, post, NULL, semaphore_sleeps, false},
    {"signal", "pthread_cond_wait", nothing, wait_condition, signal_condition, signal_condition,
     condition_sleeps, false},
    {"broadcast", "pthread_cond_wait", nothing, wait_condition, broadcast_condition,
     broadcast_condition, condition_sleeps, false},
};

static const struct thing *thing;

/* --- Who does what ---------------------------------------------------------------------------- */

static void await(atomic_int *flag)
{
	while (!*flag)
		usleep(1000);
}

static void *wait_(void *unused)
{
	waiter_tid = gettid();
	thing->wait();
	return unused;
}

static void *pass(void *unused)
{
	other_tid = gettid();
	thing->pass();
	return unused;
}

static void run(void *(*f)(void *))
{
	pthread_t t;

	pthread_create(&t, NULL, f, NULL);
	pthread_join(t, NULL);
}

/* Of the one who releases: the other begins to wait. */
static void until_it_sleeps(void)
{
	pthread_create(&waiter, NULL, wait_, NULL);
	sleeper = waiter;
	await(&waiter_tid);
	while (!thing->sleeps())
		usleep(1000);
}

static void handler(int signal)
{
	(void)signal;
	if (!is_waiter) {
		until_it_sleeps();
		at_point = 1;
	} else if (!atomic_exchange(&at_point, 1)) {
		await(&go_on);
	}
}

static void handle(void)
{
	struct sigaction action = {.sa_handler = handler};

	sigaction(SIGUSR1, &action, NULL);
}

/* The release comes while the other is at the point. */
static int at_wait(bool passes)
{
	is_waiter = true;
	thing->prepare();
	handle();
	pthread_create(&waiter, NULL, wait_, NULL);
	await(&at_point);
	thing->release();
	if (passes)
		run(pass);
	go_on = 1;
	pthread_join(waiter, NULL);
	return passes && thing->pass_is_last ? other_tid : gettid();
}

/* Has had it, long ago. */
static void *have_had(void *unused)
{
	thing->prepare();
	thing->release();
	thing->wait();
	return unused;
}

/* Waits too, and is torn out of the wait; nobody sees that it is over before the thread ends. */
static sigjmp_buf out;
static atomic_int is_out, may_end;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static void *wait_and_jump(void *unused)
{
	if (sigsetjmp(out, 1) == 0)
		thing->wait();
	is_out = 1;
	await(&may_end);
	return unused;
}

/* The release comes while the one is at the point, and while it seems that another waits; who is gone before the one
 * takes part. */
static int at_wait_of_another(void)
{
	struct sigaction jumps = {.sa_handler = jump};
	pthread_t other;

	run(have_had);
	is_waiter = true;
	thing->prepare();
	handle();
	sigaction(SIGUSR2, &jumps, NULL);
	pthread_create(&other, NULL, wait_and_jump, NULL);
	sleeper = other;
	while (!thing->sleeps())
		usleep(1000);
	pthread_kill(other, SIGUSR2);
	await(&is_out);
	pthread_create(&waiter, NULL, wait_, NULL);
	await(&at_point);
	thing->release();
	may_end = 1;
	pthread_join(other, NULL);
	go_on = 1;
	pthread_join(waiter, NULL);
	return gettid();
}

/* The wait comes while the one who releases is at the point. */
static int at_release(void)
{
	thing->prepare();
	handle();
	thing->release();
	pthread_join(waiter, NULL);
	return gettid();
}

/* Somebody signals while nobody waits yet: that is lost. */
static int signal_too_early(void)
{
	is_waiter = true;
	handle();
	pthread_create(&waiter, NULL, wait_, NULL);
	await(&at_point);
	run(pass);
	go_on = 1;
	sleeper = waiter;
	while (!thing->sleeps())
		usleep(1000);
	thing->release();
	pthread_join(waiter, NULL);
	return gettid();
}

/* The routine is over while another is at the point. */
static void *wait_once(void *routine)
{
	waiter_tid = gettid();
	pthread_once(&once, (void (*)(void))routine);
	return NULL;
}

static void run_once(void)
{
	handle();
	pthread_create(&waiter, NULL, wait_once, (void *)run_once);
	await(&at_point);
}

static int at_wait_once(void)
{
	is_waiter = true;
	pthread_once(&once, run_once);
	go_on = 1;
	pthread_join(waiter, NULL);
	return gettid();
}

/*
 * Tracing begins while one waits in a barrier of two. Another is about to come to it all the time, so that whoever counts
 * those who come counts on: in the next round the one waits for main.
 */
static pthread_barrier_t barrier;

static void come(void)
{
	pthread_barrier_wait(&barrier);
}

static bool have_come(int count)
{
	return load(&barrier) == count;
}

static void *come_twice(void *unused)
{
	waiter_tid = gettid();
	come();
	come();
	return unused;
}

static void *come_late(void *unused)
{
	come();
	return unused;
}

static void until_they_have_come(int count)
{
	while (!have_come(count))
		usleep(1000);
}

static int at_barrier(void)
{
	pthread_t late;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&waiter, NULL, come_twice, NULL);
	until_they_have_come(1);
	fclose(fopen("ready", "w"));
	while (access("go", F_OK) != 0)
		usleep(1000);
	is_waiter = true;
	handle();
	pthread_create(&late, NULL, come_late, NULL);
	await(&at_point);
	come();
	until_they_have_come(3);
	come();
	pthread_join(waiter, NULL);
	go_on = 1;
	come();
	pthread_join(late, NULL);
	return gettid();
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "";
	const char *call = strcmp(way, "midway") == 0 ? "pthread_barrier_wait" : "pthread_once";
	int from = 0;

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&sem, 0, 0);
	mtx_init(&nested, mtx_plain | mtx_recursive);
	for (size_t i = 0; argc > 1 && i < sizeof(things) / sizeof(things[0]); i++)
		if (strcmp(things[i].name, argv[1]) == 0)
			thing = &things[i];
	if (thing)
		call = thing->call;
	if (strcmp(way, "wait") == 0)
		from = thing ? at_wait(false) : at_wait_once();
	else if (thing && strcmp(way, "wait-and-pass") == 0)
		from = at_wait(true);
	else if (thing && strcmp(way, "wait-of-another") == 0)
		from = at_wait_of_another();
	else if (thing && strcmp(way, "release") == 0)
		from = at_release();
	else if (thing && strcmp(way, "early") == 0)
		from = signal_too_early();
	else if (strcmp(way, "midway") == 0)
		from = at_barrier();
	else
		return 2;
	printf("%s %d %d\n", call, waiter_tid, from);
	return !at_point;
}

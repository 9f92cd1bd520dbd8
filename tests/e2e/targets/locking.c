/* SPDX-License-Identifier: MIT */
/*
 * Processes and threads that take a lock in memory that they share by turns, and say who had it before them.
 *
 *	locking KIND SEED PROCESSES THREADS TURNS [kill | unseen]
 *
 * KIND: mutex, recursive, checked, robust, inherit, timed, cond (a mutex that waits for a condition release as well), file (a mutex in a
 * mapped file, which each process maps anew), sem, semfile, named, or pass: semaphores by which each wakes the next one.
 * kill: processes are killed in the middle. unseen: one of them is not traced.
 * Prints, for each time that a thread has the lock, "G TID BEGIN END TID-BEFORE", in ns of CLOCK_BOOTTIME, of one that had it and was killed
 * -TID, 0: not known; and "K" if somebody was killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 256

struct common {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	sem_t sem, turns[MOST];
	int last;   /* who has released it last */
	int holder; /* who has it, from when it says so until it is about to release it */
	int ready;
};

static struct common *common;
static const char *kind;
static sem_t *sem;
static int turns, threads, parties;
static unsigned seed;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is(const char *word)
{
	return strcmp(kind, word) == 0;
}

static void spend(unsigned *random, unsigned most)
{
	uint64_t until = now() + (uint64_t)(rand_r(random) % (int)most);

	while (now() < until)
		;
}

static void make(bool is_file)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t shared;
	char name[64];

	if (is_file) {
		int fd = open("locked", O_RDWR | O_CREAT, 0600);

		if (fd < 0 || ftruncate(fd, 3 * 65536) < 0)
			exit(2);
		common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 65536);
		close(fd);
	} else {
		common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	}
	if (common == MAP_FAILED)
		exit(2);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (is("recursive"))
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	if (is("checked"))
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	if (is("robust"))
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (is("inherit"))
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&common->mutex, &attr);
	pthread_condattr_init(&shared);
	pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&common->cond, &shared);
	sem_init(&common->sem, 1, 1);
	for (int i = 0; i < MOST; i++)
		sem_init(&common->turns[i], 1, i == 0);
	if (is("named")) {
		snprintf(name, sizeof(name), "/fxtrace-locking-%d", (int)getpid());
		sem = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
		if (sem == SEM_FAILED)
			exit(2);
		sem_unlink(name);
	}
}

/* 0, or the lock's owner has died. */
static int take(int me)
{
	struct timespec late = {.tv_sec = time(NULL) + 1000};

	if (is("pass"))
		return sem_wait(&common->turns[me]);
	if (strncmp(kind, "sem", 3) == 0 || is("named"))
		return sem_wait(sem);
	if (is("timed"))
		return pthread_mutex_timedlock(&common->mutex, &late);
	return pthread_mutex_lock(&common->mutex);
}

static void give(int me)
{
	if (is("pass"))
		sem_post(&common->turns[(me + 1) % parties]);
	else if (strncmp(kind, "sem", 3) == 0 || is("named"))
		sem_post(sem);
	else
		pthread_mutex_unlock(&common->mutex);
}

/* What a turn prints, in one write. */
struct page {
	char text[4096];
	int used;
};

static void page_flush(struct page *p)
{
	if (p->used && write(1, p->text, (size_t)p->used) != p->used)
		_exit(3);
	p->used = 0;
}

static void *work(void *opaque)
{
	int me = (int)(intptr_t)opaque, tid = (int)syscall(SYS_gettid);
	unsigned random = seed * 1000 + (unsigned)me;
	struct page page = {.used = 0};

	for (int i = 0; i < turns; i++) {
		uint64_t begin, end;
		int r, last;

		spend(&random, 20000);
		begin = now();
		r = take(me);
		if (r == EOWNERDEAD)
			pthread_mutex_consistent(&common->mutex);
		else if (r != 0)
			break;
		last = r ? -common->holder : common->last;
		common->holder = tid;
		if (rand_r(&random) % 8 == 0)
			usleep(1000); /* as one that is interrupted here */
		end = now();
		if (is("recursive")) {
			pthread_mutex_lock(&common->mutex);
			pthread_mutex_unlock(&common->mutex);
		}
		spend(&random, 5000);
		if (rand_r(&random) % 64 == 0)
			usleep(200);
		page.used += snprintf(page.text + page.used, 128, "G %d %llu %llu %d\n", tid,
				      (unsigned long long)begin, (unsigned long long)end, last);
		common->last = tid;
		if (is("cond") && common->ready++ % 2) {
			struct timespec soon;

			clock_gettime(CLOCK_REALTIME, &soon);
			soon.tv_nsec += 100000;
			if (soon.tv_nsec >= 1000000000) {
				soon.tv_sec++;
				soon.tv_nsec -= 1000000000;
			}
			pthread_cond_timedwait(&common->cond, &common->mutex, &soon);
			common->last = tid;
		}
		common->holder = 0;
		give(me);
		if (is("cond") && i % 3 == 0)
			pthread_cond_signal(&common->cond);
		if (page.used > 3800)
			page_flush(&page);
	}
	page_flush(&page);
	return NULL;
}

static void work_all(int process)
{
	pthread_t all[MOST];

	if (is("file") || is("semfile"))
		common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED,
			      open("locked", O_RDWR), 65536);
	if (!is("named"))
		sem = &common->sem;
	for (int i = 1; i < threads; i++)
		pthread_create(&all[i], NULL, work, (void *)(intptr_t)(process * threads + i));
	work((void *)(intptr_t)(process * threads));
	for (int i = 1; i < threads; i++)
		pthread_join(all[i], NULL);
}

/* One that is not traced takes part: it becomes a program in a way that no tracer of libc's calls can see. */
static void work_unseen(char **argv)
{
	char *const args[] = {argv[0], argv[1], argv[2], "1", "1", argv[5], "join", NULL},
		    *env = NULL;
	static const char self[] = "/proc/self/exe";
#ifdef __x86_64__
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_execve), "D"(self), "S"(args), "d"(&env)
			 : "rcx", "r11", "memory");
#else
	register const char *x0 __asm__("x0") = self;
	register char *const *x1 __asm__("x1") = args;
	register char **x2 __asm__("x2") = &env;
	register long x8 __asm__("x8") = SYS_execve;

	__asm__ volatile("svc 0" : : "r"(x0), "r"(x1), "r"(x2), "r"(x8) : "memory");
#endif
	_exit(4);
}

/* Those that have ended are forgotten. */
static bool some_live(pid_t *children, int count)
{
	bool live = false;

	for (int i = 0; i < count; i++) {
		if (children[i] && waitpid(children[i], NULL, WNOHANG) != 0)
			children[i] = 0;
		live |= children[i] != 0;
	}
	return live;
}

int main(int argc, char **argv)
{
	const char *how = argc > 6 ? argv[6] : "";
	pid_t children[MOST];
	int processes;

	if (argc < 6)
		return 2;
	kind = argv[1];
	seed = (unsigned)atoi(argv[2]);
	processes = atoi(argv[3]);
	threads = atoi(argv[4]);
	turns = atoi(argv[5]);
	parties = processes * threads;
	if (strcmp(how, "join") == 0) {
		work_all(99);
		return 0;
	}
	make(is("file") || is("semfile"));
	for (int i = 0; i < processes; i++) {
		children[i] = fork();
		if (children[i] == 0 && i == 0 && strcmp(how, "unseen") == 0)
			work_unseen(argv);
		if (children[i] == 0) {
			work_all(i);
			_exit(0);
		}
	}
	if (strcmp(how, "kill") == 0) {
		usleep(20000 + seed % 20000);
		for (int i = 0; i < processes; i += 2)
			kill(children[i], SIGKILL);
		usleep(20000);
		/* Whoever was killed may have had it, or have been the one who was woken for it. */
		for (uint64_t end = now() + (is("robust") ? 3000000000u : 0);
		     now() < end && some_live(children, processes);)
			usleep(1000);
		for (int i = 1; i < processes; i += 2)
			if (children[i])
				kill(children[i], SIGKILL);
		puts("K");
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

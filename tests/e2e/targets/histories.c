/* SPDX-License-Identifier: MIT */
/*
 * What it does with a lock, with a descriptor, with a pipe of two processes and with a connection, it says itself, line by line
 * in the order in which it does so: "THREAD CALL", "CALL BYTES". Its argument says with which.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAITERS = 5, CHUNKS = 40, CHUNK_MAX = 6000, LIVES = 4 };

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void call_me(const char *name)
{
	pthread_setname_np(pthread_self(), name);
}

static void rest(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000l};

	nanosleep(&t, NULL);
}

/* Until a thread that is about to wait does so. */
static void until_it_sleeps(volatile int *tid)
{
	char path[64], text[256], *state;
	FILE *file;

	for (;; sched_yield()) {
		if (!*tid)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", *tid);
		file = fopen(path, "r");
		state = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
		if (file)
			fclose(file);
		if (state && state[2] == 'S')
			return;
	}
}

/* --- A lock ----------------------------------------------------------------------------------- */

static pthread_mutex_t guarded = PTHREAD_MUTEX_INITIALIZER, calm = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t permits;
static volatile int tids[WAITERS], sleeper_tid;
/* Lines of the lock's own log: written where the lock is held, or before anybody else has begun. */
static char lines[8 * WAITERS][64];
static int line_count;
static char held[2 * WAITERS][64];
static int held_count;

static void log_line(const char *thread, const char *call)
{
	snprintf(lines[line_count++], sizeof(lines[0]), "%s %s", thread, call);
}

static void log_held(const char *thread, long long ns)
{
	snprintf(held[held_count++], sizeof(held[0]), "%s %lld", thread, ns);
}

static void *waiter(void *number)
{
	long i = (long)number;
	long long begin;
	char name[16];

	snprintf(name, sizeof(name), "waiter%ld", i);
	call_me(name);
	log_line(name, "pthread_mutex_lock");
	__atomic_store_n(&tids[i], (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&guarded);
	begin = now();
	rest(10 + (int)i * 5);
	log_held(name, now() - begin);
	log_line(name, "pthread_mutex_unlock");
	pthread_mutex_unlock(&guarded);
	return NULL;
}

static void lock(void)
{
	pthread_t threads[WAITERS];
	long long begin;

	call_me("owner");
	log_line("owner", "pthread_mutex_lock");
	pthread_mutex_lock(&guarded);
	begin = now();
	for (long i = 0; i < WAITERS; i++) {
		pthread_create(&threads[i], NULL, waiter, (void *)i);
		until_it_sleeps(&tids[i]);
	}
	rest(20);
	log_held("owner", now() - begin);
	log_line("owner", "pthread_mutex_unlock");
	pthread_mutex_unlock(&guarded);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
	printf("address %p\n", (void *)&guarded);
	for (int i = 0; i < line_count; i++)
		printf("use %s\n", lines[i]);
	for (int i = 0; i < held_count; i++)
		printf("held %s\n", held[i]);
}

/* --- A condition, and a semaphore ------------------------------------------------------------- */

static void *sleeper(void *unused)
{
	call_me("sleeper");
	pthread_mutex_lock(&calm);
	__atomic_store_n(&sleeper_tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	pthread_cond_wait(&ready, &calm);
	pthread_mutex_unlock(&calm);
	__atomic_store_n(&sleeper_tid, 0, __ATOMIC_SEQ_CST);
	sem_wait(&permits);
	return unused;
}

static void condition(void)
{
	int tid;
	pthread_t thread;

	call_me("waker");
	sem_init(&permits, 0, 0);
	pthread_create(&thread, NULL, sleeper, NULL);
	until_it_sleeps(&sleeper_tid);
	tid = sleeper_tid;
	/* It may sleep for the lock still. */
	pthread_mutex_lock(&calm);
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&calm);
	while (sleeper_tid)
		rest(1);
	until_it_sleeps(&tid);
	sem_post(&permits);
	pthread_join(thread, NULL);
	printf("condition %p semaphore %p\n", (void *)&ready, (void *)&permits);
}

/* --- A descriptor's number, and what it is one after the other --------------------------------- */

static char chunk[CHUNK_MAX];

static int random_size(int most)
{
	return 1 + rand() % most;
}

static void said(const char *call, long bytes)
{
	printf("use %s %ld\n", call, bytes);
}

static void descriptor(void)
{
	char path[32];
	int fd, number = -1;

	for (int life = 0; life < LIVES; life++) {
		int calls = random_size(10);

		snprintf(path, sizeof(path), "life%d", life);
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (number < 0)
			number = fd;
		if (fd != number)
			abort();
		printf("life %s/%s\n", getenv("PWD"), path);
		said("open", 0);
		for (int i = 0; i < calls; i++)
			said("write", write(fd, chunk, (size_t)random_size(CHUNK_MAX)));
		lseek(fd, 0, SEEK_SET);
		said("lseek", 0);
		for (int i = 0; i < calls; i++)
			said("read", read(fd, chunk, (size_t)random_size(CHUNK_MAX)));
		close(fd);
		said("close", 0);
	}
	printf("fd %d:%d\n", getpid(), number);
}

/* --- A pipe of two processes ------------------------------------------------------------------ */

static void channel(void)
{
	char log[CHUNKS][64];
	struct stat st;
	int fds[2], back[2];
	long sum = 0;
	pid_t pid;

	call_me("reader");
	pipe(fds);
	pipe(back);
	fstat(fds[0], &st);
	pid = fork();
	if (pid == 0) {
		call_me("writer");
		for (int i = 0; i < CHUNKS; i++) {
			long bytes = write(fds[1], chunk, (size_t)random_size(CHUNK_MAX));

			snprintf(log[i], sizeof(log[i]), "wrote %ld", bytes);
		}
		write(back[1], log, sizeof(log));
		_exit(0);
	}
	close(fds[1]);
	for (;;) {
		long bytes = read(fds[0], chunk, (size_t)random_size(CHUNK_MAX));

		printf("got %ld\n", bytes);
		if (bytes <= 0)
			break;
		sum += bytes;
	}
	close(fds[0]);
	read(back[0], log, sizeof(log));
	waitpid(pid, NULL, 0);
	for (int i = 0; i < CHUNKS; i++)
		puts(log[i]);
	printf("pipe pipe:[%lu] writer %d sum %ld\n", (unsigned long)st.st_ino, pid, sum);
}

/* --- A connection ----------------------------------------------------------------------------- */

static void *serve(void *listening)
{
	int fd = accept((int)(long)listening, NULL, NULL);
	long bytes, got = 0, sent = 0;

	call_me("server");
	while ((bytes = recv(fd, chunk, CHUNK_MAX, 0)) > 0) {
		got += bytes;
		sent += send(fd, "answer", 6, 0);
	}
	close(fd);
	printf("server %ld %ld\n", got, sent);
	return NULL;
}

static void connection(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd;
	long got = 0, sent = 0;
	pthread_t thread;

	call_me("client");
	if (bind(listening, (struct sockaddr *)&address, length) < 0 || listen(listening, 5) < 0)
		abort();
	getsockname(listening, (struct sockaddr *)&address, &length);
	pthread_create(&thread, NULL, serve, (void *)(long)listening);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	connect(fd, (struct sockaddr *)&address, length);
	for (int i = 0; i < CHUNKS; i++) {
		char answer[6];

		sent += send(fd, chunk, (size_t)random_size(100), 0);
		got += recv(fd, answer, sizeof(answer), MSG_WAITALL);
	}
	close(fd);
	pthread_join(thread, NULL);
	printf("client %ld %ld\n", got, sent);
	printf("port %d\n", ntohs(address.sin_port));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"lock", lock},
		   {"condition", condition},
		   {"descriptor", descriptor},
		   {"channel", channel},
		   {"connection", connection}};

	srand((unsigned)now());
	for (size_t i = 0; argc == 2 && i < sizeof(all) / sizeof(*all); i++) {
		if (strcmp(all[i].name, argv[1]) == 0)
			all[i].run();
	}
	return 0;
}

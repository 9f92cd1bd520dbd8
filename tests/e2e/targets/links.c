/* SPDX-License-Identifier: MIT */
/*
 * More programs whose critical path is known by construction, as chains.c has: a request that goes from process to process by TCP, a
 * Unix socket and two pipes; one that writes faster than another reads; one that looks for an answer again and again until its time
 * is up; and a herd that is woken at once and takes its lock again inside pthread_cond_wait().
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/targets/herd.h"

enum { REQUESTS = 3, BLOCK = 4096, BLOCKS = 16, REQUEST = 100 };

/* What processes say of themselves. */
static struct shared {
	long long proxy, server, worker, reader;
} * shared;

static void check(int good)
{
	if (!good)
		abort();
}

static long long slept(int ms)
{
	struct span span = rest(ms);

	return span.end - span.begin;
}

static void take(int fd)
{
	char bytes[REQUEST];
	size_t have = 0;

	while (have < sizeof(bytes)) {
		ssize_t n = read(fd, bytes + have, sizeof(bytes) - have);

		check(n > 0);
		have += (size_t)n;
	}
}

static void give(int fd)
{
	static const char bytes[REQUEST];

	check(write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
}

/* --- A request from process to process ---------------------------------------------------------- */

/* Asked at one descriptor, it answers at another; -1: it asks nobody itself. */
static void serve(const char *name, const int *in_out, const int *next, int before, int after,
		  long long *told)
{
	if (fork() > 0)
		return;
	call_me(name);
	for (int i = 0; i < REQUESTS; i++) {
		take(in_out[0]);
		*told += slept(before);
		if (next) {
			give(next[1]);
			take(next[0]);
			*told += slept(after);
		}
		give(in_out[1]);
	}
	_exit(0);
}

static void connection(int *ret)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(at);

	check(bind(listener, (struct sockaddr *)&at, length) == 0 && listen(listener, 1) == 0 &&
	      getsockname(listener, (struct sockaddr *)&at, &length) == 0);
	ret[0] = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(ret[0], (struct sockaddr *)&at, length) == 0);
	ret[1] = accept(listener, NULL, NULL);
	check(ret[1] >= 0);
	close(listener);
}

static void sockets(void)
{
	int tcp[2], local[2], there[2], back[2];

	call_me("client");
	connection(tcp);
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, local) == 0 && pipe(there) == 0 &&
	      pipe(back) == 0);
	serve("worker", (int[]){there[0], back[1]}, NULL, 60, 0, &shared->worker);
	serve("server", (int[]){local[1], local[1]}, (int[]){back[0], there[1]}, 20, 10,
	      &shared->server);
	serve("proxy", (int[]){tcp[1], tcp[1]}, (int[]){local[0], local[0]}, 10, 10,
	      &shared->proxy);
	for (int i = 0; i < REQUESTS; i++) {
		struct pollfd answer = {.fd = tcp[0], .events = POLLIN};

		give(tcp[0]);
		poll(&answer, 1, -1);
		take(tcp[0]);
	}
	while (wait(NULL) > 0)
		;
	say("proxy", "time", shared->proxy);
	say("server", "time", shared->server);
	say("worker", "time", shared->worker);
}

/* --- Bytes that nobody has room for ------------------------------------------------------------- */

static void full(void)
{
	static char block[BLOCK];
	int fds[2];

	call_me("writer");
	check(pipe(fds) == 0 && fcntl(fds[1], F_SETPIPE_SZ, BLOCK) >= 0);
	if (fork() == 0) {
		call_me("reader");
		close(fds[1]);
		while (read(fds[0], block, sizeof(block)) > 0)
			shared->reader += slept(20);
		_exit(0);
	}
	close(fds[0]);
	for (int i = 0; i < BLOCKS; i++)
		check(write(fds[1], block, sizeof(block)) == sizeof(block));
	close(fds[1]);
	wait(NULL);
	say("reader", "time", shared->reader);
}

/* --- Looking again and again -------------------------------------------------------------------- */

static void again(void)
{
	struct pollfd answer = {.events = POLLIN};
	int fds[2];

	call_me("client");
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	if (fork() == 0) {
		call_me("server");
		take(fds[1]);
		shared->server = slept(200);
		give(fds[1]);
		_exit(0);
	}
	give(fds[0]);
	answer.fd = fds[0];
	while (poll(&answer, 1, 30) == 0)
		;
	take(fds[0]);
	wait(NULL);
	say("server", "time", shared->server);
	say("client", "time", 0);
}

/* It asks once more each time, and only that brings the answer: what is waited for is the time. */
static void timeout(void)
{
	struct pollfd answer = {.events = POLLIN};
	long long waited = 0, begin = now();
	int fds[2];

	call_me("client");
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	if (fork() == 0) {
		call_me("server");
		for (int i = 0; i < 4; i++)
			take(fds[1]);
		give(fds[1]);
		_exit(0);
	}
	answer.fd = fds[0];
	for (int ready = 0; ready == 0;) {
		give(fds[0]);
		begin = now();
		ready = poll(&answer, 1, 60);
		waited += ready == 0 ? now() - begin : 0;
	}
	take(fds[0]);
	wait(NULL);
	say("client", "time", waited);
}

/* --- A herd whose lock is the condition's -------------------------------------------------------- */

static sem_t all_grazed;
static int fed;

static void *beast(void *number)
{
	long i = (long)number;
	int is_last;

	wait_at_gate(i);
	grazed[i] = rest(80);
	is_last = ++fed == HERD;
	pthread_mutex_unlock(&gate);
	if (is_last) /* whichever order they had the lock in, it is waited for the last */
		sem_post(&all_grazed);
	return NULL;
}

static void inside(void)
{
	long long begin, end;
	pthread_t threads[HERD];

	check(sem_init(&all_grazed, 0, 0) == 0);
	let_out(threads, beast);
	begin = now();
	check(sem_wait(&all_grazed) == 0);
	end = now();
	for (int i = 0; i < HERD; i++) {
		pthread_join(threads[i], NULL);
		say_beast(i, within(grazed[i], begin, end));
	}
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
	    {"sockets", sockets}, {"full", full},     {"again", again},
	    {"timeout", timeout}, {"inside", inside},
	};
	long long begin = now();

	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name) == 0)
			kinds[i].run();
	}
	say("TOTAL", "-", now() - begin);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * stuck WAY [COUNT]: a program that does not go on, in one way or another.
 *
 *	circle COUNT	so many threads, each with a mutex, wait for the next one's
 *	self		a thread waits for a mutex that it has
 *	processes	two processes, each with a mutex that both see, wait for the other's
 *	child		waits for a child that waits for a mutex which its parent has
 *	condition	one that nobody signals
 *	semaphore	one that nobody posts
 *	rwlock		a reader that wants to write
 *	writers		two threads, each of which writes a read-write lock, want the other's
 *	held		a thread sleeps with a mutex that another one waits for
 *	pipe		reads a pipe that only it could write
 *	full		writes a full pipe that only it could read
 *	pipes		two processes, each of which writes a full pipe that only the other could read
 *	tied		writes a full pipe of a child, which waits for a mutex that its parent has
 *	helped		the same, but a third process sleeps, and could read it
 *	selfpair	reads a socket whose other end only it has
 *	readers		two processes, at both ends of a socketpair, each of which waits for bytes
 *	writers2	the same, each waits for room
 *	tcp		two processes, at both ends of a connection over TCP, wait for bytes
 *	tcp6		the same; one end has an address of IPv6
 *	polls		two processes, at both ends of a socketpair, one in poll(), one in epoll_wait()
 *	selects		the same, both in select()
 *	timed		the same as polls, but one in poll() for an hour only
 *	shared		the same as readers, but a third process sleeps, and has one of the ends
 *	listens		accepts, and nobody connects
 *	backlog		connects to a socket of its own that has no room for more
 *	joins		two threads, each waits for the end of the other
 *	livelock	two threads, each of which has a mutex, tries the other's, and tries again
 *	robin		three processes, each reads a pipe that only the one before it writes
 *	talk		two processes send a byte to and fro
 *	busy		computes
 *	deep		the same, far down its stack
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <signal.h>

#define NOINLINE __attribute__((noinline))
#define STAY	 __asm__ volatile("" ::: "memory") /* no tail call */

enum { MOST = 64 };

static pthread_mutex_t locks[MOST];
static pthread_barrier_t all_have_one;
static int count;

NOINLINE static void want_next(int i)
{
	pthread_mutex_lock(&locks[(i + 1) % count]);
	STAY;
}

static void *circle_main(void *opaque)
{
	int i = (int)((char *)opaque - (char *)NULL);

	pthread_mutex_lock(&locks[i]);
	pthread_barrier_wait(&all_have_one);
	want_next(i);
	return NULL;
}

NOINLINE static void run_circle(void)
{
	pthread_t threads[MOST];

	pthread_barrier_init(&all_have_one, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		pthread_mutex_init(&locks[i], NULL);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, circle_main, (char *)NULL + i);
	pthread_join(threads[0], NULL);
	STAY;
}

NOINLINE static void run_self(void)
{
	pthread_mutex_init(&locks[0], NULL);
	pthread_mutex_lock(&locks[0]);
	pthread_mutex_lock(&locks[0]);
	STAY;
}

/* Mutexes and a barrier that children see, too. */
struct shared {
	pthread_mutex_t locks[2];
	pthread_barrier_t both;
};

static struct shared *shared_make(void)
{
	struct shared *s =
	    mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t lock;
	pthread_barrierattr_t barrier;

	pthread_mutexattr_init(&lock);
	pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	for (int i = 0; i < 2; i++)
		pthread_mutex_init(&s->locks[i], &lock);
	pthread_barrier_init(&s->both, &barrier, 2);
	return s;
}

NOINLINE static void take_both(struct shared *s, int mine)
{
	pthread_mutex_lock(&s->locks[mine]);
	pthread_barrier_wait(&s->both);
	pthread_mutex_lock(&s->locks[!mine]);
	STAY;
}

static pid_t child_make(void)
{
	pid_t child = fork();

	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	else
		printf("%d\n", (int)child);
	fflush(stdout);
	return child;
}

NOINLINE static void run_processes(void)
{
	struct shared *s = shared_make();

	take_both(s, child_make() == 0);
}

NOINLINE static void run_child(void)
{
	struct shared *s = shared_make();
	pid_t child;

	pthread_mutex_lock(&s->locks[0]);
	child = child_make();
	if (child == 0)
		pthread_mutex_lock(&s->locks[0]);
	waitpid(child, NULL, 0);
	STAY;
}

NOINLINE static void run_condition(void)
{
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

	pthread_mutex_init(&locks[0], NULL);
	pthread_mutex_lock(&locks[0]);
	for (;;)
		pthread_cond_wait(&condition, &locks[0]);
}

NOINLINE static void run_semaphore(void)
{
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	sem_wait(&semaphore);
	STAY;
}

NOINLINE static void run_rwlock(void)
{
	static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

	pthread_rwlock_rdlock(&lock);
	pthread_rwlock_wrlock(&lock);
	STAY;
}

static pthread_rwlock_t written[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};

static void *writer_main(void *opaque)
{
	int mine = opaque ? 1 : 0;

	pthread_rwlock_wrlock(&written[mine]);
	pthread_barrier_wait(&all_have_one);
	if (mine)
		pthread_rwlock_rdlock(&written[!mine]);
	else
		pthread_rwlock_wrlock(&written[!mine]);
	return opaque;
}

NOINLINE static void run_writers(void)
{
	pthread_t thread;

	pthread_barrier_init(&all_have_one, NULL, 2);
	pthread_create(&thread, NULL, writer_main, NULL);
	writer_main(&thread);
	STAY;
}

static void *held_main(void *opaque)
{
	pthread_setname_np(pthread_self(), "holder");
	pthread_mutex_lock(&locks[0]);
	pthread_barrier_wait(&all_have_one);
	pause();
	return opaque;
}

NOINLINE static void run_held(void)
{
	pthread_t thread;

	pthread_barrier_init(&all_have_one, NULL, 2);
	pthread_mutex_init(&locks[0], NULL);
	pthread_create(&thread, NULL, held_main, NULL);
	pthread_barrier_wait(&all_have_one);
	pthread_mutex_lock(&locks[0]);
	STAY;
}

NOINLINE static void run_pipe(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) || read(ends[0], &byte, 1) != 1)
		abort();
}

NOINLINE static void fill(int fd)
{
	char bytes[4096] = {0};

	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	abort();
}

NOINLINE static void run_full(void)
{
	int ends[2];

	if (pipe(ends) == 0)
		fill(ends[1]);
	STAY;
}

NOINLINE static void run_pipes(void)
{
	int down[2], up[2];

	if (pipe(down) || pipe(up))
		abort();
	if (child_make() == 0) {
		close(down[1]);
		close(up[0]);
		fill(up[1]);
	}
	close(down[0]);
	close(up[1]);
	fill(down[1]);
}

/* With `helpers', who could read the pipe and sleep. */
NOINLINE static void write_to_waiting(int helpers)
{
	struct shared *s = shared_make();
	int ends[2];

	if (pipe(ends))
		abort();
	pthread_mutex_lock(&s->locks[0]);
	while (helpers--) {
		if (child_make() == 0) {
			close(ends[1]);
			pause();
		}
	}
	if (child_make() == 0) {
		close(ends[1]);
		pthread_mutex_lock(&s->locks[0]);
	}
	close(ends[0]);
	fill(ends[1]);
}

NOINLINE static void run_tied(void)
{
	write_to_waiting(0);
}

NOINLINE static void run_helped(void)
{
	write_to_waiting(1);
}

/* Each of two processes gets one of the ends. */
static int end_take(const int ends[2])
{
	bool is_child = child_make() == 0;

	close(ends[!is_child]);
	return ends[is_child];
}

NOINLINE static void drain(int fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	abort();
}

static void pair_make(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		abort();
}

NOINLINE static void run_selfpair(void)
{
	int ends[2];

	pair_make(ends);
	drain(ends[0]);
}

NOINLINE static void run_readers(void)
{
	int ends[2];

	pair_make(ends);
	drain(end_take(ends));
}

NOINLINE static void run_writers2(void)
{
	int ends[2];

	pair_make(ends);
	fill(end_take(ends));
}

NOINLINE static void run_shared(void)
{
	int ends[2];

	pair_make(ends);
	if (child_make() == 0)
		pause();
	drain(end_take(ends));
}

/* Both ends of a connection. */
static void tcp_make(int family, int ends[2])
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	struct sockaddr_in four = {.sin_family = AF_INET};
	socklen_t size = family == AF_INET6 ? sizeof(six) : sizeof(four);
	struct sockaddr *address =
	    family == AF_INET6 ? (struct sockaddr *)&six : (struct sockaddr *)&four;
	int listener = socket(family, SOCK_STREAM, 0);

	four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, address, size) || listen(listener, 1) ||
	    getsockname(listener, address, &size))
		abort();
	if (family == AF_INET6)
		four.sin_port = six.sin6_port;
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(ends[0], (struct sockaddr *)&four, sizeof(four)))
		abort();
	ends[1] = accept(listener, NULL, NULL);
	close(listener);
}

NOINLINE static void run_tcp(void)
{
	int ends[2];

	tcp_make(AF_INET, ends);
	drain(end_take(ends));
}

/* An IPv4 address in one of IPv6. */
NOINLINE static void run_tcp6(void)
{
	int ends[2];

	tcp_make(AF_INET6, ends);
	drain(end_take(ends));
}

NOINLINE static void poll_one(int fd, int timeout)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	poll(&one, 1, timeout);
	abort();
}

NOINLINE static void epoll_one(int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	int set = epoll_create1(0);

	epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
	epoll_wait(set, &event, 1, -1);
	abort();
}

static void poll_both(int timeout)
{
	int ends[2], mine;

	pair_make(ends);
	mine = end_take(ends);
	if (mine == ends[1])
		epoll_one(mine);
	poll_one(mine, timeout);
}

NOINLINE static void run_polls(void)
{
	poll_both(-1);
}

NOINLINE static void run_timed(void)
{
	poll_both(3600000);
}

NOINLINE static void run_selects(void)
{
	int ends[2], mine;
	fd_set set;

	pair_make(ends);
	mine = end_take(ends);
	FD_ZERO(&set);
	FD_SET(mine, &set);
	select(mine + 1, &set, NULL, NULL, NULL);
	abort();
}

static int unix_listen(struct sockaddr_un *ret, socklen_t *ret_size)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	/* A name that the kernel chooses. */
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (bind(listener, (struct sockaddr *)ret, sizeof(ret->sun_family)) || listen(listener, 0))
		abort();
	*ret_size = sizeof(*ret);
	getsockname(listener, (struct sockaddr *)ret, ret_size);
	return listener;
}

NOINLINE static void run_listens(void)
{
	struct sockaddr_un name;
	socklen_t size;

	accept(unix_listen(&name, &size), NULL, NULL);
	abort();
}

NOINLINE static void run_backlog(void)
{
	struct sockaddr_un name;
	socklen_t size;

	unix_listen(&name, &size);
	for (int i = 0; i < 100; i++)
		connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, size);
	abort();
}

static pthread_t first_thread;

static void *joins_main(void *opaque)
{
	pthread_join(first_thread, NULL);
	return opaque;
}

NOINLINE static void run_joins(void)
{
	pthread_t thread;

	first_thread = pthread_self();
	pthread_create(&thread, NULL, joins_main, NULL);
	pthread_join(thread, NULL);
	STAY;
}

NOINLINE static void try_both(int mine)
{
	for (;;) {
		pthread_mutex_lock(&locks[mine]);
		if (pthread_mutex_trylock(&locks[!mine]) == 0)
			pthread_mutex_unlock(&locks[!mine]);
		pthread_mutex_unlock(&locks[mine]);
	}
}

static void *livelock_main(void *opaque)
{
	try_both(1);
	return opaque;
}

NOINLINE static void run_livelock(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, livelock_main, NULL);
	try_both(0);
}

NOINLINE static void run_robin(void)
{
	int pipes[3][2], mine = 0;

	for (int i = 0; i < 3; i++) {
		if (pipe(pipes[i]))
			abort();
	}
	if (child_make() == 0)
		mine = 1;
	else if (child_make() == 0)
		mine = 2;
	for (int i = 0; i < 3; i++) {
		if (i != mine)
			close(pipes[i][0]);
		if (i != (mine + 1) % 3)
			close(pipes[i][1]);
	}
	drain(pipes[mine][0]);
}

/* At each moment one of both waits for the other, and hardly ever both. */
NOINLINE static void run_talk(void)
{
	int down[2], up[2];
	char byte = 0;

	if (pipe(down) || pipe(up))
		abort();
	if (child_make() == 0) {
		close(down[1]);
		close(up[0]);
		while (read(down[0], &byte, 1) == 1 && write(up[1], &byte, 1) == 1)
			;
		abort();
	}
	close(down[0]);
	close(up[1]);
	while (write(down[1], &byte, 1) == 1 && read(up[0], &byte, 1) == 1)
		;
	abort();
}

NOINLINE static void run_busy(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}

NOINLINE static void run_deep(void)
{
	volatile char room[200 << 10];

	room[0] = room[sizeof(room) - 1] = 1;
	run_busy();
	room[0] = 2;
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
    {"circle", run_circle},	  {"self", run_self},	      {"processes", run_processes},
    {"child", run_child},	  {"held", run_held},	      {"condition", run_condition},
    {"semaphore", run_semaphore}, {"rwlock", run_rwlock},     {"pipe", run_pipe},
    {"writers", run_writers},	  {"busy", run_busy},	      {"full", run_full},
    {"pipes", run_pipes},	  {"tied", run_tied},	      {"helped", run_helped},
    {"talk", run_talk},		  {"joins", run_joins},	      {"livelock", run_livelock},
    {"robin", run_robin},	  {"selfpair", run_selfpair}, {"readers", run_readers},
    {"writers2", run_writers2},	  {"tcp", run_tcp},	      {"tcp6", run_tcp6},
    {"polls", run_polls},	  {"timed", run_timed},	      {"selects", run_selects},
    {"shared", run_shared},	  {"listens", run_listens},   {"backlog", run_backlog},
    {"deep", run_deep},
};

int main(int argc, char **argv)
{
	count = argc > 2 ? atoi(argv[2]) : 2;
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[1], ways[i].name) == 0)
			ways[i].run();
	}
	return 1;
}

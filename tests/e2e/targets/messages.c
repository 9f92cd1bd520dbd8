/* SPDX-License-Identifier: MIT */
/*
 * messages KIND HOW SEED WRITERS READERS CALLS [WHAT]: numbers every byte that goes through a channel, and prints who wrote
 * and who read which.
 *
 * KIND: pipe, fifo, stream, seqpacket, datagram (pairs of sockets), unix, seqpath, tcp4, tcp6 (connected); unixdg, udp4, udp6 (each
 * writing process has a socket, and says where to), unixdgc, udp4c, udp6c (connected); mq, msg (message queues of POSIX and System
 * V; all at once, with priorities and types); event, eventsem (eventfds, by turns alone: what is
 * added is as many bytes). HOW: "turns": one writes and one
 * reads at a time, any number of bytes; "free": all at once, in words of eight bytes that say whose they are. Each writer
 * and reader is a process or a thread, as it comes; so is with which function it reads and writes. WHAT: "kill": one of the
 * processes is ended by SIGKILL in the middle of it; "unseen-writer", "unseen-reader": the first process calls in a way that
 * no tracer of libc's calls can see; "flood": nobody waits for who reads UDP.
 *
 *	W TID NUMBER FROM UNTIL		that call of the thread, counted from 0, wrote these bytes; "?": it did not return
 *	U TID NUMBER FROM UNTIL		the same of a call that nobody saw; V: of one that read
 *	R TID NUMBER UNTIL		read up to that byte (turns); P: a poll found it there, or the end
 *	R TID NUMBER TID NUMBER		read last what that call wrote (free)
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARTIES 64
#define ENTRIES 200000
#define BYTES	20000

struct entry {
	char what; /* 0: not there yet */
	pid_t tid, by;
	long number, from, until, by_number; /* until -1: did not return */
};

static struct shared {
	pthread_mutex_t writing, reading;
	long written, read; /* by turns */
	int calls;	    /* that writers are still to make */
	int writers;	    /* that go on */
	pid_t pids[2 * PARTIES];
	unsigned entries;
	volatile bool is_killing; /* who reads may be gone */
	struct entry log[ENTRIES];
} * shared;

static int ends[2]; /* to read from, to write to */
static bool by_turns, messages, is_socket;
static bool is_endless; /* readers are not told that nothing more comes */
static bool waits;	/* what is not read soon may be dropped */
static union address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
} target; /* where to; a length of 0: the socket is connected */
static socklen_t target_length;
static bool is_mq;
static bool is_event, is_semaphore; /* eventfds: a byte is one that is added */
static int msqid = -1;
static unsigned seed;

struct party {
	bool writes, is_unseen;
	unsigned random;
	pid_t tid;
	long number; /* of its calls */
	long type;   /* of a message in `buffer', which must follow */
	char buffer[BYTES + 8];
};

static unsigned party_random(struct party *p, unsigned below)
{
	p->random = p->random * 1664525u + 1013904223u;
	return (p->random >> 8) % below;
}

static struct entry *note(struct party *p, char what)
{
	unsigned at = __atomic_fetch_add(&shared->entries, 1, __ATOMIC_RELAXED);
	struct entry *e = &shared->log[at < ENTRIES ? at : ENTRIES - 1];

	e->tid = p->tid;
	e->number = p->number;
	e->until = -1;
	__atomic_store_n(&e->what, what, __ATOMIC_RELEASE);
	return e;
}

/* --- What nobody sees --------------------------------------------------------------------------- */

static long call_unseen(long number, long fd, const void *buffer, size_t size)
{
#ifdef __x86_64__
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(fd), "S"(buffer), "d"(size)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register long x0 __asm__("x0") = fd;
	register const void *x1 __asm__("x1") = buffer;
	register size_t x2 __asm__("x2") = size;
	register long x8 __asm__("x8") = number;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
	return x0;
#endif
}

/* --- Calls ------------------------------------------------------------------------------------ */

static ssize_t put_message(struct party *p, size_t size)
{
	unsigned kind = by_turns ? 0 : party_random(p, 4);
	struct timespec soon = {.tv_sec = 1l << 40};

	p->type = 1 + (long)kind;
	if (!is_mq)
		return msgsnd(msqid, &p->type, size, 0) == 0 ? (ssize_t)size : -1;
	if (party_random(p, 2))
		return mq_send(ends[1], p->buffer, size, kind) == 0 ? (ssize_t)size : -1;
	return mq_timedsend(ends[1], p->buffer, size, kind, &soon) == 0 ? (ssize_t)size : -1;
}

static ssize_t get_message(struct party *p)
{
	struct timespec soon = {.tv_sec = 1l << 40};
	long kind = by_turns ? 0 : party_random(p, 4);
	unsigned priority;
	ssize_t done;

	if (is_mq && party_random(p, 2))
		return mq_receive(ends[0], p->buffer, BYTES, by_turns ? NULL : &priority);
	if (is_mq)
		return mq_timedreceive(ends[0], p->buffer, BYTES, &priority, &soon);
	/* The first of any, the least one, or of one type if there is any. */
	if (party_random(p, 3) || by_turns)
		return msgrcv(msqid, &p->type, BYTES, party_random(p, 2) ? 0 : -4, 0);
	done = msgrcv(msqid, &p->type, BYTES, kind + 1, IPC_NOWAIT);
	if (done < 0 && errno == ENOMSG)
		errno = EAGAIN;
	return done;
}

static ssize_t event_add(struct party *p, uint64_t number)
{
	if (p->is_unseen)
		return call_unseen(SYS_write, ends[1], &number, 8) == 8 ? (ssize_t)number : -1;
	if (party_random(p, 2))
		return write(ends[1], &number, 8) == 8 ? (ssize_t)number : -1;
	return eventfd_write(ends[1], number) == 0 ? (ssize_t)number : -1;
}

static ssize_t event_take(struct party *p)
{
	uint64_t number;

	if (p->is_unseen)
		return call_unseen(SYS_read, ends[0], &number, 8) == 8 ? (ssize_t)number : -1;
	if (party_random(p, 2))
		return read(ends[0], &number, 8) == 8 ? (ssize_t)number : -1;
	return eventfd_read(ends[0], &number) == 0 ? (ssize_t)number : -1;
}

static ssize_t write_somehow(struct party *p, size_t size)
{
	size_t half = size / 2;
	struct iovec iov[2] = {{p->buffer, half}, {p->buffer + half, size - half}};
	struct msghdr msg = {.msg_iov = iov,
			     .msg_iovlen = 2,
			     .msg_name = target_length ? &target : NULL,
			     .msg_namelen = target_length};
	struct mmsghdr many = {.msg_hdr = msg};

	if (is_event)
		return event_add(p, size);
	if (is_mq || msqid >= 0)
		return put_message(p, size);
	switch (target_length ? 2 + party_random(p, 3) : party_random(p, is_socket ? 5 : 2)) {
	case 0:
		return write(ends[1], p->buffer, size);
	case 1:
		return writev(ends[1], iov, 2);
	case 2:
		return target_length ? sendto(ends[1], p->buffer, size, MSG_NOSIGNAL, &target.any,
					      target_length)
				     : send(ends[1], p->buffer, size, MSG_NOSIGNAL);
	case 3:
		return sendmsg(ends[1], &msg, MSG_NOSIGNAL);
	default:
		return sendmmsg(ends[1], &many, 1, 0) == 1 ? (ssize_t)many.msg_len : -1;
	}
}

static ssize_t read_somehow(struct party *p, size_t size)
{
	size_t half = size / 2;
	struct iovec iov[2] = {{p->buffer, half}, {p->buffer + half, size - half}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
	struct mmsghdr many = {.msg_hdr = msg};
	struct pollfd pollfd = {.fd = ends[0], .events = POLLIN};
	union address from;
	socklen_t length = sizeof(from);
	int got;

	if (is_mq || msqid >= 0)
		return get_message(p);
	if (party_random(p, 8) == 0) {
		if (poll(&pollfd, 1, 10) == 1 && pollfd.revents & POLLIN && by_turns)
			note(p, 'P')->until = shared->read + 1;
		p->number++;
	}
	if (is_event)
		return event_take(p);
	switch (party_random(p, is_socket ? 7 : 2)) {
	case 0:
		return read(ends[0], p->buffer, size);
	case 1:
		return readv(ends[0], iov, 2);
	case 2:
		return recv(ends[0], p->buffer, size, 0);
	case 3:
		return recvmsg(ends[0], &msg, 0);
	case 4:
		recv(ends[0], p->buffer, size, MSG_PEEK);
		p->number++;
		return recv(ends[0], p->buffer, size, MSG_DONTWAIT);
	case 5:
		return recvfrom(ends[0], p->buffer, size, 0, &from.any, &length);
	default:
		got = recvmmsg(ends[0], &many, 1, MSG_WAITFORONE, NULL);
		return got == 1 ? (ssize_t)many.msg_len : got;
	}
}

/* --- Writers and readers ---------------------------------------------------------------------- */

/* Words of eight bytes: the thread, and the number of the call. */
static void fill(struct party *p, size_t size)
{
	uint64_t word = (uint64_t)p->tid << 32 | (uint32_t)p->number;

	for (size_t at = 0; at + 8 <= size; at += 8)
		memcpy(p->buffer + at, &word, 8);
}

static void lock(pthread_mutex_t *mutex)
{
	if (pthread_mutex_lock(mutex) == EOWNERDEAD)
		pthread_mutex_consistent(mutex);
}

static void pause_somehow(struct party *p)
{
	if (party_random(p, 4) == 0)
		usleep(party_random(p, 300));
}

static void write_once(struct party *p)
{
	size_t most = messages ? 500 : is_semaphore ? 4 : party_random(p, 10) ? 3000 : BYTES;
	size_t size = by_turns ? 1 + party_random(p, most) : 8 + 8 * party_random(p, most / 8);
	struct entry *e;
	ssize_t done;

	if (by_turns)
		lock(&shared->writing);
	while (waits && !shared->is_killing &&
	       __atomic_load_n(&shared->written, __ATOMIC_RELAXED) -
		       __atomic_load_n(&shared->read, __ATOMIC_RELAXED) >
		   40)
		usleep(100);
	fill(p, size);
	e = note(p, p->is_unseen ? 'U' : 'W');
	e->from = shared->written;
	done = p->is_unseen && !is_event ? call_unseen(SYS_write, ends[1], p->buffer, size)
					 : write_somehow(p, size);
	p->number++;
	if (done > 0) {
		e->until = e->from + (messages ? 1 : done);
		__atomic_fetch_add(&shared->written, messages ? 1 : done, __ATOMIC_RELAXED);
	} else {
		e->what = 0;
	}
	if (by_turns)
		pthread_mutex_unlock(&shared->writing);
}

/* False: there is nothing more. */
static bool read_once(struct party *p)
{
	size_t most = messages ? 500 : BYTES;
	size_t size = by_turns ? 1 + party_random(p, most) : 8 + 8 * party_random(p, most / 8);
	uint64_t word;
	struct entry *e;
	ssize_t done;
	bool goes_on;

	if (by_turns)
		lock(&shared->reading);
	if (messages && !by_turns)
		size = BYTES;
	if (is_event && p->is_unseen)
		done = event_take(p);
	else
		done = p->is_unseen ? call_unseen(SYS_read, ends[0], p->buffer, size)
				    : read_somehow(p, size);
	goes_on = done > 0 || (done < 0 && (errno == EAGAIN || errno == EINTR));
	if (done > 0) {
		e = note(p, p->is_unseen ? 'V' : 'R');
		e->until = __atomic_add_fetch(&shared->read, messages ? 1 : done, __ATOMIC_RELAXED);
		if (done >= 8 && !by_turns) {
			memcpy(&word, p->buffer + done / 8 * 8 - 8, 8);
			e->by = (pid_t)(word >> 32);
			e->by_number = (long)(uint32_t)word;
		}
	}
	p->number++;
	if (by_turns)
		pthread_mutex_unlock(&shared->reading);
	return goes_on;
}

static void party_run(struct party *p)
{
	p->tid = (pid_t)syscall(SYS_gettid);
	if (!p->writes) {
		while (read_once(p))
			pause_somehow(p);
		return;
	}
	while (__atomic_sub_fetch(&shared->calls, 1, __ATOMIC_RELAXED) >= 0) {
		write_once(p);
		pause_somehow(p);
	}
}

static void *party_thread(void *arg)
{
	party_run(arg);
	return NULL;
}

/* A process of so many threads that all write, or all read. */
static void process_run(bool writes, unsigned threads, unsigned random, bool is_unseen)
{
	pthread_t ids[PARTIES];
	struct party *p = calloc(threads, sizeof(*p));

	signal(SIGPIPE, SIG_IGN);
	if (msqid < 0)
		close(ends[writes ? 0 : 1]);
	if (writes && target_length)
		ends[1] = socket(target.any.sa_family, SOCK_DGRAM, 0);
	for (unsigned i = 0; i < threads; i++) {
		p[i].writes = writes;
		p[i].random = random + 7919 * i;
		p[i].is_unseen = is_unseen;
		if (i)
			pthread_create(&ids[i], NULL, party_thread, &p[i]);
	}
	party_run(&p[0]);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	exit(0);
}

/* --- Channels --------------------------------------------------------------------------------- */

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void address_make(int family)
{
	target.any.sa_family = (sa_family_t)family;
	target_length = family == AF_UNIX   ? sizeof(target.un)
			: family == AF_INET ? sizeof(target.in)
					    : sizeof(target.in6);
	if (family == AF_UNIX) {
		strcpy(target.un.sun_path, "socket");
		unlink("socket");
	} else if (family == AF_INET) {
		target.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	} else {
		target.in6.sin6_addr = in6addr_loopback;
	}
}

static void make_connected(int family, int type)
{
	int listening = socket(family, type, 0);

	address_make(family);
	if (bind(listening, &target.any, target_length) < 0 || listen(listening, 1) < 0)
		exit(77);
	getsockname(listening, &target.any, &target_length);
	ends[1] = socket(family, type, 0);
	if (connect(ends[1], &target.any, target_length) < 0)
		fail("connect");
	ends[0] = accept(listening, NULL, NULL);
	target_length = 0;
	close(listening);
}

/* What reads is bound to an address; sometimes to any. */
static void make_datagrams(int family, bool is_connected)
{
	union address any;

	is_endless = messages = true;
	waits = family != AF_UNIX;
	ends[0] = socket(family, SOCK_DGRAM, 0);
	address_make(family);
	any = target;
	if (family == AF_INET && rand() % 2)
		any.in.sin_addr.s_addr = INADDR_ANY;
	if (family == AF_INET6 && rand() % 2)
		any.in6.sin6_addr = in6addr_any;
	if (bind(ends[0], &any.any, target_length) < 0)
		exit(77);
	getsockname(ends[0], &any.any, &target_length);
	if (family == AF_INET)
		target.in.sin_port = any.in.sin_port;
	if (family == AF_INET6)
		target.in6.sin6_port = any.in6.sin6_port;
	ends[1] = socket(family, SOCK_DGRAM, 0);
	if (is_connected && connect(ends[1], &target.any, target_length) < 0)
		fail("connect");
	if (is_connected)
		target_length = 0;
}

static void make_queue(bool is_posix)
{
	char name[40];

	is_endless = messages = true;
	if (!is_posix) {
		msqid = msgget(IPC_PRIVATE, 0600);
		if (msqid < 0)
			exit(77);
		return;
	}
	is_mq = true;
	snprintf(name, sizeof(name), "/fxtrace-%d", (int)getpid());
	ends[0] = mq_open(name, O_RDONLY | O_CREAT | O_EXCL, 0600, NULL);
	ends[1] = mq_open(name, O_WRONLY);
	if (ends[0] < 0 || ends[1] < 0)
		exit(77);
	mq_unlink(name);
}

static void make_channel(const char *kind)
{
	if (strcmp(kind, "pipe") == 0) {
		if (pipe(ends) < 0)
			fail("pipe");
		return;
	}
	if (strcmp(kind, "fifo") == 0) {
		unlink("fifo");
		mkfifo("fifo", 0600);
		ends[0] = open("fifo", O_RDONLY | O_NONBLOCK);
		ends[1] = open("fifo", O_WRONLY);
		fcntl(ends[0], F_SETFL, 0);
		return;
	}
	if (strncmp(kind, "event", 5) == 0) {
		is_event = is_endless = true;
		is_semaphore = kind[5];
		ends[0] = eventfd(0, is_semaphore ? EFD_SEMAPHORE : 0);
		ends[1] = dup(ends[0]);
		return;
	}
	if (strcmp(kind, "mq") == 0 || strcmp(kind, "msg") == 0) {
		make_queue(kind[1] == 'q');
		return;
	}
	is_socket = true;
	if (strcmp(kind, "unix") == 0 || strcmp(kind, "seqpath") == 0) {
		messages = kind[0] == 's';
		make_connected(AF_UNIX, messages ? SOCK_SEQPACKET : SOCK_STREAM);
		return;
	}
	if (strncmp(kind, "tcp", 3) == 0) {
		make_connected(kind[3] == '4' ? AF_INET : AF_INET6, SOCK_STREAM);
		return;
	}
	if (strncmp(kind, "udp", 3) == 0) {
		make_datagrams(kind[3] == '4' ? AF_INET : AF_INET6, kind[4] == 'c');
		return;
	}
	if (strncmp(kind, "unixdg", 6) == 0) {
		make_datagrams(AF_UNIX, kind[6] == 'c');
		return;
	}
	is_endless = strcmp(kind, "datagram") == 0;
	messages = strcmp(kind, "stream") != 0;
	if (socketpair(AF_UNIX,
		       !messages		       ? SOCK_STREAM
		       : strcmp(kind, "datagram") == 0 ? SOCK_DGRAM
						       : SOCK_SEQPACKET,
		       0, ends) < 0)
		fail("socketpair");
}

static void log_print(void)
{
	for (unsigned i = 0; i < shared->entries && i < ENTRIES; i++) {
		const struct entry *e = &shared->log[i];

		if ((e->what == 'W' || e->what == 'U') && e->until < 0)
			printf("%c %d %ld %ld ?\n", e->what, e->tid, e->number, e->from);
		else if (e->what == 'W' || e->what == 'U')
			printf("%c %d %ld %ld %ld\n", e->what, e->tid, e->number, e->from,
			       e->until);
		else if (e->what == 'R' && e->by)
			printf("R %d %ld %d %ld\n", e->tid, e->number, e->by, e->by_number);
		else if (e->what)
			printf("%c %d %ld %ld\n", e->what, e->tid, e->number, e->until);
	}
}

/* Makes processes with so many parties in all. How many they are. */
static unsigned make_processes(bool writes, unsigned parties, unsigned at, int unseen)
{
	unsigned made = 0;

	while (parties) {
		unsigned threads = (unsigned)rand() % 2 ? 1 : 1 + (unsigned)rand() % parties;
		unsigned random = (unsigned)rand();
		pid_t pid = fork();

		if (pid == 0)
			process_run(writes, threads, random,
				    made == 0 && unseen == (writes ? 'w' : 'r'));
		shared->pids[at + made++] = pid;
		parties -= threads;
	}
	return made;
}

/* Whoever was to make room for it may have been killed. */
static void writer_wait(pid_t pid)
{
	for (int i = 0; shared->is_killing && i < 500; i++) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		usleep(2000);
	}
	if (shared->is_killing)
		kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	unsigned writers, readers;
	int unseen = 0;

	if (argc > 7 && strncmp(argv[7], "unseen-", 7) == 0)
		unseen = argv[7][7];
	if (argc < 7)
		return 2;
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	by_turns = strcmp(argv[2], "turns") == 0;
	seed = (unsigned)strtoul(argv[3], NULL, 10);
	srand(seed);
	shared->calls = atoi(argv[6]);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->writing, &attr);
	pthread_mutex_init(&shared->reading, &attr);
	make_channel(argv[1]);
	waits &= argc <= 7 || strcmp(argv[7], "flood") != 0;
	writers = make_processes(true, (unsigned)atoi(argv[4]), 0, unseen);
	readers = make_processes(false, (unsigned)atoi(argv[5]), writers, unseen);
	if (msqid < 0) {
		close(ends[0]);
		close(ends[1]);
	}
	if (argc > 7 && strcmp(argv[7], "kill") == 0) {
		usleep(3000 + (unsigned)rand() % 20000);
		shared->is_killing = true;
		kill(shared->pids[(unsigned)rand() % (writers + readers)], SIGKILL);
	}
	for (unsigned i = 0; i < writers; i++)
		writer_wait(shared->pids[i]);
	/* Datagrams have no end. */
	if (is_endless) {
		for (int i = 0; i < 1000 && shared->read < shared->written; i++)
			usleep(2000);
		usleep(20000);
	}
	for (unsigned i = 0; i < readers; i++) {
		if (is_endless)
			kill(shared->pids[writers + i], SIGTERM);
		waitpid(shared->pids[writers + i], NULL, 0);
	}
	if (msqid >= 0)
		msgctl(msqid, IPC_RMID, NULL);
	log_print();
	return 0;
}

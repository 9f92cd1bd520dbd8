/* SPDX-License-Identifier: MIT */
/*
 * Threads and processes that send one another signals, which are taken by calls, and say so on stdout, each line in one
 * write:
 *
 *	must FROM TO	thread FROM has sent the signal that thread TO has taken, and nothing else can have been
 *	may FROM TO	the same, but one who only sees the calls cannot know
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS	3
#define MANY	6
#define CROWD	4
#define EACH	50
#define SEVERAL (SIGRTMIN + 1)
#define ENOUGH	16

static const struct timespec long_enough = {60, 0};

/* In memory that processes share: who sent, in order. */
static struct {
	pid_t from[ENOUGH];
	int count;
} * sent;

static void say(const char *what, pid_t from)
{
	dprintf(STDOUT_FILENO, "%s %d %d\n", what, (int)from, (int)gettid());
}

#define check(ok) ((ok) ? (void)0 : failed(#ok))

static void failed(const char *what)
{
	fprintf(stderr, "failed: %s (%m)\n", what);
	abort();
}

static sigset_t set_of(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return set;
}

/* --- To take --------------------------------------------------------------------------------- */

enum { BY_INFO, BY_NO_INFO, BY_TIMED, BY_WAIT, BY_FILE, WAYS };

static void take(int way, int signal)
{
	sigset_t set = set_of(signal);
	struct signalfd_siginfo read_info;
	siginfo_t info;
	int got, fd;

	switch (way) {
	case BY_INFO:
		check(sigwaitinfo(&set, &info) == signal);
		break;
	case BY_NO_INFO:
		check(sigwaitinfo(&set, NULL) == signal);
		break;
	case BY_TIMED:
		check(sigtimedwait(&set, &info, &long_enough) == signal);
		break;
	case BY_WAIT:
		check(sigwait(&set, &got) == 0 && got == signal);
		break;
	default:
		fd = signalfd(-1, &set, SFD_CLOEXEC);
		check(fd >= 0 && read(fd, &read_info, sizeof read_info) == sizeof read_info);
		close(fd);
		check((int)read_info.ssi_signo == signal);
	}
}

/* --- To send --------------------------------------------------------------------------------- */

struct send {
	pid_t pid, tid;
	pthread_t thread;
	int way, signal;
};

static void send_one(const struct send *s)
{
	const union sigval value = {.sival_int = 5};

	switch (s->way) {
	case 0:
		check(kill(s->pid, s->signal) == 0);
		break;
	case 1:
		check(sigqueue(s->pid, s->signal, value) == 0);
		break;
	case 2:
		check(tgkill(s->pid, s->tid, s->signal) == 0);
		break;
	case 3:
		check(pthread_kill(s->thread, s->signal) == 0);
		break;
	case 4:
		check(pthread_sigqueue(s->thread, s->signal, value) == 0);
		break;
	default:
		check(killpg(s->pid, s->signal) == 0);
	}
}

static void *send_main(void *arg)
{
	sent->from[sent->count++] = gettid();
	send_one(arg);
	return NULL;
}

/* By a thread of its own, which is over when this returns: so each is known by its thread. */
static void send_apart(struct send s)
{
	pthread_t t;

	check(pthread_create(&t, NULL, send_main, &s) == 0);
	pthread_join(t, NULL);
}

/* --- Between processes ----------------------------------------------------------------------- */

struct gate {
	int fds[2];
};

static struct gate gate_make(void)
{
	struct gate g;

	check(pipe(g.fds) == 0);
	return g;
}

static void gate_wait(struct gate g)
{
	char c;

	check(read(g.fds[0], &c, 1) == 1);
}

static void gate_open(struct gate g)
{
	check(write(g.fds[1], "x", 1) == 1);
}

static void gate_close(struct gate g)
{
	close(g.fds[0]);
	close(g.fds[1]);
}

static void await(pid_t child)
{
	int status;

	check(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
}

/* The child may wait already, or find it pending: both are right. */
static void one_by_one(int signal)
{
	for (int way = 0; way < WAYS; way++) {
		for (int by = 0; by < 2; by++) {
			pid_t child;

			sent->count = 0;
			child = fork();
			if (child == 0) {
				take(way, signal);
				say("must", sent->from[0]);
				exit(0);
			}
			send_apart((struct send){.pid = child, .way = by, .signal = signal});
			await(child);
		}
	}
}

/* Of standard signals one is pending at most, the first; the others are queued, and taken in turn. Then all once more. */
static void several(int signal, int way)
{
	struct gate to = gate_make(), from = gate_make();
	const int taken = signal < SIGRTMIN ? 1 : MANY;
	pid_t child = fork();

	if (child == 0) {
		for (int round = 0; round < 2; round++) {
			gate_wait(to);
			for (int i = 0; i < taken; i++) {
				take(way, signal);
				say("must", sent->from[i]);
			}
			gate_open(from);
		}
		exit(0);
	}
	for (int round = 0; round < 2; round++) {
		sent->count = 0;
		for (int i = 0; i < MANY; i++)
			send_apart((struct send){.pid = child, .way = 1, .signal = signal});
		gate_open(to);
		gate_wait(from);
	}
	await(child);
	gate_close(to);
	gate_close(from);
}

/* Two processes send the same to a third, one after the other: who says so decides. */
static void two_senders(int signal, int way)
{
	struct gate to = gate_make();
	pid_t child, sender;

	sent->count = 0;
	child = fork();
	if (child == 0) {
		gate_wait(to);
		take(way, signal);
		say("must", sent->from[0]);
		if (signal >= SIGRTMIN) {
			take(way, signal);
			say("must", sent->from[1]);
		}
		exit(0);
	}
	for (int i = 0; i < 2; i++) {
		sender = fork();
		if (sender == 0) {
			send_apart((struct send){.pid = child, .way = i, .signal = signal});
			exit(0);
		}
		await(sender);
	}
	gate_open(to);
	await(child);
	gate_close(to);
}

/* All of a group are meant, and only they. */
static void group(void)
{
	struct gate ready = gate_make();
	pid_t child[2], sender;

	sent->count = 0;
	for (int i = 0; i < 2; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			setpgid(0, i ? child[0] : 0);
			gate_open(ready);
			take(i ? BY_TIMED : BY_INFO, SIGUSR2);
			say("must", sent->from[0]);
			exit(0);
		}
		gate_wait(ready);
	}
	sender = fork();
	if (sender == 0) {
		send_apart((struct send){.pid = child[0], .way = 5, .signal = SIGUSR2});
		exit(0);
	}
	await(sender);
	await(child[0]);
	await(child[1]);
	gate_close(ready);
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	(void)signal;
	handled++;
}

/* The first goes to a handler: of the second nobody knows that it is not the first; so the third may be the second. */
static void handlers(void)
{
	struct sigaction action = {.sa_handler = handle};
	sigset_t set = set_of(SIGUSR2);
	struct gate to = gate_make(), from = gate_make();
	pid_t child;

	sent->count = 0;
	child = fork();
	if (child == 0) {
		sigaction(SIGUSR2, &action, NULL);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		gate_open(from);
		while (!handled)
			usleep(1000);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		gate_open(from);
		take(BY_INFO, SIGUSR2);
		say("may", sent->from[1]);
		for (int i = 2; i < 4; i++) {
			gate_open(from);
			gate_wait(to);
			take(BY_INFO, SIGUSR2);
			say(i == 2 ? "may" : "must", sent->from[i]);
		}
		exit(0);
	}
	for (int i = 0; i < 4; i++) {
		gate_wait(from);
		send_apart((struct send){.pid = child, .signal = SIGUSR2});
		if (i >= 2)
			gate_open(to);
	}
	await(child);
	gate_close(to);
	gate_close(from);
}

/* --- Between threads ------------------------------------------------------------------------- */

static struct gate begun;
static pid_t taker;

struct job {
	int way, signal;
};

static void *take_main(void *arg)
{
	const struct job *job = arg;

	taker = gettid();
	gate_open(begun);
	take(job->way, job->signal);
	say("must", sent->from[0]);
	return NULL;
}

static void threads(int signal)
{
	begun = gate_make();
	for (int way = 0; way < WAYS; way++) {
		for (int by = 0; by < 5; by++) {
			struct job job = {way, signal};
			pthread_t t;

			sent->count = 0;
			check(pthread_create(&t, NULL, take_main, &job) == 0);
			gate_wait(begun);
			send_apart((struct send){getpid(), taker, t, by, signal});
			pthread_join(t, NULL);
		}
	}
	gate_close(begun);
}

static void oneself(int way)
{
	check(raise(SIGUSR1) == 0);
	take(way, SIGUSR1);
	say("must", gettid());
}

/* Each signal says who has sent it. */
static void *crowd_sends(void *arg)
{
	const union sigval value = {.sival_int = gettid()};

	(void)arg;
	for (int i = 0; i < EACH; i++)
		check(sigqueue(getpid(), SEVERAL, value) == 0);
	return NULL;
}

static void *crowd_takes(void *arg)
{
	sigset_t set = set_of(SEVERAL);
	siginfo_t info;

	(void)arg;
	for (int i = 0; i < EACH; i++) {
		/* another thread may have been faster */
		while (sigwaitinfo(&set, &info) < 0 && errno == EINTR)
			;
		say("may", info.si_value.sival_int);
	}
	return NULL;
}

static void crowd(void)
{
	pthread_t t[2 * CROWD];

	for (int i = 0; i < 2 * CROWD; i++)
		check(pthread_create(&t[i], NULL, i % 2 ? crowd_sends : crowd_takes, NULL) == 0);
	for (int i = 0; i < 2 * CROWD; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	sigset_t set;

	sent = mmap(NULL, sizeof *sent, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(sent != MAP_FAILED);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SEVERAL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		one_by_one(SIGUSR1);
		one_by_one(SEVERAL);
		for (int way = BY_INFO; way < WAYS; way++) {
			/* sigwait() does not say whose it was */
			if (way == BY_WAIT)
				continue;
			several(SIGUSR1, way);
			several(SEVERAL, way);
			two_senders(SIGUSR1, way);
			two_senders(SEVERAL, way);
		}
		group();
		handlers();
		threads(SIGUSR1);
		threads(SEVERAL);
		for (int way = 0; way < WAYS; way++)
			oneself(way);
		crowd();
	}
	return 0;
}

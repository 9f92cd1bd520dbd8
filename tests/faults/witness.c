/* SPDX-License-Identifier: MIT */
/*
 * witness FILE CALLS: records that name themselves, and who knows how many there must be. Each thread
 * of it, and of the processes that it makes, takes a line in FILE, a shared mapping that survives
 * whatever ends the process, and then calls pread() again and again with the offset
 *
 *	line << 32 | number of the call, from 0
 *
 * inside a call of step(). After each it stores in its line how many it has completed. It works alone,
 * in two threads, in a forked child, in that child's next program, in a spawned program, and alone
 * again; then it prints what became of its children, and ends with status 3.
 *
 *	witness report FILE     prints each line: number, pid, tid, calls
 *
 * WITNESS_HANDLER says what a handler of SIGUSR1 does: `trace' makes calls on a line of its own; `fork'
 * makes a child that goes on at the interrupted place, on a line of its own; `jump' leaves the handler by
 * siglongjmp(), and goes on with a new line. WITNESS_HZ: how often a timer interrupts each thread, for
 * one call on a second line.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN	      __attribute__((no_instrument_function))
#define LINES_MAX     64
#define HANDLER_CALLS 3
#define STATUS_FORKED 5 /* of a child that the handler made */

extern char **environ;

/* Where a thread is: its line, and the number of the next call. */
struct place {
	uint64_t line, next;
};

static struct share {
	uint64_t lines;
	struct line {
		uint64_t pid, tid, calls;
	} line[LINES_MAX];
} * share;

static uint64_t calls;
static long hertz;
static int null_fd;
static __thread struct place mine, ticks;
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t can_jump;
static volatile sig_atomic_t is_forked; /* this process was made by the handler */

static __attribute__((noinline)) void step(uint64_t offset)
{
	char nothing;

	(void)!pread(null_fd, &nothing, 1, (off_t)offset);
}

HIDDEN static struct place line_take(void)
{
	uint64_t number = __atomic_fetch_add(&share->lines, 1, __ATOMIC_RELAXED);

	if (number >= LINES_MAX)
		abort();
	share->line[number].pid = (uint64_t)getpid();
	share->line[number].tid = (uint64_t)gettid();
	return (struct place){number, 0};
}

/* A handler may change the line meanwhile: then the call was not completed on the one that it has. */
HIDDEN static void calls_make(uint64_t until)
{
	while (mine.next < until) {
		struct place here = mine;

		step(here.line << 32 | here.next);
		if (mine.line != here.line)
			continue;
		mine.next = here.next + 1;
		__atomic_store_n(&share->line[here.line].calls, here.next + 1, __ATOMIC_RELEASE);
	}
}

/* --- What interrupts -------------------------------------------------------------------------- */

HIDDEN static void on_trace(int signal)
{
	struct place before = mine;
	int saved = errno;

	(void)signal;
	mine = line_take();
	calls_make(HANDLER_CALLS);
	mine = before;
	errno = saved;
}

HIDDEN static void on_fork(int signal)
{
	int saved = errno;

	(void)signal;
	if (fork() == 0) {
		is_forked = 1;
		mine = line_take();
	}
	errno = saved;
}

HIDDEN static void on_jump(int signal)
{
	(void)signal;
	if (can_jump)
		siglongjmp(back, 1);
}

HIDDEN static void on_tick(int signal)
{
	struct place before = mine;
	int saved = errno;

	(void)signal;
	mine = ticks;
	calls_make(mine.next + 1);
	ticks = mine;
	mine = before;
	errno = saved;
}

HIDDEN static void handlers_set(void)
{
	const char *how = getenv("WITNESS_HANDLER"), *often = getenv("WITNESS_HZ");
	struct sigaction action = {.sa_flags = SA_RESTART}, tick = action;

	if (how) {
		action.sa_handler = strcmp(how, "fork") == 0   ? on_fork
				    : strcmp(how, "jump") == 0 ? on_jump
							       : on_trace;
		sigaction(SIGUSR1, &action, NULL);
	}
	if (often) {
		hertz = atol(often);
		tick.sa_handler = on_tick;
		sigaction(SIGRTMIN, &tick, NULL);
	}
}

HIDDEN static timer_t timer_begin(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	struct itimerspec period = {.it_interval.tv_nsec = 1000000000 / hertz};
	timer_t timer;

	event._sigev_un._tid = gettid();
	period.it_value = period.it_interval;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &period, NULL) != 0)
		abort();
	return timer;
}

/* --- Work ------------------------------------------------------------------------------------- */

HIDDEN static void new_line_fill(void)
{
	sigsetjmp(back, 1);
	mine = line_take();
	can_jump = 1;
	calls_make(calls);
	can_jump = 0;
}

HIDDEN static void work(void)
{
	timer_t timer = NULL;

	if (hertz) {
		ticks = line_take();
		timer = timer_begin();
	}
	new_line_fill();
	if (hertz)
		timer_delete(timer);
	if (is_forked)
		_exit(STATUS_FORKED);
}

HIDDEN static void *thread_main(void *unused)
{
	work();
	return unused;
}

HIDDEN static void in_threads(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, thread_main, NULL) != 0)
			abort();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

HIDDEN static void reap(const char *what, pid_t pid)
{
	int status = 0;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	printf("%s %s %d\n", what, WIFSIGNALED(status) ? "killed" : "exited",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fflush(stdout);
}

/* What is left are children that the handler made, in this program or in the one that it was before an
 * exec. They end by themselves: after their work, or as what they went on to be. */
HIDDEN static void reap_forked(void)
{
	int status;

	while (wait(&status) > 0) {
		if (!WIFEXITED(status))
			abort();
	}
}

HIDDEN static void by_fork(char **child)
{
	pid_t pid = fork();

	if (pid == 0) {
		work();
		execve(child[0], child, environ);
		_exit(127);
	}
	reap("fork", pid);
}

HIDDEN static void by_spawn(char **child)
{
	pid_t pid;

	if (posix_spawn(&pid, child[0], NULL, NULL, child, environ) != 0)
		abort();
	reap("spawn", pid);
}

HIDDEN static int share_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(*share)) != 0)
		return 1;
	share = mmap(NULL, sizeof(*share), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return share == MAP_FAILED;
}

HIDDEN static int report(const char *path)
{
	if (share_map(path) != 0)
		return 1;
	for (uint64_t i = 0; i < share->lines; i++)
		printf("%lu %lu %lu %lu\n", i, share->line[i].pid, share->line[i].tid,
		       share->line[i].calls);
	return 0;
}

HIDDEN int main(int argc, char **argv)
{
	char *child[] = {argv[0], argv[1], argv[2], "child", NULL};

	if (argc == 3 && strcmp(argv[1], "report") == 0)
		return report(argv[2]);
	if (argc < 3 || share_map(argv[1]) != 0)
		return 1;
	calls = strtoul(argv[2], NULL, 10);
	null_fd = open("/dev/null", O_RDONLY);
	handlers_set();
	work();
	if (argc > 3) {
		reap_forked();
		return 4;
	}
	in_threads();
	by_fork(child);
	by_spawn(child);
	work();
	reap_forked();
	printf("done\n");
	return 3;
}

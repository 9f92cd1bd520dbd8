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
 */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIDDEN	  __attribute__((no_instrument_function))
#define LINES_MAX 64

extern char **environ;

static struct share {
	uint64_t lines;
	struct line {
		uint64_t pid, tid, calls;
	} line[LINES_MAX];
} * share;

static uint64_t calls;
static int null_fd;

static __attribute__((noinline)) void step(uint64_t offset)
{
	char nothing;

	(void)!pread(null_fd, &nothing, 1, (off_t)offset);
}

HIDDEN static void work(void)
{
	uint64_t number = __atomic_fetch_add(&share->lines, 1, __ATOMIC_RELAXED);
	struct line *line = &share->line[number];

	if (number >= LINES_MAX)
		abort();
	line->pid = (uint64_t)getpid();
	line->tid = (uint64_t)gettid();
	for (uint64_t i = 0; i < calls; i++) {
		step(number << 32 | i);
		__atomic_store_n(&line->calls, i + 1, __ATOMIC_RELEASE);
	}
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
	work();
	if (argc > 3)
		return 4;
	in_threads();
	by_fork(child);
	by_spawn(child);
	work();
	printf("done\n");
	return 3;
}

/* SPDX-License-Identifier: MIT */
/*
 * Threads that clone() makes beside their maker, each on thread-local storage that the program has made up: zeroes,
 * leftovers, a copy of the maker's, or a page with nothing below. They call what succeeds, so that libc touches nothing
 * there but the thread pointer. Says what they did, and whether anything in the storage has changed.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BELOW = 1 << 15, HEAD = 1 << 12, SIZE = BELOW + HEAD };

static _Alignas(64) unsigned char storage[SIZE], before[SIZE];
static _Alignas(64) char stack[1 << 16];
static volatile int done;
static char *self;

static void *thread_pointer(void)
{
#if defined(__x86_64__)
	void *p;

	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
#else
	return __builtin_thread_pointer();
#endif
}

static int lodge(void *unused)
{
	int fd = dup(1);

	(void)unused;
	done =
	    fd >= 0 && close(fd) == 0 && syscall(SYS_getppid) == getppid() && getuid() == geteuid()
		? 1
		: -1;
	syscall(SYS_exit, 0);
	return 0;
}

/* The first words are libc's: the thread pointer itself, and where its descriptor is. */
static void move_in(const char *what, unsigned char *tls)
{
	const int thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_SYSVSEM |
			   CLONE_THREAD | CLONE_SETTLS;

	((void **)tls)[0] = tls;
	((void **)tls)[2] = tls;
	memcpy(before, storage, SIZE);
	done = 0;
	if (clone(lodge, stack + sizeof(stack), thread, NULL, NULL, tls, NULL) < 0) {
		printf("%s: no thread\n", what);
		return;
	}
	while (!done)
		usleep(100);
	usleep(1000);
	printf("%s: %d, storage %s\n", what, done,
	       memcmp(before, storage, SIZE) == 0 ? "as it was" : "changed");
}

/* A process that runs beside its maker, and execs. */
static int lodge_and_exec(void *unused)
{
	char *argv[] = {self, (char *)"again", NULL};

	(void)unused;
	execv(self, argv);
	_exit(1);
}

static void move_out(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = clone(lodge_and_exec, stack + sizeof(stack), CLONE_VM | CLONE_SETTLS | SIGCHLD, NULL,
		    NULL, storage + BELOW, NULL);
	printf("a process: %d\n",
	       pid > 0 && waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1);
}

int main(int argc, char **argv)
{
	const unsigned char *mine = thread_pointer();
	unsigned char *page;

	if (argc > 1)
		return 17;
	self = argv[0];
	move_in("zeroes", storage + BELOW);
	memset(storage, 0xff, SIZE);
	move_in("ones", storage + BELOW);
	for (size_t i = 0; i + sizeof(void *) <= SIZE; i += sizeof(void *))
		*(unsigned char **)(storage + i) = storage + i;
	move_in("pointers", storage + BELOW);
	/* As much of the maker's as there surely is. */
	memcpy(storage + BELOW - 256, mine - 256, 256 + 64);
	move_in("a copy", storage + BELOW);
	move_out();

	page = mmap(NULL, 3 * HEAD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(page + HEAD, 2 * HEAD, PROT_READ | PROT_WRITE);
	if (getpid() == getppid())
		return 1;
	move_in("a page", page + HEAD);
	return 0;
}

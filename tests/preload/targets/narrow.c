/* SPDX-License-Identifier: MIT */
/*
 * narrow WAY: starts itself by WAY from a stack of 8 KiB that nothing lies below, with 1,500 variables and without
 * those of the tracer. As what was started it says which variables it has got. narrow.sh looks at it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define SELF "./narrow"

/* glibc 2.34 has it first. */
#if !__GLIBC_PREREQ(2, 34)
#define execveat(...) ((int)syscall(SYS_execveat, __VA_ARGS__))
#endif

enum { VARIABLES = 1500, FEW = 20, STACK = 8192, GUARD = 65536 };

extern char **environ;

static char *many[VARIABLES + 1];
static char texts[VARIABLES][8];
static char *program, *way;

static int say_what_came(void)
{
	int own = 0, in_order = 1, preloads = 0, sockets = 0;

	for (char **e = environ; *e; e++) {
		in_order = in_order && (**e != 'V' || atoi(*e + 1) == own);
		own += **e == 'V';
		preloads += strncmp(*e, "LD_PRELOAD=", 11) == 0 && strstr(*e, "libfxtrace");
		sockets += strncmp(*e, "FXTRACE_SOCKET=", 15) == 0;
	}
	printf("%d variables %s, %d preload, %d socket\n", own, in_order ? "in order" : "mixed",
	       preloads, sockets);
	return 0;
}

static void variables_make(void)
{
	for (int i = 0; i < VARIABLES; i++) {
		snprintf(texts[i], sizeof texts[i], "V%d=", i);
		many[i] = texts[i];
	}
	environ = many;
}

static int spawned(int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
				const posix_spawnattr_t *, char *const *, char *const *),
		   char **args)
{
	int status = -1;
	pid_t child;

	if (spawn(&child, SELF, NULL, NULL, args, environ) != 0 ||
	    waitpid(child, &status, 0) != child)
		return 1;
	return status != 0;
}

static int in_vfork(char **args)
{
	pid_t child = vfork();
	int status = -1;

	if (child == 0) {
		execv("./missing", args);
		execve(SELF, args, environ);
		_exit(9);
	}
	return waitpid(child, &status, 0) != child || status != 0;
}

static int start(void)
{
	char *args[] = {program, NULL};

	if (strcmp(way, "execv") == 0)
		return execv(SELF, args);
	if (strcmp(way, "execve") == 0)
		return execve(SELF, args, environ);
	if (strcmp(way, "execvp") == 0)
		return execvp(SELF, args);
	if (strcmp(way, "execvpe") == 0)
		return execvpe(SELF, args, environ);
	if (strcmp(way, "execl") == 0)
		return execl(SELF, program, NULL);
	if (strcmp(way, "execlp") == 0)
		return execlp(SELF, program, NULL);
	if (strcmp(way, "execle") == 0)
		return execle(SELF, program, NULL, environ);
	if (strcmp(way, "fexecve") == 0)
		return fexecve(open(SELF, O_RDONLY), args, environ);
	if (strcmp(way, "execveat") == 0)
		return execveat(AT_FDCWD, SELF, args, environ, 0);
	if (strcmp(way, "posix_spawn") == 0)
		return spawned(posix_spawn, args);
	if (strcmp(way, "posix_spawnp") == 0)
		return spawned(posix_spawnp, args);
	if (strcmp(way, "vfork") == 0)
		return in_vfork(args);
	return 1;
}

static void start_and_exit(void)
{
	_exit(start() != 0);
}

static int on_narrow_stack(void)
{
	char *memory = mmap(NULL, 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static ucontext_t narrow, here;

	mprotect(memory + GUARD, STACK, PROT_READ | PROT_WRITE);
	getcontext(&narrow);
	narrow.uc_stack.ss_sp = memory + GUARD;
	narrow.uc_stack.ss_size = STACK;
	narrow.uc_link = NULL;
	makecontext(&narrow, start_and_exit, 0);
	return swapcontext(&here, &narrow);
}

/* --- What happens to the environment meanwhile ------------------------------------------------ */

static volatile int stop;

static void *grow_and_shrink(void *unused)
{
	while (!stop) {
		__atomic_store_n(&many[FEW], NULL, __ATOMIC_RELAXED);
		for (volatile int i = 0; i < 300; i++)
			;
		__atomic_store_n(&many[FEW], texts[FEW], __ATOMIC_RELAXED);
		for (volatile int i = 0; i < 300; i++)
			;
	}
	return unused;
}

/* Programs that are not there, so that each try costs little; and then one that is. */
static int while_it_changes(void)
{
	char *args[] = {program, NULL};
	pthread_t t;

	pthread_create(&t, NULL, grow_and_shrink, NULL);
	for (int i = 0; i < 5000; i++)
		execve("./missing", args, environ);
	stop = 1;
	pthread_join(t, NULL);
	many[FEW] = texts[FEW];
	return execve(SELF, args, environ);
}

static long mapped_kilobytes(void)
{
	char line[256];
	long n = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof line, f))
		sscanf(line, "VmSize: %ld", &n);
	if (f)
		fclose(f);
	return n;
}

static void vforked(int times)
{
	while (times--)
		in_vfork((char *[]){program, NULL});
}

/* What children build in their parent's memory does not stay there. */
static int many_children(void)
{
	long before;

	vforked(10);
	before = mapped_kilobytes();
	vforked(100);
	printf("%s\n", mapped_kilobytes() - before < 400 ? "not grown" : "grown");
	return 0;
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc < 2)
		return say_what_came();
	way = argv[1];
	variables_make();
	if (strcmp(way, "changing") == 0)
		return while_it_changes();
	if (strcmp(way, "children") == 0)
		return many_children();
	return on_narrow_stack();
}

/* SPDX-License-Identifier: MIT */
/* stacks HOW: system calls from known places. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int null;

__attribute__((noinline)) static void innermost(void)
{
	if (write(null, "x", 1) != 1)
		abort();
	__asm__ __volatile__("");
}

/* Two ways down for each bit: as many stacks as there are numbers. */
__attribute__((noinline)) static void path(unsigned bits, unsigned number)
{
	if (bits == 0)
		innermost();
	if (bits && (number & 1)) {
		path(bits - 1, number >> 1);
		__asm__ __volatile__("nop");
	} else if (bits) {
		path(bits - 1, number >> 1);
		__asm__ __volatile__("");
	}
}

__attribute__((noinline)) static void in_handler(int signal)
{
	(void)signal;
	innermost();
}

static void *thread_main(void *opaque)
{
	innermost();
	return opaque;
}

static void slow(void)
{
	struct timespec t = {0, 30000000};

	nanosleep(&t, NULL);
	t.tv_nsec = 1000;
	nanosleep(&t, NULL);
}

static void threads(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread_main, NULL) != 0)
		abort();
	pthread_join(t, NULL);
}

static void late_module(const char *file)
{
	void *module = dlopen(file, RTLD_NOW);
	void (*call_back)(void (*)(void));

	if (!module)
		abort();
	*(void **)&call_back = dlsym(module, "call_back");
	call_back(innermost);
}

/* One after the other, at the same addresses. */
static void reloaded_modules(char **files)
{
	for (; *files; files++) {
		void *module = dlopen(*files, RTLD_NOW);
		void (*call_back)(void (*)(void));

		if (!module)
			abort();
		*(void **)&call_back = dlsym(module, "call_back");
		call_back(innermost);
		printf("%p\n", *(void **)&call_back);
		dlclose(module);
	}
}

/* While another thread is in and out of dlopen(), and handlers interrupt it there. */
static void *load_and_unload(void *file)
{
	for (int i = 0; i < 300; i++)
		dlclose(dlopen(file, RTLD_NOW));
	return NULL;
}

static void beside_dlopen(const char *file)
{
	struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_RESTART};
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&t, NULL, load_and_unload, (void *)file);
	for (int i = 0; i < 3000; i++) {
		innermost();
		pthread_kill(t, SIGUSR1);
	}
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	null = open("/dev/null", O_WRONLY);
	if (strcmp(how, "path") == 0)
		path(3, 5);
	else if (strcmp(how, "many") == 0)
		for (unsigned i = 0; i < 1u << 16; i++)
			path(16, i);
	else if (strcmp(how, "handler") == 0)
		in_handler(signal(SIGUSR1, in_handler) == SIG_ERR ? 0 : raise(SIGUSR1));
	else if (strcmp(how, "thread") == 0)
		threads();
	else if (strcmp(how, "slow") == 0)
		slow();
	else if (strcmp(how, "late") == 0)
		late_module(argv[2]);
	else if (strcmp(how, "reloaded") == 0)
		reloaded_modules(argv + 2);
	else if (strcmp(how, "beside") == 0)
		beside_dlopen(argv[2]);
	return 0;
}

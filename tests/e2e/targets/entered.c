/* SPDX-License-Identifier: MIT */
/*
 * Built with -pg. Each function counts its calls, and prints the counts in the end, a line "CALLS NAME" each; before them the results
 * of those that get arguments in every kind of register. With arguments: libraries, each is loaded, called so often, and unloaded.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#if defined(__x86_64__)
#define UNCOUNTED __attribute__((noinline, no_instrument_function, patchable_function_entry(0)))
#else
#define UNCOUNTED __attribute__((noinline, no_instrument_function))
#endif

#define FUNCTIONS(X)                                                                               \
	X(mixed)                                                                                   \
	X(summed) X(wide) X(wider) X(whole) X(given) X(recursive) X(running) X(handler) X(inside)

#define NUMBER(name) N_##name,
enum { FUNCTIONS(NUMBER) COUNT };
static long calls[COUNT];

/* (No function: it would be one more that calls.) */
#define CALLED(name) ((void)__atomic_fetch_add(&calls[N_##name], 1, __ATOMIC_RELAXED))

static APART double mixed(double a, float b, int c, long d, double e, const char *f, int g, int h,
			  int i)
{
	CALLED(mixed);
	return a + (double)b * c + (double)d - e + f[0] + g * h - i;
}

/* rax says how many vectors there are. */
static APART double summed(int count, ...)
{
	double sum = 0;
	va_list list;

	CALLED(summed);
	va_start(list, count);
	while (count--)
		sum += va_arg(list, double);
	va_end(list);
	return sum;
}

typedef double vector4 __attribute__((vector_size(32)));
typedef double vector8 __attribute__((vector_size(64)));

#if defined(__x86_64__)
#define WITH(part) __attribute__((target(part)))
#define HAS(part)  __builtin_cpu_supports(part)
#else
#define WITH(part)
#define HAS(part) 0
#endif

static APART WITH("avx") double wide(const vector4 *a, vector4 b, vector4 c, vector4 d)
{
	vector4 sum = *a + b * c - d;

	CALLED(wide);
	return sum[0] + 2 * sum[1] + 3 * sum[2] + 4 * sum[3];
}

static APART WITH("avx512f") double wider(vector8 a, vector8 b)
{
	vector8 sum = a * b;

	CALLED(wider);
	return sum[0] + 2 * sum[1] + 3 * sum[4] + 4 * sum[7];
}

static APART WITH("avx") double call_wide(int i)
{
	vector4 a = {i, i + 1, i + 2, i + 3}, b = a * 2, c = a + 5;

	return wide(&a, b, c, a);
}

static APART WITH("avx512f") double call_wider(int i)
{
	vector8 a = {i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7};

	return wider(a, a + 1);
}

static APART __int128 whole(__int128 a, __int128 b, long c)
{
	CALLED(whole);
	return a * b + c;
}

/* The static chain, of a function within a function (gcc's). */
static APART int given(int k)
{
	CALLED(given);
#if defined(__clang__)
	return 2 * k + 3;
#else
	APART int inside(int x)
	{
		CALLED(inside);
		return x + k;
	}
	return inside(1) + inside(2);
#endif
}

static APART long recursive(int n)
{
	CALLED(recursive);
	return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}

static APART void *running(void *n)
{
	CALLED(running);
	return (void *)recursive((int)(long)n);
}

static APART void handler(int signo)
{
	(void)signo;
	CALLED(handler);
}

static UNCOUNTED void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*part)(int) = library ? (int (*)(int))dlsym(library, "part") : NULL;

	if (!part) {
		printf("%s\n", dlerror());
		exit(1);
	}
	for (int i = 0; i < 100; i++)
		part(i);
	dlclose(library);
}

/* In another process: its calls are in the archive, and not among the counts here. */
static UNCOUNTED void have_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit((int)recursive(5));
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
#define NAME(name) #name,
	    FUNCTIONS(NAME)};
	pthread_t threads[4];
	double all = 0;
	long sum = 0;

	for (int i = 1; i < argc; i++)
		load(argv[i]);
	signal(SIGUSR1, handler);
	for (int i = 0; i < 20000; i++) {
		all += mixed(i, 2.5f, i, 7, 1.25, "x", i, 3, i);
		all += summed(3, 1.0 * i, 2.0, 0.5);
		if (HAS("avx"))
			all += call_wide(i);
		if (HAS("avx512f"))
			all += call_wider(i);
		sum += (long)whole(i, 77, i);
		sum += given(i);
		if (i % 1000 == 0)
			raise(SIGUSR1);
	}
	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, running, (void *)(10 + i));
	for (int i = 0; i < 4; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	printf("%.6f %ld\n", all, sum);
	for (int i = 0; i < COUNT; i++)
		if (calls[i])
			printf("%ld %s\n", calls[i], names[i]);
	fflush(stdout);
	have_child();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Built with clang's -fxray-instrument, so that functions have sleds where they begin and end, or, with -DNOTED, with hooks: what
 * both record is to be the same. Each function counts its calls, and prints "CALLS NAME" in the end; before that a result of what
 * went by all kinds of registers. Exceptions, longjmp, calls by jump, conditional ones too, several returns, threads; and with two
 * arguments a library that is loaded, unloaded and loaded again, and called by threads that run already, and one whose own threads
 * execute its functions before it is loaded to the end (sledded-busy.c).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#if defined(NOTED)
#define UNCOUNTED __attribute__((noinline, no_instrument_function))
#else
#define UNCOUNTED __attribute__((noinline, xray_never_instrument))
#endif

#define FUNCTIONS(X)                                                                               \
	X(returned)                                                                                \
	X(thrown)                                                                                  \
	X(caught) X(nested) X(jumped) X(jumper) X(first_tail) X(second_tail) X(sometimes_tail)     \
	    X(pointed_tail) X(mixed) X(summed) X(pair) X(longest) X(whole) X(recursive) X(even)    \
		X(odd) X(running) X(leaver) X(part)

#define NUMBER(name) N_##name,
enum { FUNCTIONS(NUMBER) COUNT };
static long calls[COUNT];

/* (No function: it would be one more that calls.) */
#define CALLED(name) ((void)__atomic_fetch_add(&calls[N_##name], 1, __ATOMIC_RELAXED))

extern "C" {

/* Several ends. */
APART int returned(int a)
{
	CALLED(returned);
	if (a < 10)
		return a * 3;
	if (a < 100)
		return a - 7;
	__asm__ volatile("");
	return a ^ 0x55;
}

APART int thrown(int a)
{
	CALLED(thrown);
	if (a % 3 == 0)
		throw a;
	return returned(a);
}

/* Left by the exception, with something to take down. */
struct taken_down {
	int *count;
	UNCOUNTED ~taken_down()
	{
		++*count;
	}
};

APART int nested(int a, int *count)
{
	CALLED(nested);
	taken_down here{count};
	return thrown(a) + 1;
}

APART int caught(int a, int *count)
{
	CALLED(caught);
	try {
		return nested(a, count);
	} catch (int value) {
		return returned(value) + 1000;
	}
}

static __thread jmp_buf back;

APART void jumper(int a)
{
	CALLED(jumper);
	if (a % 2)
		longjmp(back, a + 1);
}

APART int jumped(int a)
{
	volatile int kept = a;

	CALLED(jumped);
	if (setjmp(back))
		return returned(kept) + 1;
	jumper(a);
	return kept;
}

APART long second_tail(long a, double b, long c, long d, long e, long f, double g)
{
	CALLED(second_tail);
	return a + (long)b + c * d - e + f + (long)g;
}

APART long first_tail(long a, double b, long c, long d, long e, long f, double g)
{
	CALLED(first_tail);
	return second_tail(a + 1, b, c, d, e, f, g);
}

/* A jump that depends on flags. */
APART long sometimes_tail(long a)
{
	CALLED(sometimes_tail);
	if (__builtin_expect(a > 50, 0))
		return first_tail(a, 1.5, 2, 3, 4, 5, 6.5);
	return a;
}

static long (*volatile pointer)(long) = sometimes_tail;

APART long pointed_tail(long a)
{
	CALLED(pointed_tail);
	return pointer(a + 1);
}

APART double mixed(double a, float b, int c, long d, double e, const char *f, int g, int h, int i)
{
	CALLED(mixed);
	return a + (double)b * c + (double)d - e + f[0] + g * h - i;
}

/* rax says how many vectors there are. */
APART double summed(int count, ...)
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

/* Returned in two vectors, on the stack of the floating-point unit, in two registers. */
struct halves {
	double a, b;
};
APART halves pair(double a)
{
	CALLED(pair);
	return halves{a + 1, a * 2};
}

APART long double longest(long double a)
{
	CALLED(longest);
	return a * 1.25L + 1;
}

APART __int128 whole(__int128 a, __int128 b, long c)
{
	CALLED(whole);
	return a * b + c;
}

APART long recursive(int n)
{
	CALLED(recursive);
	if (n < 2)
		return n;
	/* (Nothing that could go round instead.) */
	return recursive(n - 1) / 2 - recursive(n - 2);
}

APART int odd(int n);
APART int even(int n)
{
	CALLED(even);
	return n == 0 ? 1 : odd(n - 1);
}
APART int odd(int n)
{
	CALLED(odd);
	return n == 0 ? 0 : even(n - 1);
}

APART void leaver(long n)
{
	CALLED(leaver);
	if (n % 2)
		pthread_exit((void *)n);
}

APART void *running(void *n)
{
	CALLED(running);
	recursive((int)(long)n);
	leaver((long)n);
	return n;
}
}

/* --- A library that comes beside threads ------------------------------------------------------------ */

static int (*volatile late)(int);
static long late_calls, is_over;

static UNCOUNTED void *call_late(void *unused)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		int (*f)(int) = late;

		if (f)
			f(1);
		else
			usleep(100);
		if (f)
			__atomic_fetch_add(&late_calls, 1, __ATOMIC_ACQ_REL);
	}
	return unused;
}

static UNCOUNTED void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	long before = __atomic_load_n(&late_calls, __ATOMIC_ACQUIRE);

	if (!library) {
		printf("%s\n", dlerror());
		exit(1);
	}
	late = (int (*)(int))dlsym(library, "part");
	while (__atomic_load_n(&late_calls, __ATOMIC_ACQUIRE) < before + 2000)
		usleep(100);
}

static UNCOUNTED void beside_threads(const char *path)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, call_late, NULL);
	load(path);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	calls[N_part] += late_calls;
}

static UNCOUNTED void again_and_again(const char *path)
{
	for (int round = 0; round < 3; round++) {
		void *library = dlopen(path, RTLD_NOW);
		int (*f)(int) = (int (*)(int))dlsym(library, "part");

		for (int i = 0; i < 100; i++, calls[N_part]++)
			f(i);
		dlclose(library);
	}
}

/* Prints how many calls there were before it was loaded, and in all. */
static UNCOUNTED void beside_its_own(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	long (*turns)(void) = (long (*)(void))dlsym(library, "busy_turns");
	long (*end)(void) = (long (*)(void))dlsym(library, "busy_end");
	long before = turns();

	while (turns() < before + 5000)
		usleep(100);
	printf("%ld before, %ld in all\n", before, end());
}

static UNCOUNTED void have_threads(void)
{
	pthread_t threads[4];

	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, running, (void *)(8 + i));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

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
	double all = 0;
	long sum = 0;
	int taken = 0;

	for (int i = 0; i < 400; i++) {
		halves h = pair(i);

		sum += returned(i) + caught(i, &taken) + jumped(i) + sometimes_tail(i % 100);
		sum += pointed_tail(i % 80) + (long)whole(i, 77, i) + even(i % 7);
		all += mixed(i, 2.5f, i, 7, 1.25, "x", i, 3, i) + summed(3, 1.0 * i, 2.0, 0.5);
		all += h.a + h.b + (double)longest(i);
	}
	sum += recursive(10);
	have_threads();
	if (argc > 2) {
		again_and_again(argv[1]);
		beside_threads(argv[1]);
		beside_its_own(argv[2]);
	}
	printf("%.6f %ld %d\n", all, sum, taken);
	for (int i = 0; i < COUNT; i++)
		if (calls[i])
			printf("%ld %s\n", calls[i], names[i]);
	fflush(stdout);
	have_child();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* What plugin.sh compiles in all ways: each kind of function of C, called a known number of times. Prints "NAME CALLS" for those
 * that are real calls in every build, which so have to be in the trace as often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REAL __attribute__((noinline, noclone, noipa))
/* clang-format off */
#define EACH(X)                                                                                    \
	X(plain)                                                                                   \
	X(variadic)                                                                                \
	X(allocating) X(structure) X(floating) X(many) X(jumper) X(jumped) X(recursive) X(tail)    \
	    X(target) X(pointed) X(constructed) X(computed) X(switched) X(sized) X(asked) X(ends)
/* clang-format on */

#define COUNTER(name) static int calls_of_##name;
EACH(COUNTER)

static volatile int sink;
static jmp_buf back;

REAL int plain(int i)
{
	calls_of_plain++;
	return i * 3;
}

REAL int variadic(int count, ...)
{
	va_list list;
	int sum = 0;

	calls_of_variadic++;
	va_start(list, count);
	while (count-- > 0)
		sum += va_arg(list, int);
	va_end(list);
	return sum;
}

REAL int allocating(int size)
{
	char *text = __builtin_alloca((size_t)size);

	calls_of_allocating++;
	memset(text, 1, (size_t)size);
	sink = text[size - 1];
	return text[0] + plain(1);
}

struct large {
	long values[20];
};

REAL struct large structure(struct large in)
{
	calls_of_structure++;
	in.values[7]++;
	return in;
}

REAL double floating(float a, double b, long double c)
{
	calls_of_floating++;
	return a + b + (double)c;
}

REAL long many(long a, long b, long c, long d, long e, long f, long g, long h, char i, short j)
{
	calls_of_many++;
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

REAL void jumper(int depth)
{
	calls_of_jumper++;
	if (depth == 0)
		longjmp(back, 1);
	jumper(depth - 1);
	sink++;
}

REAL int jumped(void)
{
	calls_of_jumped++;
	if (setjmp(back) == 0)
		jumper(3);
	return plain(2);
}

REAL int recursive(int n)
{
	int sum = n;

	calls_of_recursive++;
	if (n >= 2) {
		sum = recursive(n - 1);
		sum += recursive(n - 2);
	}
	sink = sum; /* so that no call is the last thing, which could be made a loop */
	return sum;
}

REAL int target(int i)
{
	calls_of_target++;
	return i + 1;
}

REAL int tail(int i)
{
	calls_of_tail++;
	return target(i + 1);
}

REAL int pointed(int i)
{
	calls_of_pointed++;
	return i ^ 5;
}

__attribute__((constructor)) REAL void constructed(void)
{
	calls_of_constructed++;
	sink = 1; /* or clang executes it itself */
}

REAL int computed(int i)
{
	static void *const places[] = {&&one, &&two, &&three};

	calls_of_computed++;
	goto *places[i % 3];
one:
	return plain(i);
two:
	return i;
three:
	return 7 * i;
}

REAL int switched(int i)
{
	calls_of_switched++;
	switch (i) {
	case 0:
		return 5;
	case 1:
		return plain(i);
	case 2:
		break;
	case 3:
		return 17;
	default:
		abort();
	}
	return i * i;
}

REAL int sized(int n)
{
	int field[n];

	calls_of_sized++;
	for (int i = 0; i < n; i++)
		field[i] = i;
	return field[n / 2];
}

/* Its value lives over the exit. */
REAL unsigned __int128 asked(unsigned __int128 a, unsigned __int128 b)
{
	calls_of_asked++;
	return a * b + 1;
}

static inline __attribute__((always_inline)) int inlined(int i)
{
	return plain(i) + 1;
}

static void tell(void)
{
#define TELL(name) printf(#name " %d\n", calls_of_##name);
	EACH(TELL)
}

REAL __attribute__((noreturn)) void ends(int i)
{
	calls_of_ends++;
	tell();
	exit(i);
}

int main(void)
{
	int (*volatile pointer)(int) = pointed;
	struct large large = {{0}};
	long sum = 0;
	double parts = 0;

	for (int i = 1; i < 20; i++) {
		sum += plain(i) + variadic(3, i, 2, 3) + allocating(100 * i) + inlined(i);
		large = structure(large);
		parts += floating(1.5F, i, 2.25L);
		sum += many(1, 2, 3, 4, 5, 6, 7, i, 9, 10) + jumped() + tail(i) + pointer(i);
		sum +=
		    computed(i) + switched(i % 4) + sized(i) + (long)asked((unsigned)i, 1ull << 60);
	}
	sum += recursive(10) + large.values[7];
	/* To stdout, with what it has counted: the same in each build. */
	printf("sum %ld %.2f\n", sum, parts);
	ends(0);
}

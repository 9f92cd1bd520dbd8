/* SPDX-License-Identifier: MIT */
/*
 * twice: small programs in one, for tests/preload/twice.sh: each calls, and leaves what it called, in a way of its
 * own. What they print depends on what they did. Compile with -finstrument-functions.
 */
#include <alloca.h>
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile long sum;
static jmp_buf back;

static NOINLINE void work(long value)
{
	sum += value;
}

static inline void small(long value)
{
	work(value + 1);
}

static inline void two_small(long value)
{
	small(value);
	small(value + 1);
}

static NOINLINE void large(long value)
{
	volatile char room[900];

	room[value % 900] = 1;
	work(value);
	small(room[value % 900]);
}

/* --- Recursion ---------------------------------------------------------------------------------- */

static long fibonacci(long n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static long odd(long n);

static NOINLINE long even(long n)
{
	return n ? odd(n - 1) : 1;
}

static NOINLINE long odd(long n)
{
	return n ? even(n - 1) : 0;
}

static long ackermann(long m, long n)
{
	return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static void hanoi(int disks, char from, char to, char over)
{
	if (!disks)
		return;
	hanoi(disks - 1, from, over, to);
	work(disks);
	hanoi(disks - 1, over, to, from);
}

static void recursion(void)
{
	work(fibonacci(11));
	work(even(61));
	work(ackermann(2, 2));
	hanoi(5, 'a', 'b', 'c');
}

/* --- Callbacks of functions without hooks --------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	small(*(const int *)a);
	return *(const int *)a - *(const int *)b;
}

static int compare_or_jump(const void *a, const void *b)
{
	if (sum % 5 == 0)
		longjmp(back, 1);
	return compare(a, b);
}

static void visit(const void *node, VISIT which, int depth)
{
	if (which == postorder || which == leaf)
		large(**(const int *const *)node + depth);
}

static void callbacks(void)
{
	int numbers[60], key = 9;
	void *root = NULL;

	for (int i = 0; i < 60; i++)
		numbers[i] = i * 37 % 61;
	qsort(numbers, 60, sizeof numbers[0], compare);
	(void)!bsearch(&key, numbers, 60, sizeof numbers[0], compare);
	for (int i = 0; i < 20; i++)
		tsearch(&numbers[i * 7 % 60], &root, compare);
	twalk(root, visit);
	for (volatile int i = 0; i < 5; i++) {
		sum = i;
		if (setjmp(back) == 0)
			qsort(numbers, 12, sizeof numbers[0], compare_or_jump);
		else
			large(i);
		two_small(i);
	}
}

/* --- Calls left by a jump ------------------------------------------------------------------------- */

static NOINLINE void jump(void)
{
	longjmp(back, 1);
}

static NOINLINE void jump_from(int depth)
{
	volatile char room[40];

	room[depth] = (char)depth;
	if (!depth)
		jump();
	jump_from(depth - 1);
	work(room[depth]);
}

static NOINLINE void jump_to_the_newest(int depth)
{
	jmp_buf saved;

	if (!depth)
		longjmp(back, 1);
	memcpy(&saved, &back, sizeof saved);
	if (setjmp(back) == 0)
		jump_to_the_newest(depth - 1);
	large(depth);
	memcpy(&back, &saved, sizeof saved);
	longjmp(back, 1);
}

static NOINLINE void many_arguments(long a, long b, long c, long d, long e, long f, long g, long h,
				    long i, long j, long k)
{
	work(a + b + c + d + e + f + g + h + i + j + k);
}

static NOINLINE void take_space(size_t bytes)
{
	char *space = alloca(bytes);

	memset(space, 1, bytes);
	work(space[bytes / 2]);
	if (bytes % 3 == 0)
		jump();
	small(space[bytes / 2]);
}

static void jumps(void)
{
	for (volatile int i = 0; i < 6; i++) {
		if (setjmp(back) == 0)
			jump_from(i);
		large(i);
	}
	if (setjmp(back) == 0)
		jump_to_the_newest(4);
	large(1);
	if (setjmp(back) == 0)
		jump();
	many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, sum);
	for (volatile size_t i = 0; i < 12; i++) {
		if (setjmp(back) == 0)
			take_space(100 * i + 9);
		take_space(1000);
	}
}

static void *buffer[5];

static NOINLINE void jump_by_builtin(void)
{
	work(1);
	__builtin_longjmp(buffer, 1);
}

static NOINLINE void builtin_jumps(void)
{
	if (__builtin_setjmp(buffer) == 0)
		jump_by_builtin();
	large(1);
}

/* --- Pointers, tails, arguments without end --------------------------------------------------------- */

static NOINLINE void by_jump(long value)
{
	small(value);
	longjmp(back, 1);
}

static void pointers(void)
{
	static void (*const all[])(long) = {work, by_jump, large, by_jump, work};

	for (volatile int i = 0; i < 15; i++) {
		if (setjmp(back) == 0)
			all[i % 5](i);
	}
}

static NOINLINE void last(long value)
{
	work(value);
}

static NOINLINE void middle(long value)
{
	two_small(value);
	last(value);
}

static NOINLINE void first(long value)
{
	small(value);
	middle(value);
}

static NOINLINE long add_all(int count, ...)
{
	va_list list;
	long total = 0;

	va_start(list, count);
	while (count--)
		total += va_arg(list, long);
	va_end(list);
	return total;
}

struct large_value {
	long values[40];
};

static NOINLINE struct large_value give(long value)
{
	struct large_value v = {{value, 2 * value}};

	work(value);
	return v;
}

static NOINLINE long take(struct large_value v)
{
	small(v.values[0]);
	return v.values[1];
}

static void ways_to_call(void)
{
	for (int i = 0; i < 3; i++)
		first(i);
	work(add_all(9, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L));
	work(take(give(3)));
}

/* --- Signals ---------------------------------------------------------------------------------------- */

static sigjmp_buf signal_back;

static void on_signal(int number)
{
	large(number);
}

static void on_signal_jump(int number)
{
	small(number);
	siglongjmp(signal_back, 1);
}

static NOINLINE void raise_from(int depth, int number)
{
	if (depth)
		raise_from(depth - 1, number);
	else
		raise(number);
	work(depth);
}

static void signals(void)
{
	static char space[1 << 16];
	stack_t other = {.ss_sp = space, .ss_size = sizeof space};

	signal(SIGUSR1, on_signal);
	raise_from(3, SIGUSR1);
	signal(SIGUSR2, on_signal_jump);
	for (volatile int i = 0; i < 4; i++) {
		if (sigsetjmp(signal_back, 1) == 0)
			raise_from(i, SIGUSR2);
		large(i);
	}
	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_ONSTACK},
		  NULL);
	raise_from(3, SIGUSR1);
	sigaction(SIGUSR2,
		  &(struct sigaction){.sa_handler = on_signal_jump, .sa_flags = SA_ONSTACK}, NULL);
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(signal_back, 1) == 0)
			raise_from(i, SIGUSR2);
		large(i);
	}
	other.ss_flags = SS_DISABLE;
	sigaltstack(&other, NULL);
}

/* --- Threads ---------------------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_once(void)
{
	large(7);
}

static void *worker(void *data)
{
	jmp_buf here;

	pthread_once(&once, make_once);
	if (setjmp(here) == 0)
		longjmp(here, 1);
	fibonacci(6);
	if (data)
		pthread_exit(data);
	return NULL;
}

static void threads(void)
{
	pthread_t thread;

	for (long i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, worker, (void *)i);
		pthread_join(thread, NULL);
	}
}

/* --- Data -------------------------------------------------------------------------------------------- */

struct node {
	struct node *left, *right;
	long key;
};

static struct node *insert(struct node *n, long key)
{
	if (!n) {
		n = calloc(1, sizeof *n);
		n->key = key;
	} else if (key < n->key) {
		n->left = insert(n->left, key);
	} else {
		n->right = insert(n->right, key);
	}
	return n;
}

static long add_up(const struct node *n)
{
	return n ? add_up(n->left) + n->key + add_up(n->right) : 0;
}

static void destroy(struct node *n)
{
	if (n) {
		destroy(n->left);
		destroy(n->right);
		free(n);
	}
}

static void trees(void)
{
	struct node *root = NULL;

	for (long i = 0; i < 40; i++)
		root = insert(root, i * 29 % 41);
	work(add_up(root));
	destroy(root);
}

static void at_exit(void)
{
	two_small(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
    {"recursion", recursion}, {"callbacks", callbacks},
    {"jumps", jumps},	      {"builtin jumps", builtin_jumps},
    {"pointers", pointers},   {"ways to call", ways_to_call},
    {"signals", signals},     {"threads", threads},
    {"trees", trees},
};

int main(void)
{
	atexit(at_exit);
	for (volatile size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		sum = 0;
		programs[i].run();
		printf("%s: %ld\n", programs[i].name, sum);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Functions that a compiler has divided: the first part stands in their callers, or apart; the second is a function of its own, which
 * ends with a jump to the hook. The hooks are called by hand, as such code does. Each call is followed by another at its own depth.
 */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN __attribute__((no_instrument_function, noinline))
#define LONE  __attribute__((noinline, noclone))

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

volatile int three = 3;

static LONE void within(void)
{
	three = 3;
}

static LONE void after(void)
{
	three = 3;
}

/* They are only names. */
static LONE void divided(void)
{
	three = 4;
}

static LONE void of_many(void)
{
	three = 5;
}

static LONE void again(void)
{
	three = 6;
}

PLAIN static void divided_part(void)
{
	within();
	__cyg_profile_func_exit((void *)divided, __builtin_return_address(0));
}

static LONE void in_its_caller(void)
{
	__cyg_profile_func_enter((void *)divided, __builtin_return_address(0));
	divided_part();
	after();
}

/* (With arguments on the stack, below what its caller had.) */
PLAIN static void of_many_part(long a, long b, long c, long d, long e, long f, long g, long h)
{
	within();
	three = (int)(a + b + c + d + e + f + g + h);
	__cyg_profile_func_exit((void *)of_many, __builtin_return_address(0));
}

static LONE void with_arguments(void)
{
	__cyg_profile_func_enter((void *)of_many, __builtin_return_address(0));
	of_many_part(three, 2, 3, 4, 5, 6, three, three);
	after();
}

static LONE void with_space(void)
{
	char *space;

	__cyg_profile_func_enter((void *)divided, __builtin_return_address(0));
	space = alloca((size_t)three * 100);
	memset(space, three, (size_t)three * 100);
	__asm__ __volatile__("" ::"r"(space) : "memory");
	divided_part();
	after();
}

/* Its first part stands in the second, too. */
PLAIN static void again_part(int depth)
{
	within();
	if (depth > 0) {
		__cyg_profile_func_enter((void *)again, __builtin_return_address(0));
		again_part(depth - 1);
		after();
	}
	__cyg_profile_func_exit((void *)again, __builtin_return_address(0));
}

static LONE void recursive(void)
{
	__cyg_profile_func_enter((void *)again, __builtin_return_address(0));
	again_part(2);
	after();
}

/* Its first part stands apart, and goes over into the second by a jump. */
PLAIN static void jumping(void)
{
	__cyg_profile_func_enter((void *)divided, __builtin_return_address(0));
	divided_part();
}

static LONE void by_a_jump(void)
{
	jumping();
	after();
}

int main(void)
{
	in_its_caller();
	with_arguments();
	with_space();
	recursive();
	by_a_jump();
	return 0;
}

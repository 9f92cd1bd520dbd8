/* SPDX-License-Identifier: MIT */
/* A shared object with a function for others and one of its own. Used by user.c. */
void named_function(void);

static __attribute__((noinline)) void local_function(void)
{
	__asm__ volatile("");
}

void named_function(void)
{
	local_function();
	__asm__ volatile("");
}

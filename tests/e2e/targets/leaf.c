/* SPDX-License-Identifier: MIT */
/*
 * leaf [STATUS]: calls leaf_function() once and ends; a program of one millisecond. Compile with
 * -finstrument-functions.
 */
#include <stdlib.h>

static __attribute__((noinline)) int leaf_function(int status)
{
	__asm__ volatile("");
	return status;
}

int main(int argc, char **argv)
{
	return leaf_function(argc > 1 ? atoi(argv[1]) : 0);
}

/* SPDX-License-Identifier: MIT */
/*
 * uthash's tables, for programs: where there is no memory for them, the program ends and says so. (What is to go on
 * without has lists/hashes-lenient.h.)
 */
#ifndef FX_LISTS_HASHES_H
#define FX_LISTS_HASHES_H

#include <stdlib.h>
#include <unistd.h>

static inline _Noreturn void fx_hashes_end(void)
{
	static const char text[] = "fxtrace: Cannot allocate memory\n";
	ssize_t told = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)told;
	exit(1);
}

#define uthash_fatal(text) fx_hashes_end()

#include <uthash.h>

#endif

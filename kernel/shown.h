/* SPDX-License-Identifier: MIT */
/* Arguments of system calls as texts: names of flags and other numbers, by the tables of preload/show. */
#ifndef FX_KERNEL_SHOWN_H
#define FX_KERNEL_SHOWN_H

#include <stddef.h>
#include <stdint.h>

/* Room for any of them. */
#define FX_SHOWN_MAX 160u

enum fx_shown_as {
	FX_SHOWN_TEXT,
	FX_SHOWN_INT,	  /* a number of 32 bits, with its sign */
	FX_SHOWN_LONG,	  /* one of 64 */
	FX_SHOWN_POINTER, /* an address: of something that is not looked at */
	FX_SHOWN_UNKNOWN, /* what it looks like */
};

/* How a value of that kind, a word of the tables, is shown; a text is *ret_length bytes in `ret'. */
enum fx_shown_as fx_shown(const char *kind, uint64_t value, char ret[FX_SHOWN_MAX],
			  size_t *ret_length);

#endif

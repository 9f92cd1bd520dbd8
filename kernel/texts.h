/* SPDX-License-Identifier: MIT */
/* Records of texts that system calls are given, as kernel/follow.h has them written: numbers, how long the text is, where it lies, and
 * it. */
#ifndef FX_KERNEL_TEXTS_H
#define FX_KERNEL_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As much of a text is copied, its end included. */
#define FX_TEXT_MAX 512u

enum { FX_TEXTS_ARGUMENT_SHIFT = 16, FX_TEXTS_AT_END = 8, FX_TEXTS_HEAD = 16 };

/* In the place of an argument, in a record without a text: the thread's process registers with the manager. */
#define FX_TEXTS_ARRIVES 16u

/* One that came; it points into the record's bytes. */
struct fx_text_found {
	unsigned argument; /* its number, from 0 */
	bool at_end;	   /* the call has begun, and ends; else it begins */
	uint64_t address;  /* where it lies in the program */
	const char *data;
	size_t length;
};

/* What the bytes of a tracepoint's record say, if they are none of a tracepoint. */
bool fx_text_read(const uint8_t *bytes, size_t size, struct fx_text_found *ret);

/* Whether they say that a process registers. */
bool fx_text_is_arrival(const uint8_t *bytes, size_t size);

#endif

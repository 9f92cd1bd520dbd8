/* SPDX-License-Identifier: MIT */
/* System calls by their numbers: how they are called, and their arguments, from the tables of the wrappers (kernel/gen-calls.awk). */
#ifndef FX_KERNEL_CALL_TABLE_H
#define FX_KERNEL_CALL_TABLE_H

#include <stdint.h>

#define FX_CALL_ARGS 6u

struct fx_call_arg {
	const char *name, *kind; /* literals; as kernel/shown.h has it */
};

struct fx_call_shape {
	const char *name;
	unsigned count; /* of the arguments */
	struct fx_call_arg args[FX_CALL_ARGS];
};

/* NULL: it has no name here. */
const struct fx_call_shape *fx_call_shape(int64_t number);
const char *fx_call_name(int64_t number);

/* Which of its arguments are addresses of texts that end with a NUL: a bit for each, of the first so many alone. */
#define FX_CALL_TEXT_ARGS 5u
uint32_t fx_call_texts(int64_t number);

#endif

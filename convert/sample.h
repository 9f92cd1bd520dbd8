/* SPDX-License-Identifier: MIT */
/*
 * Samples: instants of category "sample" on the thread that had a processor, each with its stack in lines, the innermost
 * function first, and how long it stands for.
 */
#ifndef FX_CONVERT_SAMPLE_H
#define FX_CONVERT_SAMPLE_H

#include "convert/export.h"

/* The stack of an instant that is a sample; NULL: it is none. */
const struct fxt_string *fx_sample_stack(const struct fx_event *event);

/* How long it stands for, in ns; 0: it does not say. */
uint64_t fx_sample_period(const struct fx_event *event);

/* Whether a stack was found inside the kernel. */
bool fx_sample_in_kernel(const char *stack, size_t length);

/* Room for the longest name. */
#define FX_SAMPLE_NAME_MAX 2048u

/*
 * What a line is shown as where functions are counted: code without a symbol is of its module, as "[gzip]", and code of no
 * module "[unknown]". Written to `ret', cut to its room; the length.
 */
size_t fx_sample_function(const char *line, size_t length, char *ret, size_t room);

/* The first line of such a stack; or how it ends, where the function is known. */
#define FX_SAMPLE_KERNEL	"[kernel]"
#define FX_SAMPLE_KERNEL_SUFFIX "_[k]"

#endif

/* SPDX-License-Identifier: MIT */
/* Which of a list of categories are the kernel's: kernel:irq and the like, and tracepoints by name. */
#ifndef FX_KERNEL_ASKED_H
#define FX_KERNEL_ASKED_H

#include <stdbool.h>
#include <stdint.h>

/* The bits of enum fx_kernel_set that a list asks for; FX_KERNEL_POINTS: it names tracepoints. Words count in their order, those
 * with a `-' take away (manager/settings/wanted.h). */
uint32_t fx_asked_sets(const char *list);

/* Whether a list asks for a tracepoint. */
bool fx_asked_point(const char *list, const char *group, const char *name);

/* The first word of a list that asks for tracepoints, from *at on, is copied; *at moves behind it, NULL: there are no more. False:
 * there is none. */
bool fx_asked_next(const char **at, char *ret, unsigned size);

/* Whether a word of fx_asked_next() means a tracepoint. */
bool fx_asked_means(const char *word, const char *group, const char *name);

#endif

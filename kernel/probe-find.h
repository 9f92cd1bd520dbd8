/* SPDX-License-Identifier: MIT */
/* Which probes are asked for: a list of categories, and a command. */
#ifndef FX_KERNEL_PROBE_FIND_H
#define FX_KERNEL_PROBE_FIND_H

#include <stdbool.h>

#include "kernel/probe.h"

/* Whether a list of categories (commas, NAME* and -NAME; later words count) has one of this name. */
bool fx_probe_is_asked(const char *words, const char *category);

/* The first word from *at on that asks for probes, copied, without what takes away; *at is moved behind it. False: there is none. */
bool fx_probe_word(const char **at, char *ret, size_t size);

/*
 * Finds those that are asked for in the files that a command begins with (symbols/needed.h); what one probe marks in several places
 * is as many. 0, -ENOENT: the program cannot be found, -ENOMEM, or -E2BIG: there are more than can be watched at once.
 */
int fx_probe_find(const char *words, char *const *command, struct fx_probe_list *ret);
/* The same in one file. What is no file of this machine has none. */
int fx_probe_find_in(const char *words, const char *path, struct fx_probe_list *ret);

void fx_probe_list_clear(struct fx_probe_list *list);

#endif

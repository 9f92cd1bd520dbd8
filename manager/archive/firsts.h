/* SPDX-License-Identifier: MIT */
/*
 * What stands with an open call of the tracer's wrappers: its first argument, where that is a number (a descriptor, a
 * process, a lock). The rest is written when the call returns, which this one has not.
 */
#ifndef FX_MANAGER_FIRSTS_H
#define FX_MANAGER_FIRSTS_H

#include <stdbool.h>
#include <stdint.h>

#include <fxtrace/reader.h>

/* The argument that `key` is of a call of that name. False: nothing is known of it. */
bool fx_first_arg(const char *function, uint64_t key, struct fxt_arg *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Calls with arguments whose words go into the archive as they are, as nearly all records of wrappers do: every name in them
 * was told before, and no argument means anything that has to be said in other words. One walk checks such a record, and
 * finds what moves bytes; only thread and times are replaced.
 */
#ifndef FX_MANAGER_PLAIN_CALL_H
#define FX_MANAGER_PLAIN_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manager/archive/rewriting.h"

/* Takes the record at `words`, of which `count` may be its own. False, and nothing has been done: it has to go the long way
 * (rewrite.h). `thread_bits': the archive's index of the chunk's thread. */
bool fx_plain_call_take(struct fx_rewriting *w, const uint64_t *words, size_t count,
			uint64_t thread_bits);

#endif

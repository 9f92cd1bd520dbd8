/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions that are recorded or not by what they lie in (--when, --filter GLOB+depth=N).
 *
 * Records of calls come in the order of their ends: what a call lies in comes after it. So what came of a provider is held
 * in memory, all of it, since later records use the strings and threads that earlier ones define; and goes into the archive, but
 * for the calls that are not to be there, as far as it is decided. A call is, once all is known that it lies in:
 * what of that has ended is among the records, what has not is open. So the control thread looks at the open calls (a "look"),
 * takes all records that were committed before, and the look comes behind them. Of what had ended before the look
 * there is nothing more to come that it lies in, whatever handlers do: their records come late, but no later than that
 * of the call that they interrupt.
 *
 * Belongs to the writer thread.
 */
#ifndef FX_MANAGER_SCOPE_H
#define FX_MANAGER_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manager/archive/archive.h"
#include "manager/settings/functions.h"

struct fx_modules;
struct fx_scope;

/* `functions': a list of manager/settings/functions.h, borrowed; `max_levels': as of fx_functions_enter(). 0 or -ENOMEM. */
int fx_scope_create(const char *functions, uint32_t max_levels, struct fx_scope **ret);
void fx_scope_destroy(struct fx_scope *scope);

/* Where the provider's records go. */
struct fx_output *fx_scope_output(const struct fx_scope *scope);

/* How many words are held. */
size_t fx_scope_held(const struct fx_scope *scope);

/* A call of thread `tid', as its provider calls it, whose record begins behind `at' words; times in ns. */
struct fx_scope_call {
	size_t at;
	uint64_t start, end;
	struct fx_pattern_verdict verdict;
	bool unfinished;
};

/* Takes note of a call whose record was held just now. 0 or -ENOMEM: then the record is left out. */
int fx_scope_note(struct fx_scope *scope, uint32_t tid, const struct fx_scope_call *call);

/* A call that is open at the look that is under way; those of a thread from the outermost on. 0 or -ENOMEM. */
int fx_scope_open(struct fx_scope *scope, uint32_t tid, uint64_t start, uint64_t function,
		  struct fx_modules *modules);

/* What was left out. */
struct fx_scope_left {
	uint64_t calls;
	uint64_t unfinished; /* of them */
};

/* The look is over, which was at `until' ns (UINT64_MAX: nothing more comes): what is decided goes into the archive, as provider
 * `id'. */
struct fx_scope_left fx_scope_settle(struct fx_scope *scope, uint64_t until,
				     struct fx_archive *archive, uint32_t id);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Virtual threads: what a program says to happen elsewhere than on a thread of its own. A process's are known by numbers of
 * 63 bits, which no viewer keeps whole; in the archive each is a thread of the process with a number that no thread
 * has (identity.h), called as in the first event of it.
 */
#ifndef FX_MANAGER_VTHREADS_H
#define FX_MANAGER_VTHREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "lists/hashes-lenient.h"
#include "manager/archive/archive.h"
#include "manager/archive/loose.h"
#include "manager/archive/vthread-line.h"
#include "manager/process/identity.h"

struct fx_vthread {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	bool is_named;
	uint32_t shown;
	uint64_t id;
	int32_t depth;			 /* begins in the archive less ends, which may come first */
	uint64_t left_begins, left_ends; /* whose other half is left out, too */
	struct fx_vthread_line line;	 /* of what is in the archive: vthread-flows.h */
	struct fx_loose flows;		 /* that are held */
};

/* Those of a process. */
struct fx_vthreads {
	struct fx_vthread *by_id;   /* uthash */
	struct fx_archive *archive; /* borrowed */
	struct fx_identities *ids;  /* borrowed; NULL: none are given */
	uint32_t pid;		    /* as the archive has it */
	uint32_t steps;		    /* that their lines keep */
};

/* Of a process; what exceeds it is lost (FX_CAUSE_VIRTUAL). */
#define FX_VTHREADS_MAX 16384u

/* The number in the archive of the virtual thread of `id`, which stands there with a name from now on: the first that it is
 * given (NULL: this time none). 0, -EMLINK: too many, or -ENOMEM. */
int fx_vthreads_shown(struct fx_vthreads *vthreads, uint64_t id, const char *name, uint32_t *ret);

/* Whether a begin, or an end, of a virtual thread that is shown would lie deeper than viewers show, and is left out with the other
 * half of its slice, that comes before it or after. Slices are counted at *deep. */
bool fx_vthreads_is_too_deep(struct fx_vthreads *vthreads, uint64_t id, bool is_begin,
			     uint64_t *deep);

/* NULL: it is not shown. */
struct fx_vthread *fx_vthreads_find(const struct fx_vthreads *vthreads, uint64_t id);

void fx_vthreads_clear(struct fx_vthreads *vthreads);

#endif

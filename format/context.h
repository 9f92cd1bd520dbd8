/* SPDX-License-Identifier: MIT */
/*
 * What an archive says of processes and threads: their names, and which modules lie where in a
 * process. All zeros is the empty state; a name that is told again takes the place of the former.
 */
#ifndef FX_FORMAT_CONTEXT_H
#define FX_FORMAT_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

struct context_process;
struct context_thread;

struct fx_context {
	struct context_process *processes; /* hash by pid */
	struct context_thread *threads;	   /* hash by pid and tid */
	uint64_t bytes;			   /* what all of it takes */
	uint64_t changes;		   /* of names, so far */
};

void fx_context_clear(struct fx_context *context);

/*
 * Takes over what a record says, if it is of such a kind, within @limit bytes in all. Returns 0; -ENOSPC: beyond them,
 * and *@ret_id could not be remembered; -ENOMEM.
 */
int fx_context_note(struct fx_context *context, const struct fxt_record *record, uint64_t limit,
		    uint64_t *ret_id);

/* NULL: unknown. */
const struct fxt_string *fx_context_process(const struct fx_context *context, uint64_t pid);
const struct fxt_string *fx_context_thread(const struct fx_context *context, uint64_t pid,
					   uint64_t tid);
const struct fxt_mapping *fx_context_mapping(const struct fx_context *context, uint64_t pid,
					     uint64_t address);

#endif /* FX_FORMAT_CONTEXT_H */

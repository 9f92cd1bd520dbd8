/* SPDX-License-Identifier: MIT */
/*
 * A merge under way (merge.h), between its units: merge.c reads and writes all, merge-records.c makes records of the new archive,
 * merge-arrows.c the arrows of connections.
 */
#ifndef FX_ARCHIVES_MERGE_INTERNAL_H
#define FX_ARCHIVES_MERGE_INTERNAL_H

#include <stdbool.h>

#include "archives/apart.h"
#include "archives/copy.h"
#include "archives/merge.h"
#include "archives/turns.h"

#define FX_MERGE_NS_PER_SECOND UINT64_C(1000000000)

/* An archive as it is read for the second time. */
struct fx_merge_source {
	struct fxt_reader *reader;
	const struct fxt_record *next;	     /* NULL: it is over */
	uint64_t time;			     /* of the newest record, in the new archive */
	bool is_identity;		     /* no time changes */
	uint32_t provider_from, provider_to; /* the newest */
	bool has_provider;
};

struct fx_merge {
	const struct fx_merge_input *inputs; /* borrowed */
	size_t count;
	struct fx_aligned *aligned;
	struct fx_apart *apart;
	struct fx_apart_numbers numbers;
	struct fx_merge_source *sources;
	struct fx_turns turns; /* of the sources */
	struct fx_copy *copy;
	struct fx_links *links;
	struct fx_meetings *meetings;
	struct fx_link_ids backwards; /* messages whose arrows would run so */
	struct fx_link_ids odd;	      /* ids of several messages, which are kept apart */
	uint64_t linked;	      /* messages that have both ends */
	struct fx_merge_counts counts;
	struct fxt_record record;     /* as it is written */
	struct fx_clock_record clock; /* of it, if it is one */
	struct fxt_provider provider; /* of it */
	bool has_hosts;		      /* the archives come from several */
	char name[FXT_MAX_NAME_LENGTH + 1 + FX_HOST_VALUE_MAX];
	char started[24]; /* of the record at hand, if it says when a process began */
};

/* A time of an archive's record at hand, in the new archive. */
uint64_t fx_merge_time(struct fx_merge *m, size_t at, uint64_t ticks);

void fx_merge_thread(const struct fx_apart *a, struct fxt_thread *thread);

/* Whether a record of an archive is another one in the new archive. */
bool fx_merge_changes(const struct fx_merge *m, size_t at, const struct fxt_record *record);

/* Makes m->record of the record at hand, with times and ids of the new archive. */
void fx_merge_translate(struct fx_merge *m, size_t at);

/* Draws the ends of arrows at a call on a connection that has just been written. 0 or -errno. */
int fx_merge_messages(struct fx_merge *m, size_t at, const struct fx_copy_way *way);

#endif

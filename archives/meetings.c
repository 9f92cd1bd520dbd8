/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/meetings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lists/runs.h"
#include "lists/vector.h"

struct fx_meetings {
	struct fx_runs_pool pool;
	struct fx_runs comings;
	FX_VECTOR(struct fx_meeting) told; /* by id */
};

static int meetings_compare(const void *left, const void *right)
{
	const struct fx_coming *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->archive != b->archive)
		return a->archive < b->archive ? -1 : 1;
	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static const struct fx_runs_kind comings_kind = {
    .size = sizeof(struct fx_coming),
    .compare = meetings_compare,
};

struct fx_meetings *fx_meetings_new(void)
{
	struct fx_meetings *meetings = calloc(1, sizeof(*meetings));

	if (!meetings)
		return NULL;
	fx_runs_pool_init(&meetings->pool);
	fx_runs_init(&meetings->comings, &meetings->pool, &comings_kind);
	return meetings;
}

void fx_meetings_free(struct fx_meetings *meetings)
{
	if (!meetings)
		return;
	fx_runs_release(&meetings->comings);
	fx_runs_pool_release(&meetings->pool);
	fx_vector_free(&meetings->told);
	free(meetings);
}

bool fx_coming_read(const struct fxt_record *record, struct fx_coming *ret)
{
	const struct fxt_event *event = &record->event;
	const struct fxt_arg *id, *rank, *ranks;

	if (record->kind != FXT_KIND_EVENT || event->type != FXT_EVENT_DURATION_COMPLETE ||
	    event->category.length != 3 || memcmp(event->category.data, "mpi", 3) != 0)
		return false;
	id = fxt_record_find_arg(record, "collective");
	rank = fxt_record_find_arg(record, "rank");
	ranks = fxt_record_find_arg(record, "ranks");
	if (!id || id->type != FXT_ARG_POINTER || !rank || rank->type != FXT_ARG_INT32 || !ranks ||
	    ranks->type != FXT_ARG_INT32 || rank->int32 < 0 || ranks->int32 <= rank->int32)
		return false;
	*ret = (struct fx_coming){
	    .id = id->pointer,
	    .ns = fxt_ticks_to_ns(event->timestamp, record->provider->ticks_per_second),
	    .rank = rank->int32,
	    .ranks = (uint32_t)ranks->int32,
	};
	return true;
}

int fx_meetings_add(struct fx_meetings *meetings, const struct fx_coming *coming)
{
	struct fx_coming *added = fx_runs_add(&meetings->comings);

	if (!added)
		return -ENOMEM;
	*added = *coming;
	return 0;
}

/* Those that have come so far. */
struct meetings_group {
	struct fx_meeting last;
	uint32_t count, ranks;
	bool is_odd; /* a rank came twice: ids of several jobs are the same */
};

static int meetings_tell(struct fx_meetings *meetings, const struct meetings_group *group)
{
	if (group->count == 0 || group->count != group->ranks || group->is_odd ||
	    meetings->told.count >= FX_MEETINGS_MAX)
		return 0;
	if (fx_vector_reserve(&meetings->told, 1) < 0)
		return -ENOMEM;
	meetings->told.items[meetings->told.count++] = group->last;
	return 0;
}

int fx_meetings_seal(struct fx_meetings *meetings,
		     struct fx_clockmap *(*map_of)(void *opaque, size_t archive), void *opaque)
{
	struct meetings_group group = {0};
	const struct fx_coming *coming;
	struct fx_merge merge;
	int32_t rank = -1;
	int r = fx_merge_begin(&merge, &meetings->comings);

	if (r < 0)
		return r;
	for (coming = fx_merge_first(&merge); coming && r == 0; coming = fx_merge_next(&merge)) {
		uint64_t ns = fx_clockmap_to(map_of(opaque, coming->archive), coming->ns);

		if (group.count > 0 && coming->id != group.last.id) {
			r = meetings_tell(meetings, &group);
			group = (struct meetings_group){0};
			rank = -1;
		}
		group.is_odd |= coming->rank == rank;
		rank = coming->rank;
		group.ranks = coming->ranks;
		if (group.count++ == 0 || ns > group.last.ns)
			group.last = (struct fx_meeting){coming->id, ns, coming->rank};
	}
	if (r == 0 && merge.error == 0)
		r = meetings_tell(meetings, &group);
	if (r == 0)
		r = merge.error;
	fx_merge_end(&merge);
	return r;
}

const struct fx_meeting *fx_meetings_find(const struct fx_meetings *meetings, uint64_t id)
{
	size_t low = 0, high = meetings->told.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (meetings->told.items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < meetings->told.count && meetings->told.items[low].id == id
		   ? &meetings->told.items[low]
		   : NULL;
}

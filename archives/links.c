/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lists/runs.h"

/* Ids that are computed from the message have this bit (mpi/match.c). */
#define LINKS_COMMON (UINT64_C(1) << 63)

struct links_end {
	uint64_t id;
	uint64_t ns;
	uint32_t archive;
	uint32_t is_received;
};

struct fx_links {
	struct fx_runs_pool pool;
	struct fx_runs ends;
};

static int links_compare(const void *left, const void *right)
{
	const struct links_end *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->is_received != b->is_received)
		return a->is_received < b->is_received ? -1 : 1;
	if (a->archive != b->archive)
		return a->archive < b->archive ? -1 : 1;
	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static const struct fx_runs_kind links_kind = {
    .size = sizeof(struct links_end),
    .compare = links_compare,
};

struct fx_links *fx_links_new(void)
{
	struct fx_links *links = calloc(1, sizeof(*links));

	if (!links)
		return NULL;
	fx_runs_pool_init(&links->pool);
	fx_runs_init(&links->ends, &links->pool, &links_kind);
	return links;
}

void fx_links_free(struct fx_links *links)
{
	if (!links)
		return;
	fx_runs_release(&links->ends);
	fx_runs_pool_release(&links->pool);
	free(links);
}

bool fx_link_read(const struct fxt_record *record, bool *ret_is_sent)
{
	const struct fxt_event *event = &record->event;

	if (record->kind != FXT_KIND_EVENT || !(event->id & LINKS_COMMON) ||
	    (event->type != FXT_EVENT_FLOW_BEGIN && event->type != FXT_EVENT_FLOW_END))
		return false;
	*ret_is_sent = event->type == FXT_EVENT_FLOW_BEGIN;
	return event->category.length == 3 && memcmp(event->category.data, "mpi", 3) == 0;
}

int fx_links_add(struct fx_links *links, size_t archive, bool is_sent, uint64_t id, uint64_t ns)
{
	struct links_end *end = fx_runs_add(&links->ends);

	if (!end)
		return -ENOMEM;
	*end = (struct links_end){
	    .id = id, .ns = ns, .archive = (uint32_t)archive, .is_received = !is_sent};
	return 0;
}

/* The ends of one id. */
struct links_group {
	struct links_end sent, received;
	unsigned sent_count, received_count;
};

static int links_tell(const struct links_group *group,
		      int (*seen)(void *opaque, const struct fx_link *link),
		      int (*odd)(void *opaque, uint64_t id), void *opaque)
{
	struct fx_link link = {.id = group->sent.id,
			       .from = group->sent.archive,
			       .to = group->received.archive,
			       .sent = group->sent.ns,
			       .received = group->received.ns};

	if (group->sent_count > 1 || group->received_count > 1)
		return odd ? odd(opaque, group->sent_count ? link.id : group->received.id) : 0;
	if (group->sent_count != 1 || group->received_count != 1 || link.from == link.to)
		return 0;
	return seen(opaque, &link);
}

int fx_links_walk(struct fx_links *links, int (*seen)(void *opaque, const struct fx_link *link),
		  int (*odd)(void *opaque, uint64_t id), void *opaque)
{
	struct links_group group = {0};
	struct fx_merge merge;
	const struct links_end *end;
	uint64_t id = 0;
	int r = fx_merge_begin(&merge, &links->ends);

	if (r < 0)
		return r;
	for (end = fx_merge_first(&merge); end && r == 0; end = fx_merge_next(&merge)) {
		if (end->id != id) {
			r = links_tell(&group, seen, odd, opaque);
			group = (struct links_group){0};
			id = end->id;
		}
		if (end->is_received) {
			group.received = *end;
			group.received_count++;
		} else {
			group.sent = *end;
			group.sent_count++;
		}
	}
	if (r == 0 && merge.error == 0)
		r = links_tell(&group, seen, odd, opaque);
	if (r == 0)
		r = merge.error;
	fx_merge_end(&merge);
	return r;
}

/* --- Some of the ids -------------------------------------------------------------------------- */

#define LINK_IDS_MAX ((size_t)1 << 20)

int fx_link_ids_add(struct fx_link_ids *ids, uint64_t id)
{
	if (ids->ids.count >= LINK_IDS_MAX) {
		ids->is_full = true;
		return 0;
	}
	if (fx_vector_reserve(&ids->ids, 1) < 0)
		return -ENOMEM;
	ids->ids.items[ids->ids.count++] = id;
	return 0;
}

bool fx_link_ids_has(const struct fx_link_ids *ids, uint64_t id)
{
	size_t low = 0, high = ids->ids.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ids->ids.items[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ids->ids.count && ids->ids.items[low] == id;
}

void fx_link_ids_free(struct fx_link_ids *ids)
{
	fx_vector_free(&ids->ids);
}

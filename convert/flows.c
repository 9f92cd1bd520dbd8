/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include <uthash.h>

#include "convert/arrange.h"
#include "convert/flows.h"

/* Slices that have just ended, of which one may be meant by a flow of that time. */
enum { RECENT = 8 };

/* A flow record and the slice it belongs to. */
struct point {
	uint64_t ts;
	uint64_t pid;
	uint64_t id;
	uint64_t word;
	uint64_t entry; /* its own index */
	uint64_t slice; /* index of the slice; equal to @entry: there is none */
	uint64_t slice_ts;
	uint32_t thread;
	uint32_t category;
	uint32_t name;
	uint8_t type;  /* enum fxt_event_type */
	bool has_room; /* for an instant in its place */
};

struct chain_key {
	uint64_t pid;
	uint64_t id;
};

struct chain {
	struct chain_key key;
	uint64_t number;
	uint64_t last_ts; /* where the last link starts */
	uint32_t category;
	uint32_t name;
	bool linked; /* has a link already */
	UT_hash_handle hh;
};

/* The chain that an id means in processes that have not begun one of their own. */
struct owner {
	uint64_t id;
	struct chain *chain;
	UT_hash_handle hh;
};

struct fx_flows {
	FX_VECTOR(struct point) points;
	FX_VECTOR(struct fx_flow_link) links;
	size_t taken; /* links */
	struct chain *chains;
	struct owner *owners;
	uint64_t chain_count;
};

struct fx_flows *fx_flows_new(void)
{
	return calloc(1, sizeof(struct fx_flows));
}

static void free_chains(struct fx_flows *flows)
{
	struct chain *chain, *next_chain;
	struct owner *owner, *next_owner;

	HASH_ITER (hh, flows->chains, chain, next_chain) {
		HASH_DEL(flows->chains, chain);
		free(chain);
	}
	HASH_ITER (hh, flows->owners, owner, next_owner) {
		HASH_DEL(flows->owners, owner);
		free(owner);
	}
}

void fx_flows_free(struct fx_flows *flows)
{
	if (!flows)
		return;
	free_chains(flows);
	fx_vector_free(&flows->points);
	fx_vector_free(&flows->links);
	free(flows);
}

/* --- Which slice a record belongs to ---------------------------------------------------------- */

struct flow_walk {
	struct fx_walk walk;
	struct fx_placed recent[RECENT]; /* the slices that ended last, as a ring */
	size_t recent_count;
	uint64_t instant_ts; /* of flows that may become instants */
	size_t instants;
};

static void remember_ended(struct flow_walk *walk, const struct fx_placed *slice)
{
	walk->recent[walk->recent_count++ % RECENT] = *slice;
}

/* The @n-th last slice that ended, from 0; NULL: not remembered. */
static const struct fx_placed *recall_ended(const struct flow_walk *walk, size_t n)
{
	if (n >= RECENT || n >= walk->recent_count)
		return NULL;
	return &walk->recent[(walk->recent_count - 1 - n) % RECENT];
}

static bool is_anchor(const struct fx_placed *placed, uint64_t word)
{
	const struct fx_entry *entry = &placed->entry;

	return entry->word == word && !(entry->flags & FX_ENTRY_LEFT_OUT) &&
	       (fx_entry_is_slice(entry) || fx_entry_is_instant(entry));
}

/* The entry whose record stands at @word, near the flow. */
static const struct fx_placed *find_anchor(const struct flow_walk *walk, uint64_t word)
{
	const struct fx_placed *placed;

	/* What has no length stands in file order behind the slices of its time. */
	for (size_t n = 0; (placed = fx_walk_before(&walk->walk, n)); n++) {
		if (placed->entry.word < word)
			break;
		if (is_anchor(placed, word))
			return placed;
	}
	for (size_t i = walk->walk.depth; i-- > 0;) {
		if (is_anchor(&walk->walk.open[i], word))
			return &walk->walk.open[i];
	}
	for (size_t n = 0; (placed = recall_ended(walk, n)); n++) {
		if (is_anchor(placed, word))
			return placed;
	}
	return NULL;
}

/* The slice or instant that a flow belongs to; the flow itself: there is none. */
static const struct fx_placed *find_slice(const struct flow_walk *walk,
					  const struct fx_placed *flow)
{
	const struct fx_placed *found = NULL;

	if (flow->entry.flags & FX_ENTRY_ANCHORED)
		found = find_anchor(walk, flow->entry.end);
	if (found)
		return found;
	if (walk->walk.depth > 0)
		return &walk->walk.open[walk->walk.depth - 1];
	found = recall_ended(walk, 0);
	return found && found->entry.end == flow->entry.ts ? found : flow;
}

/* Whether there is room for one more instant in the place of a flow. */
static bool flow_has_room(struct flow_walk *walk, uint64_t ts)
{
	if (walk->instant_ts != ts) {
		walk->instant_ts = ts;
		walk->instants = 0;
	}
	if (walk->walk.depth + walk->instants >= FX_MAX_DEPTH)
		return false;
	walk->instants++;
	return true;
}

static int add_point(struct fx_flows *flows, struct flow_walk *walk, const struct fx_placed *flow)
{
	const struct fx_thread *thread = walk->walk.thread;
	const struct fx_placed *slice = find_slice(walk, flow);
	struct fxt_record record;
	int r = fx_timeline_decode(walk->walk.timeline, flow->entry.provider, flow->entry.word,
				   &record);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	if (fx_vector_reserve(&flows->points, 1) < 0)
		return -ENOMEM;
	flows->points.items[flows->points.count++] =
	    (struct point){.ts = flow->entry.ts,
			   .pid = thread->key.pid,
			   .id = record.event.id,
			   .word = flow->entry.word,
			   .entry = flow->index,
			   .slice = slice->index,
			   .slice_ts = slice->entry.ts,
			   .thread = thread->number,
			   .category = record.event.category.serial,
			   .name = record.event.name.serial,
			   .type = record.event.type,
			   .has_room = flow_has_room(walk, flow->entry.ts)};
	return 0;
}

static int walk_flows(struct fx_flows *flows, struct flow_walk *walk)
{
	const struct fx_placed *placed;
	int r;

	while ((r = fx_walk_next(&walk->walk)) > 0) {
		while ((placed = fx_walk_pop(&walk->walk)))
			remember_ended(walk, placed);
		placed = fx_walk_place(&walk->walk);
		if (placed->entry.kind == FX_ENTRY_FLOW)
			r = add_point(flows, walk, placed);
		if (r < 0)
			break;
	}
	return r;
}

int fx_flows_collect(struct fx_flows *flows, struct fx_timeline *timeline, struct fx_thread *thread)
{
	struct flow_walk *walk;
	int r;

	if (!thread->has_flows)
		return 0;
	walk = malloc(sizeof(*walk));
	if (!walk)
		return -ENOMEM;
	walk->recent_count = walk->instants = 0;
	walk->instant_ts = 0;
	r = fx_walk_begin(&walk->walk, timeline, thread);
	if (r == 0)
		r = walk_flows(flows, walk);
	fx_walk_end(&walk->walk);
	free(walk);
	return r;
}

/* --- Chains ----------------------------------------------------------------------------------- */

static int compare_points(const void *a, const void *b)
{
	const struct point *left = a, *right = b;

	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	if (left->type != right->type)
		return left->type < right->type ? -1 : 1;
	return left->word < right->word ? -1 : left->word > right->word;
}

static struct chain *find_chain(struct fx_flows *flows, const struct point *point)
{
	struct chain_key key = {point->pid, point->id};
	struct owner *owner;
	struct chain *chain;

	HASH_FIND(hh, flows->chains, &key, sizeof(key), chain);
	if (chain)
		return chain;
	HASH_FIND(hh, flows->owners, &point->id, sizeof(point->id), owner);
	return owner ? owner->chain : NULL;
}

static int own_id(struct fx_flows *flows, uint64_t id, struct chain *chain)
{
	struct owner *owner;

	HASH_FIND(hh, flows->owners, &id, sizeof(id), owner);
	if (!owner) {
		owner = calloc(1, sizeof(*owner));
		if (!owner)
			return -ENOMEM;
		owner->id = id;
		HASH_ADD(hh, flows->owners, id, sizeof(owner->id), owner);
	}
	owner->chain = chain;
	return 0;
}

/* The chain of this process and id, begun anew. */
static struct chain *begin_chain(struct fx_flows *flows, const struct point *point)
{
	struct chain_key key = {point->pid, point->id};
	struct chain *chain;

	HASH_FIND(hh, flows->chains, &key, sizeof(key), chain);
	if (!chain) {
		chain = calloc(1, sizeof(*chain));
		if (!chain)
			return NULL;
		chain->key = key;
		HASH_ADD(hh, flows->chains, key, sizeof(chain->key), chain);
	}
	chain->number = ++flows->chain_count;
	chain->linked = false;
	chain->category = point->category;
	chain->name = point->name;
	return own_id(flows, point->id, chain) < 0 ? NULL : chain;
}

static enum fx_flow_role role_of(const struct chain *chain, const struct point *point)
{
	if (!chain->linked)
		return FX_FLOW_FIRST;
	return point->type == FXT_EVENT_FLOW_END ? FX_FLOW_LAST : FX_FLOW_MIDDLE;
}

static int link_point(struct fx_flows *flows, const struct point *point)
{
	struct chain *chain = NULL;
	uint64_t entry = point->slice;
	uint64_t ts = point->slice_ts;

	if (point->type != FXT_EVENT_FLOW_BEGIN)
		chain = find_chain(flows, point);
	if (!chain)
		chain = begin_chain(flows, point);
	if (!chain || fx_vector_reserve(&flows->links, 1) < 0)
		return -ENOMEM;
	if (chain->linked && ts <= chain->last_ts) {
		entry = point->entry;
		ts = point->ts;
	}
	if (entry == point->entry && !point->has_room)
		return 0;
	flows->links.items[flows->links.count] = (struct fx_flow_link){
	    .entry = entry,
	    .chain = chain->number,
	    .thread = point->thread,
	    .order = (uint32_t)flows->links.count,
	    .category = chain->category,
	    .name = chain->name,
	    .role = role_of(chain, point),
	};
	flows->links.count++;
	chain->linked = true;
	chain->last_ts = ts;
	return 0;
}

static int compare_links(const void *a, const void *b)
{
	const struct fx_flow_link *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->entry != right->entry)
		return left->entry < right->entry ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

int fx_flows_resolve(struct fx_flows *flows)
{
	int r = 0;

	if (flows->points.count == 0)
		return 0;
	qsort(flows->points.items, flows->points.count, sizeof(struct point), compare_points);
	for (size_t i = 0; i < flows->points.count && r == 0; i++)
		r = link_point(flows, &flows->points.items[i]);
	fx_vector_free(&flows->points);
	free_chains(flows);
	if (r == 0 && flows->links.count > 0)
		qsort(flows->links.items, flows->links.count, sizeof(struct fx_flow_link),
		      compare_links);
	return r;
}

static bool is_earlier(const struct fx_flow_link *link, uint32_t thread, uint64_t entry)
{
	return link->thread < thread || (link->thread == thread && link->entry < entry);
}

void fx_flows_seek(struct fx_flows *flows, const struct fx_thread *thread, uint64_t entry)
{
	size_t low = 0, high = flows->links.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_earlier(&flows->links.items[middle], thread->number, entry))
			low = middle + 1;
		else
			high = middle;
	}
	flows->taken = low;
}

const struct fx_flow_link *fx_flows_take(struct fx_flows *flows, const struct fx_thread *thread,
					 uint64_t entry, size_t *ret_count)
{
	const struct fx_flow_link *links = flows->links.items;
	size_t count = flows->links.count, first;

	while (flows->taken < count && is_earlier(&links[flows->taken], thread->number, entry))
		flows->taken++;
	first = flows->taken;
	while (flows->taken < count && links[flows->taken].thread == thread->number &&
	       links[flows->taken].entry == entry)
		flows->taken++;
	*ret_count = flows->taken - first;
	return *ret_count > 0 ? links + first : NULL;
}

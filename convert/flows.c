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

struct walk {
	struct fx_nest nest;
	const struct fx_thread *thread;
	size_t recent[RECENT]; /* indices of the slices that ended last, as a ring */
	size_t recent_count;
};

static void remember_ended(struct walk *walk, size_t index)
{
	walk->recent[walk->recent_count++ % RECENT] = index;
}

/* The @n-th last slice that ended, from 0; false: not remembered. */
static bool recall_ended(const struct walk *walk, size_t n, size_t *ret_index)
{
	if (n >= RECENT || n >= walk->recent_count)
		return false;
	*ret_index = walk->recent[(walk->recent_count - 1 - n) % RECENT];
	return true;
}

static bool is_anchor(const struct walk *walk, size_t index, uint64_t word)
{
	const struct fx_entry *entry = &walk->thread->entries.items[index];

	return entry->word == word && !(entry->flags & FX_ENTRY_LEFT_OUT) &&
	       (fx_entry_is_slice(entry) || fx_entry_is_instant(entry));
}

/* The entry whose record stands at @word, near the flow at @index. */
static bool find_anchor(const struct walk *walk, size_t index, uint64_t word, size_t *ret_index)
{
	const struct fx_entry *entries = walk->thread->entries.items;

	/* What has no length stands in file order behind the slices of its time. */
	for (size_t i = index; i-- > 0 && entries[i].ts == entries[index].ts;) {
		if (entries[i].word < word)
			break;
		if (is_anchor(walk, i, word)) {
			*ret_index = i;
			return true;
		}
	}
	for (size_t i = walk->nest.depth; i-- > 0;) {
		if (is_anchor(walk, walk->nest.open[i], word)) {
			*ret_index = walk->nest.open[i];
			return true;
		}
	}
	for (size_t n = 0; recall_ended(walk, n, ret_index); n++) {
		if (is_anchor(walk, *ret_index, word))
			return true;
	}
	return false;
}

static size_t find_slice(const struct walk *walk, size_t index)
{
	const struct fx_entry *entries = walk->thread->entries.items;
	size_t found;

	if (entries[index].flags & FX_ENTRY_ANCHORED &&
	    find_anchor(walk, index, entries[index].end, &found))
		return found;
	if (walk->nest.depth > 0)
		return walk->nest.open[walk->nest.depth - 1];
	if (recall_ended(walk, 0, &found) &&
	    fx_entry_end(walk->thread, &entries[found]) == entries[index].ts)
		return found;
	return index;
}

static int add_point(struct fx_flows *flows, struct fx_timeline *timeline, struct walk *walk,
		     size_t index)
{
	const struct fx_entry *entries = walk->thread->entries.items;
	const struct fx_entry *entry = &entries[index];
	size_t slice = find_slice(walk, index);
	struct fxt_record record;
	int r = fx_timeline_decode(timeline, entry->provider, entry->word, &record);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	if (fx_vector_reserve(&flows->points, 1) < 0)
		return -ENOMEM;
	flows->points.items[flows->points.count++] =
	    (struct point){.ts = entry->ts,
			   .pid = walk->thread->key.pid,
			   .id = record.event.id,
			   .word = entry->word,
			   .entry = index,
			   .slice = slice,
			   .slice_ts = entries[slice].ts,
			   .thread = walk->thread->number,
			   .category = record.event.category.serial,
			   .name = record.event.name.serial,
			   .type = record.event.type,
			   .has_room = fx_nest_has_room(&walk->nest, entry)};
	return 0;
}

int fx_flows_collect(struct fx_flows *flows, struct fx_timeline *timeline,
		     const struct fx_thread *thread)
{
	struct walk walk = {.thread = thread};
	size_t ended;
	int r = 0;

	if (!thread->has_flows)
		return 0;
	fx_nest_init(&walk.nest, thread);
	for (size_t i = 0; i < thread->entries.count && r == 0; i++) {
		const struct fx_entry *entry = &thread->entries.items[i];

		if (entry->flags & FX_ENTRY_LEFT_OUT && entry->kind != FX_ENTRY_FLOW)
			continue;
		while (fx_nest_pop(&walk.nest, entry, &ended))
			remember_ended(&walk, ended);
		if (fx_entry_is_slice(entry))
			fx_nest_push(&walk.nest, i);
		else if (entry->kind == FX_ENTRY_FLOW)
			r = add_point(flows, timeline, &walk, i);
	}
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

static bool is_earlier(const struct fx_flow_link *link, uint32_t thread, size_t entry)
{
	return link->thread < thread || (link->thread == thread && link->entry < entry);
}

const struct fx_flow_link *fx_flows_take(struct fx_flows *flows, const struct fx_thread *thread,
					 size_t entry, size_t *ret_count)
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

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "lists/hashes.h"
#include "convert/arrange.h"
#include "convert/flows.h"

/* Slices that have just ended, of which one may be meant by a flow of that time. */
enum { RECENT = 8 };

/* The order of flow records in time, which is total. */
struct moment {
	uint64_t ts;
	uint64_t type; /* enum fxt_event_type */
	uint64_t word;
};

/* A flow record and the slice it belongs to. */
struct point {
	uint64_t id;
	struct moment at;
	uint64_t pid;
	uint64_t entry; /* its own index */
	uint64_t slice; /* index of the slice; equal to @entry: there is none */
	uint64_t slice_ts;
	uint32_t thread;
	uint32_t category;
	uint32_t name;
	bool has_room; /* for an instant in its place */
};

/* A link whose chain is known by its first record. */
struct loose_link {
	struct moment head;
	struct moment at;
	struct fx_flow_link link;
};

/* A link in its place. */
struct placed_link {
	uint64_t key; /* thread and entry */
	struct moment at;
	struct fx_flow_link link;
};

/* Indices in a walk have no more bits than words of an archive. */
enum { LINK_ENTRY_BITS = 36 };

/* A chain of the id at hand. */
struct chain {
	uint64_t pid;
	struct moment head;
	uint64_t last_ts; /* where the last link starts */
	uint32_t category;
	uint32_t name;
	bool linked; /* has a link already */
	UT_hash_handle hh;
};

/*
 * All of them in lists that go to a file where they are large: the records by id and time, of which chains are made, an
 * id at a time; their heads by time, which gives the chains numbers; the links by head, to get these; then by their
 * place.
 */
struct fx_flows {
	struct fx_timeline *timeline;
	struct fx_runs points;
	struct fx_runs heads; /* struct moment */
	struct fx_runs loose;
	struct fx_runs links;
	struct chain *chains;
	struct chain *owner; /* the chain of processes that have not begun one of their own */
	/* Taking links: */
	struct fx_merge merge;
	const struct placed_link *next;
	FX_VECTOR(struct fx_flow_link) taken;
	int error;
};

/* --- Orders ----------------------------------------------------------------------------------- */

static int compare_moments(const struct moment *left, const struct moment *right)
{
	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	if (left->type != right->type)
		return left->type < right->type ? -1 : 1;
	return left->word < right->word ? -1 : left->word > right->word;
}

static int compare_points(const void *a, const void *b)
{
	const struct point *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return compare_moments(&left->at, &right->at);
}

static int compare_heads(const void *a, const void *b)
{
	return compare_moments(a, b);
}

static int compare_loose_links(const void *a, const void *b)
{
	const struct loose_link *left = a, *right = b;
	int r = compare_moments(&left->head, &right->head);

	return r ? r : compare_moments(&left->at, &right->at);
}

static int compare_placed_links(const void *a, const void *b)
{
	const struct placed_link *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return compare_moments(&left->at, &right->at);
}

static const struct fx_runs_kind points_kind = {
    .size = sizeof(struct point),
    .compare = compare_points,
};
static const struct fx_runs_kind heads_kind = {
    .size = sizeof(struct moment),
    .compare = compare_heads,
};
static const struct fx_runs_kind loose_kind = {
    .size = sizeof(struct loose_link),
    .compare = compare_loose_links,
};
static const struct fx_runs_kind links_kind = {
    .size = sizeof(struct placed_link),
    .compare = compare_placed_links,
};

/* --- Making ----------------------------------------------------------------------------------- */

struct fx_flows *fx_flows_new(struct fx_timeline *timeline)
{
	struct fx_flows *flows = calloc(1, sizeof(*flows));

	if (!flows)
		return NULL;
	flows->timeline = timeline;
	fx_runs_init(&flows->points, &timeline->pool, &points_kind);
	fx_runs_init(&flows->heads, &timeline->pool, &heads_kind);
	fx_runs_init(&flows->loose, &timeline->pool, &loose_kind);
	fx_runs_init(&flows->links, &timeline->pool, &links_kind);
	return flows;
}

static void free_chains(struct fx_flows *flows)
{
	struct chain *chain = NULL, *next;

	HASH_ITER (hh, flows->chains, chain, next) {
		HASH_DEL(flows->chains, chain);
		free(chain);
	}
	flows->owner = NULL;
}

void fx_flows_free(struct fx_flows *flows)
{
	if (!flows)
		return;
	free_chains(flows);
	fx_merge_end(&flows->merge);
	fx_runs_release(&flows->points);
	fx_runs_release(&flows->heads);
	fx_runs_release(&flows->loose);
	fx_runs_release(&flows->links);
	fx_vector_free(&flows->taken);
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
	struct point *point;
	int r = fx_timeline_decode(walk->walk.timeline, flow->entry.provider, flow->entry.word,
				   &record);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	point = fx_runs_add(&flows->points);
	if (!point)
		return -ENOMEM;
	*point = (struct point){
	    .id = record.event.id,
	    .at = {flow->entry.ts, record.event.type, flow->entry.word},
	    .pid = thread->key.pid,
	    .entry = flow->index,
	    .slice = slice->index,
	    .slice_ts = slice->entry.ts,
	    .thread = thread->number,
	    .category = record.event.category.serial,
	    .name = record.event.name.serial,
	    .has_room = flow_has_room(walk, flow->entry.ts),
	};
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

static struct chain *find_chain(struct fx_flows *flows, uint64_t pid)
{
	struct chain *chain;

	HASH_FIND(hh, flows->chains, &pid, sizeof(pid), chain);
	return chain ? chain : flows->owner;
}

/* The chain of this process and id, begun anew. */
static struct chain *begin_chain(struct fx_flows *flows, const struct point *point)
{
	struct moment *head = fx_runs_add(&flows->heads);
	struct chain *chain;

	if (!head)
		return NULL;
	*head = point->at;
	HASH_FIND(hh, flows->chains, &point->pid, sizeof(point->pid), chain);
	if (!chain) {
		chain = calloc(1, sizeof(*chain));
		if (!chain)
			return NULL;
		chain->pid = point->pid;
		HASH_ADD(hh, flows->chains, pid, sizeof(chain->pid), chain);
	}
	chain->head = point->at;
	chain->linked = false;
	chain->category = point->category;
	chain->name = point->name;
	flows->owner = chain;
	return chain;
}

static enum fx_flow_role role_of(const struct chain *chain, const struct point *point)
{
	if (!chain->linked)
		return FX_FLOW_FIRST;
	return point->at.type == FXT_EVENT_FLOW_END ? FX_FLOW_LAST : FX_FLOW_MIDDLE;
}

static int link_point(struct fx_flows *flows, const struct point *point)
{
	struct chain *chain = NULL;
	struct loose_link *link;
	uint64_t entry = point->slice;
	uint64_t ts = point->slice_ts;

	if (point->at.type != FXT_EVENT_FLOW_BEGIN)
		chain = find_chain(flows, point->pid);
	if (!chain)
		chain = begin_chain(flows, point);
	if (!chain)
		return -ENOMEM;
	if (chain->linked && ts <= chain->last_ts) {
		entry = point->entry;
		ts = point->at.ts;
	}
	if (entry == point->entry && !point->has_room)
		return 0;
	link = fx_runs_add(&flows->loose);
	if (!link)
		return -ENOMEM;
	*link = (struct loose_link){
	    .head = chain->head,
	    .at = point->at,
	    .link = {.entry = entry,
		     .thread = point->thread,
		     .category = chain->category,
		     .name = chain->name,
		     .role = role_of(chain, point)},
	};
	chain->linked = true;
	chain->last_ts = ts;
	return 0;
}

/* Makes the chains, an id at a time. */
static int link_points(struct fx_flows *flows)
{
	const struct point *point;
	struct fx_merge merge;
	uint64_t id = 0;
	int r = fx_merge_begin(&merge, &flows->points);

	if (r < 0)
		return r;
	point = fx_merge_first(&merge);
	for (; point && r == 0; point = fx_merge_next(&merge)) {
		if (point->id != id)
			free_chains(flows);
		id = point->id;
		r = link_point(flows, point);
	}
	free_chains(flows);
	fx_merge_end(&merge);
	return r < 0 ? r : merge.error;
}

static uint64_t key_of(uint32_t thread, uint64_t entry)
{
	return (uint64_t)thread << LINK_ENTRY_BITS | entry;
}

static int place_link(struct fx_flows *flows, const struct loose_link *loose, uint64_t number)
{
	struct placed_link *placed = fx_runs_add(&flows->links);

	if (!placed)
		return -ENOMEM;
	*placed = (struct placed_link){
	    .key = key_of(loose->link.thread, loose->link.entry),
	    .at = loose->at,
	    .link = loose->link,
	};
	placed->link.chain = number;
	return 0;
}

/* Gives the links the numbers of their chains, which count their heads by time. */
static int number_links(struct fx_flows *flows, struct fx_merge *heads, struct fx_merge *links)
{
	const struct moment *head = fx_merge_first(heads);
	const struct loose_link *link = fx_merge_first(links);
	uint64_t number = 1;
	int r = 0;

	while (link && head && r == 0) {
		if (compare_moments(head, &link->head) < 0) {
			head = fx_merge_next(heads);
			number++;
			continue;
		}
		r = place_link(flows, link, number);
		link = fx_merge_next(links);
	}
	if (r == 0)
		r = heads->error < 0 ? heads->error : links->error;
	return r;
}

static int place_links(struct fx_flows *flows)
{
	struct fx_merge heads = {0}, links = {0};
	int r = fx_merge_begin(&heads, &flows->heads);

	if (r == 0)
		r = fx_merge_begin(&links, &flows->loose);
	if (r == 0)
		r = number_links(flows, &heads, &links);
	fx_merge_end(&heads);
	fx_merge_end(&links);
	return r;
}

int fx_flows_resolve(struct fx_flows *flows)
{
	int r = 0;

	if (flows->points.count == 0)
		return 0;
	r = link_points(flows);
	fx_runs_release(&flows->points);
	if (r == 0)
		r = place_links(flows);
	fx_runs_release(&flows->heads);
	fx_runs_release(&flows->loose);
	return r < 0 ? r : fx_flows_seek(flows, 0, 0);
}

/* --- Taking ----------------------------------------------------------------------------------- */

int fx_flows_seek(struct fx_flows *flows, uint32_t thread, uint64_t entry)
{
	int r;

	flows->next = NULL;
	fx_merge_end(&flows->merge);
	if (flows->links.count == 0)
		return 0;
	r = fx_merge_begin_at(&flows->merge, &flows->links, key_of(thread, entry));
	if (r == 0)
		flows->next = fx_merge_first(&flows->merge);
	return r < 0 ? r : flows->merge.error;
}

/* The links of a place, behind those that nobody asked for. */
static const struct fx_flow_link *take_links(struct fx_flows *flows, uint64_t key,
					     size_t *ret_count)
{
	flows->taken.count = 0;
	for (; flows->next && flows->next->key <= key; flows->next = fx_merge_next(&flows->merge)) {
		if (flows->next->key < key)
			continue;
		if (fx_vector_reserve(&flows->taken, 1) < 0) {
			flows->error = -ENOMEM;
			break;
		}
		flows->taken.items[flows->taken.count++] = flows->next->link;
	}
	*ret_count = flows->taken.count;
	return *ret_count > 0 ? flows->taken.items : NULL;
}

const struct fx_flow_link *fx_flows_take(struct fx_flows *flows, const struct fx_thread *thread,
					 uint64_t entry, size_t *ret_count)
{
	uint64_t key = key_of(thread->number, entry);

	*ret_count = 0;
	if (!flows->next || flows->next->key > key)
		return NULL;
	return take_links(flows, key, ret_count);
}

int fx_flows_error(const struct fx_flows *flows)
{
	return flows->error < 0 ? flows->error : flows->merge.error;
}

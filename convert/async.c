/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "lists/hashes.h"
#include "convert/arrange.h"
#include "convert/async.h"

/* How far out the begin of an end is looked for. */
enum { MATCH_DEPTH = 1024 };

struct operation {
	struct fxt_string name;
	struct fxt_string category;
	bool left_out;
};

struct stack_key {
	uint64_t process;
	uint64_t id;
};

/* What is under way with one id. Exists as long as something is. */
struct stack {
	struct stack_key key;
	struct track *track;
	FX_VECTOR(struct operation) open;
	uint64_t instant_ts; /* Perfetto nests instants of one time */
	size_t instants;
	UT_hash_handle hh;
};

/* The process where an id is under way, for events that name it from another one. */
struct holder {
	uint64_t id;
	struct stack *stack;
	UT_hash_handle hh;
};

struct track {
	struct fx_async_track shown;
	struct track *next_free;
	struct track *next;
};

struct pool_key {
	uint64_t process;
	uint64_t name;
};

/* The tracks of one name that nothing runs on. */
struct pool {
	struct pool_key key;
	struct track *free;
	UT_hash_handle hh;
};

struct asyncs {
	struct fx_exporter *exporter;
	struct fx_timeline *timeline;
	struct stack *stacks;
	struct holder *holders;
	struct pool *pools;
	struct track *tracks;
	uint64_t track_count;
	struct fxt_record record; /* of the event at hand */
	struct fx_event event;
	const struct fx_async_entry *entry;
};

/* --- Tracks ----------------------------------------------------------------------------------- */

static struct pool *get_pool(struct asyncs *asyncs, uint32_t process, uint32_t name)
{
	struct pool_key key = {process, name};
	struct pool *pool;

	HASH_FIND(hh, asyncs->pools, &key, sizeof(key), pool);
	if (pool)
		return pool;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return NULL;
	pool->key = key;
	HASH_ADD(hh, asyncs->pools, key, sizeof(pool->key), pool);
	return pool;
}

static struct track *take_track(struct asyncs *asyncs, uint32_t process, uint32_t name)
{
	struct pool *pool = get_pool(asyncs, process, name);
	struct track *track;

	if (!pool)
		return NULL;
	track = pool->free;
	if (track) {
		pool->free = track->next_free;
		return track;
	}
	track = calloc(1, sizeof(*track));
	if (!track)
		return NULL;
	track->shown = (struct fx_async_track){
	    .number = ++asyncs->track_count,
	    .process = asyncs->timeline->processes.items[process],
	    .name = name,
	};
	track->next = asyncs->tracks;
	asyncs->tracks = track;
	return track;
}

static void give_track(struct asyncs *asyncs, struct track *track)
{
	struct pool *pool = get_pool(asyncs, track->shown.process->number, track->shown.name);

	if (!pool)
		return;
	track->next_free = pool->free;
	pool->free = track;
}

/* --- Stacks ----------------------------------------------------------------------------------- */

static struct stack *find_own_stack(struct asyncs *asyncs)
{
	struct stack_key key = {asyncs->entry->process, asyncs->entry->id};
	struct stack *stack;

	HASH_FIND(hh, asyncs->stacks, &key, sizeof(key), stack);
	return stack;
}

static struct stack *find_stack(struct asyncs *asyncs)
{
	struct stack *stack = find_own_stack(asyncs);
	struct holder *holder;

	if (stack)
		return stack;
	HASH_FIND(hh, asyncs->holders, &asyncs->entry->id, sizeof(asyncs->entry->id), holder);
	return holder ? holder->stack : NULL;
}

static int hold_id(struct asyncs *asyncs, struct stack *stack)
{
	struct holder *holder;

	HASH_FIND(hh, asyncs->holders, &stack->key.id, sizeof(stack->key.id), holder);
	if (!holder) {
		holder = calloc(1, sizeof(*holder));
		if (!holder)
			return -ENOMEM;
		holder->id = stack->key.id;
		HASH_ADD(hh, asyncs->holders, id, sizeof(holder->id), holder);
	}
	holder->stack = stack;
	return 0;
}

static struct stack *make_stack(struct asyncs *asyncs)
{
	struct stack *stack = calloc(1, sizeof(*stack));

	if (!stack)
		return NULL;
	stack->key = (struct stack_key){asyncs->entry->process, asyncs->entry->id};
	stack->track = take_track(asyncs, asyncs->entry->process, asyncs->event.name->serial);
	if (!stack->track || hold_id(asyncs, stack) < 0) {
		free(stack);
		return NULL;
	}
	HASH_ADD(hh, asyncs->stacks, key, sizeof(stack->key), stack);
	return stack;
}

static void free_stack(struct asyncs *asyncs, struct stack *stack)
{
	struct holder *holder;

	HASH_FIND(hh, asyncs->holders, &stack->key.id, sizeof(stack->key.id), holder);
	if (holder && holder->stack == stack) {
		HASH_DEL(asyncs->holders, holder);
		free(holder);
	}
	HASH_DEL(asyncs->stacks, stack);
	give_track(asyncs, stack->track);
	fx_vector_free(&stack->open);
	free(stack);
}

/* --- Events ----------------------------------------------------------------------------------- */

static void async_count_misfit(struct asyncs *asyncs, enum fx_misfit misfit)
{
	asyncs->timeline->misfits[misfit]++;
}

static int begin_operation(struct asyncs *asyncs)
{
	struct stack *stack = find_own_stack(asyncs);
	struct operation operation = {*asyncs->event.name, *asyncs->event.category, false};

	if (!stack)
		stack = make_stack(asyncs);
	if (!stack || fx_vector_reserve(&stack->open, 1) < 0)
		return -ENOMEM;
	operation.left_out = stack->open.count >= FX_MAX_DEPTH;
	stack->open.items[stack->open.count++] = operation;
	if (operation.left_out)
		async_count_misfit(asyncs, FX_MISFIT_TOO_DEEP);
	else
		asyncs->exporter->ops->async_begin(asyncs->exporter, &stack->track->shown,
						   stack->key.id, &asyncs->event);
	return 0;
}

/* The place in the stack, counted from 1, of what an end of this name closes. */
static size_t find_operation(const struct stack *stack, uint32_t name)
{
	size_t count = stack->open.count;
	size_t last = count > MATCH_DEPTH ? count - MATCH_DEPTH : 0;

	for (size_t i = count; name && i > last; i--) {
		if (stack->open.items[i - 1].name.serial == name)
			return i;
	}
	return count;
}

static int end_operation(struct asyncs *asyncs)
{
	struct stack *stack = find_stack(asyncs);
	size_t at;

	if (!stack) {
		async_count_misfit(asyncs, FX_MISFIT_ASYNC_END);
		return 0;
	}
	at = find_operation(stack, asyncs->event.name->serial);
	while (stack->open.count >= at) { /* what is left open inside ends with it */
		struct operation *operation = &stack->open.items[--stack->open.count];

		asyncs->event.name = &operation->name;
		asyncs->event.category = &operation->category;
		if (!operation->left_out)
			asyncs->exporter->ops->async_end(asyncs->exporter, &stack->track->shown,
							 stack->key.id, &asyncs->event);
	}
	if (stack->open.count == 0)
		free_stack(asyncs, stack);
	return 0;
}

static bool async_has_room(struct stack *stack, uint64_t ts)
{
	if (stack->instant_ts != ts) {
		stack->instant_ts = ts;
		stack->instants = 0;
	}
	return stack->open.count + stack->instants++ < FX_MAX_DEPTH;
}

static int mark_operation(struct asyncs *asyncs)
{
	struct stack *stack = find_stack(asyncs);
	bool alone = !stack;

	if (alone)
		stack = make_stack(asyncs);
	if (!stack)
		return -ENOMEM;
	if (async_has_room(stack, asyncs->event.ts))
		asyncs->exporter->ops->async_instant(asyncs->exporter, &stack->track->shown,
						     stack->key.id, &asyncs->event);
	else
		async_count_misfit(asyncs, FX_MISFIT_TOO_DEEP);
	if (alone)
		free_stack(asyncs, stack);
	return 0;
}

static int async_export_entry(struct asyncs *asyncs)
{
	const struct fx_async_entry *entry = asyncs->entry;
	int r = fx_timeline_decode(asyncs->timeline, entry->provider, entry->word, &asyncs->record);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	asyncs->event = (struct fx_event){
	    .ts = entry->ts,
	    .category = &asyncs->record.event.category,
	    .name = &asyncs->record.event.name,
	    .args = asyncs->record.args,
	    .nargs = asyncs->record.nargs,
	    .provider = entry->provider,
	    .word = entry->word,
	    .end_word = FX_NO_WORD,
	};
	switch (entry->type) {
	case FXT_EVENT_ASYNC_BEGIN:
		return begin_operation(asyncs);
	case FXT_EVENT_ASYNC_END:
		return end_operation(asyncs);
	default:
		return mark_operation(asyncs);
	}
}

static void async_free_all(struct asyncs *asyncs)
{
	struct stack *stack = NULL, *next_stack;
	struct pool *pool = NULL, *next_pool;
	struct track *track;

	HASH_ITER (hh, asyncs->stacks, stack, next_stack) {
		free_stack(asyncs, stack);
	}
	HASH_ITER (hh, asyncs->pools, pool, next_pool) {
		HASH_DEL(asyncs->pools, pool);
		free(pool);
	}
	while ((track = asyncs->tracks)) {
		asyncs->tracks = track->next;
		free(track);
	}
}

int fx_async_export(struct fx_exporter *exporter)
{
	struct fx_timeline *timeline = exporter->timeline;
	struct asyncs asyncs = {.exporter = exporter, .timeline = timeline};
	struct fx_merge merge;
	int r;

	if (timeline->asyncs.count == 0)
		return 0;
	if (!exporter->ops->async_begin) {
		timeline->misfits[FX_MISFIT_OTHER_FORMAT] += timeline->asyncs.count;
		return 0;
	}
	r = fx_merge_begin(&merge, &timeline->asyncs);
	if (r < 0)
		return r;
	asyncs.entry = fx_merge_first(&merge);
	while (asyncs.entry && r == 0) {
		r = async_export_entry(&asyncs);
		asyncs.entry = fx_merge_next(&merge);
	}
	async_free_all(&asyncs);
	fx_merge_end(&merge);
	return r < 0 ? r : merge.error;
}

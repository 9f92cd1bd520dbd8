/* SPDX-License-Identifier: MIT */
#include "format/check-slices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element)                                                               \
	do {                                                                                       \
		(element)->lost = true;                                                            \
	} while (0)
#include <uthash.h>

/* Marks in the place of an end time, above every time that is valid. */
#define MARK_BEGIN (UINT64_MAX - 0)
#define MARK_END   (UINT64_MAX - 1)
#define MARK_FLOW  (UINT64_MAX - 2)
#define TIME_MAX   (UINT64_MAX - 3)

struct entry {
	uint64_t start; /* the key */
	uint64_t end;	/* of a complete event, or a mark */
	uint64_t offset;
};

struct thread_key {
	uint64_t pid;
	uint64_t tid;
};

struct thread {
	struct thread_key key;
	struct fx_runs entries; /* struct entry */
	bool lost;		/* not in the hash for lack of memory */
	bool is_virtual;
	UT_hash_handle hh;
};

struct fx_slices {
	struct fx_runs_pool *pool;
	struct thread *threads;
	struct thread *last; /* the one looked up last: events come in runs */
};

static int check_slices_entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Many are in order already. */
static int check_slices_sort(void *items, size_t count)
{
	struct entry *entries = items;

	for (size_t i = 1; i < count; i++) {
		if (check_slices_entry_compare(&entries[i - 1], &entries[i]) > 0) {
			qsort(entries, count, sizeof(*entries), check_slices_entry_compare);
			break;
		}
	}
	return 0;
}

static const struct fx_runs_kind check_slices_kind = {
    .size = sizeof(struct entry),
    .compare = check_slices_entry_compare,
    .sort = check_slices_sort,
};

struct fx_slices *fx_slices_new(struct fx_runs_pool *pool)
{
	struct fx_slices *slices = calloc(1, sizeof(*slices));

	if (slices)
		slices->pool = pool;
	return slices;
}

void fx_slices_free(struct fx_slices *slices)
{
	struct thread *t, *next;

	if (!slices)
		return;
	HASH_ITER (hh, slices->threads, t, next) {
		HASH_DEL(slices->threads, t);
		fx_runs_release(&t->entries);
		free(t);
	}
	free(slices);
}

/* --- Collecting ------------------------------------------------------------------------------ */

static struct thread *thread_get(struct fx_slices *slices, uint64_t pid, uint64_t tid)
{
	struct thread_key key = {.pid = pid, .tid = tid};
	struct thread *t = slices->last;

	if (t && t->key.pid == pid && t->key.tid == tid)
		return t;
	HASH_FIND(hh, slices->threads, &key, sizeof(key), t);
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return NULL;
		t->key = key;
		HASH_ADD(hh, slices->threads, key, sizeof(key), t);
		if (t->lost) {
			free(t);
			return NULL;
		}
		fx_runs_init(&t->entries, slices->pool, &check_slices_kind);
	}
	slices->last = t;
	return t;
}

static int slices_add(struct fx_slices *slices, uint64_t pid, uint64_t tid, struct entry entry)
{
	struct thread *t = thread_get(slices, pid, tid);
	struct entry *place = t ? fx_runs_add(&t->entries) : NULL;

	if (!place)
		return -ENOMEM;
	*place = entry;
	return 0;
}

int fx_slices_begin(struct fx_slices *slices, uint64_t pid, uint64_t tid, uint64_t time,
		    uint64_t offset)
{
	return slices_add(slices, pid, tid, (struct entry){time, MARK_BEGIN, offset});
}

int fx_slices_end(struct fx_slices *slices, uint64_t pid, uint64_t tid, uint64_t time,
		  uint64_t offset)
{
	return slices_add(slices, pid, tid, (struct entry){time, MARK_END, offset});
}

int fx_slices_complete(struct fx_slices *slices, uint64_t pid, uint64_t tid, uint64_t start,
		       uint64_t end, uint64_t offset)
{
	end = end < TIME_MAX ? end : TIME_MAX;
	return slices_add(slices, pid, tid, (struct entry){start, end, offset});
}

int fx_slices_flow(struct fx_slices *slices, uint64_t pid, uint64_t tid, uint64_t time,
		   uint64_t offset)
{
	return slices_add(slices, pid, tid, (struct entry){time, MARK_FLOW, offset});
}

int fx_slices_thread(struct fx_slices *slices, uint64_t pid, uint64_t tid)
{
	return thread_get(slices, pid, tid) ? 0 : -ENOMEM;
}

int fx_slices_virtual(struct fx_slices *slices, uint64_t pid, uint64_t tid)
{
	struct thread *t = thread_get(slices, pid, tid);

	if (t)
		t->is_virtual = true;
	return t ? 0 : -ENOMEM;
}

uint64_t fx_slices_thread_count(const struct fx_slices *slices)
{
	return HASH_COUNT(slices->threads);
}

/* --- Checking -------------------------------------------------------------------------------- */

/* An open slice. */
struct open_slice {
	uint64_t end; /* MARK_BEGIN: known when its end event comes */
	uint64_t offset;
	uint32_t complete_below; /* 1 + the place of the next complete event below; 0: none */
};

/*
 * Deeper slices are reported once a thread and not kept, as a viewer drops them; their end events
 * are matched by counting.
 */
struct stack {
	struct open_slice slices[FX_MAX_SLICE_DEPTH];
	uint32_t depth;
	uint32_t top_complete; /* 1 + the place of the topmost complete event; 0: none */
	uint64_t too_deep;     /* begin events not kept */
	bool depth_reported;
	bool is_virtual;
	struct fx_violations *violations;
};

/* What is not matched: on a virtual thread it is for the program to say when what happens. */
static void stack_lacks(struct stack *s, uint64_t offset, const char *what)
{
	if (s->is_virtual)
		fx_violations_warning(s->violations, offset, "%s on a virtual thread", what);
	else
		fx_violations_error(s->violations, offset, "%s", what);
}

static void stack_pop_to(struct stack *s, uint32_t depth)
{
	s->depth = depth;
	while (s->top_complete > depth)
		s->top_complete = s->slices[s->top_complete - 1].complete_below;
}

static bool stack_push(struct stack *s, uint64_t end, uint64_t offset)
{
	if (s->depth == FX_MAX_SLICE_DEPTH) {
		if (!s->depth_reported)
			fx_violations_error(s->violations, offset, "nested deeper than %d",
					    FX_MAX_SLICE_DEPTH);
		s->depth_reported = true;
		return false;
	}
	s->slices[s->depth++] = (struct open_slice){
	    .end = end,
	    .offset = offset,
	    .complete_below = s->top_complete,
	};
	if (end != MARK_BEGIN)
		s->top_complete = s->depth;
	return true;
}

/* Closes the complete events that ended by @time. */
static void stack_close(struct stack *s, uint64_t time)
{
	while (s->top_complete > 0) {
		uint32_t place = s->top_complete - 1;
		const struct open_slice *complete = &s->slices[place];
		bool is_top = s->top_complete == s->depth;

		if (complete->end > time || (!is_top && complete->end == time))
			return;
		if (!is_top) {
			fx_violations_error(s->violations, s->slices[place + 1].offset,
					    "begin/end pair crosses the end of the complete event "
					    "at offset 0x%" PRIx64,
					    complete->offset);
			s->too_deep = 0;
		}
		stack_pop_to(s, place);
	}
}

static void stack_complete(struct stack *s, const struct entry *e)
{
	stack_close(s, e->start);
	if (s->top_complete > 0) {
		const struct open_slice *parent = &s->slices[s->top_complete - 1];

		if (parent->end < e->end) {
			fx_violations_error(
			    s->violations, e->offset,
			    "partly overlaps the complete event at offset 0x%" PRIx64,
			    parent->offset);
			return;
		}
	}
	stack_push(s, e->end, e->offset);
}

static void check_slices_stack_end(struct stack *s, const struct entry *e)
{
	uint32_t place;

	stack_close(s, e->start);
	if (s->too_deep > 0) {
		s->too_deep--;
		return;
	}
	for (place = s->depth; place > 0; place--)
		if (s->slices[place - 1].end == MARK_BEGIN)
			break;
	if (place == 0) {
		stack_lacks(s, e->offset, "end event without a begin event");
		return;
	}
	if (place < s->depth)
		fx_violations_error(s->violations, e->offset,
				    "end event inside the complete event at offset 0x%" PRIx64,
				    s->slices[place].offset);
	stack_pop_to(s, place - 1);
}

static void stack_apply(struct stack *s, const struct entry *e)
{
	switch (e->end) {
	case MARK_BEGIN:
		stack_close(s, e->start);
		if (!stack_push(s, MARK_BEGIN, e->offset))
			s->too_deep++;
		break;
	case MARK_END:
		check_slices_stack_end(s, e);
		break;
	case MARK_FLOW:
		if (s->depth == 0)
			stack_lacks(s, e->offset, "flow event without a slice to bind to");
		break;
	default:
		stack_complete(s, e);
		break;
	}
}

static uint64_t stack_count_open(const struct stack *s)
{
	uint64_t n = s->too_deep;

	for (uint32_t i = 0; i < s->depth; i++)
		n += s->slices[i].end == MARK_BEGIN;
	return n;
}

static int check_thread(struct thread *t, struct stack *stack)
{
	const struct entry *entry;
	struct fx_merge merge;
	int r = fx_merge_begin(&merge, &t->entries);

	if (r < 0)
		return r;
	entry = fx_merge_first(&merge);
	for (; entry; entry = fx_merge_next(&merge))
		stack_apply(stack, entry);
	fx_merge_end(&merge);
	fx_runs_release(&t->entries);
	return merge.error;
}

int fx_slices_check(struct fx_slices *slices, struct fx_violations *violations, uint64_t *ret_open)
{
	struct stack *stack = malloc(sizeof(*stack));
	int r = 0;

	*ret_open = 0;
	if (!stack)
		return -ENOMEM;
	for (struct thread *t = slices->threads; t && r == 0; t = t->hh.next) {
		stack->depth = 0;
		stack->top_complete = 0;
		stack->too_deep = 0;
		stack->depth_reported = false;
		stack->is_virtual = t->is_virtual;
		stack->violations = violations;
		r = check_thread(t, stack);
		*ret_open += stack_count_open(stack);
	}
	free(stack);
	return r;
}

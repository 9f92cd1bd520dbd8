/* SPDX-License-Identifier: MIT */
#include "manager/archive/scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/format.h>

#include "lists/hashes-lenient.h"
#include "lists/vector.h"
#include "manager/archive/modules.h"

/* Functions of open calls, of which what the list says is remembered. */
#define SCOPE_KNOWN 256u

/* The type of a record that is not to come into the archive: no record has it. */
#define SCOPE_LEFT_OUT 14u

struct scope_open {
	uint64_t start;
	struct fx_pattern_verdict verdict;
};

struct scope_thread {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint32_t tid;
	FX_VECTOR(struct fx_scope_call) calls; /* that are not decided, by their ends */
	bool unsorted;			       /* some of them came late */
	FX_VECTOR(struct scope_open) open;     /* at the look, the outermost first */
};

/* A call that those lie in that are looked at next. */
struct scope_level {
	uint64_t start;
	bool is_open;
	struct fx_function_scope within; /* of what lies in it */
};

struct scope_known {
	uint64_t function;
	uint32_t moment;
	struct fx_pattern_verdict verdict;
};

struct fx_scope {
	const char *functions; /* borrowed */
	uint32_t max_levels;
	struct fx_function_scope outside; /* of all calls */
	struct fx_output *out;
	struct scope_thread *threads; /* uthash, by tid */
	struct scope_thread *newest;  /* that was looked for */
	struct scope_known known[SCOPE_KNOWN];
	FX_VECTOR(struct scope_level) levels;
};

int fx_scope_create(const char *functions, uint32_t max_levels, struct fx_scope **ret)
{
	struct fx_scope *scope = calloc(1, sizeof(*scope));
	int r = scope ? fx_output_hold(&scope->out) : -ENOMEM;

	if (r < 0) {
		free(scope);
		return r;
	}
	scope->functions = functions;
	scope->max_levels = max_levels;
	scope->outside = fx_functions_outside(functions);
	*ret = scope;
	return 0;
}

static void scope_thread_free(struct fx_scope *scope, struct scope_thread *t)
{
	if (scope->newest == t)
		scope->newest = NULL;
	HASH_DEL(scope->threads, t);
	fx_vector_free(&t->calls);
	fx_vector_free(&t->open);
	free(t);
}

void fx_scope_destroy(struct fx_scope *scope)
{
	struct scope_thread *t, *next;

	if (!scope)
		return;
	HASH_ITER (hh, scope->threads, t, next)
		scope_thread_free(scope, t);
	fx_output_close(scope->out, NULL);
	fx_vector_free(&scope->levels);
	free(scope);
}

struct fx_output *fx_scope_output(const struct fx_scope *scope)
{
	return scope->out;
}

size_t fx_scope_held(const struct fx_scope *scope)
{
	size_t words;

	fx_output_held(scope->out, &words);
	return words;
}

static struct scope_thread *scope_thread(struct fx_scope *scope, uint32_t tid)
{
	struct scope_thread *t = scope->newest;

	if (t && t->tid == tid)
		return t;
	HASH_FIND(hh, scope->threads, &tid, sizeof(tid), t);
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return NULL;
		t->tid = tid;
		HASH_ADD(hh, scope->threads, tid, sizeof(t->tid), t);
		if (t->lost) {
			free(t);
			return NULL;
		}
	}
	scope->newest = t;
	return t;
}

/* The record that begins there will not come into the archive. */
static void record_leave_out(struct fx_scope *scope, size_t at)
{
	size_t words;
	uint64_t *held = fx_output_held(scope->out, &words);

	held[at] &= ~FXT_PUT(RECORD_TYPE, ~0);
	held[at] |= FXT_PUT(RECORD_TYPE, SCOPE_LEFT_OUT);
}

int fx_scope_note(struct fx_scope *scope, uint32_t tid, const struct fx_scope_call *call)
{
	struct scope_thread *t;

	/* It has found no room. */
	if (call->at >= fx_scope_held(scope))
		return 0;
	t = scope_thread(scope, tid);
	if (!t || fx_vector_reserve(&t->calls, 1) < 0) {
		record_leave_out(scope, call->at);
		return -ENOMEM;
	}
	if (t->calls.count && t->calls.items[t->calls.count - 1].end >= call->end)
		t->unsorted = true;
	t->calls.items[t->calls.count++] = *call;
	return 0;
}

static struct fx_pattern_verdict scope_judge(struct fx_scope *scope, uint64_t function,
					     struct fx_modules *modules)
{
	struct scope_known *known = &scope->known[(function >> 4) % SCOPE_KNOWN];
	uint32_t moment = fx_modules_moment(modules);

	if (known->function != function || known->moment != moment)
		*known = (struct scope_known){
		    .function = function,
		    .moment = moment,
		    .verdict = fx_modules_judge(modules, moment, function, scope->functions),
		};
	return known->verdict;
}

int fx_scope_open(struct fx_scope *scope, uint32_t tid, uint64_t start, uint64_t function,
		  struct fx_modules *modules)
{
	struct scope_thread *t = scope_thread(scope, tid);

	if (!t || fx_vector_reserve(&t->open, 1) < 0)
		return -ENOMEM;
	t->open.items[t->open.count++] = (struct scope_open){
	    .start = start,
	    .verdict = scope_judge(scope, function, modules),
	};
	return 0;
}

/* --- Verdicts --------------------------------------------------------------------------------- */

/* The outer one comes last. */
static int scope_compare(const void *a, const void *b)
{
	const struct fx_scope_call *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->start != y->start)
		return x->start > y->start ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void scope_sort(struct scope_thread *t)
{
	if (t->unsorted)
		qsort(t->calls.items, t->calls.count, sizeof(*t->calls.items), scope_compare);
	t->unsorted = false;
}

/* Enters a call that lies in all levels there are. Whether it is recorded. */
static bool level_enter(struct fx_scope *scope, uint64_t start, bool is_open,
			const struct fx_pattern_verdict *verdict)
{
	size_t depth = scope->levels.count;
	struct fx_function_scope within =
	    depth ? scope->levels.items[depth - 1].within : scope->outside;
	bool recorded = fx_functions_enter(verdict, scope->max_levels, &within);

	scope->levels.items[scope->levels.count++] =
	    (struct scope_level){.start = start, .is_open = is_open, .within = within};
	return recorded;
}

/* Leaves the levels that a call does not lie in; one that was open at the look, and whose record has come since, is the call itself. */
static void levels_leave(struct fx_scope *scope, uint64_t start)
{
	while (scope->levels.count) {
		const struct scope_level *level = &scope->levels.items[scope->levels.count - 1];

		if (level->start < start || (level->start == start && !level->is_open))
			return;
		scope->levels.count--;
	}
}

/* Goes from the calls that ended last, which others lie in, to the first. Without memory for the levels all stay. */
static void scope_decide(struct fx_scope *scope, struct scope_thread *t, uint64_t until,
			 struct fx_scope_left *left)
{
	size_t undecided = 0, count = t->calls.count;

	scope->levels.count = 0;
	scope_sort(t);
	if (fx_vector_reserve(&scope->levels, t->open.count + count + 1) < 0)
		count = 0;
	for (size_t i = 0; i < t->open.count && count; i++)
		level_enter(scope, t->open.items[i].start, true, &t->open.items[i].verdict);
	for (size_t i = count; i--;) {
		const struct fx_scope_call *call = &t->calls.items[i];

		levels_leave(scope, call->start);
		if (call->end >= until)
			undecided++;
		if (level_enter(scope, call->start, false, &call->verdict) || call->end >= until)
			continue;
		record_leave_out(scope, call->at);
		left->calls++;
		left->unfinished += call->unfinished;
	}
	count = t->calls.count - undecided;
	if (undecided)
		memmove(t->calls.items, t->calls.items + count,
			undecided * sizeof(*t->calls.items));
	t->calls.count = undecided;
	t->open.count = 0;
}

/* --- Into the archive -------------------------------------------------------------------------- */

/* The first record that is to stay. */
static size_t first_undecided(const struct fx_scope *scope)
{
	size_t first = fx_scope_held(scope);

	for (const struct scope_thread *t = scope->threads; t; t = t->hh.next) {
		for (size_t i = 0; i < t->calls.count; i++) {
			if (t->calls.items[i].at < first)
				first = t->calls.items[i].at;
		}
	}
	return first;
}

static void records_put(struct fx_output *to, const uint64_t *words, size_t count)
{
	if (!count)
		return;
	memcpy(fx_output_reserve(to, count), words, count * FXT_WORD_SIZE);
	fx_output_commit(to, count);
}

/* In pieces of whole records. */
static void records_move(const uint64_t *words, size_t count, struct fx_output *to)
{
	size_t from = 0, size;

	for (size_t at = 0; at < count; at += size) {
		bool is_large = FXT_GET(words[at], RECORD_TYPE) == FXT_RECORD_LARGE;
		bool is_out = FXT_GET(words[at], RECORD_TYPE) == SCOPE_LEFT_OUT;

		size = is_large ? FXT_GET(words[at], LARGE_SIZE) : FXT_GET(words[at], RECORD_SIZE);
		if (is_out || at + size - from > FX_OUTPUT_RECORD_MAX) {
			records_put(to, words + from, at - from);
			from = is_out ? at + size : at;
		}
	}
	records_put(to, words + from, count - from);
}

static void calls_move_on(struct fx_scope *scope, size_t words)
{
	struct scope_thread *t, *next;

	HASH_ITER (hh, scope->threads, t, next) {
		for (size_t i = 0; i < t->calls.count; i++)
			t->calls.items[i].at -= words;
		if (!t->calls.count)
			scope_thread_free(scope, t);
	}
}

struct fx_scope_left fx_scope_settle(struct fx_scope *scope, uint64_t until,
				     struct fx_archive *archive, uint32_t id)
{
	struct fx_scope_left left = {0};
	size_t words;

	for (struct scope_thread *t = scope->threads; t; t = t->hh.next)
		scope_decide(scope, t, until, &left);
	words = first_undecided(scope);
	if (words) {
		size_t held;

		records_move(fx_output_held(scope->out, &held), words,
			     fx_archive_section(archive, id));
		fx_output_let_go(scope->out, words);
	}
	calls_move_on(scope, words);
	return left;
}

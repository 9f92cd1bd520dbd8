/* SPDX-License-Identifier: MIT */
#include "manager/archive/crowd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/recipe.h"
#include "manager/archive/own.h"
#include "manager/archive/stream.h"

/* So many calls of a process are looked at together; if they are fewer than this in a second, they drown nothing. */
#define CALLS	   65536u
#define PER_SECOND 100000u

/* A function that takes longer on the average, without what it calls, is worth its records: see report/suggest.c. */
#define SELF_NS 500u

/* So many are left out, and no more. */
#define FUNCTIONS 256u

void fx_crowd_init(struct fx_crowd *crowd, const char *functions)
{
	*crowd = (struct fx_crowd){.share = fx_functions_crowd_share(functions)};
	pthread_mutex_init(&crowd->lock, NULL);
}

void fx_crowd_destroy(struct fx_crowd *crowd)
{
	for (size_t i = 0; i < crowd->count; i++)
		free(crowd->functions[i].name);
	free(crowd->functions);
	free(crowd->news);
	pthread_mutex_destroy(&crowd->lock);
}

/* --- One is left out ------------------------------------------------------------------------- */

/* The timeline says so. */
static void crowd_mark(struct fx_stream *s, const struct fx_crowd_function *f)
{
	struct fx_stream_thread *t = fx_stream_thread(s, s->first_tid);
	uint64_t ns = fx_boottime_ns();
	struct fxt_record record;

	if (!t)
		return;
	record = fx_stream_event(s, t, FXT_EVENT_INSTANT, ns);
	record.event.name = fx_own_text("function left out");
	record.nargs = 3;
	record.args[0] = fx_own_string("function", f->name);
	record.args[1] = fx_own_uint64("calls", f->recorded);
	record.args[2] = fx_own_string("why", "--auto-suppress");
	fx_archive_record(&s->shared->archive, &record);
}

static struct fx_crowd_function *function_new(struct fx_crowd *crowd, const char *name)
{
	struct fx_crowd_function *functions =
	    realloc(crowd->functions, (crowd->count + 1) * sizeof(*functions));

	if (!functions)
		return NULL;
	crowd->functions = functions;
	functions[crowd->count] = (struct fx_crowd_function){.name = strdup(name)};
	return functions[crowd->count].name ? &functions[crowd->count++] : NULL;
}

/* The list has a line more. False: there is no memory for it. */
static bool list_add(struct fx_function_list *list, struct fx_crowd *crowd, const char *line)
{
	char *text, *news = NULL;

	if (asprintf(&text, "%s^%s\n", list->text, line) < 0)
		return false;
	pthread_mutex_lock(&crowd->lock);
	if (asprintf(&news, "%s^%s\n", crowd->news ? crowd->news : "", line) >= 0) {
		free(crowd->news);
		crowd->news = news;
	}
	pthread_mutex_unlock(&crowd->lock);
	free(list->text);
	list->text = text;
	list->version++;
	return true;
}

static void suppress(struct fx_stream *s, uint32_t index)
{
	struct fx_crowd *crowd = &s->shared->crowd;
	const struct fx_name *name = fx_names_find(&s->names, NULL, index);
	struct fx_crowd_function *f;
	char line[FX_PATTERN_MAX];

	if (crowd->count == FUNCTIONS || !name || name->kind != FX_NAME_ADDRESS || name->out ||
	    !fx_modules_function(&s->modules, name->moment, name->address, line, sizeof(line)))
		return;
	f = function_new(crowd, strchr(line, '/') + 1);
	if (!f)
		return;
	if (!list_add(&s->shared->functions, crowd, line)) {
		free(f->name);
		crowd->count--;
		return;
	}
	f->recorded = s->crowd.items[index].all;
	s->crowd.items[index].all = 0;
	crowd_mark(s, f);
}

char *fx_crowd_news(struct fx_crowd *crowd)
{
	char *news;

	if (!crowd->share)
		return NULL;
	pthread_mutex_lock(&crowd->lock);
	news = crowd->news;
	crowd->news = NULL;
	pthread_mutex_unlock(&crowd->lock);
	return news;
}

/* --- Which are ------------------------------------------------------------------------------- */

static void look(struct fx_stream *s, uint64_t now)
{
	struct fx_crowd_counts *counts = &s->crowd;
	uint64_t took = now > counts->first ? now - counts->first : 1;
	bool drowns = (double)counts->calls * 1e9 / (double)took >= PER_SECOND;

	for (uint32_t i = 0; i < counts->room; i++) {
		struct fx_crowd_count *c = &counts->items[i];

		if (drowns && c->newest &&
		    (uint64_t)c->newest * 1000 >=
			(uint64_t)s->shared->crowd.share * counts->calls &&
		    c->self / c->newest <= SELF_NS)
			suppress(s, i);
		c->newest = 0;
		c->self = 0;
	}
	counts->calls = 0;
}

/* What of the call's time is its own. Calls come in the order of their ends; so those that it has made were the last. */
static uint64_t self_time(struct fx_crowd_thread *t, uint64_t start, uint64_t end)
{
	uint64_t inside = 0;

	while (t->count && t->calls[t->count - 1].start >= start)
		inside += t->calls[--t->count].ns;
	if (t->count == FX_CROWD_CALLS) {
		/* The older half lies in a call that goes on, as nearly all do: it is one. */
		for (uint32_t i = 1; i < FX_CROWD_CALLS / 2; i++)
			t->calls[0].ns += t->calls[i].ns;
		memmove(&t->calls[1], &t->calls[FX_CROWD_CALLS / 2],
			FX_CROWD_CALLS / 2 * sizeof(t->calls[0]));
		t->count = FX_CROWD_CALLS / 2 + 1;
	}
	t->calls[t->count++] = (struct fx_crowd_call){start, end - start};
	return end - start > inside ? end - start - inside : 0;
}

static struct fx_crowd_count *count_of(struct fx_crowd_counts *counts, uint32_t index)
{
	struct fx_crowd_count *items;
	uint32_t room = counts->room ? counts->room : 256;

	if (index < counts->room)
		return &counts->items[index];
	while (room <= index)
		room *= 2;
	items = realloc(counts->items, room * sizeof(*items));
	if (!items)
		return NULL;
	memset(items + counts->room, 0, (room - counts->room) * sizeof(*items));
	counts->items = items;
	counts->room = room;
	return &items[index];
}

void fx_crowd_note(struct fx_stream *s, struct fx_stream_thread *t, uint32_t ref, uint64_t start,
		   uint64_t end)
{
	struct fx_crowd_counts *counts = &s->crowd;
	struct fx_crowd_count *c;

	if (ref >= FX_STRING_LOCAL || end < start)
		return;
	if (!t->crowd)
		t->crowd = calloc(1, sizeof(*t->crowd));
	c = t->crowd ? count_of(counts, ref) : NULL;
	if (!c)
		return;
	if (counts->calls == 0)
		counts->first = start;
	c->all++;
	c->newest++;
	c->self += self_time(t->crowd, start, end);
	if (++counts->calls == CALLS)
		look(s, end);
}

/* For how many calls a record stands. */
static uint64_t stands_for(const struct fx_stream *s, const uint64_t *words, size_t size)
{
	const struct fx_name *name;

	if (FXT_GET(words[0], EVENT_NARGS) != 1 || size != 4 ||
	    FXT_GET(words[2], ARG_TYPE) != FXT_ARG_UINT32 || words[2] >> 32 != FX_SUPPRESSED_PERIOD)
		return 1;
	name = fx_names_find(&s->names, NULL, (uint32_t)FXT_GET(words[2], ARG_NAME));
	return name && name->kind == FX_NAME_TEXT && strcmp(name->text, "calls") == 0
		   ? FX_SUPPRESSED_PERIOD
		   : 1;
}

void fx_crowd_count(struct fx_stream *s, uint32_t ref, const uint64_t *words, size_t size)
{
	const struct fx_name *name = fx_names_find(&s->names, NULL, ref);
	struct fx_crowd *crowd = &s->shared->crowd;
	struct fx_crowd_function *f;
	uint64_t start, end, times;

	if (!name || !name->suppressed || name->suppressed > crowd->count ||
	    FXT_GET(words[0], EVENT_TYPE) != FXT_EVENT_DURATION_COMPLETE)
		return;
	start = fx_timebase_ns(&s->shared->timebase, words[1]);
	end = fx_timebase_ns(&s->shared->timebase, words[size - 1]);
	times = stands_for(s, words, size);
	f = &crowd->functions[name->suppressed - 1];
	f->calls += times;
	f->ns += end > start ? (end - start) * times : 0;
	/* Here, too, there were some before. */
	if (ref < s->crowd.room) {
		f->recorded += s->crowd.items[ref].all;
		s->crowd.items[ref].all = 0;
	}
}

/* --- What is told of them -------------------------------------------------------------------- */

static int by_calls(const void *a, const void *b)
{
	const struct fx_crowd_function *const *f = a, *const *g = b;
	uint64_t x = (*f)->calls + (*f)->recorded, y = (*g)->calls + (*g)->recorded;

	return x < y ? 1 : x > y ? -1 : 0;
}

void fx_crowd_tell(const struct fx_crowd *crowd, char ret[FX_SUPPRESSED_MAX])
{
	const struct fx_crowd_function **sorted = calloc(crowd->count + 1, sizeof(*sorted));
	size_t used = 0;

	*ret = 0;
	if (!sorted)
		return;
	for (size_t i = 0; i < crowd->count; i++)
		sorted[i] = &crowd->functions[i];
	qsort(sorted, crowd->count, sizeof(*sorted), by_calls);
	for (size_t i = 0; i < crowd->count; i++) {
		const struct fx_crowd_function *f = sorted[i];
		int n = snprintf(ret + used, FX_SUPPRESSED_MAX - used,
				 "%" PRIu64 " %" PRIu64 " %" PRIu64 " %.100s\n", f->calls, f->ns,
				 f->recorded, f->name);

		if (n < 0 || used + (size_t)n >= FX_SUPPRESSED_MAX) {
			ret[used] = 0;
			break;
		}
		used += (size_t)n;
	}
	free(sorted);
}

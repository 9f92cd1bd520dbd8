/* SPDX-License-Identifier: MIT */
#include "manager/archive/crowd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The text is taken over. */
static void crowd_list_set(struct fx_function_list *list, char *text)
{
	free(list->text);
	list->text = text;
	list->version += list->version == UINT16_MAX ? 2 : 1;
}

void fx_crowd_choose(struct fx_function_list *list, const char *functions)
{
	char *text = fx_functions_with(functions, list->text, "^");

	if (text)
		crowd_list_set(list, text);
}

/* The list has a line more. False: there is no memory for it. */
static bool crowd_list_add(struct fx_function_list *list, struct fx_crowd *crowd, const char *line)
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
	crowd_list_set(list, text);
	return true;
}

bool fx_crowd_add(struct fx_crowd *crowd, struct fx_function_list *list, const char *line,
		  uint64_t recorded)
{
	struct fx_crowd_function *f;

	if (crowd->count == FUNCTIONS)
		return false;
	f = function_new(crowd, strchr(line, '/') + 1);
	if (!f)
		return false;
	if (!crowd_list_add(list, crowd, line)) {
		free(f->name);
		crowd->count--;
		return false;
	}
	f->recorded = recorded;
	return true;
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

bool fx_crowd_note(struct fx_crowd_counts *counts, struct fx_crowd_thread **thread, uint32_t index,
		   uint64_t start, uint64_t end)
{
	struct fx_crowd_count *c;

	if (end < start)
		return false;
	if (!*thread)
		*thread = calloc(1, sizeof(**thread));
	c = *thread ? count_of(counts, index) : NULL;
	if (!c)
		return false;
	if (counts->calls == 0)
		counts->first = start;
	c->all++;
	c->newest++;
	c->self += self_time(*thread, start, end);
	return ++counts->calls == CALLS;
}

bool fx_crowd_drowns(const struct fx_crowd *crowd, const struct fx_crowd_counts *counts,
		     uint32_t index, uint64_t now)
{
	const struct fx_crowd_count *c = &counts->items[index];
	uint64_t took = now > counts->first ? now - counts->first : 1;

	return c->newest && (double)counts->calls * 1e9 / (double)took >= PER_SECOND &&
	       (uint64_t)c->newest * 1000 >= (uint64_t)crowd->share * counts->calls &&
	       c->self / c->newest <= SELF_NS;
}

void fx_crowd_go_on(struct fx_crowd_counts *counts)
{
	for (uint32_t i = 0; i < counts->room; i++) {
		counts->items[i].newest = 0;
		counts->items[i].self = 0;
	}
	counts->calls = 0;
}

void fx_crowd_count(struct fx_crowd *crowd, uint32_t suppressed, uint64_t ns, uint64_t calls)
{
	struct fx_crowd_function *f = &crowd->functions[suppressed - 1];

	f->calls += calls;
	f->ns += ns * calls;
}

uint64_t fx_crowd_take_all(struct fx_crowd_counts *counts, uint32_t index)
{
	uint64_t all = index < counts->room ? counts->items[index].all : 0;

	if (all)
		counts->items[index].all = 0;
	return all;
}

/* --- What is told of them -------------------------------------------------------------------- */

static int by_calls(const void *a, const void *b)
{
	const struct fx_crowd_function *const *f = a, *const *g = b;
	uint64_t x = (*f)->calls + (*f)->recorded, y = (*g)->calls + (*g)->recorded;

	return x < y ? 1 : x > y ? -1 : 0;
}

void fx_crowd_tell(const struct fx_crowd *crowd, char *ret, size_t size)
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
		int n = snprintf(ret + used, size - used,
				 "%" PRIu64 " %" PRIu64 " %" PRIu64 " %.100s\n", f->calls, f->ns,
				 f->recorded, f->name);

		if (n < 0 || used + (size_t)n >= size) {
			ret[used] = 0;
			break;
		}
		used += (size_t)n;
	}
	free(sorted);
}

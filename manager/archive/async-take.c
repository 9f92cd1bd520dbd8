/* SPDX-License-Identifier: MIT */
#include "manager/archive/async-take.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manager/archive/held-record.h"

/* Where the number of a process stands in the ids of its async events: 22 bits of it. */
#define PROCESS_SHIFT 40

/* As deep as viewers show what has one id. */
#define DEPTH_MAX 512u

/* Ends of one id that are held. */
#define HELD_MAX 4096u

/* --- Names ------------------------------------------------------------------------------------- */

struct async_names {
	struct fx_event_names texts;
	uint64_t hash;
};

static uint64_t async_hash(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static struct async_names async_names_of(const struct fx_rewriting *w, uint64_t header)
{
	struct async_names names = {.texts = fx_event_names_of(w, header)};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = async_hash(hash, names.texts.category.text, names.texts.category.length);
	hash = async_hash(hash, "", 1);
	names.hash = async_hash(hash, names.texts.name.text, names.texts.name.length);
	return names;
}

/* --- Ends that are held ------------------------------------------------------------------------ */

static void async_held_note(struct fx_async *a, struct fx_async_held held)
{
	size_t at = a->held.count++;

	for (; at && a->held.items[at - 1].ns > held.ns; at--)
		a->held.items[at] = a->held.items[at - 1];
	a->held.items[at] = held;
}

/* 0: it is held, or left out for want of room and counted. Or -ENOMEM. */
static int async_held_add(struct fx_rewriting *w, struct fx_async *a,
			  const struct async_names *names)
{
	struct fx_stream *s = w->s;
	uint64_t words[FXT_MAX_RECORD_WORDS];
	int size = fx_held_record_encode(w, &names->texts, words);
	struct fx_async_held held = {
	    .ns = w->words[1], .name = names->hash, .record.unclean = w->unclean};

	if (size < 0 || a->held.count == HELD_MAX || s->asyncs.held == FX_ASYNC_HELD_MAX ||
	    s->asyncs.held_words + (uint32_t)size > FX_ASYNC_HELD_WORDS) {
		s->counts.lost[FX_CAUSE_UNBEGUN]++;
		return 0;
	}
	held.record.words = malloc((size_t)size * FXT_WORD_SIZE);
	if (!held.record.words || fx_vector_reserve(&a->held, 1) < 0) {
		free(held.record.words);
		return -ENOMEM;
	}
	memcpy(held.record.words, words, (size_t)size * FXT_WORD_SIZE);
	held.record.size = (uint32_t)size;
	async_held_note(a, held);
	s->asyncs.held++;
	s->asyncs.held_words += (uint32_t)size;
	return 0;
}

/* Which one ends what has begun, counted from 1: the first that can; 0: none. */
static size_t async_held_find(const struct fx_async *a, const struct fx_async_begin *begin)
{
	for (size_t i = 0; i < a->held.count; i++)
		if (a->held.items[i].ns >= begin->ns && a->held.items[i].name == begin->name)
			return i + 1;
	return 0;
}

/* The same of an end that is earlier: others were put to what it ends, since this begin had not come. */
static size_t async_held_part(struct fx_asyncs *asyncs, const struct fx_async *a,
			      const struct fx_async_begin *begin)
{
	size_t at = a->held.count;

	while (at &&
	       (a->held.items[at - 1].name != begin->name || a->held.items[at - 1].ns >= begin->ns))
		at--;
	return at && fx_asyncs_part(asyncs, a->id, begin->name, a->held.items[at - 1].ns, begin->ns)
		   ? at
		   : 0;
}

/* It comes before its begin in the file; so it has a later time. */
static int async_held_write(struct fx_stream *s, struct fx_async *a, size_t at, uint64_t begin_ns,
			    uint64_t id)
{
	struct fx_async_held held = a->held.items[at];
	int r;

	a->held.count--;
	memmove(&a->held.items[at], &a->held.items[at + 1],
		(a->held.count - at) * sizeof(*a->held.items));
	s->asyncs.held--;
	s->asyncs.held_words -= held.record.size;
	if (held.record.words[1] == begin_ns)
		held.record.words[1]++;
	held.record.words[held.record.size - 1] = id;
	r = fx_held_record_write(s, &held.record);
	if (r == 0)
		fx_stream_counts_event(s);
	free(held.record.words);
	return r;
}

/* --- Events ------------------------------------------------------------------------------------ */

/* The id as the archive has it. */
static uint64_t id_shown(struct fx_stream *s, uint64_t id)
{
	struct fx_stream_shared *shared = s->shared;

	if (id >> FX_FLOW_MAKER_SHIFT == s->id)
		return id; /* TRACE_NONCE() */
	if (!shared->asyncs_plain)
		shared->asyncs_plain = s->id;
	return shared->asyncs_plain == s->id ? id : id ^ (uint64_t)s->pid << PROCESS_SHIFT;
}

static void begin_note(struct fx_async *a, struct fx_async_begin begin)
{
	size_t at = a->open.count++;

	for (; at && a->open.items[at - 1].ns > begin.ns; at--)
		a->open.items[at] = a->open.items[at - 1];
	a->open.items[at] = begin;
}

static int async_take_begin(struct fx_rewriting *w, uint64_t id, uint64_t shown,
			    const struct async_names *names)
{
	const struct fx_async_begin begin = {w->words[1], names->hash};
	struct fx_stream *s = w->s;
	struct fx_async *a = fx_asyncs_get(&s->asyncs, id);
	size_t held;
	int r;

	if (!a)
		return -ENOMEM;
	if (a->open.count == DEPTH_MAX) {
		s->counts.lost[FX_CAUSE_DEEP]++;
		a->deep++;
		return 0;
	}
	held = async_held_find(a, &begin);
	if (held)
		fx_asyncs_pair(&s->asyncs, (struct fx_async_pair){id, begin.name, begin.ns,
								  a->held.items[held - 1].ns});
	else
		held = async_held_part(&s->asyncs, a, &begin);
	if (held) {
		r = async_held_write(s, a, held - 1, begin.ns, shown);
		fx_asyncs_settle(&s->asyncs, a);
		return r < 0 ? r : 1;
	}
	if (s->asyncs.open == FX_ASYNC_OPEN_MAX) {
		fx_asyncs_settle(&s->asyncs, a);
		return 1;
	}
	if (fx_vector_reserve(&a->open, 1) < 0) {
		fx_asyncs_settle(&s->asyncs, a);
		return -ENOMEM;
	}
	begin_note(a, begin);
	s->asyncs.open++;
	return 1;
}

/* The innermost that has this name and has begun by then, counted from 1; 0: none. */
static size_t begin_find(const struct fx_async *a, uint64_t ns, uint64_t name)
{
	size_t at = a->open.count;

	while (at && (a->open.items[at - 1].ns > ns || a->open.items[at - 1].name != name))
		at--;
	return at;
}

/* The first that has begun since, if an end that has come ends it, which was put to what the one at `ns' ends; counted from 1; 0: none. */
static size_t begin_part(struct fx_asyncs *asyncs, const struct fx_async *a, uint64_t ns,
			 uint64_t name)
{
	size_t i = 0;

	while (i < a->open.count && (a->open.items[i].ns <= ns || a->open.items[i].name != name))
		i++;
	return i < a->open.count && fx_asyncs_part(asyncs, a->id, name, ns, a->open.items[i].ns)
		   ? i + 1
		   : 0;
}

static int async_take_end(struct fx_rewriting *w, uint64_t id, const struct async_names *names)
{
	struct fx_stream *s = w->s;
	struct fx_async *a = fx_asyncs_get(&s->asyncs, id);
	size_t at;
	int r;

	if (!a)
		return -ENOMEM;
	if (a->deep) {
		a->deep--;
		return 0;
	}
	at = begin_find(a, w->words[1], names->hash);
	if (at)
		fx_asyncs_pair(
		    &s->asyncs,
		    (struct fx_async_pair){id, names->hash, a->open.items[at - 1].ns, w->words[1]});
	else
		at = begin_part(&s->asyncs, a, w->words[1], names->hash);
	if (!at) {
		r = async_held_add(w, a, names);
		fx_asyncs_settle(&s->asyncs, a);
		return r;
	}
	a->open.count--;
	s->asyncs.open--;
	memmove(&a->open.items[at - 1], &a->open.items[at],
		(a->open.count - at + 1) * sizeof(*a->open.items));
	fx_asyncs_settle(&s->asyncs, a);
	return 1;
}

int fx_async_take(struct fx_rewriting *w, uint64_t header)
{
	const struct async_names names = async_names_of(w, header);
	uint64_t *id = &w->words[w->size - 1], own = *id;

	*id = id_shown(w->s, own);
	switch (FXT_GET(header, EVENT_TYPE)) {
	case FXT_EVENT_ASYNC_BEGIN:
		return async_take_begin(w, own, *id, &names);
	case FXT_EVENT_ASYNC_END:
		return async_take_end(w, own, &names);
	}
	return 1;
}

void fx_async_end(struct fx_stream *s)
{
	s->counts.lost[FX_CAUSE_UNBEGUN] += s->asyncs.held;
	fx_asyncs_clear(&s->asyncs);
}

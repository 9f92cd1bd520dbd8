/* SPDX-License-Identifier: MIT */
#include "manager/archive/meanings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "manager/archive/rewriting.h"
#include "manager/archive/transfers.h"

/* Addresses whose names were told lately. */
#define CACHE_SIZE 128u

struct fx_meaning_entry {
	uint64_t address;
	bool is_caller;
	bool is_named;
	struct fx_local_name name;
};

/* --- Addresses -------------------------------------------------------------------------------- */

static bool is_address(enum fx_meaning meaning)
{
	return meaning == FX_MEANING_CODE || meaning == FX_MEANING_CALLER ||
	       meaning == FX_MEANING_OBJECT;
}

static struct fx_meaning_entry *cache_place(struct fx_stream *s, uint64_t address)
{
	if (!s->meanings)
		s->meanings = calloc(CACHE_SIZE, sizeof(*s->meanings));
	if (!s->meanings)
		return NULL;
	return &s->meanings[(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % CACHE_SIZE];
}

static bool entry_is_of(const struct fx_stream *s, const struct fx_meaning_entry *e,
			uint64_t address, bool is_caller)
{
	return e->address == address && e->is_caller == is_caller &&
	       e->name.name.moment == fx_modules_moment(&s->modules);
}

/* What the name of an address is looked up by: a call returns behind itself. */
static uint64_t place_of(uint64_t address, bool is_caller)
{
	return is_caller ? address - 1 : address;
}

static struct fx_meaning_entry *entry_get(struct fx_stream *s, uint64_t address, bool is_caller)
{
	struct fx_meaning_entry *e = cache_place(s, address);
	uint32_t moment = fx_modules_moment(&s->modules);

	if (!e || entry_is_of(s, e, address, is_caller))
		return e;
	*e = (struct fx_meaning_entry){
	    .address = address,
	    .is_caller = is_caller,
	    .is_named = fx_modules_has_name(&s->modules, moment, place_of(address, is_caller)),
	    .name.name = {.kind = is_caller ? FX_NAME_CALLER : FX_NAME_ADDRESS,
			  .address = address,
			  .moment = moment},
	};
	return e;
}

static bool want_address(struct fx_stream *s, uint64_t address, bool is_caller)
{
	const struct fx_meaning_entry *e = cache_place(s, address);

	if (!e || entry_is_of(s, e, address, is_caller))
		return false;
	return fx_modules_want_known(&s->modules, place_of(address, is_caller));
}

/* --- Events ----------------------------------------------------------------------------------- */

static enum fx_meaning meaning_at(const struct fx_stream *s, uint64_t ref)
{
	return ref < s->names.count ? (enum fx_meaning)s->names.table[ref].meaning
				    : FX_MEANING_NONE;
}

static bool is_of_tracer(const struct fx_stream *s, uint64_t header)
{
	return FXT_GET(header, RECORD_TYPE) == FXT_RECORD_EVENT &&
	       (FXT_GET(header, EVENT_TYPE) == FXT_EVENT_INSTANT ||
		FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_COMPLETE) &&
	       meaning_at(s, FXT_GET(header, EVENT_CATEGORY)) == FX_MEANING_CATEGORY;
}

/* Words behind the arguments. */
static size_t words_behind(uint64_t header)
{
	return FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_COMPLETE;
}

static size_t inline_words(uint64_t ref)
{
	return ref & FXT_STRING_INLINE ? fx_bytes_words(ref & ~(uint64_t)FXT_STRING_INLINE) : 0;
}

/* Where the arguments of an event begin. */
static size_t args_begin(uint64_t header)
{
	return 2 + (FXT_GET(header, EVENT_THREAD) == FXT_THREAD_INLINE ? 2 : 0) +
	       inline_words(FXT_GET(header, EVENT_CATEGORY)) +
	       inline_words(FXT_GET(header, EVENT_NAME));
}

bool fx_meanings_wait(struct fx_rewriting *w, const uint64_t *words)
{
	size_t count = FXT_GET(words[0], EVENT_NARGS), at;
	bool wait = false;

	if (!count || !is_of_tracer(w->s, words[0]))
		return false;
	at = args_begin(words[0]);
	while (count--) {
		enum fx_meaning meaning = meaning_at(w->s, FXT_GET(words[at], ARG_NAME));

		if (is_address(meaning) && FXT_GET(words[at], ARG_TYPE) == FXT_ARG_POINTER &&
		    want_address(w->s, words[at + 1], meaning == FX_MEANING_CALLER))
			wait = true;
		at += FXT_GET(words[at], ARG_SIZE);
	}
	return wait;
}

static uint64_t ticks_to_ns(const struct fx_rewriting *w, uint64_t ticks)
{
	struct fx_timebase *timebase = &w->s->shared->timebase;

	if (ticks > w->ticks)
		return 0;
	return fx_timebase_ns(timebase, w->ticks) - fx_timebase_ns(timebase, w->ticks - ticks);
}

/* Whether it is a call that moves bytes, and of how many arguments. */
static void transfer_begin(struct fx_rewriting *w, uint64_t header)
{
	const struct fx_transfers *transfers = w->s->shared->transfers;
	enum fx_meaning way;

	w->transfer.way = 0;
	if (!w->is_own || w->s->is_kernel || !transfers || !transfers->is_wanted)
		return;
	way = meaning_at(w->s, FXT_GET(header, EVENT_NAME));
	if (!fx_meaning_is_transfer(way) ||
	    FXT_GET(header, EVENT_TYPE) != FXT_EVENT_DURATION_COMPLETE)
		return;
	w->transfer = (struct fx_transfer_args){
	    .way = (uint8_t)way,
	    .nargs = (uint8_t)FXT_GET(header, EVENT_NARGS),
	};
}

/* Of several messages, the bytes are called `size'. */
static bool is_size(const struct fx_rewriting *w, uint32_t ref)
{
	return (w->transfer.way != FX_MEANING_READS_MANY &&
		w->transfer.way != FX_MEANING_WRITES_MANY) ||
	       strcmp(w->s->names.table[ref].text, "size") == 0;
}

/* Where the reference of a text goes; NULL: nowhere. */
static uint32_t *text_place(struct fx_transfer_args *args, enum fx_meaning meaning)
{
	switch (meaning) {
	case FX_MEANING_FLAGS:
		return &args->flags_ref;
	case FX_MEANING_ERROR:
		return &args->error_ref;
	case FX_MEANING_MESSAGES:
		return &args->messages_ref;
	case FX_MEANING_READY:
		return &args->ready_ref;
	case FX_MEANING_ADDRESS:
		return &args->addr_ref;
	case FX_MEANING_FILE:
		return &args->file;
	case FX_MEANING_IN_FILE:
		return &args->in_file;
	case FX_MEANING_OUT_FILE:
		return &args->out_file;
	case FX_MEANING_CONNECTION:
		return &args->connection;
	default:
		return NULL;
	}
}

/* Where the word of its argument goes; NULL: nowhere. */
static uint16_t *text_head_place(struct fx_transfer_args *args, enum fx_meaning meaning)
{
	switch (meaning) {
	case FX_MEANING_FLAGS:
		return &args->flags;
	case FX_MEANING_ERROR:
		return &args->error;
	case FX_MEANING_MESSAGES:
		return &args->messages;
	case FX_MEANING_READY:
		return &args->ready;
	case FX_MEANING_ADDRESS:
		return &args->addr;
	default:
		return NULL;
	}
}

/* An argument of a call that moves bytes. */
static void transfer_note(struct fx_rewriting *w, uint16_t head, uint32_t ref,
			  enum fx_meaning meaning)
{
	struct fx_transfer_args *args = &w->transfer;
	uint64_t type = FXT_GET(w->words[head], ARG_TYPE);
	uint32_t text = (uint32_t)FXT_GET(w->words[head], ARG_STRING_VALUE), *place;
	uint16_t *head_place;

	switch (meaning) {
	case FX_MEANING_FD:
		args->fd = head;
		break;
	case FX_MEANING_RET:
		args->ret = head;
		break;
	case FX_MEANING_SIZE:
		if (is_size(w, ref))
			args->size = head;
		break;
	case FX_MEANING_QUEUE:
		args->queue = head;
		break;
	case FX_MEANING_CHOICE:
		args->choice = head;
		break;
	case FX_MEANING_RECEIVED:
		args->received = head;
		break;
	case FX_MEANING_VALUE:
		args->value = head;
		break;
	case FX_MEANING_TOTAL_READ:
		args->total_read = head;
		break;
	case FX_MEANING_TOTAL_WRITTEN:
		args->total_written = head;
		break;
	default:
		if (type != FXT_ARG_STRING)
			break;
		place = text_place(args, meaning);
		if (place)
			*place = text;
		head_place = text_head_place(args, meaning);
		if (head_place)
			*head_place = head;
	}
}

void fx_meanings_begin(struct fx_rewriting *w)
{
	uint64_t header = w->words[0];

	w->meant_count = 0;
	w->is_own = w->chunk && is_of_tracer(w->s, header);
	w->is_waking =
	    w->is_own && meaning_at(w->s, FXT_GET(header, EVENT_NAME)) == FX_MEANING_WAKES;
	w->ticks = w->words[1];
	transfer_begin(w, header);
}

static bool is_in_ticks(enum fx_meaning meaning, uint64_t type)
{
	return meaning == FX_MEANING_TICKS && type == FXT_ARG_UINT64;
}

static bool is_to_be_said(enum fx_meaning meaning, uint64_t type)
{
	return (is_address(meaning) && type == FXT_ARG_POINTER) ||
	       (meaning == FX_MEANING_THREAD && type == FXT_ARG_INT32);
}

bool fx_meanings_note_plain(struct fx_rewriting *w, size_t head, uint32_t ref)
{
	enum fx_meaning meaning = meaning_at(w->s, ref);
	uint64_t type = FXT_GET(w->words[head], ARG_TYPE);

	if (is_in_ticks(meaning, type) || is_to_be_said(meaning, type))
		return false;
	if (w->transfer.way && fx_meaning_is_of_transfer(meaning))
		transfer_note(w, (uint16_t)head, ref, meaning);
	return true;
}

uint8_t fx_meanings_text_place(const struct fx_stream *s, uint32_t ref)
{
	struct fx_transfer_args args;
	const uint32_t *place = text_place(&args, meaning_at(s, ref));

	return place ? (uint8_t)((const char *)place - (const char *)&args) : 0;
}

void fx_meanings_note(struct fx_rewriting *w, size_t head, uint32_t ref)
{
	enum fx_meaning meaning = meaning_at(w->s, ref);
	uint64_t type = FXT_GET(w->words[head], ARG_TYPE);

	if (w->transfer.way && fx_meaning_is_of_transfer(meaning))
		transfer_note(w, (uint16_t)head, ref, meaning);
	if (is_in_ticks(meaning, type))
		w->words[head + 1] = ticks_to_ns(w, w->words[head + 1]);
	if (!is_to_be_said(meaning, type))
		return;
	if (w->meant_count < FX_MEANT_MAX)
		w->meant[w->meant_count++] =
		    (struct fx_meant){head, w->s->names.table[ref].text, meaning};
}

/* The thread of the archive that an argument tells; its name. NULL: it was not heard of. */
static const char *thread_name(struct fx_rewriting *w, size_t at)
{
	uint32_t tid = (uint32_t)FXT_GET(w->words[at], ARG_VALUE32_VALUE);
	const struct fx_stream_thread *t = fx_stream_thread_known(w->s, tid);

	if (!t)
		return NULL;
	w->words[at] =
	    (w->words[at] & ~FXT_PUT(ARG_VALUE32_VALUE, ~0)) | FXT_PUT(ARG_VALUE32_VALUE, t->shown);
	return t->name[0] ? t->name : w->s->name;
}

/* A reference to the words; 0: there are none. */
static uint32_t meaning_text(struct fx_rewriting *w, const struct fx_meant *m, const char **thread)
{
	struct fx_meaning_entry *e;
	int ref;

	if (m->meaning == FX_MEANING_THREAD) {
		*thread = thread_name(w, m->at);
		ref = *thread ? fx_names_say(&w->s->names, *thread) : 0;
	} else {
		e = entry_get(w->s, w->words[m->at + 1], m->meaning == FX_MEANING_CALLER);
		ref = e && e->is_named ? fx_names_say_local(&w->s->names, &e->name) : 0;
	}
	return ref > 0 ? (uint32_t)ref : 0;
}

/* Puts an argument of one word behind the others. */
static void arg_append(struct fx_rewriting *w, uint32_t name, uint32_t text)
{
	size_t behind = words_behind(w->words[0]), at = w->size - behind;
	uint64_t header = w->words[0] & ~(FXT_PUT(RECORD_SIZE, ~0) | FXT_PUT(EVENT_NARGS, ~0));

	memmove(&w->words[at + 1], &w->words[at], behind * FXT_WORD_SIZE);
	w->words[at] = FXT_PUT(ARG_TYPE, FXT_ARG_STRING) | FXT_PUT(ARG_SIZE, 1) |
		       FXT_PUT(ARG_NAME, name) | FXT_PUT(ARG_STRING_VALUE, text);
	w->size++;
	w->words[0] = header | FXT_PUT(RECORD_SIZE, w->size) |
		      FXT_PUT(EVENT_NARGS, FXT_GET(w->words[0], EVENT_NARGS) + 1);
}

static bool has_room(const struct fx_rewriting *w)
{
	return w->size < FXT_MAX_RECORD_WORDS && FXT_GET(w->words[0], EVENT_NARGS) < FXT_MAX_ARGS;
}

/* An event that says which thread woke its own is named so. */
static void name_waking(struct fx_rewriting *w, const char *thread)
{
	char text[sizeof("woken by ") + FXT_MAX_NAME_LENGTH + 1];
	int ref;

	snprintf(text, sizeof(text), "woken by %s", thread);
	ref = fx_names_say(&w->s->names, text);
	if (ref > 0)
		w->words[0] =
		    (w->words[0] & ~FXT_PUT(EVENT_NAME, ~0)) | FXT_PUT(EVENT_NAME, (unsigned)ref);
}

void fx_meanings_add(struct fx_rewriting *w)
{
	for (unsigned i = 0; i < w->meant_count; i++) {
		const struct fx_meant *m = &w->meant[i];
		const char *thread = NULL;
		uint32_t text = meaning_text(w, m, &thread);
		char name[32];
		int ref;

		if (thread && w->is_waking)
			name_waking(w, thread);
		if (!text || !has_room(w))
			continue;
		snprintf(name, sizeof(name), "%s_name", m->word);
		ref = fx_names_say(&w->s->names, name);
		if (ref > 0)
			arg_append(w, (uint32_t)ref, text);
	}
}

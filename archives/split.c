/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/split.h"

#include <errno.h>
#include <stdlib.h>

#include "archives/copy.h"
#include "archives/places.h"
#include "archives/times.h"

struct split_part {
	struct fx_split_part part;
	struct fx_output *out; /* while it is written */
	struct fx_copy *copy;
	UT_hash_handle hh; /* by key */
};

struct split {
	const struct fx_split_order *order;
	struct fx_split_result *result;
	bool is_first; /* of the readings: faults count */
	bool said;
	struct fx_belongings belongings;
	struct fx_places places;
	struct split_part *parts; /* by key */
	size_t from, to;	  /* numbers of those that are written at a time */
};

/* --- Reading ---------------------------------------------------------------------------------- */

static void split_note_fault(void *opaque, const struct fxt_fault *fault)
{
	struct split *s = opaque;

	if (s->is_first && s->result->fault_count++ == 0)
		s->result->fault = *fault;
}

/* Reads all of the archive. */
static int split_read(struct split *s, int (*step)(struct split *, const struct fxt_record *))
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	int r = fxt_reader_open_path(s->order->path, &reader);

	if (r < 0)
		return r;
	fx_places_clear(&s->places);
	fxt_reader_set_fault_handler(reader, split_note_fault, s);
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		r = step(s, record);
		if (r < 0)
			break;
	}
	fxt_reader_close(reader);
	return r;
}

/* Whether a record has a place of its own in one of the parts. */
static bool split_has_place(const struct fxt_record *record)
{
	return fx_copy_is_content(record) && !fx_belongings_is(record);
}

/* --- First: what is there --------------------------------------------------------------------- */

static int split_look(struct split *s, const struct fxt_record *record)
{
	uint64_t begin, end, ns;

	if (fx_belongings_is(record))
		return fx_belongings_add(&s->belongings, record);
	s->result->left_out += record->kind == FXT_KIND_UNKNOWN;
	if (fx_record_times(record, &begin, &end)) {
		ns = fxt_ticks_to_ns(begin, record->provider->ticks_per_second);
		if (ns < s->places.first_ns)
			s->places.first_ns = ns;
	}
	return 0;
}

/* --- Second: which parts there are ------------------------------------------------------------ */

static struct split_part *split_find(const struct split *s, uint64_t key)
{
	struct split_part *part;

	HASH_FIND(hh, s->parts, &key, sizeof(key), part);
	return part;
}

/* Only what has events, or what else is shown at a time, makes a part. */
static int split_count(struct split *s, const struct fxt_record *record)
{
	struct split_part *part;
	uint64_t key, begin, end;
	int r;

	if (!split_has_place(record))
		return 0;
	r = fx_places_find(&s->places, record, &key);
	if (r < 0 || !fx_record_times(record, &begin, &end))
		return r;
	part = split_find(s, key);
	if (!part) {
		if (HASH_COUNT(s->parts) >= FX_SPLIT_MAX)
			return -EFBIG;
		part = calloc(1, sizeof(*part));
		if (!part)
			return -ENOMEM;
		part->part.key = key;
		HASH_ADD(hh, s->parts, part.key, sizeof(part->part.key), part);
	}
	part->part.events += record->kind == FXT_KIND_EVENT;
	s->result->events += record->kind == FXT_KIND_EVENT;
	return 0;
}

static int split_by_key(const struct split_part *a, const struct split_part *b)
{
	return a->part.key < b->part.key ? -1 : a->part.key > b->part.key;
}

static void split_number(struct split *s)
{
	struct split_part *part, *next;

	HASH_SORT(s->parts, split_by_key);
	HASH_ITER (hh, s->parts, part, next)
		part->part.number = ++s->result->parts;
}

/* --- Then: some parts at a time --------------------------------------------------------------- */

/* Introduces the provider of a record with all that belongs to it. */
static int split_introduce(struct split *s, struct split_part *part,
			   const struct fxt_provider *provider, bool is_empty)
{
	const struct fx_copy_way way = {.provider = provider->id};
	const struct fx_belonging *of = fx_belongings_find(&s->belongings, provider->id);
	int r = 0;

	if (of)
		r = fx_copy_words(part->copy, provider, &way, of->words.items, of->words.count);
	if (r == 0 && is_empty)
		r = fx_copy_words(part->copy, provider, &way, s->belongings.clocks.items,
				  s->belongings.clocks.count);
	return r;
}

static int split_write(struct split *s, const struct fxt_record *record)
{
	struct fx_copy_way way = {.provider = record->provider->id};
	struct split_part *part;
	uint64_t key;
	int r;

	if (!split_has_place(record))
		return 0;
	r = fx_places_find(&s->places, record, &key);
	if (r < 0)
		return r;
	part = split_find(s, key);
	if (!part || !part->copy)
		return 0;
	if (record->kind == FXT_KIND_PROVIDER_EVENT)
		way.provider = record->provider_record.id;
	else if (!fx_copy_has(part->copy, way.provider))
		r = split_introduce(s, part, record->provider, fx_copy_is_empty(part->copy));
	if (r == 0)
		r = fx_copy_record(part->copy, record, &way);
	s->result->left_out += r == 0 && record->kind != FXT_KIND_PROVIDER_EVENT;
	/* What is wrong with an output is said where it is closed. */
	return r == -ENOMEM ? r : 0;
}

static int split_open(struct split *s)
{
	struct split_part *part, *next;
	int r = 0;

	HASH_ITER (hh, s->parts, part, next) {
		if (part->part.number <= s->from || part->part.number > s->to)
			continue;
		r = s->order->open(s->order->opaque, &part->part, &part->out);
		s->said |= r < 0;
		if (r < 0)
			break;
		part->copy = fx_copy_new(part->out);
		if (!part->copy)
			return -ENOMEM;
	}
	return r;
}

static int split_close(struct split *s, int error)
{
	struct split_part *part, *next;

	HASH_ITER (hh, s->parts, part, next) {
		fx_copy_free(part->copy);
		part->copy = NULL;
		if (part->out && error == 0) {
			error = s->order->close(s->order->opaque, &part->part, part->out);
			s->said |= error < 0;
		} else if (part->out) {
			fx_output_close(part->out, NULL);
		}
		part->out = NULL;
	}
	return error;
}

static int split_parts(struct split *s)
{
	int r = 0;

	for (s->from = 0; s->from < s->result->parts && r == 0; s->from = s->to) {
		s->to = s->from + FX_SPLIT_AT_ONCE;
		r = split_open(s);
		if (r == 0)
			r = split_read(s, split_write);
		r = split_close(s, r);
	}
	return r;
}

int fx_split(const struct fx_split_order *order, struct fx_split_result *ret, bool *ret_said)
{
	struct split s = {.order = order, .result = ret, .is_first = true};
	struct split_part *part, *next;
	int r;

	*ret = (struct fx_split_result){0};
	s.places = (struct fx_places){.by = order->by,
				      .every = order->every,
				      .first_ns = UINT64_MAX,
				      .belongings = &s.belongings};
	r = split_read(&s, split_look);
	s.is_first = false;
	if (r == 0)
		r = split_read(&s, split_count);
	ret->crossing = s.places.crossing;
	split_number(&s);
	if (r == 0)
		r = split_parts(&s);
	fx_places_clear(&s.places);
	fx_belongings_free(&s.belongings);
	HASH_ITER (hh, s.parts, part, next) {
		HASH_DEL(s.parts, part);
		free(part);
	}
	*ret_said = s.said;
	return r;
}

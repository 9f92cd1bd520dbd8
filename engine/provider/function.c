/* SPDX-License-Identifier: MIT */
#include "base/fault.h"
#include "engine/provider/function.h"

#include <string.h>

#include "engine/provider/record.h"
#include "engine/provider/stash.h"
#include "engine/provider/string.h"

#define PAIR_WORDS  2u		 /* of a begin or an end */
#define ADDRESS_BIT (1ull << 48) /* FX_STRING_ADDRESS_BIT of format/encode.h */

/* A place in a chunk, in words, is a local index. */
_Static_assert(FX_CHUNK_MAX / 8 <= FX_STRING_MAX - FX_STRING_LOCAL + 1, "local indices");

uint64_t fx_function_header;
void (*fx_function_seen)(uint64_t function);
uint64_t (*fx_function_key)(uint64_t function);

void fx_function_set_category(uint32_t category_string)
{
	fx_function_header = FX_EVENT_HEADER(FX_EVENT_COMPLETE, 3, 0, category_string, 0);
}

static bool pairs_record(struct fx_thread *t, struct fx_open o, uint64_t function,
			 enum fx_event_type type, uint64_t ticks)
{
	return fx_function_record(t, o, function, FX_HEADER_RETYPE(fx_function_header, type), ticks,
				  0);
}

/* What was reserved after room was made. False: a handler has taken the room meanwhile, and this was counted. */
static bool pairs_uncount(struct fx_thread *t, bool written)
{
	if (!written)
		fx_add_acq_rel(&t->slot->dropped, -1);
	return written;
}

/* An end, whose name may have to be defined with it. False: there is no room, and nothing is lost yet. */
static bool pairs_try_end(struct fx_thread *t, struct fx_open o, uint64_t function, uint64_t ticks)
{
	return fx_record_make_room(t, FX_ADDRESS_WORDS + PAIR_WORDS) &&
	       pairs_uncount(t, pairs_record(t, o, function, FX_EVENT_END, ticks));
}

static bool nameless_record(struct fx_thread *t, uint64_t ticks)
{
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, PAIR_WORDS, &r);

	if (!p)
		return false;
	p[1] = ticks;
	fx_record_commit(t, p, FX_HEADER_RETYPE(fx_function_header, FX_EVENT_END), &r);
	return true;
}

/* The same of an end that is owed: whose, nobody knows any more. Without a name it is the innermost call's. */
static bool pairs_try_owed(struct fx_thread *t, uint64_t ticks)
{
	return fx_record_make_room(t, PAIR_WORDS) && pairs_uncount(t, nameless_record(t, ticks));
}

/* Takes one of the ends that are owed: a handler must not write the same one. */
static bool owed_take(struct fx_thread *t)
{
	uint32_t owed = fx_load_relaxed(&t->slot->owed);

	/* Pairs with fx_record_owe() in a handler of this thread. */
	while (owed && !fx_cas_acq_rel(&t->slot->owed, &owed, owed - 1))
		;
	return owed != 0;
}

/*
 * Writes what is owed. Not from a handler that has interrupted a record: it writes into another chunk, which
 * may be read before the one that the begins stand in.
 */
static bool pairs_settle(struct fx_thread *t, uint64_t ticks)
{
	if (t->busy[0] && fx_load_relaxed(&t->slot->owed))
		return false;
	while (owed_take(t)) {
		if (!pairs_try_owed(t, ticks)) {
			fx_add_acq_rel(&t->slot->owed, 1);
			return false;
		}
	}
	return true;
}

fx_cold bool fx_pairs_begin(struct fx_thread *t, struct fx_open o, uint64_t function,
			    uint64_t ticks)
{
	if (!pairs_settle(t, ticks)) {
		fx_record_drop(t, FX_LOSS_FULL);
		return false;
	}
	return pairs_record(t, o, function, FX_EVENT_BEGIN, ticks);
}

fx_cold void fx_pairs_end(struct fx_thread *t, struct fx_open o, uint64_t function, uint64_t ticks)
{
	if (o.frame)
		fx_store_relaxed(&o.frame->key, ticks);
	if (!pairs_settle(t, ticks) || !pairs_try_end(t, o, function, ticks))
		fx_record_owe(t);
}

static uint64_t address_string_header(uint32_t index)
{
	return 2ull | FX_ADDRESS_WORDS << 4 | (uint64_t)index << 16 | 8ull << 32 | ADDRESS_BIT;
}

static uint32_t function_make(uint64_t key, const void *data)
{
	uint64_t function;

	(void)key;
	memcpy(&function, data, sizeof function);
	if (fx_function_seen)
		fx_function_seen(function);
	return fx_string_define(&function, sizeof function, ADDRESS_BIT);
}

uint64_t fx_function_index(struct fx_thread *t, uint64_t function)
{
	uint64_t key = fx_function_key ? fx_function_key(function) : function;

	return fx_string_of_address(t, key, function_make, &function);
}

static unsigned header_words(uint64_t header)
{
	return (unsigned)(header >> 4 & 0xfff);
}

/* What a record says behind its header. */
struct payload {
	uint64_t first;
	const struct fx_arguments *arguments; /* NULL: none */
	uint64_t second;		      /* if the header says that it is there */
};

static unsigned arguments_write(uint64_t *p, const struct fx_arguments *a)
{
	unsigned words = 0;

	for (unsigned i = 0; a && i < FX_ARRAY_LEN(a->lists); i++) {
		if (a->lists[i].size)
			memcpy(p + words, a->lists[i].words, 8ull * a->lists[i].size);
		words += a->lists[i].size;
	}
	return words;
}

static void payload_write(uint64_t *p, uint64_t header, const struct payload *y)
{
	unsigned words = arguments_write(p + 2, y->arguments);

	p[1] = y->first;
	if (header_words(header) > 2) {
		FX_FAULT(record_half);
		p[2 + words] = y->second;
	}
}

/* The header of a record with arguments. */
static uint64_t header_with(uint64_t header, const struct fx_arguments *a)
{
	for (unsigned i = 0; a && i < FX_ARRAY_LEN(a->lists); i++)
		header += (uint64_t)a->lists[i].size << 4 | (uint64_t)a->lists[i].count << 20;
	return header;
}

/* Publishes the record at `p`, with what stands before it. */
static void record_finish(struct fx_thread *t, struct fx_open o, uint64_t *p, uint64_t header,
			  enum fx_event_type type, struct fx_reservation *r)
{
	if (o.frame && type != FX_EVENT_BEGIN) {
		fx_frame_commit(t, o.frame, p, header, r);
		return;
	}
	fx_record_publish(p, header);
	if (o.frame)
		o.frame->sp &= ~FX_FRAME_SILENT;
	fx_record_over(t, r->level);
}

/* Space for a record whose first word is there already. NULL: there will be none; *ret_lost says whether that is a loss,
 * or the open call has been closed by somebody else. */
static uint64_t *record_reserve(struct fx_thread *t, struct fx_open o, unsigned words,
				struct fx_claim first, struct fx_reservation *r, bool *ret_lost)
{
	uint64_t *p = fx_record_reserve_for(t, words, first, r);

	*ret_lost = !p;
	if (p && o.frame && !fx_open_stands(o)) {
		fx_record_disclaim(t, p, first, r->level);
		return NULL;
	}
	return p;
}

static enum fx_event_type header_type(uint64_t header)
{
	return (enum fx_event_type)(header >> 16 & 0xf);
}

/* With an index that this chunk alone knows: the place of its definition there. */
static bool record_defining(struct fx_thread *t, struct fx_open o, uint64_t function,
			    uint64_t header, const struct payload *y)
{
	const struct fx_claim claim = {.time = y->first, .at = FX_CLAIM_DEFINED};
	struct fx_reservation r;
	bool lost;
	uint64_t *p =
	    record_reserve(t, o, FX_ADDRESS_WORDS + header_words(header), claim, &r, &lost);
	uint64_t index;

	if (!p)
		return !lost;
	index = FX_STRING_LOCAL + (uint64_t)(p - t->cursor[r.level].chunk);
	payload_write(p + FX_ADDRESS_WORDS, header, y);
	p[FX_ADDRESS_WORDS] = header | index << 48;
	p[1] = function;
	record_finish(t, o, p, address_string_header((uint32_t)index), header_type(header), &r);
	return true;
}

/* `index': of its name; 0: none. */
static bool function_write(struct fx_thread *t, struct fx_open o, uint64_t function, uint64_t index,
			   uint64_t header, const struct payload *y)
{
	const struct fx_claim claim = {.time = y->first, .at = 1};
	struct fx_reservation r;
	uint64_t *p;
	bool lost;

	header = header_with(header, y->arguments);
	if (!index)
		return record_defining(t, o, function, header, y);
	p = record_reserve(t, o, header_words(header), claim, &r, &lost);
	if (!p)
		return !lost;
	payload_write(p, header, y);
	record_finish(t, o, p, header | index << 48, header_type(header), &r);
	return true;
}

fx_cold bool fx_function_record(struct fx_thread *t, struct fx_open o, uint64_t function,
				uint64_t header, uint64_t first, uint64_t second)
{
	return function_write(t, o, function, fx_function_index(t, function), header,
			      &(struct payload){.first = first, .second = second});
}

fx_cold bool fx_function_instant(struct fx_thread *t, uint64_t place, uint64_t function,
				 uint64_t ticks)
{
	return function_write(t, (struct fx_open){0}, function,
			      fx_string_of_address(t, place, function_make, &function),
			      FX_HEADER_RETYPE(fx_function_header, FX_EVENT_INSTANT),
			      &(struct payload){.first = ticks});
}

fx_cold bool fx_function_complete_with(struct fx_thread *t, struct fx_open o, uint64_t function,
				       uint64_t end, struct fx_argument_words result)
{
	struct fx_arguments a = {{fx_stash_find(t, o), result}};

	return function_write(t, o, function, fx_function_index(t, function), fx_function_header,
			      &(struct payload){.first = o.start, .arguments = &a, .second = end});
}

fx_cold bool fx_function_complete(struct fx_thread *t, struct fx_open o, uint64_t function,
				  uint64_t end)
{
	return fx_function_complete_with(t, o, function, end, (struct fx_argument_words){0});
}

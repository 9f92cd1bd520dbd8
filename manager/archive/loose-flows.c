/* SPDX-License-Identifier: MIT */
#include "manager/archive/loose-flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "manager/archive/held-record.h"

/* --- Writing ---------------------------------------------------------------------------------- */

void fx_loose_write(struct fx_stream *s, const struct fx_held_record *held)
{
	int r = fx_held_record_write(s, held);

	if (r < 0)
		fx_stream_lose(s, r);
}

/* The flow, behind an instant that it can stand in. */
void fx_loose_write_anchored(struct fx_stream *s, const struct fx_held_record *held)
{
	uint64_t words[FXT_MAX_RECORD_WORDS];
	struct fx_held_record instant = {.words = words, .unclean = held->unclean};
	struct fx_encoder encoder;
	struct fxt_record record;
	int r = fxt_record_decode(held->words, held->size, &record, NULL) > 0 ? 0 : -EINVAL;

	if (r == 0) {
		record.event.type = FXT_EVENT_INSTANT;
		record.event.id = 0; /* it is of interest to its thread */
		record.nargs = 0;
		fx_encoder_init(&encoder, words, FXT_MAX_RECORD_WORDS);
		r = fx_record_encode(&encoder, &record);
		instant.size = (uint32_t)encoder.used;
	}
	if (r == 0)
		r = fx_held_record_write(s, &instant);
	if (r < 0) {
		fx_stream_lose(s, r);
		return;
	}
	s->counts.loose++;
	fx_loose_write(s, held);
}

/* --- What is held ------------------------------------------------------------------------------ */

void fx_loose_free(struct fx_stream *s, struct fx_loose_flow *flow)
{
	s->loose_count--;
	s->loose_words -= flow->record.size;
	free(flow->record.words);
}

bool fx_loose_has_room(const struct fx_stream *s, const struct fx_loose *loose, int size)
{
	return s->loose_count < FX_LOOSE_MAX && s->loose_words + (uint64_t)size <= FX_LOOSE_WORDS &&
	       loose->flows.count < FX_LOOSE_THREAD;
}

/* The oldest of the thread, which is the likeliest to be in nothing, makes room. False: there is none to be had. */
static bool loose_make_room(struct fx_stream *s, struct fx_loose *loose, int size)
{
	struct fx_loose_flow *flows = loose->flows.items;

	while (!fx_loose_has_room(s, loose, size)) {
		if (!loose->flows.count)
			return false;
		fx_loose_write_anchored(s, &flows[0].record);
		fx_loose_free(s, &flows[0]);
		loose->flows.count--;
		memmove(&flows[0], &flows[1], loose->flows.count * sizeof(*flows));
	}
	return true;
}

int fx_loose_hold(struct fx_stream *s, struct fx_loose *loose, uint64_t ns,
		  struct fx_held_record record)
{
	size_t bytes = record.size * FXT_WORD_SIZE;
	uint64_t *words;

	if (fx_vector_reserve(&loose->flows, 1) < 0)
		return -ENOMEM;
	words = malloc(bytes);
	if (!words)
		return -ENOMEM;
	memcpy(words, record.words, bytes);
	record.words = words;
	fx_loose_insert(loose, (struct fx_loose_flow){ns, record});
	s->loose_count++;
	s->loose_words += record.size;
	return 0;
}

/* --- Events ------------------------------------------------------------------------------------ */

/* Whether it stands in a slice that the archive has: an instant of its time, or one that has begun by a record of its own. */
static bool loose_is_fast(const struct fx_stream_thread *t, uint64_t ns)
{
	return t->anchor_ns == ns || (t->depth && t->begun_room && t->begun[0].ns <= ns);
}

int fx_loose_take(struct fx_rewriting *w, uint64_t header)
{
	struct fx_event_names names;
	uint64_t words[FXT_MAX_RECORD_WORDS];
	struct fx_held_record record = {.words = words, .unclean = w->unclean};
	int size;

	if (!w->thread || w->s->is_kernel || loose_is_fast(w->thread, w->words[1]))
		return 1;
	names = fx_event_names_of(w, header);
	size = fx_held_record_encode(w, &names, words);
	if (size < 0)
		return size;
	record.size = (uint32_t)size;
	if (!w->thread->loose)
		w->thread->loose = calloc(1, sizeof(*w->thread->loose));
	if (!w->thread->loose || !loose_make_room(w->s, w->thread->loose, size) ||
	    fx_loose_hold(w->s, w->thread->loose, w->words[1], record) < 0)
		fx_loose_write_anchored(w->s, &record);
	return 0;
}

/* What lies in the call that was written. */
static void loose_settle_call(struct fx_stream *s, struct fx_loose *loose)
{
	struct fx_loose_flow *flows = loose->flows.items;
	size_t last = loose->flows.count, first;

	while (last && flows[last - 1].ns > loose->end)
		last--;
	first = last;
	while (first && flows[first - 1].ns >= loose->start)
		first--;
	for (size_t i = first; i < last; i++) {
		fx_loose_write(s, &flows[i].record);
		fx_loose_free(s, &flows[i]);
	}
	memmove(&flows[first], &flows[last], (loose->flows.count - last) * sizeof(*flows));
	loose->flows.count -= last - first;
}

void fx_loose_settle(struct fx_stream *s)
{
	struct fx_loose *left = &s->loose_left;

	if (s->loose_due && s->loose_due->loose)
		loose_settle_call(s, s->loose_due->loose);
	s->loose_due = NULL;
	for (size_t i = 0; i < left->flows.count; i++) {
		fx_loose_write_anchored(s, &left->flows.items[i].record);
		fx_loose_free(s, &left->flows.items[i]);
	}
	left->flows.count = 0;
	s->loose_is_due = false;
}

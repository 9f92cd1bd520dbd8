/* SPDX-License-Identifier: MIT */
#include "manager/archive/held-record.h"

#include <errno.h>
#include <string.h>

#include "format/encode.h"
#include "manager/archive/escaped.h"

static struct fx_event_text held_text_of(const struct fx_rewriting *w, uint32_t ref,
					 const uint64_t *inlined)
{
	const struct fx_name *name;

	if (ref & FXT_STRING_INLINE)
		return (struct fx_event_text){(const char *)inlined, ref & ~FXT_STRING_INLINE};
	name = ref ? fx_names_find(&w->s->names, fx_rewriting_locals(w), ref) : NULL;
	if (!name || name->kind != FX_NAME_TEXT)
		return (struct fx_event_text){0};
	return (struct fx_event_text){name->text, name->length};
}

struct fx_event_names fx_event_names_of(const struct fx_rewriting *w, uint64_t header)
{
	const uint64_t *at = &w->words[FXT_GET(header, EVENT_THREAD) == FXT_THREAD_INLINE ? 4 : 2];
	uint32_t category = (uint32_t)FXT_GET(header, EVENT_CATEGORY);
	struct fx_event_names names = {.category = held_text_of(w, category, at)};

	if (category & FXT_STRING_INLINE)
		at += fx_bytes_words(category & ~FXT_STRING_INLINE);
	names.name = held_text_of(w, (uint32_t)FXT_GET(header, EVENT_NAME), at);
	return names;
}

/* A string whose index may be another's when the record is written stands in it. */
static void held_text_keep(struct fxt_string *string, const struct fx_event_text *text)
{
	if (!(string->ref & FXT_STRING_INLINE) && string->ref >= FX_STRING_LOCAL)
		*string = fx_string_inline(text->text, text->length);
}

/* Of arguments no text is at hand. */
static void held_args_keep(struct fxt_record *record)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < record->nargs; i++) {
		const struct fxt_arg *arg = &record->args[i];
		uint16_t value = arg->type == FXT_ARG_STRING ? arg->string.ref : 0;

		if ((arg->name.ref & FXT_STRING_INLINE || arg->name.ref < FX_STRING_LOCAL) &&
		    (value & FXT_STRING_INLINE || value < FX_STRING_LOCAL))
			record->args[kept++] = *arg;
	}
	record->nargs = kept;
}

int fx_held_record_encode(struct fx_rewriting *w, const struct fx_event_names *names, uint64_t *to)
{
	struct fxt_record record;
	struct fx_encoder encoder;
	int r;

	if (fxt_record_decode(w->words, w->size, &record, NULL) <= 0)
		return -EINVAL;
	if (w->thread) {
		record.event.thread.ref = FXT_THREAD_INLINE;
		record.event.thread.pid = w->s->pid;
		record.event.thread.tid = w->thread->shown;
	}
	held_text_keep(&record.event.category, &names->category);
	held_text_keep(&record.event.name, &names->name);
	held_args_keep(&record);
	fx_encoder_init(&encoder, to, FXT_MAX_RECORD_WORDS);
	r = fx_record_encode(&encoder, &record);
	return r < 0 ? r : (int)encoder.used;
}

int fx_held_record_write(struct fx_stream *s, const struct fx_held_record *held)
{
	struct fx_output *out = s->shared->archive.out;
	struct fx_rewriting w = {.s = s, .words = held->words, .size = held->size};

	if (held->unclean)
		return fx_escaped_write(&w);
	memcpy(fx_output_reserve(out, held->size), held->words, held->size * FXT_WORD_SIZE);
	fx_output_commit(out, held->size);
	return 0;
}

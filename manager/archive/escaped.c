/* SPDX-License-Identifier: MIT */
#include "manager/archive/escaped.h"

#include <errno.h>
#include <stdlib.h>

#include "base/escape.h"
#include "format/encode.h"

/* Room for the texts of one record. */
struct escapes {
	char *at;
	bool brief; /* none is longer than before: the record has no more words than it had */
};

static void escape_text(struct escapes *e, struct fxt_string *s, size_t max)
{
	size_t limit = e->brief ? fx_bytes_words(s->length) * FXT_WORD_SIZE
				: (size_t)s->length * FX_ESCAPE_WIDTH;
	size_t length;

	if (!s->length)
		return;
	length = fx_escape(e->at, limit < max ? limit : max, s->data, s->length, 0);
	s->data = e->at;
	s->length = (uint32_t)length;
	e->at += length;
}

static void escape_string(struct escapes *e, struct fxt_string *s)
{
	if (!(s->ref & FXT_STRING_INLINE))
		return;
	escape_text(e, s, FXT_MAX_STRING_LENGTH);
	*s = fx_string_inline(s->data, s->length);
}

static void escape_record(struct escapes *e, struct fxt_record *r)
{
	switch (r->kind) {
	case FXT_KIND_EVENT:
		escape_string(e, &r->event.category);
		escape_string(e, &r->event.name);
		break;
	case FXT_KIND_BLOB:
		escape_string(e, &r->blob.name);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		escape_string(e, &r->userspace_object.name);
		break;
	case FXT_KIND_LOG:
		escape_text(e, &r->log.message, FXT_MAX_STRING_LENGTH);
		break;
	case FXT_KIND_MODULE:
		escape_text(e, &r->profiler.name, FXT_MAX_NAME_LENGTH);
		break;
	case FXT_KIND_LARGE_EVENT:
	case FXT_KIND_LARGE_ATTACHMENT:
		escape_string(e, &r->large_blob.category);
		escape_string(e, &r->large_blob.name);
		break;
	default:
		break;
	}
	for (uint32_t i = 0; i < r->nargs; i++) {
		escape_string(e, &r->args[i].name);
		if (r->args[i].type == FXT_ARG_STRING)
			escape_string(e, &r->args[i].string);
	}
}

int fx_escaped_write(struct fx_rewriting *w)
{
	struct fx_output *out = w->s->shared->archive.out;
	char *room = malloc(w->size * FXT_WORD_SIZE * FX_ESCAPE_WIDTH);
	int r = room ? -ENOSPC : -ENOMEM;

	for (int brief = 0; room && r < 0 && brief < 2; brief++) {
		struct escapes e = {.at = room, .brief = brief};
		struct fx_encoder encoder;
		struct fxt_record record;

		if (fxt_record_decode(w->words, w->size, &record, NULL) <= 0) {
			r = -EINVAL;
			break;
		}
		escape_record(&e, &record);
		fx_encoder_init(&encoder, fx_output_reserve(out, FXT_MAX_RECORD_WORDS),
				FXT_MAX_RECORD_WORDS);
		r = fx_record_encode(&encoder, &record);
		fx_output_commit(out, encoder.used);
	}
	free(room);
	return r;
}

/* Writes a large blob that readers in use today cannot skip, and that would hide all that follows it. */
int fx_escaped_write_parts(struct fx_rewriting *w, const struct fx_name *name)
{
	struct fxt_record record;
	struct escapes e = {.brief = true};
	struct fxt_string whole;
	char *room = NULL;
	int r;

	if (fxt_record_decode(w->words, w->size, &record, NULL) <= 0)
		return -EINVAL;
	whole = record.large_blob.name;
	if (w->unclean) {
		e.at = room = malloc(w->size * FXT_WORD_SIZE);
		if (!room)
			return -ENOMEM;
		escape_record(&e, &record);
		record.large_blob.name = whole;
	}
	if (name && name->kind == FX_NAME_TEXT) {
		record.large_blob.name.data = name->text;
		record.large_blob.name.length = name->length;
	}
	r = fx_large_write(&w->s->shared->archive, &record);
	free(room);
	return r;
}

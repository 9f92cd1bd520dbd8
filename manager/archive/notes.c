/* SPDX-License-Identifier: MIT */
#include "manager/archive/notes.h"

#include <string.h>

#include "base/escape.h"
#include "manager/archive/own.h"

/* In a block; its text, with a NUL, follows, up to the next multiple of eight. */
struct note {
	const char *name; /* a literal */
	uint32_t tid;
	uint32_t length;
};

static size_t note_bytes(size_t length)
{
	return sizeof(struct note) + ((length + 8) & ~(size_t)7);
}

bool fx_notes_add(struct fx_block *block, uint32_t tid, const char *name, const char *text)
{
	struct fx_drain_block *pieces = &block->pieces;
	struct note note = {.name = name, .tid = tid};
	char clean[FX_NOTE_MAX];

	note.length = (uint32_t)fx_escape(clean, sizeof(clean), text, strlen(text),
					  FX_ESCAPE_KEEP_BACKSLASHES);
	if (pieces->capacity - pieces->used < note_bytes(note.length))
		return false;
	memcpy(pieces->data + pieces->used, &note, sizeof(note));
	memcpy(pieces->data + pieces->used + sizeof(note), clean, note.length);
	pieces->data[pieces->used + sizeof(note) + note.length] = 0;
	pieces->used += note_bytes(note.length);
	return true;
}

static void note_write(struct fx_stream *s, const struct note *note, const char *text, uint64_t ns)
{
	struct fx_stream_thread *t = fx_stream_thread(s, note->tid);
	struct fxt_record record;

	if (!t)
		return;
	record = fx_stream_event(s, t, FXT_EVENT_INSTANT, ns);
	record.event.name = fx_own_text(note->name);
	record.nargs = 1;
	record.args[0] = fx_own_string("where", text);
	fx_archive_record(&s->shared->archive, &record);
}

void fx_notes_write(struct fx_stream *s, const struct fx_block *block)
{
	const struct fx_drain_block *pieces = &block->pieces;
	uint64_t ns = fx_stream_ns(s, block->ticks);
	size_t at = 0;

	if (ns > INT64_MAX)
		return;
	fx_archive_select(&s->shared->archive, s->id);
	while (at < pieces->used) {
		struct note note;

		memcpy(&note, pieces->data + at, sizeof(note));
		note_write(s, &note, (const char *)pieces->data + at + sizeof(note), ns);
		at += note_bytes(note.length);
	}
}

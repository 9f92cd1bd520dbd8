/* SPDX-License-Identifier: MIT */
#include "manager/archive/intake.h"

#include "manager/archive/marks.h"
#include "manager/archive/rows.h"
#include "manager/archive/ties.h"

void fx_intake_piece(struct fx_stream *s, const struct fx_piece *piece, const void *data,
		     uint64_t end_ticks)
{
	fx_archive_select(&s->shared->archive, s->id);
	switch (piece->kind) {
	case FX_PIECE_CHUNK:
		fx_rows_chunk(s, piece, data);
		break;
	case FX_PIECE_DURABLE:
		fx_rows_durable(s, data, piece->bytes / FXT_WORD_SIZE);
		break;
	case FX_PIECE_THREAD:
		fx_marks_thread(s, piece->index, data);
		break;
	case FX_PIECE_FRAMES:
		fx_marks_frames(s, piece->serial, data, piece->bytes / sizeof(struct fx_frame),
				end_ticks);
		break;
	}
}

/* Of threads that were there to the end nothing is open any more. Others' ends have found no room. */
static void threads_end(struct fx_stream *s)
{
	struct fx_stream_thread *t, *next;

	HASH_ITER (hh, s->threads, t, next)
		fx_stream_end_begun(s, t, 0, t->last_end);
}

void fx_intake_finish(struct fx_stream *s, const struct fx_stream_end *end)
{
	fx_archive_select(&s->shared->archive, s->id);
	threads_end(s);
	fx_marks_last(s, end);
	s->counts.lost[FX_CAUSE_NUMBERED] = s->names.numbered;
	fx_ties_end(s->shared->ties, s, end);
	fx_stream_clear(s);
}

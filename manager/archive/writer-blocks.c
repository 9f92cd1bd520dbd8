/* SPDX-License-Identifier: MIT */
/* What each block of the queue does to the archive, and which blocks stand aside. All of it is the writer thread's. */
#include "manager/archive/writer-internal.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/fault.h"
#include "manager/archive/host.h"
#include "manager/archive/intake.h"
#include "manager/archive/marks.h"
#include "manager/archive/notes.h"
#include "manager/settings/report.h"

/* --- Blocks ---------------------------------------------------------------------------------- */

static void inlet_begin(struct fx_writer *w, struct fx_inlet *inlet)
{
	struct fx_stream_who who = {
	    .pid = fx_identity_process(&w->ids, inlet->pid, inlet->exec),
	    .kernel_pid = inlet->pid,
	    .first_tid = inlet->origin ? fx_origin_first_tid(inlet->origin) : inlet->pid,
	    .origin = inlet->origin,
	    .is_kernel = inlet->is_kernel,
	};

	if (!inlet->is_kernel)
		fx_totals_begin(&w->totals, inlet->exec);
	if (fx_stream_create_as(&w->shared, inlet->id, &who, inlet->name, &inlet->stream) < 0) {
		fx_report("out of memory: %s (%u) will be missing", inlet->name, inlet->pid);
		return;
	}
	if (!w->host_written)
		fx_host_write(&w->shared.archive, w->clock->text);
	w->host_written = true;
	inlet->findings = w->anchors.newest.count;
	fx_clocks_catch_up(&w->anchors.clocks, &w->shared.archive);
	if (!inlet->is_kernel)
		fx_ties_birth(&w->ties, inlet->stream, inlet->born, inlet->exec);
}

/* A file that gives no names since it may not be read or is more than is borne; what is missing or has changed is told
 * by the names. */
static void report_symbols(struct fx_writer *w)
{
	struct fx_symbol_problem problem;

	while (fx_symbol_cache_next_problem(w->shared.symbols, &problem)) {
		if (problem.kind == FX_SYMBOL_FILE_UNREADABLE ||
		    problem.kind >= FX_SYMBOL_FILE_NO_MEMORY)
			fx_report("%s: %s; its functions are shown by their addresses",
				  problem.path, fx_symbol_problem_text(problem.kind));
	}
}

static void inlet_end(struct fx_writer *w, struct fx_inlet *inlet, const struct fx_block *block)
{
	struct fx_stream *s = inlet->stream;

	if (s) {
		fx_intake_finish(s, &block->end);
		fx_totals_end(&w->totals, s, &block->end, inlet->exec);
		fx_stream_destroy(s);
	}
	report_symbols(w);
	fx_origin_release(inlet->origin);
	free(inlet);
}

/*
 * The programs come first, as long as little is left to be written: one that becomes ready to run on this processor would
 * wait until the kernel's slice is over, some milliseconds. A piece takes some ten microseconds.
 */
static void give_way(const struct fx_block *block)
{
	if (!block->in_haste)
		sched_yield();
}

/* From where it was left. False: the rest needs a name that is being read. */
static bool write_pieces(struct fx_writer *w, struct fx_block *block)
{
	struct fx_stream *s = block->inlet->stream;

	while (s && block->at < block->pieces.used) {
		const struct fx_piece *piece = (const void *)(block->pieces.data + block->at);

		if (fx_output_error(w->output))
			block->done = piece->bytes;
		else if (block->kind == FX_BLOCK_LOOK)
			block->done = fx_intake_look(s, piece, piece + 1);
		else
			block->done =
			    fx_intake_piece(s, piece, piece + 1, block->done, block->ticks);
		if (block->done < piece->bytes)
			return false;
		block->at += sizeof(*piece) + piece->bytes;
		block->done = 0;
		FX_FAULT(block_half);
		give_way(block);
	}
	if (s && block->looked)
		fx_intake_looked(s, block->ticks);
	return true;
}

void fx_writer_report_error(struct fx_writer *w)
{
	int error = fx_output_error(w->output);

	if (!error || w->error)
		return;
	fx_store_relaxed(&w->error, error);
	fx_report("%s: %s; the archive ends here, the program goes on",
		  strcmp(w->path, "-") == 0 ? "standard output" : w->path,
		  error == -ETIMEDOUT ? "nobody reads it" : strerror(-error));
}

/* The newest finding alone: those between two blocks of a process are few. */
static void inlet_mark_clock(struct fx_writer *w, struct fx_inlet *inlet)
{
	if (!inlet || !inlet->stream || inlet->findings == w->anchors.newest.count)
		return;
	inlet->findings = w->anchors.newest.count;
	fx_archive_select(&w->shared.archive, inlet->stream->id);
	fx_marks_clock(inlet->stream, w->anchors.newest.what, w->anchors.newest.by,
		       w->anchors.newest.ns);
}

/* False: it is not written yet, or not to its end. */
static bool write_block(struct fx_writer *w, struct fx_block *block)
{
	FX_FAULT(block_taken);
	inlet_mark_clock(w, block->inlet);
	switch (block->kind) {
	case FX_BLOCK_BEGIN:
		inlet_begin(w, block->inlet);
		break;
	case FX_BLOCK_DATA:
	case FX_BLOCK_LOOK:
		return write_pieces(w, block);
	case FX_BLOCK_END:
		inlet_end(w, block->inlet, block);
		break;
	case FX_BLOCK_NOTES:
		if (block->inlet->stream)
			fx_notes_write(block->inlet->stream, block);
		break;
	case FX_BLOCK_CHOICE:
		fx_crowd_choose(&w->shared.functions, (const char *)block->data);
		break;
	case FX_BLOCK_FLUSH:
		fx_output_complete(w->output);
		fx_writer_report_error(w);
		/* release: the error stands. Pairs with fx_writer_flushed(). */
		fx_store_release(&w->flushed, w->flushed + 1);
		break;
	}
	return true;
}

/* --- What stands aside ------------------------------------------------------------------------ */

static struct fx_parked *parked_of(const struct fx_block *block)
{
	return block->inlet ? &block->inlet->parked : NULL;
}

/* Whether a process of this pid has blocks among those before `end`: it was another program, and has not ended yet. */
static bool pid_is_parked(const struct fx_writer *w, const struct fx_inlet *inlet,
			  const struct fx_block *end)
{
	for (const struct fx_block *b = w->parking.first; b != end; b = b->next) {
		if (b->inlet && b->inlet != inlet && b->inlet->pid == inlet->pid)
			return true;
	}
	return false;
}

/* Whether there is another list of functions among those before `end', by which all is to be judged that came behind it. */
static bool choice_is_parked(const struct fx_writer *w, const struct fx_block *end)
{
	for (const struct fx_block *b = w->parking.first; b != end; b = b->next) {
		if (b->kind == FX_BLOCK_CHOICE)
			return true;
	}
	return false;
}

/* Whether a block must wait for those that stand aside before `end`. */
static bool must_stand_aside(const struct fx_writer *w, const struct fx_block *block,
			     const struct fx_block *end)
{
	if (w->parking.first == end)
		return false;
	if (block->kind == FX_BLOCK_FLUSH || block->kind == FX_BLOCK_CHOICE ||
	    choice_is_parked(w, end))
		return true;
	return block->kind == FX_BLOCK_BEGIN && pid_is_parked(w, block->inlet, end);
}

/* Looks at a block that stands aside. True: it is written. */
static bool look_at(struct fx_writer *w, struct fx_block *block)
{
	struct fx_inlet *inlet = block->inlet;

	/* Blocks of one process keep their order. */
	if (inlet && inlet->parked.look == w->parking.look)
		return false;
	if (!must_stand_aside(w, block, block) &&
	    (!inlet || !inlet->stream || fx_stream_is_ready(inlet->stream)) &&
	    (block->kind == FX_BLOCK_END || write_block(w, block)))
		return true;
	if (inlet)
		inlet->parked.look = w->parking.look;
	return false;
}

void fx_writer_look_aside(struct fx_writer *w)
{
	struct fx_block **at = &w->parking.first, *block;

	w->parking.look++;
	while ((block = *at)) {
		if (!look_at(w, block)) {
			at = &block->next;
			continue;
		}
		fx_parking_remove(&w->parking, parked_of(block), at);
		/* Its inlet is gone with it. */
		if (block->kind == FX_BLOCK_END)
			write_block(w, block);
		fx_queue_recycle(&w->queue, block);
	}
	w->next_look = fx_monotonic_ns() + FX_LOOK_NS;
}

void fx_writer_take(struct fx_writer *w, struct fx_block *block)
{
	struct fx_parked *parked = parked_of(block);

	if ((parked && parked->blocks) || must_stand_aside(w, block, NULL) ||
	    !write_block(w, block))
		fx_parking_add(&w->parking, parked, block);
	else
		fx_queue_recycle(&w->queue, block);
}

bool fx_inlet_is_behind(const struct fx_inlet *inlet)
{
	return fx_parking_is_full(inlet->parking, &inlet->parked);
}

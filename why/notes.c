/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "report/kinds.h"
#include "report/units.h"
#include "why/notes.h"

static const struct fx_process *notes_process(const struct fx_why *why)
{
	return why->timeline->threads.items[why->thread]->process;
}

/* Categories without any event were off, as far as can be told: processes do not come from nowhere. */
static void notes_of_categories(const struct fx_why *why, struct fx_table *table)
{
	if (!(why->past.kinds & FX_KIND(SYSCALL)))
		fx_table_note(table, "nothing is recorded of the category syscall: waits for "
				     "descriptors, files and time are computing here");
	if (!(why->past.kinds & FX_KIND(PROCESS)) && why->timeline->processes.count > 1)
		fx_table_note(table, "nothing is recorded of the category process: waits for "
				     "children are computing here, and nobody knows who made whom");
}

static void notes_of_losses(const struct fx_why *why, struct fx_table *table)
{
	const struct fx_why_past *past = &why->past;
	char time[FX_UNIT_TEXT_MAX];

	if (past->lost > 0)
		fx_table_note(
		    table, "%s records were lost, so waits and calls may be missing here%s%s",
		    FX_COUNT(past->lost), *past->cure ? "; to keep them: " : "", past->cure);
	if (past->unfinished > 0)
		fx_table_note(table,
			      "%s waits in the archive had not ended; they count until the end "
			      "of their process, for locks as waits for who held them as they "
			      "began; who would have ended the others is not known",
			      FX_COUNT(past->unfinished));
	if (past->forgotten > 0) {
		fx_unit_number(FX_UNIT_NS, (int64_t)past->shortest, time);
		fx_table_note(table, "%s waits shorter than %s count as calls: there were too many",
			      FX_COUNT(past->forgotten), time);
	}
	if (why->order->is_growing)
		fx_table_note(table,
			      "the archive is still being written: calls that are under way, "
			      "and arrows that its end brings, are missing");
	else if (why->timeline->fault.kind != FXT_FAULT_NONE)
		fx_table_note(table, "the archive is damaged: this is of what is whole");
	else if (!why->is_empty && !notes_process(why)->end_ts)
		fx_table_note(table, "the end of its process is not recorded: it may have gone on");
}

static void notes_of_path(const struct fx_why *why, struct fx_table *table)
{
	const struct fx_why_path *path = &why->path;
	char time[FX_UNIT_TEXT_MAX], share[FX_UNIT_TEXT_MAX];

	fx_unit_number(FX_UNIT_NS, (int64_t)path->no_arrow_ns, time);
	fx_unit_real(FX_UNIT_SHARE, (double)path->no_arrow_ns / (double)fx_why_whole(why), share);
	if (why->past.arrows == 0 && path->no_arrow > 0)
		fx_table_note(table,
			      "no arrows are in the archive, so nobody who was waited for is "
			      "known: the categories pthread and process have them");
	else if (path->no_arrow > 0)
		fx_table_note(table,
			      "%s waits, %s of the time (%s), are followed no further: what "
			      "ended them is not recorded",
			      FX_COUNT(path->no_arrow), share, time);
	if (path->perhaps > 0) {
		fx_unit_number(FX_UNIT_NS, (int64_t)path->perhaps_ns, time);
		fx_unit_real(FX_UNIT_SHARE, (double)path->perhaps_ns / (double)fx_why_whole(why),
			     share);
		fx_table_note(table,
			      "%s waits, %s of the time (%s), have no arrow, and are taken to be "
			      "for the only thread that is known to have the other end of the "
			      "pipe, or for the last one that took the mutex: what stands below "
			      "\"perhaps\" is not sure",
			      FX_COUNT(path->perhaps), share, time);
	}
	if (path->unknown_begin > 0)
		fx_table_note(table,
			      "who made a thread, or what came before its first event, is not "
			      "always recorded: that is unknown");
	if (path->is_too_deep)
		fx_table_note(table,
			      "waits within so many others are not followed: they are unknown");
	if (path->is_too_long)
		fx_table_note(table,
			      "there was too much to follow all: what is left is the own time "
			      "of threads");
	if (path->tree.is_cut)
		fx_table_note(table,
			      "there was too much to tell all apart: what is left is the own "
			      "time of what stands above it");
}

static void notes_of_range(const struct fx_why *why, struct fx_table *table)
{
	uint64_t last = why->timeline->last_ts, whole = why->to - why->from;
	char time[FX_UNIT_TEXT_MAX], rest[FX_UNIT_TEXT_MAX];

	fx_unit_number(FX_UNIT_NS, (int64_t)whole, time);
	fx_table_note(table,
		      "shares are of %s; a wait that an arrow ends is what the thread at the "
		      "arrow's other end did meanwhile; own: what nothing below explains",
		      time);
	if (why->ready.first)
		fx_table_note(table, "computing is any time outside recorded waits; for a "
				     "processor: the thread was ready, and had none");
	else
		fx_table_note(table, "computing is any time outside recorded waits, that of "
				     "waiting for a processor too, which fxtrace run --kernel "
				     "records");
	if (why->others > 0)
		fx_table_note(
		    table, "%s others are of this name, too: this is of %s", FX_COUNT(why->others),
		    why->order->number > 0 ? "the one that was asked for" : "the longest");
	if (!why->order->slice && why->order->to == UINT64_MAX && last > why->to &&
	    last - why->to > whole / 20) {
		fx_unit_number(FX_UNIT_NS, (int64_t)(last - why->to), rest);
		fx_table_note(table,
			      "the archive goes on for %s after that: --process and --thread ask "
			      "of others",
			      rest);
	}
}

void fx_why_notes(const struct fx_why *why, struct fx_table *table)
{
	if (why->is_empty) {
		fx_table_note(table, "nothing is recorded of any thread");
	} else {
		notes_of_range(why, table);
		notes_of_path(why, table);
		notes_of_categories(why, table);
	}
	notes_of_losses(why, table);
}

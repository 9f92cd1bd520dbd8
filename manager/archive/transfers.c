/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/archive/rewriting.h"
#include "manager/archive/transfer-boxes.h"
#include "manager/archive/transfer-call.h"
#include "manager/archive/transfer-known.h"
#include "manager/archive/transfer-match.h"
#include "manager/archive/transfer-queues.h"

void fx_transfers_init(struct fx_transfers *transfers, struct fx_archive *archive, bool is_wanted)
{
	*transfers = (struct fx_transfers){.drawing.archive = archive, .is_wanted = is_wanted};
	fx_transfer_ends_init(&transfers->ends);
}

void fx_transfers_destroy(struct fx_transfers *transfers)
{
	fx_transfer_ends_free(&transfers->ends);
	fx_transfer_meets_free(&transfers->meets);
	fx_transfer_drawing_free(&transfers->drawing);
}

/* --- What is remembered of a process ---------------------------------------------------------- */

static struct fx_transfer_stream *transfers_of(struct fx_stream *s)
{
	if (!s->transfers)
		s->transfers = calloc(1, sizeof(*s->transfers));
	return s->transfers;
}

/* --- Calls ------------------------------------------------------------------------------------ */

static bool transfer_only_reads(enum fx_meaning way)
{
	return way == FX_MEANING_READS || way == FX_MEANING_READS_MANY || way == FX_MEANING_GETS ||
	       way == FX_MEANING_TAKES;
}

/* A call of which it is not known what it was about: any channel of the process. */
static void transfers_abandon(struct fx_stream *s, enum fx_meaning way, uint64_t from,
			      uint64_t until)
{
	struct fx_transfer_stream *t = s->transfers;
	bool only_reads = transfer_only_reads(way);

	if (only_reads)
		s->shared->transfers->drawing.has_unknown_reads = true;
	else
		s->shared->transfers->drawing.is_doubtful = true;
	for (uint32_t i = 0; t && i < t->fd_count; i++) {
		if (!t->fds[i].end)
			continue;
		fx_transfer_note_unknown(s, t->fds[i].end, FX_TRANSFER_WAY_READ, from, until);
		if (!only_reads)
			fx_transfer_note_unknown(s, t->fds[i].end, FX_TRANSFER_WAY_WRITTEN, from,
						 until);
	}
}

/* Datagrams go into the box of an address. Several at once may go to several, of which the first is told. */
static void transfer_take_datagrams(const struct fx_transfer_call *call,
				    const struct fx_transfer_end *end, int64_t moved,
				    bool counts_messages)
{
	struct fx_transfers *transfers = call->s->shared->transfers;
	const struct fx_name *name = fx_transfer_text(call->w, call->args->file);
	size_t length;
	const char *address =
	    fx_transfer_arg_text(call, call->args->addr, call->args->addr_ref, &length);
	struct fx_transfer sent =
	    fx_transfer_make(call->s, call->tid, call->begin, call->end, (uint64_t)moved,
			     FX_TRANSFER_WRITES | (call->shown ? FX_TRANSFER_SHOWN : 0));
	struct fx_transfer_end *box;

	if (call->ret < 0 || (counts_messages && call->ret == 0))
		return;
	box = name ? fx_transfer_box_get(&transfers->ends, end, name->text, name->length, address,
					 length)
		   : NULL;
	if (!box || moved < 0 || (counts_messages && address && call->ret > 1)) {
		sent.bytes = FX_TRANSFER_UNKNOWN;
		fx_transfer_box_anywhere(&transfers->ends, &sent);
		return;
	}
	/* Whether one without bytes is sent depends on the call. */
	box->is_odd |= call->ret == 0;
	fx_transfer_note(transfers, box, FX_TRANSFER_WAY_WRITTEN, &sent);
}

static void transfer_take_write(const struct fx_transfer_call *call, struct fx_transfer_end *end,
				bool counts_messages)
{
	struct fx_transfer written;
	int64_t moved = fx_transfer_call_moved(call, end, counts_messages);

	if (fx_transfer_is_datagram(end)) {
		transfer_take_datagrams(call, end, moved, counts_messages);
		return;
	}
	fx_transfer_call_look_for_gap(call, end, FX_TRANSFER_WAY_WRITTEN, call->args->total_written,
				      call->ret > 0 ? call->ret : 0);
	if (moved < 0 && call->ret >= 0)
		end->is_odd = true;
	/* What has no bytes, and what goes elsewhere or by another way, is no part of the order. */
	if ((end->kind == FX_TRANSFER_MESSAGES && (call->ret == 0 || call->args->addr)) ||
	    (call->ret > 0 && fx_transfer_call_has_flag(call, "MSG_OOB")))
		end->is_odd = true;
	if (call->ret < 0 || moved <= 0)
		return;
	written = fx_transfer_make(call->s, call->tid, call->begin, call->end, (uint64_t)moved,
				   FX_TRANSFER_WRITES | (call->shown ? FX_TRANSFER_SHOWN : 0));
	fx_transfer_note(call->s->shared->transfers, end, FX_TRANSFER_WAY_WRITTEN, &written);
}

/* Whether the call tells that there was nothing more to read. */
static uint32_t transfer_emptied(const struct fx_transfer_call *call,
				 const struct fx_transfer_end *end, int64_t moved,
				 bool counts_messages)
{
	int64_t asked;

	if (call->ret < 0) {
		if (!fx_transfer_call_failed_with(call, "EAGAIN"))
			return 0;
		/* What was sent by TCP or UDP may be on its way. */
		return end->kind == FX_TRANSFER_TCP || end->kind == FX_TRANSFER_UDP
			   ? FX_TRANSFER_PERHAPS
			   : FX_TRANSFER_EMPTY;
	}
	if (end->kind == FX_TRANSFER_EVENT)
		return end->is_semaphore ? 0 : FX_TRANSFER_EMPTY;
	if (fx_transfer_is_datagram(end))
		return 0;
	/* The end of a stream is a message without bytes. */
	if (counts_messages)
		return call->ret > 0 && moved == 0 ? FX_TRANSFER_EMPTY : 0;
	if (!fx_transfer_number(call->w, call->args->size, &asked) || call->ret >= asked)
		return 0;
	if (call->ret == 0)
		return FX_TRANSFER_EMPTY | FX_TRANSFER_AT_END;
	return end->kind == FX_TRANSFER_MESSAGES ? 0 : FX_TRANSFER_PERHAPS;
}

static void transfer_take_read(const struct fx_transfer_call *call, struct fx_transfer_end *end,
			       bool counts_messages)
{
	struct fx_transfer taken;
	int64_t moved = fx_transfer_call_moved(call, end, counts_messages);
	uint32_t marks;

	if (fx_transfer_call_has_flag(call, "MSG_ERRQUEUE"))
		return;
	if (fx_transfer_call_has_flag(call, "MSG_PEEK")) {
		if (!fx_transfer_is_datagram(end))
			fx_transfer_call_look_for_gap(call, end, FX_TRANSFER_WAY_READ,
						      call->args->total_read, 0);
		return;
	}
	if ((call->ret >= 0 && moved < 0) ||
	    (call->ret > 0 && fx_transfer_call_has_flag(call, "MSG_OOB")))
		end->is_odd = true;
	/* What had come and was not read yet is gone. */
	if (fx_transfer_call_failed_with(call, "ECONNRESET"))
		fx_transfer_note_unknown(call->s, end, FX_TRANSFER_WAY_READ, call->begin,
					 call->end);
	if (!fx_transfer_is_datagram(end))
		fx_transfer_call_look_for_gap(call, end, FX_TRANSFER_WAY_READ,
					      call->args->total_read,
					      call->ret > 0 ? call->ret : 0);
	/* One without bytes, or the end of what was shut down. */
	else if (call->ret == 0)
		end->is_odd = true;
	marks = transfer_emptied(call, end, moved, counts_messages);
	if (moved <= 0 && !marks)
		return;
	taken = fx_transfer_make(call->s, call->tid, call->begin, call->end,
				 moved > 0 ? (uint64_t)moved : 0,
				 marks | (call->shown ? FX_TRANSFER_SHOWN : 0));
	fx_transfer_note(call->s->shared->transfers, end, FX_TRANSFER_WAY_READ, &taken);
}

/* What an eventfd has from its begin is its maker's. */
static void transfer_take_event(const struct fx_transfer_call *call, struct fx_transfer_end *end)
{
	int64_t value;

	if (call->ret >= 0 && fx_transfer_number(call->w, call->args->value, &value) && value) {
		struct fx_transfer made =
		    fx_transfer_make(call->s, call->tid, call->begin, call->end, (uint64_t)value,
				     FX_TRANSFER_WRITES | (call->shown ? FX_TRANSFER_SHOWN : 0));

		fx_transfer_note(call->s->shared->transfers, end, FX_TRANSFER_WAY_WRITTEN, &made);
	}
}

static void transfer_connects(const struct fx_transfer_call *call)
{
	const struct fx_name *name = fx_transfer_text(call->w, call->args->file);
	bool is_begun = fx_transfer_call_failed_with(call, "EINPROGRESS") ||
			fx_transfer_call_failed_with(call, "EINTR");
	struct fx_transfer made =
	    fx_transfer_make(call->s, call->tid, call->begin, call->end, 0,
			     FX_TRANSFER_WRITES | (call->shown ? FX_TRANSFER_SHOWN : 0));
	struct fx_transfer_end *end =
	    name ? fx_transfer_end_connects(&call->s->shared->transfers->ends, name->text,
					    name->length, call->s->kernel_pid)
		 : NULL;

	if (end && !fx_transfer_call_failed_with(call, "EALREADY") &&
	    !fx_transfer_call_failed_with(call, "EISCONN"))
		fx_transfer_meets_connect(end, &made,
					  call->ret >= 0 ? FX_CONNECTS_DONE
					  : is_begun	 ? FX_CONNECTS_BEGUN
							 : FX_CONNECTS_NOT);
}

static void transfer_accepts(const struct fx_transfer_call *call)
{
	const struct fx_name *listener = fx_transfer_text(call->w, call->args->file);
	struct fx_transfer accepted = fx_transfer_make(call->s, call->tid, call->begin, call->end,
						       0, call->shown ? FX_TRANSFER_SHOWN : 0);
	struct fx_transfer_end *end;

	if (call->ret < 0 || !listener)
		return;
	end = fx_transfer_call_end(call, call->args->connection);
	if (end)
		fx_transfer_meets_add(&call->s->shared->transfers->meets, listener->text,
				      listener->length, &accepted, end);
	else
		call->s->shared->transfers->meets.polls_are_odd = true;
}

/* Whether the only descriptor that a poll has found was ready to be read from. */
static bool transfer_is_readable(const struct fx_transfer_call *call)
{
	uint32_t ref = call->args->ready_ref, length = ref & ~FXT_STRING_INLINE;
	const char *text = (const char *)&call->w->words[call->args->ready + 1];

	if (call->ret != 1 || !call->args->ready || !(ref & FXT_STRING_INLINE))
		return false;
	return memmem(text, length, "POLLIN", 6) || (length > 3 && memcmp(text, "in ", 3) == 0);
}

static void transfer_take_poll(const struct fx_transfer_call *call)
{
	struct fx_transfer_end *end =
	    transfer_is_readable(call) ? fx_transfer_call_end(call, call->args->file) : NULL;
	const struct fx_name *name;
	struct fx_transfer poll =
	    fx_transfer_make(call->s, call->tid, call->begin, call->end, 0,
			     FX_TRANSFER_POLLS | (call->shown ? FX_TRANSFER_SHOWN : 0));

	if (end)
		fx_transfer_note(call->s->shared->transfers, end, FX_TRANSFER_WAY_READ, &poll);
	name =
	    !end && transfer_is_readable(call) ? fx_transfer_text(call->w, call->args->file) : NULL;
	if (name)
		fx_transfer_meets_add(&call->s->shared->transfers->meets, name->text, name->length,
				      &poll, NULL);
}

static void transfer_take_shutdown(const struct fx_transfer_call *call, struct fx_transfer_end *end)
{
	struct fx_transfer shut =
	    fx_transfer_make(call->s, call->tid, call->begin, call->end, 0,
			     FX_TRANSFER_WRITES | (call->shown ? FX_TRANSFER_SHOWN : 0));

	end->reads_no_more |= !fx_transfer_call_has_flag(call, "SHUT_WR");
	if (fx_transfer_call_has_flag(call, "SHUT_RD") &&
	    !fx_transfer_call_has_flag(call, "SHUT_RDWR"))
		return;
	if (end->shut.end && shut.begin <= end->shut.end && end->shut.begin <= shut.end)
		end->is_shut_often = true;
	if (!end->shut.end || shut.begin < end->shut.begin)
		end->shut = shut;
}

/* --- Queues of messages ----------------------------------------------------------------------- */

/* Which queue; NULL: it is not known, or none. */
static struct fx_transfer_end *transfer_queue_of(const struct fx_transfer_call *call)
{
	struct fx_transfer_ends *ends = &call->s->shared->transfers->ends;
	const struct fx_name *file = fx_transfer_text(call->w, call->args->file);
	const char *bracket;
	char name[40];
	int64_t id;

	if (fx_transfer_number(call->w, call->args->queue, &id))
		snprintf(name, sizeof(name), "msg %" PRIi64, id);
	else if (file && file->length > 8 && memcmp(file->text, "mqueue:[", 8) == 0 &&
		 (bracket = memchr(file->text, ']', file->length)) &&
		 (size_t)(bracket - file->text) < sizeof(name))
		snprintf(name, sizeof(name), "%.*s", (int)(bracket - file->text), file->text);
	else
		return NULL;
	return fx_transfer_queue_get(ends, name);
}

/* Nothing of a type was there. */
static bool transfer_misses_type(const struct fx_transfer_call *call, int64_t type)
{
	return fx_transfer_call_failed_with(call, "ENOMSG") && type > 0 &&
	       !fx_transfer_call_has_flag(call, "MSG_EXCEPT");
}

static void transfer_take_queue(const struct fx_transfer_call *call)
{
	struct fx_transfers *transfers = call->s->shared->transfers;
	const struct fx_transfer_args *args = call->args;
	bool puts = args->way == FX_MEANING_PUTS;
	int64_t kind = FX_TRANSFER_NO_KIND;
	struct fx_transfer_end *queue;
	struct fx_transfer moved = fx_transfer_make(
	    call->s, call->tid, call->begin, call->end, call->ret >= 0,
	    (puts ? FX_TRANSFER_WRITES : 0) | (call->shown ? FX_TRANSFER_SHOWN : 0));

	fx_transfer_number(call->w, args->received ? args->received : args->choice, &kind);
	if (call->ret < 0 && !(args->queue && !puts && transfer_misses_type(call, kind)))
		return;
	if (fx_transfer_call_has_flag(call, "MSG_COPY"))
		return;
	queue = transfer_queue_of(call);
	if (args->fd)
		fx_transfer_call_fd_is(call, queue);
	if (call->ret < 0)
		moved.marks |= FX_TRANSFER_EMPTY;
	if (queue)
		queue = fx_transfer_queue_channel(&transfers->ends, queue, kind);
	if (queue)
		fx_transfer_note(transfers, queue,
				 puts ? FX_TRANSFER_WAY_WRITTEN : FX_TRANSFER_WAY_READ, &moved);
	else
		transfers->drawing.is_doubtful = true;
}

/* One that did not end. `first': its descriptor, or the queue's number. */
static void transfer_open_queue(struct fx_stream *s, const struct fx_transfer_fd *fd,
				uint64_t first, bool puts, uint64_t begin, uint64_t end)
{
	struct fx_transfer_ends *ends = &s->shared->transfers->ends;
	struct fx_transfer_end *queue = fd ? fd->end : NULL;
	int way = puts ? FX_TRANSFER_WAY_WRITTEN : FX_TRANSFER_WAY_READ;
	char name[40];

	if (queue && queue->is_queue)
		fx_transfer_note_unknown(s, queue, way, begin, end);
	/* A call of System V, or of a descriptor that was not used before. */
	snprintf(name, sizeof(name), "msg %" PRIu64, first);
	queue = fx_transfer_queue_get(ends, name);
	if (queue)
		fx_transfer_note_unknown(s, queue, way, begin, end);
}

/* --- By kind ---------------------------------------------------------------------------------- */

/* What leads where, by the kind of call. */
static void transfer_take_by_way(const struct fx_transfer_call *call)
{
	const struct fx_transfer_args *args = call->args;
	struct fx_transfer_end *end;

	switch ((enum fx_meaning)args->way) {
	case FX_MEANING_READS:
	case FX_MEANING_READS_MANY:
	case FX_MEANING_TAKES:
		end = fx_transfer_call_end(call, args->file);
		fx_transfer_call_fd_is(call, end);
		if (end)
			transfer_take_read(call, end, args->way == FX_MEANING_READS_MANY);
		break;
	case FX_MEANING_WRITES:
	case FX_MEANING_WRITES_MANY:
	case FX_MEANING_ADDS:
		end = fx_transfer_call_end(call, args->file);
		fx_transfer_call_fd_is(call, end);
		if (end)
			transfer_take_write(call, end, args->way == FX_MEANING_WRITES_MANY);
		break;
	case FX_MEANING_MOVES:
		end = fx_transfer_call_end(call, args->in_file);
		if (end)
			transfer_take_read(call, end, false);
		/* fall through */
	case FX_MEANING_COPIES:
		end = fx_transfer_call_end(call, args->out_file);
		if (end)
			transfer_take_write(call, end, false);
		/* Its pages may be parts of such. */
		if (end)
			end->is_resized = true;
		break;
	case FX_MEANING_ACCEPTS:
		transfer_accepts(call);
		break;
	case FX_MEANING_MAKES:
		end = fx_transfer_call_end(call, args->file);
		if (end)
			transfer_take_event(call, end);
		break;
	case FX_MEANING_PAIRS:
		fx_transfer_call_end(call, args->file);
		break;
	case FX_MEANING_SHUTS:
		end = fx_transfer_call_end(call, args->file);
		if (end && call->ret == 0)
			transfer_take_shutdown(call, end);
		break;
	case FX_MEANING_SETS:
		end = fx_transfer_call_has_flag(call, "F_SETPIPE_SZ")
			  ? fx_transfer_call_end(call, args->file)
			  : NULL;
		if (end)
			end->is_resized = true;
		break;
	case FX_MEANING_POLLS:
		transfer_take_poll(call);
		break;
	case FX_MEANING_CONNECTS:
		transfer_connects(call);
		break;
	default: /* either way */
		end = fx_transfer_call_end(call, args->file);
		if (end && call->ret > 0)
			end->is_odd = true;
		break;
	}
}

void fx_transfers_take(struct fx_rewriting *w, uint64_t begin, uint64_t end, bool shown)
{
	const struct fx_transfer_args *args = &w->transfer;
	struct fx_transfer_call call = {
	    .s = w->s, .w = w, .args = args, .begin = begin, .end = end, .shown = shown};

	if (!args->way || !w->thread || w->is_virtual || !transfers_of(w->s))
		return;
	call.tid = w->thread->shown;
	/* One that was left, by a cancellation perhaps, says nothing. */
	if (!args->nargs && args->way < FX_MEANING_CONNECTS) {
		transfers_abandon(w->s, (enum fx_meaning)args->way, begin, end);
		return;
	}
	if (!fx_transfer_number(w, args->ret, &call.ret))
		return;
	if (args->way == FX_MEANING_PUTS || args->way == FX_MEANING_GETS) {
		transfer_take_queue(&call);
		return;
	}
	if (!args->file && !args->in_file && !args->out_file) {
		w->s->shared->transfers->drawing.is_doubtful |=
		    call.ret > 0 && args->way < FX_MEANING_CONNECTS;
		return;
	}
	transfer_take_by_way(&call);
}

void fx_transfers_open(struct fx_stream *s, uint32_t name, uint64_t first, uint64_t begin,
		       uint64_t end)
{
	const struct fx_name *known;
	struct fx_transfer_fd *fd;

	if (!s->shared->transfers || !s->shared->transfers->is_wanted)
		return;
	known = fx_names_find(&s->names, NULL, name);
	if (known && known->meaning == FX_MEANING_ACCEPTS)
		s->shared->transfers->meets.polls_are_odd = true;
	if (!known || !fx_meaning_is_transfer((enum fx_meaning)known->meaning) ||
	    known->meaning >= FX_MEANING_CONNECTS || !transfers_of(s))
		return;
	fd = fx_transfer_fd_get(s->transfers, (int64_t)first);
	if (known->meaning == FX_MEANING_PUTS || known->meaning == FX_MEANING_GETS)
		transfer_open_queue(s, fd, first, known->meaning == FX_MEANING_PUTS, begin, end);
	else if (fd && fd->end &&
		 (known->meaning == FX_MEANING_READS || known->meaning == FX_MEANING_TAKES))
		fx_transfer_note_unknown(s, fd->end, FX_TRANSFER_WAY_READ, begin, end);
	else if (fd && fd->end && known->meaning == FX_MEANING_WRITES &&
		 fx_transfer_is_datagram(fd->end))
		fx_transfer_note_anywhere(s, begin, end);
	else if (fd && fd->end &&
		 (known->meaning == FX_MEANING_WRITES || known->meaning == FX_MEANING_ADDS))
		fx_transfer_note_unknown(s, fd->end, FX_TRANSFER_WAY_WRITTEN, begin, end);
	else if (!(fd && fd->is_known) || known->meaning == FX_MEANING_MOVES)
		transfers_abandon(s, (enum fx_meaning)known->meaning, begin, end);
}

/* What it did behind its last record that came is not known. */
static void transfers_end_lossy(struct fx_stream *s, uint64_t until)
{
	struct fx_transfers *transfers = s->shared->transfers;
	struct fx_transfer_stream *t = s->transfers;

	if (fx_vector_reserve(&transfers->drawing.lossy, 1) == 0)
		transfers->drawing.lossy.items[transfers->drawing.lossy.count++] = s->id;
	else
		transfers->drawing.is_doubtful = true;
	for (uint32_t i = 0; t && i < t->fd_count; i++) {
		for (int way = 0; way < FX_TRANSFER_WAYS && t->fds[i].end; way++) {
			uint64_t last = t->fds[i].ways[way].last;

			if (last)
				fx_transfer_note_unknown(s, t->fds[i].end, way, last,
							 last > until ? last : until);
		}
	}
}

void fx_transfers_end(struct fx_stream *s, const struct fx_stream_end *end)
{
	if (!s->shared->transfers || !s->shared->transfers->is_wanted)
		return;
	if (fx_stream_is_lossy(s, end))
		transfers_end_lossy(s, fx_stream_ns(s, end->ticks));
}

/* --- The end ---------------------------------------------------------------------------------- */

void fx_transfers_finish(struct fx_transfers *transfers, bool is_doubtful)
{
	struct fx_transfer_end *end, *next;

	if (!transfers->is_wanted)
		return;
	transfers->drawing.is_doubtful |= is_doubtful;
	fx_transfer_ends_join(&transfers->ends);
	fx_transfer_meets_draw(&transfers->meets, &transfers->drawing);
	if (transfers->ends.is_full)
		transfers->drawing.counts.left[FX_TRANSFER_LEFT_MANY]++;
	HASH_ITER (hh, transfers->ends.ends, end, next)
		fx_transfer_draw(&transfers->drawing, end);
	HASH_ITER (hh, transfers->ends.boxes, end, next)
		fx_transfer_draw(&transfers->drawing, end);
}

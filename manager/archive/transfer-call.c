/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfer-call.h"

#include <string.h>

#include "manager/archive/rewriting.h"
#include "manager/archive/transfer-boxes.h"
#include "manager/archive/transfer-known.h"

/* In place of an end: what is called so is no channel. */
static struct fx_transfer_end none;

const struct fx_name *fx_transfer_text(const struct fx_rewriting *w, uint32_t ref)
{
	const struct fx_name *name = ref && !(ref & FXT_STRING_INLINE)
					 ? fx_names_find(&w->s->names, fx_rewriting_locals(w), ref)
					 : NULL;

	return name && name->kind == FX_NAME_TEXT ? name : NULL;
}

struct fx_transfer_end *fx_transfer_call_end(const struct fx_transfer_call *call, uint32_t ref)
{
	struct fx_transfers *transfers = call->s->shared->transfers;
	struct fx_transfer_end **place, *end;
	const struct fx_name *name;

	place = fx_transfer_ref_place(call->s->transfers, ref);
	if (place && *place)
		return *place == &none ? NULL : *place;
	name = fx_transfer_text(call->w, ref);
	if (!name)
		return NULL;
	end = fx_transfer_end_get(&transfers->ends, name->text, name->length, call->s->kernel_pid);
	if (place)
		*place = end ? end : &none;
	return end;
}

void fx_transfer_note(struct fx_transfers *transfers, struct fx_transfer_end *end, int way,
		      const struct fx_transfer *call)
{
	struct fx_transfer *added =
	    fx_runs_add(way == FX_TRANSFER_WAY_WRITTEN ? &end->written : &end->read);

	if (!added) {
		end->is_odd = true;
		transfers->drawing.is_doubtful = true;
		return;
	}
	*added = *call;
	if (added->bytes != FX_TRANSFER_UNKNOWN && added->bytes > FX_TRANSFER_BYTES_MAX)
		added->bytes = FX_TRANSFER_UNKNOWN;
	if (call->begin < end->first)
		end->first = call->begin;
	if (call->end > end->last)
		end->last = call->end;
}

struct fx_transfer fx_transfer_make(const struct fx_stream *s, uint32_t tid, uint64_t begin,
				    uint64_t end, uint64_t bytes, uint32_t marks)
{
	return (struct fx_transfer){.begin = begin,
				    .end = end,
				    .bytes = bytes,
				    .provider = s->id,
				    .pid = s->pid,
				    .tid = tid,
				    .marks = marks};
}

bool fx_transfer_number(const struct fx_rewriting *w, uint16_t at, int64_t *ret)
{
	if (!at)
		return false;
	switch (FXT_GET(w->words[at], ARG_TYPE)) {
	case FXT_ARG_INT32:
		*ret = (int32_t)FXT_GET(w->words[at], ARG_VALUE32_VALUE);
		return true;
	case FXT_ARG_UINT32:
		*ret = (int64_t)FXT_GET(w->words[at], ARG_VALUE32_VALUE);
		return true;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
		*ret = (int64_t)w->words[at + 1];
		return true;
	default:
		return false;
	}
}

void fx_transfer_call_fd_is(const struct fx_transfer_call *call, struct fx_transfer_end *end)
{
	struct fx_transfer_fd *fd;
	int64_t number;

	if (!fx_transfer_number(call->w, call->args->fd, &number))
		return;
	fd = fx_transfer_fd_get(call->s->transfers, number);
	if (fd && fd->end != end)
		*fd = (struct fx_transfer_fd){.end = end};
	if (fd)
		fd->is_known = true;
}

void fx_transfer_note_unknown(struct fx_stream *s, struct fx_transfer_end *end, int way,
			      uint64_t from, uint64_t until)
{
	struct fx_transfer call = fx_transfer_make(s, 0, from, until, FX_TRANSFER_UNKNOWN, 0);

	fx_transfer_note(s->shared->transfers, end, way, &call);
}

void fx_transfer_note_anywhere(struct fx_stream *s, uint64_t from, uint64_t until)
{
	struct fx_transfer call = fx_transfer_make(s, 0, from, until, FX_TRANSFER_UNKNOWN, 0);

	fx_transfer_box_anywhere(&s->shared->transfers->ends, &call);
}

const char *fx_transfer_arg_text(const struct fx_transfer_call *call, uint16_t at, uint32_t ref,
				 size_t *ret)
{
	const struct fx_name *name;

	*ret = ref & ~FXT_STRING_INLINE;
	if (at && ref & FXT_STRING_INLINE)
		return (const char *)&call->w->words[at + 1];
	name = at ? fx_transfer_text(call->w, ref) : NULL;
	*ret = name ? name->length : 0;
	return name ? name->text : NULL;
}

bool fx_transfer_call_has_flag(const struct fx_transfer_call *call, const char *flag)
{
	size_t length;
	const char *text =
	    fx_transfer_arg_text(call, call->args->flags, call->args->flags_ref, &length);

	return text && memmem(text, length, flag, strlen(flag));
}

bool fx_transfer_call_failed_with(const struct fx_transfer_call *call, const char *error)
{
	size_t length;
	const char *text =
	    fx_transfer_arg_text(call, call->args->error, call->args->error_ref, &length);

	return text && length == strlen(error) && memcmp(text, error, length) == 0;
}

void fx_transfer_call_look_for_gap(const struct fx_transfer_call *call, struct fx_transfer_end *end,
				   int way, uint16_t at, int64_t added)
{
	struct fx_transfer_fd *fd;
	uint64_t before = 0, last = 0;
	int64_t number, total;

	if (!fx_transfer_number(call->w, call->args->fd, &number))
		return;
	fd = fx_transfer_fd_get(call->s->transfers, number);
	if (!fd)
		return;
	if (fd->ways[way].tid == call->tid) {
		before = fd->ways[way].total;
		last = fd->ways[way].last;
	}
	if (!fx_transfer_number(call->w, at, &total) || total < added)
		return;
	/* Threads that use one descriptor by turns come in no order. */
	if ((!fd->ways[way].tid || fd->ways[way].tid == call->tid) &&
	    (uint64_t)total > before + (uint64_t)added && last <= call->begin) {
		struct fx_transfer lost = fx_transfer_make(
		    call->s, 0, last, call->begin,
		    end->kind == FX_TRANSFER_MESSAGES || end->kind == FX_TRANSFER_EVENT
			? FX_TRANSFER_UNKNOWN
			: (uint64_t)total - before - (uint64_t)added,
		    FX_TRANSFER_LOST);

		fx_transfer_note(call->s->shared->transfers, end, way, &lost);
	}
	fd->ways[way].total = (uint64_t)total;
	fd->ways[way].last = call->end;
	fd->ways[way].tid = call->tid;
}

/* How many of several messages there were; the end of them counts as one without bytes. -1: that is not known. */
static int64_t transfer_messages(const struct fx_transfer_call *call,
				 const struct fx_transfer_end *end)
{
	uint32_t ref = call->args->messages_ref, length = ref & ~FXT_STRING_INLINE;
	const char *text = (const char *)&call->w->words[call->args->messages + 1];
	int64_t count = 0, whole = 0;

	if (call->ret <= 0)
		return 0;
	if (fx_transfer_is_datagram(end))
		return call->ret;
	if (!call->args->messages || !(ref & FXT_STRING_INLINE))
		return -1;
	for (uint32_t at = 0; at < length; at++) {
		bool begins = at == 0 || text[at - 1] == ' ';

		count += begins;
		whole += begins && text[at] != '0';
	}
	return count == call->ret ? whole : -1;
}

int64_t fx_transfer_call_moved(const struct fx_transfer_call *call,
			       const struct fx_transfer_end *end, bool counts_messages)
{
	int64_t bytes;

	if (end->kind == FX_TRANSFER_EVENT && call->ret >= 0)
		return fx_transfer_number(call->w, call->args->value, &bytes) ? bytes : -1;
	if (fx_transfer_is_datagram(end) && !counts_messages)
		return call->ret >= 0;
	if (end->kind == FX_TRANSFER_MESSAGES || fx_transfer_is_datagram(end))
		return counts_messages ? transfer_messages(call, end) : call->ret > 0;
	if (counts_messages)
		return fx_transfer_number(call->w, call->args->size, &bytes) && call->ret > 0
			   ? bytes
			   : 0;
	return call->ret;
}

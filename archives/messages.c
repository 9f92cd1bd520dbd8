/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- What a call says ------------------------------------------------------------------------- */

static bool messages_number(const struct fxt_arg *arg, uint64_t *ret)
{
	if (!arg)
		return false;
	switch (arg->type) {
	case FXT_ARG_INT32:
		*ret = arg->int32 > 0 ? (uint64_t)arg->int32 : 0;
		return true;
	case FXT_ARG_UINT32:
		*ret = arg->uint32;
		return true;
	case FXT_ARG_INT64:
		*ret = arg->int64 > 0 ? (uint64_t)arg->int64 : 0;
		return true;
	case FXT_ARG_UINT64:
		*ret = arg->uint64;
		return true;
	default:
		return false;
	}
}

/* An address of either end: an IPv4 address reads the same by IPv6. */
static size_t messages_address(const char *text, size_t length, char *ret, size_t size)
{
	static const char mapped[] = "[::ffff:";
	const char *bracket = memchr(text, ']', length);

	if (bracket && length > strlen(mapped) && memcmp(text, mapped, strlen(mapped)) == 0 &&
	    memchr(text, '.', length))
		return (size_t)snprintf(
		    ret, size, "%.*s%.*s", (int)(bracket - text - (ptrdiff_t)strlen(mapped)),
		    text + strlen(mapped), (int)(text + length - bracket - 1), bracket + 1);
	return (size_t)snprintf(ret, size, "%.*s", (int)length, text);
}

/* "socket:[INODE] tcp OWN->PEER" */
static bool messages_parse(const struct fxt_string *file, struct fx_stream_call *ret)
{
	static const char head[] = "socket:[", kind[] = "] tcp ";
	char text[200], own[100], peer[100], *rest, *arrow;

	if (file->length >= sizeof(text) || file->length < strlen(head) ||
	    memcmp(file->data, head, strlen(head)) != 0)
		return false;
	memcpy(text, file->data, file->length);
	text[file->length] = '\0';
	ret->inode = strtoull(text + strlen(head), &rest, 10);
	if (strncmp(rest, kind, strlen(kind)) != 0)
		return false;
	rest += strlen(kind);
	arrow = strstr(rest, "->");
	if (!arrow ||
	    messages_address(rest, (size_t)(arrow - rest), own, sizeof(own)) >= sizeof(own) ||
	    messages_address(arrow + 2, strlen(arrow + 2), peer, sizeof(peer)) >= sizeof(peer))
		return false;
	snprintf(ret->key, sizeof(ret->key), "%s->%s", own, peer);
	snprintf(ret->other_key, sizeof(ret->other_key), "%s->%s", peer, own);
	return true;
}

bool fx_stream_call_read(const struct fxt_record *record, struct fx_stream_call *ret)
{
	const struct fxt_arg *file, *total, *fd;
	uint64_t rate = record->provider->ticks_per_second;

	if (record->kind != FXT_KIND_EVENT || record->event.type != FXT_EVENT_DURATION_COMPLETE ||
	    record->nargs < 4)
		return false;
	total = fxt_record_find_arg(record, "total_written");
	ret->direction = total ? FX_DIRECTION_SENT : FX_DIRECTION_RECEIVED;
	if (!total)
		total = fxt_record_find_arg(record, "total_read");
	if (!messages_number(total, &ret->position) ||
	    !messages_number(fxt_record_find_arg(record, "ret"), &ret->bytes) || ret->bytes == 0)
		return false;
	file = fxt_record_find_arg(record, "file");
	fd = fxt_record_find_arg(record, "fd");
	if (!file || file->type != FXT_ARG_STRING || !fd || fd->type != FXT_ARG_INT32 ||
	    !messages_parse(&file->string, ret))
		return false;
	ret->fd = fd->int32;
	ret->pid = record->event.thread.pid;
	ret->ns = fxt_ticks_to_ns(ret->direction == FX_DIRECTION_SENT ? record->event.timestamp
								      : record->event.end_time,
				  rate);
	return true;
}

/* --- All of an archive ------------------------------------------------------------------------ */

static struct fx_stream_end *messages_end(struct fx_messages *messages,
					  const struct fx_stream_call *call)
{
	struct fx_stream_end *end;

	HASH_FIND_STR(messages->ends, call->key, end);
	if (end)
		return end;
	end = calloc(1, sizeof(*end));
	if (!end)
		return NULL;
	end->key = strdup(call->key);
	end->other_key = strdup(call->other_key);
	if (!end->key || !end->other_key) {
		free(end->key);
		free(end->other_key);
		free(end);
		return NULL;
	}
	end->inode = call->inode;
	end->pid = call->pid;
	end->fd = call->fd;
	HASH_ADD_KEYPTR(hh, messages->ends, end->key, strlen(end->key), end);
	return end;
}

int fx_messages_add(struct fx_messages *messages, const struct fxt_record *record)
{
	struct fx_stream_end *end;
	struct fx_stream_call call;
	fx_message_list *calls;

	if (!fx_stream_call_read(record, &call))
		return 0;
	if (messages->count >= FX_MESSAGES_MAX) {
		messages->beyond++;
		return 0;
	}
	end = messages_end(messages, &call);
	if (!end)
		return -ENOMEM;
	end->is_odd |= end->inode != call.inode || end->pid != call.pid || end->fd != call.fd;
	calls = &end->calls[call.direction];
	if (fx_vector_reserve(calls, 1) < 0)
		return -ENOMEM;
	calls->items[calls->count++] =
	    (struct fx_message){.position = call.position, .ns = call.ns};
	messages->count++;
	return 0;
}

static int messages_compare(const void *a, const void *b)
{
	const struct fx_message *x = a, *y = b;

	return x->position < y->position ? -1 : x->position > y->position;
}

void fx_messages_seal(struct fx_messages *messages)
{
	struct fx_stream_end *end, *next;

	HASH_ITER (hh, messages->ends, end, next) {
		for (int direction = 0; direction < 2; direction++) {
			fx_message_list *calls = &end->calls[direction];

			if (calls->count > 1)
				qsort(calls->items, calls->count, sizeof(*calls->items),
				      messages_compare);
			for (size_t i = 1; i < calls->count; i++)
				end->is_odd |=
				    calls->items[i].position == calls->items[i - 1].position ||
				    calls->items[i].ns < calls->items[i - 1].ns;
		}
	}
}

struct fx_stream_end *fx_messages_find(const struct fx_messages *messages, const char *key)
{
	struct fx_stream_end *end;

	HASH_FIND_STR(messages->ends, key, end);
	return end && !end->is_odd ? end : NULL;
}

const struct fx_message *fx_messages_reach(const fx_message_list *calls, uint64_t position)
{
	size_t low = 0, high = calls->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (calls->items[middle].position < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low < calls->count ? &calls->items[low] : NULL;
}

void fx_messages_free(struct fx_messages *messages)
{
	struct fx_stream_end *end, *next;

	HASH_ITER (hh, messages->ends, end, next) {
		HASH_DEL(messages->ends, end);
		fx_vector_free(&end->calls[FX_DIRECTION_SENT]);
		fx_vector_free(&end->calls[FX_DIRECTION_RECEIVED]);
		free(end->key);
		free(end->other_key);
		free(end);
	}
}

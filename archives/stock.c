/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/stock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archives/copy.h"
#include "base/escape.h"
#include "lists/hashes.h"
#include "base/utf8.h"
#include "format/encode.h"

/* Bytes of an argument that are shown, in hexadecimal. */
#define STOCK_BYTES 256u

/* Bytes of a text that was none, escaped. */
#define STOCK_TEXT 1024u

/* The process of a thread: the newer forms of switches do not say. */
struct stock_thread {
	uint64_t tid, pid;
	UT_hash_handle hh;
};

struct stock {
	struct fx_copy *copy;
	struct fx_stock_result *result;
	struct stock_thread *threads;
	struct fxt_record record;      /* as it is written */
	char escaped[40 * STOCK_TEXT]; /* texts of the record, */
	size_t escaped_used;
	char texts[FXT_MAX_ARGS][2 * STOCK_BYTES + 1];
};

/* --- Threads ---------------------------------------------------------------------------------- */

static int stock_note_thread(struct stock *s, uint64_t pid, uint64_t tid)
{
	struct stock_thread *thread;

	HASH_FIND(hh, s->threads, &tid, sizeof(tid), thread);
	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return -ENOMEM;
		thread->tid = tid;
		HASH_ADD(hh, s->threads, tid, sizeof(thread->tid), thread);
	}
	thread->pid = pid;
	return 0;
}

static int stock_note(struct stock *s, const struct fxt_record *record)
{
	const struct fxt_arg *owner;

	if (record->kind == FXT_KIND_THREAD)
		return stock_note_thread(s, record->thread.pid, record->thread.tid);
	if (record->kind != FXT_KIND_KERNEL_OBJECT ||
	    record->kernel_object.type != FXT_OBJECT_THREAD)
		return 0;
	owner = fxt_record_find_arg(record, "process");
	return owner && owner->type == FXT_ARG_KOID
		   ? stock_note_thread(s, owner->koid, record->kernel_object.koid)
		   : 0;
}

static uint64_t stock_owner(const struct stock *s, uint64_t tid)
{
	struct stock_thread *thread;

	HASH_FIND(hh, s->threads, &tid, sizeof(tid), thread);
	return thread ? thread->pid : 0;
}

/* --- Arguments and strings -------------------------------------------------------------------- */

/* A reference that leads nowhere is none; what is no UTF-8 is escaped, or cut where that gets too long. */
static void stock_string(struct stock *s, struct fxt_string *string)
{
	if (!fx_utf8_is_valid(string->data, string->length)) {
		char *text = s->escaped + s->escaped_used;
		size_t room = sizeof(s->escaped) - s->escaped_used;
		size_t length = fx_escape(text, room < STOCK_TEXT ? room : STOCK_TEXT, string->data,
					  string->length, 0);

		s->escaped_used += length;
		*string = fx_string_inline(text, length);
	}
	if (string->ref != FXT_STRING_EMPTY && !(string->ref & FXT_STRING_INLINE) &&
	    string->serial == 0)
		*string = fx_string_inline(string->data, string->length);
}

static void stock_bytes(struct stock *s, uint32_t at, struct fxt_arg *arg)
{
	const uint8_t *bytes = arg->blob.data;
	uint64_t count = arg->blob.size < STOCK_BYTES ? arg->blob.size : STOCK_BYTES;
	char *text = s->texts[at];

	for (uint64_t i = 0; i < count; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	arg->type = FXT_ARG_STRING;
	arg->string = fx_string_inline(text, (size_t)(2 * count));
}

static void stock_args(struct stock *s)
{
	struct fxt_record *record = &s->record;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < record->nargs; i++) {
		struct fxt_arg *arg = &record->args[kept];

		*arg = record->args[i];
		if (!fxt_arg_type_name(arg->type))
			continue;
		stock_string(s, &arg->name);
		if (arg->type == FXT_ARG_BOOL) {
			bool value = arg->boolean;

			arg->type = FXT_ARG_UINT32;
			arg->uint32 = value;
		} else if (arg->type == FXT_ARG_BLOB) {
			stock_bytes(s, kept, arg);
		} else if (arg->type == FXT_ARG_STRING) {
			stock_string(s, &arg->string);
		}
		kept++;
	}
	record->nargs = kept;
}

/* --- Records ---------------------------------------------------------------------------------- */

/* The newer form names threads alone, and has weights where the older one has priorities. */
static bool stock_switch(struct stock *s)
{
	struct fxt_record *record = &s->record;

	if (record->scheduling.cpu > FXT_MAX(LEGACY_SWITCH_CPU))
		return false;
	record->kind = FXT_KIND_LEGACY_SWITCH;
	record->scheduling.outgoing.pid = stock_owner(s, record->scheduling.outgoing.tid);
	record->scheduling.incoming.pid = stock_owner(s, record->scheduling.incoming.tid);
	record->nargs = 0;
	return true;
}

/* An instant in its place. */
static void stock_large_event(struct stock *s)
{
	const struct fxt_large_blob large = s->record.large_blob;
	struct fxt_event event = {
	    .type = FXT_EVENT_INSTANT,
	    .thread = large.thread,
	    .timestamp = large.timestamp,
	    .category = large.category,
	    .name = large.name,
	};

	s->record.kind = FXT_KIND_EVENT;
	s->record.event = event;
	s->result->payloads++;
}

static bool stock_attachment(struct stock *s)
{
	const struct fxt_large_blob large = s->record.large_blob;

	if (large.payload.size > FXT_MAX_BLOB_SIZE)
		return false;
	s->record.kind = FXT_KIND_BLOB;
	s->record.blob =
	    (struct fxt_blob){.type = FXT_BLOB_DATA, .name = large.name, .payload = large.payload};
	return true;
}

/* Makes of the record at hand one that the format always had. False: there is none. */
static bool stock_change(struct stock *s)
{
	struct fxt_record *record = &s->record;
	bool fits = true;

	if (record->kind == FXT_KIND_LARGE_EVENT)
		stock_large_event(s);
	else if (record->kind == FXT_KIND_LARGE_ATTACHMENT)
		fits = stock_attachment(s);
	else if (record->kind == FXT_KIND_CONTEXT_SWITCH)
		fits = stock_switch(s);
	switch (record->kind) {
	case FXT_KIND_EVENT:
		record->event.has_scope = false;
		stock_string(s, &record->event.category);
		stock_string(s, &record->event.name);
		break;
	case FXT_KIND_BLOB:
		fits = fits && (record->blob.type == FXT_BLOB_DATA ||
				record->blob.type == FXT_BLOB_LAST_BRANCH);
		stock_string(s, &record->blob.name);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		stock_string(s, &record->userspace_object.name);
		break;
	case FXT_KIND_KERNEL_OBJECT:
		stock_string(s, &record->kernel_object.name);
		break;
	case FXT_KIND_LOG:
		stock_string(s, &record->log.message);
		break;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_PROVIDER_EVENT:
		break;
	default:
		return false;
	}
	stock_args(s);
	return fits;
}

/* What has no meaning of its own, or none that anybody misses. */
static bool stock_is_table(const struct fxt_record *record)
{
	switch (record->kind) {
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
		return true;
	case FXT_KIND_UNKNOWN:
		return false;
	default:
		return !fx_copy_is_content(record);
	}
}

static int stock_record(struct stock *s, const struct fxt_record *record)
{
	struct fx_copy_way way = {.provider = record->provider->id, .changed = true};
	int r = stock_note(s, record);

	if (r < 0 || stock_is_table(record))
		return r;
	s->record = *record;
	s->escaped_used = 0;
	if (record->kind == FXT_KIND_PROVIDER_EVENT)
		way.provider = record->provider_record.id;
	r = stock_change(s) ? fx_copy_record(s->copy, &s->record, &way) : 0;
	s->result->left_out += r == 0;
	s->result->events += r > 0 && s->record.kind == FXT_KIND_EVENT;
	return r < 0 ? r : 0;
}

/* --- All -------------------------------------------------------------------------------------- */

static void stock_note_fault(void *opaque, const struct fxt_fault *fault)
{
	struct fx_stock_result *result = opaque;

	if (result->fault_count++ == 0)
		result->fault = *fault;
}

static int stock_all(struct stock *s, struct fxt_reader *reader)
{
	const struct fxt_record *record;
	int r;

	fxt_reader_set_fault_handler(reader, stock_note_fault, s->result);
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		r = stock_record(s, record);
		if (r < 0)
			break;
	}
	fxt_reader_set_fault_handler(reader, NULL, NULL);
	return r;
}

int fx_stock_write(struct fxt_reader *reader, struct fx_output *out, struct fx_stock_result *ret)
{
	struct stock *s = calloc(1, sizeof(*s));
	struct stock_thread *thread, *next;
	int r = -ENOMEM;

	*ret = (struct fx_stock_result){0};
	if (!s)
		return -ENOMEM;
	s->result = ret;
	s->copy = fx_copy_new(out);
	if (s->copy)
		r = stock_all(s, reader);
	fx_copy_free(s->copy);
	HASH_ITER (hh, s->threads, thread, next) {
		HASH_DEL(s->threads, thread);
		free(thread);
	}
	free(s);
	return r < 0 ? r : fx_output_error(out);
}

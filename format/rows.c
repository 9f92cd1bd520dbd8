/* SPDX-License-Identifier: MIT */
/*
 * Batches of records. A text that stands in a table of the archive is copied once into a batch, by
 * its serial; others are copied each time.
 */
#include "format/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/batch.h>

#include "format/reader-state.h"
#include "lists/vector.h"

/* A batch is over when its texts take more. */
#define ROWS_BYTES_MAX ((size_t)16 << 20)

/* By serial: the number of a text in the batch that `batch' says. */
struct row_text {
	uint32_t serial;
	uint32_t batch;
	uint32_t text;
};

/* The names of a thread and its process. */
struct row_names {
	uint64_t pid, tid, changes;
	uint32_t batch;
	uint32_t process, thread;
};

#define ROW_NAMES_COUNT 256

struct fx_rows {
	struct fxt_batch batch;
	FX_VECTOR(struct fxt_row) rows;
	FX_VECTOR(struct fxt_row_arg) args;
	FX_VECTOR(struct fxt_text) texts;
	FX_VECTOR(char) bytes;
	uint32_t number;	/* of the batch; 0: none yet */
	struct row_text *known; /* hash table, of a power of two */
	size_t known_size, known_count;
	struct row_names names[ROW_NAMES_COUNT];
	int error;
};

void fx_rows_free(struct fx_rows *rows)
{
	if (!rows)
		return;
	fx_vector_free(&rows->rows);
	fx_vector_free(&rows->args);
	fx_vector_free(&rows->texts);
	fx_vector_free(&rows->bytes);
	free(rows->known);
	free(rows);
}

/* --- Texts ------------------------------------------------------------------------------------- */

static uint32_t rows_add_bytes(struct fx_rows *rows, const void *data, uint64_t length)
{
	struct fxt_text *text;

	if (fx_vector_reserve(&rows->texts, 1) < 0 ||
	    fx_vector_reserve(&rows->bytes, length + 1) < 0) {
		rows->error = -ENOMEM;
		return 0;
	}
	text = &rows->texts.items[rows->texts.count];
	*text = (struct fxt_text){rows->bytes.count, length};
	if (length)
		memcpy(rows->bytes.items + text->offset, data, length);
	rows->bytes.items[text->offset + length] = '\0';
	rows->bytes.count += length + 1;
	return (uint32_t)rows->texts.count++;
}

static struct row_text *rows_place(struct row_text *known, size_t size, uint32_t serial,
				   uint32_t batch)
{
	size_t i = serial * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (;; i++) {
		struct row_text *place = &known[i & (size - 1)];

		if (place->batch != batch || place->serial == serial)
			return place;
	}
}

/* Twice as large; what is of batches before falls out. */
static int rows_grow_known(struct fx_rows *rows)
{
	size_t size = rows->known_size ? 2 * rows->known_size : 1024;
	struct row_text *known = calloc(size, sizeof(*known));

	if (!known)
		return -ENOMEM;
	for (size_t i = 0; i < rows->known_size; i++)
		if (rows->known[i].batch == rows->number)
			*rows_place(known, size, rows->known[i].serial, rows->number) =
			    rows->known[i];
	free(rows->known);
	rows->known = known;
	rows->known_size = size;
	return 0;
}

static uint32_t rows_add_string(struct fx_rows *rows, const struct fxt_string *string)
{
	struct row_text *place;

	if (string->length == 0)
		return 0;
	if (string->serial == 0)
		return rows_add_bytes(rows, string->data, string->length);
	if (rows->known_count >= rows->known_size / 2 && rows_grow_known(rows) < 0) {
		rows->error = -ENOMEM;
		return 0;
	}
	place = rows_place(rows->known, rows->known_size, string->serial, rows->number);
	if (place->batch != rows->number) {
		place->text = rows_add_bytes(rows, string->data, string->length);
		place->serial = string->serial;
		place->batch = rows->number;
		rows->known_count++;
	}
	return place->text;
}

static uint32_t rows_add_payload(struct fx_rows *rows, const struct fxt_bytes *bytes)
{
	return bytes->size ? rows_add_bytes(rows, bytes->data, bytes->size) : 0;
}

/* --- Rows -------------------------------------------------------------------------------------- */

static void row_names_look(struct fx_rows *rows, const struct fx_context *context,
			   struct row_names *names, const struct fxt_row *row)
{
	const struct fxt_string *process = fx_context_process(context, row->pid);
	const struct fxt_string *thread = fx_context_thread(context, row->pid, row->tid);

	*names = (struct row_names){
	    .pid = row->pid,
	    .tid = row->tid,
	    .changes = context->changes,
	    .batch = rows->number,
	    .process = process ? rows_add_bytes(rows, process->data, process->length) : 0,
	    .thread = thread ? rows_add_bytes(rows, thread->data, thread->length) : 0,
	};
}

static void row_set_thread(struct fx_rows *rows, const struct fx_context *context,
			   struct fxt_row *row, uint64_t pid, uint64_t tid)
{
	struct row_names *names = &rows->names[(pid ^ tid) % ROW_NAMES_COUNT];

	row->pid = pid;
	row->tid = tid;
	if (names->batch != rows->number || names->pid != pid || names->tid != tid ||
	    names->changes != context->changes)
		row_names_look(rows, context, names, row);
	row->process = names->process;
	row->thread = names->thread;
}

static void row_add_arg(struct fx_rows *rows, struct fxt_row *row, uint8_t type, uint32_t name,
			uint64_t value)
{
	if (fx_vector_reserve(&rows->args, 1) < 0) {
		rows->error = -ENOMEM;
		return;
	}
	rows->args.items[rows->args.count++] =
	    (struct fxt_row_arg){.name = name, .type = type, .value = value};
	row->nargs++;
}

static uint64_t row_arg_value(struct fx_rows *rows, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
		return 0;
	case FXT_ARG_INT32:
		return (uint64_t)(int64_t)arg->int32;
	case FXT_ARG_UINT32:
		return arg->uint32;
	case FXT_ARG_BOOL:
		return arg->boolean;
	case FXT_ARG_STRING:
		return rows_add_string(rows, &arg->string);
	case FXT_ARG_BLOB:
		return rows_add_payload(rows, &arg->blob);
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		return arg->uint64; /* they share its storage */
	default:
		return 0;
	}
}

static void row_add_args(struct fx_rows *rows, struct fxt_row *row, const struct fxt_record *record)
{
	for (uint32_t i = 0; i < record->nargs; i++) {
		const struct fxt_arg *arg = &record->args[i];
		uint32_t name =
		    fxt_arg_type_name(arg->type) ? rows_add_string(rows, &arg->name) : 0;

		row_add_arg(rows, row, arg->type, name, row_arg_value(rows, arg));
	}
}

static void row_of_event(struct fx_rows *rows, struct fxt_row *row, const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;

	row->type = event->type;
	row->category = rows_add_string(rows, &event->category);
	row->name = rows_add_string(rows, &event->name);
	if (event->type == FXT_EVENT_DURATION_COMPLETE)
		row->end = fxt_ticks_to_ns(event->end_time, record->provider->ticks_per_second);
	else
		row->id = event->extra;
}

static void row_of_scheduling(struct fxt_row *row, const struct fxt_scheduling *s)
{
	row->cpu = s->cpu;
	row->id = s->outgoing.tid;
	row->type = s->outgoing_state;
}

static void row_of_mmap(struct fx_rows *rows, struct fxt_row *row, const struct fxt_profiler *p)
{
	const struct {
		const char *name;
		uint8_t type;
		uint64_t value;
	} args[] = {
	    {"start", FXT_ARG_POINTER, p->start},
	    {"size", FXT_ARG_UINT64, p->range},
	    {"vaddr", FXT_ARG_POINTER, p->vaddr},
	};

	row->id = p->module;
	row->type = p->flags;
	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
		row_add_arg(rows, row, args[i].type,
			    rows_add_bytes(rows, args[i].name, strlen(args[i].name)),
			    args[i].value);
}

static void row_of_large_blob(struct fx_rows *rows, struct fxt_row *row,
			      const struct fxt_large_blob *blob)
{
	row->category = rows_add_string(rows, &blob->category);
	row->name = rows_add_string(rows, &blob->name);
	row->payload = rows_add_payload(rows, &blob->payload);
}

/* What is of this kind alone. */
static void row_of_kind(struct fx_rows *rows, struct fxt_row *row, const struct fxt_record *record)
{
	switch (record->kind) {
	case FXT_KIND_EVENT:
		row_of_event(rows, row, record);
		break;
	case FXT_KIND_LOG:
		row->name = rows_add_string(rows, &record->log.message);
		break;
	case FXT_KIND_LARGE_EVENT:
	case FXT_KIND_LARGE_ATTACHMENT:
		row_of_large_blob(rows, row, &record->large_blob);
		break;
	case FXT_KIND_BLOB:
		row->type = record->blob.type;
		row->name = rows_add_string(rows, &record->blob.name);
		row->payload = rows_add_payload(rows, &record->blob.payload);
		break;
	case FXT_KIND_KERNEL_OBJECT:
		row->type = record->kernel_object.type;
		row->id = record->kernel_object.koid;
		row->name = rows_add_string(rows, &record->kernel_object.name);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		row->id = record->userspace_object.pointer;
		row->name = rows_add_string(rows, &record->userspace_object.name);
		break;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		row_of_scheduling(row, &record->scheduling);
		break;
	case FXT_KIND_MODULE:
		row->id = record->profiler.module;
		row->name = rows_add_string(rows, &record->profiler.name);
		row->payload = rows_add_payload(rows, &record->profiler.build_id);
		break;
	case FXT_KIND_MMAP:
		row_of_mmap(rows, row, &record->profiler);
		break;
	case FXT_KIND_BACKTRACE:
		for (uint32_t i = 0; i < record->profiler.frame_count; i++)
			row_add_arg(rows, row, FXT_ARG_POINTER, 0, record->profiler.frames[i]);
		break;
	case FXT_KIND_PROVIDER_INFO:
		row->name = rows_add_string(rows, &record->provider_record.name);
		row->id = record->provider_record.id;
		break;
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_PROVIDER_EVENT:
		row->id = record->provider_record.id;
		row->type = record->provider_record.event;
		break;
	case FXT_KIND_INITIALIZATION:
		row->id = record->initialization.ticks_per_second;
		break;
	case FXT_KIND_STRING:
		row->id = record->string.index;
		row->name = rows_add_string(rows, &record->string.text);
		break;
	case FXT_KIND_THREAD:
		row->id = record->thread.index;
		break;
	case FXT_KIND_UNKNOWN:
		row->payload = rows_add_bytes(rows, record->words, record->size * FXT_WORD_SIZE);
		break;
	case FXT_KIND_MAGIC:
	case FXT_KIND_COUNT:
		break;
	}
}

static void rows_add_record(struct fx_rows *rows, const struct fx_context *context,
			    const struct fxt_record *record)
{
	struct fxt_row row = {
	    .kind = (uint8_t)record->kind,
	    .offset = record->offset,
	    .provider = record->provider->id,
	    .first_arg = (uint32_t)rows->args.count,
	};
	const struct fxt_thread *thread = fxt_record_thread(record);

	row.has_time = fxt_record_time(record, &row.time);
	row.end = row.time;
	if (thread)
		row_set_thread(rows, context, &row, thread->pid, thread->tid);
	else if (record->kind == FXT_KIND_THREAD)
		row_set_thread(rows, context, &row, record->thread.pid, record->thread.tid);
	row_of_kind(rows, &row, record);
	row_add_args(rows, &row, record);
	rows->rows.items[rows->rows.count++] = row;
}

/* --- Batches ----------------------------------------------------------------------------------- */

/* An empty one, that has the empty text. */
static int rows_begin(struct fx_rows *rows)
{
	rows->rows.count = rows->args.count = rows->texts.count = rows->bytes.count = 0;
	rows->known_count = 0;
	rows->error = 0;
	if (++rows->number == 0) { /* all that is known would be of this one */
		if (rows->known)
			memset(rows->known, 0, rows->known_size * sizeof(*rows->known));
		memset(rows->names, 0, sizeof(rows->names));
		rows->number = 1;
	}
	rows_add_bytes(rows, NULL, 0);
	return rows->error;
}

static void rows_show(struct fx_rows *rows)
{
	rows->batch = (struct fxt_batch){
	    .rows = rows->rows.items,
	    .row_count = rows->rows.count,
	    .row_size = sizeof(struct fxt_row),
	    .args = rows->args.items,
	    .arg_count = rows->args.count,
	    .texts = rows->texts.items,
	    .text_count = rows->texts.count,
	    .bytes = rows->bytes.items,
	    .byte_count = rows->bytes.count,
	};
}

static bool rows_wants(uint64_t kinds, enum fxt_kind kind)
{
	return kind < 64 ? kinds >> kind & 1 : kinds == FXT_KINDS_ALL;
}

int fxt_reader_next_batch(struct fxt_reader *reader, uint64_t kinds, size_t max_rows,
			  const struct fxt_batch **ret)
{
	struct fx_rows *rows = reader->rows;
	const struct fxt_record *record;
	int r;

	if (max_rows == 0)
		return -EINVAL;
	if (!rows)
		rows = reader->rows = calloc(1, sizeof(*rows));
	if (!rows || rows_begin(rows) < 0)
		return -ENOMEM;
	while (rows->rows.count < max_rows && rows->bytes.count < ROWS_BYTES_MAX) {
		if (fx_vector_reserve(&rows->rows, 1) < 0)
			return -ENOMEM;
		r = fxt_reader_next(reader, &record);
		if (r <= 0 && rows->rows.count == 0)
			return r;
		if (r <= 0)
			break;
		if (rows_wants(kinds, record->kind))
			rows_add_record(rows, &reader->context, record);
		if (rows->error < 0)
			return rows->error;
	}
	rows_show(rows);
	*ret = &rows->batch;
	return 1;
}

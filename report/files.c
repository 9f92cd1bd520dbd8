/* SPDX-License-Identifier: MIT */
/* Files and peers: bytes, calls and time, by what the descriptors of calls are. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/bytes.h"
#include "report/keys.h"
#include "report/report.h"
#include "report/section.h"
#include "report/show.h"
#include "report/units.h"
#include "report/waiting.h"

enum { FILES_MAX = 200000, OPENS_MAX = 1 << 16 };

enum direction { DIRECTION_UNKNOWN, DIRECTION_NONE, DIRECTION_READ, DIRECTION_WRITE };

struct file {
	uint64_t read, written; /* bytes */
	uint64_t reads, writes, calls, time, opens, errors;
	uint64_t read_time, write_time; /* of the time */
	uint32_t
	    text; /* what it is, as it was told at most length: sockets get their addresses later */
};

/* An open whose descriptor no call has used yet. */
struct opened {
	uint64_t count;
	uint32_t path;
};

struct files {
	struct fx_report *report;
	struct fx_waiting waiting;
	struct fx_keys keys; /* text; of sockets without their addresses */
	FX_VECTOR(struct file) items;
	struct fx_keys
	    open_keys; /* address is the descriptor or stream; thread, whether it is a stream */
	FX_VECTOR(struct opened) opened;
	FX_VECTOR(uint8_t) directions; /* enum direction, by number of the name */
	uint64_t streams;	       /* calls of streams */
};

static void *files_create(struct fx_report *report)
{
	struct files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->report = report;
	files->keys.limit = FILES_MAX;
	files->open_keys.limit = OPENS_MAX;
	return files;
}

static void files_destroy(void *section)
{
	struct files *files = section;

	fx_waiting_free(&files->waiting);
	fx_keys_free(&files->keys);
	fx_vector_free(&files->items);
	fx_keys_free(&files->open_keys);
	fx_vector_free(&files->opened);
	fx_vector_free(&files->directions);
	free(files);
}

/* --- What is seen ----------------------------------------------------------------------------- */

static enum direction files_direction_of_name(const char *name)
{
	switch (fx_bytes_of_name(name)) {
	case FX_BYTES_READ:
		return DIRECTION_READ;
	case FX_BYTES_WRITTEN:
		return DIRECTION_WRITE;
	default:
		return DIRECTION_NONE;
	}
}

static enum direction files_direction(struct files *files, uint32_t name)
{
	size_t count = files->directions.count;

	if (!name)
		return DIRECTION_NONE;
	if (name >= count) {
		size_t more = name + 1 - count;

		if (fx_vector_reserve(&files->directions, more) < 0) {
			fx_report_fail(files->report, -ENOMEM);
			return DIRECTION_NONE;
		}
		memset(files->directions.items + count, DIRECTION_UNKNOWN, more);
		files->directions.count += more;
	}
	if (files->directions.items[name] == DIRECTION_UNKNOWN)
		files->directions.items[name] =
		    (uint8_t)files_direction_of_name(fx_report_text(files->report, name)->data);
	return (enum direction)files->directions.items[name];
}

/* A socket is the same one whatever it is bound or connected to: socket:[12345] tcp ... */
static size_t files_key_length(const char *data, size_t length)
{
	const char *end;

	if (length < 8 || memcmp(data, "socket:[", 8) != 0)
		return length;
	end = memchr(data, ']', length);
	return end ? (size_t)(end - data) + 1 : length;
}

/* Peers have no path: sockets, pipes. */
static bool files_is_peer(const char *text)
{
	return strncmp(text, "socket:[", 8) == 0 || strncmp(text, "pipe:[", 6) == 0 ||
	       strncmp(text, "fifo:[", 6) == 0;
}

/* NULL: there is no room. */
static struct file *files_get(struct files *files, const char *data, size_t length)
{
	struct fx_report *report = files->report;
	uint32_t text = fx_report_intern_some(report, data, length);
	size_t short_length = files_key_length(data, length);
	uint32_t key =
	    short_length < length ? fx_report_intern_some(report, data, short_length) : text;
	struct file *file;
	size_t number;

	if (!key || !text)
		files->keys.beyond++;
	number = key && text ? fx_keys_number(&files->keys, (struct fx_key){.numbers = {key}})
			     : FX_KEY_NONE;
	if (number == FX_KEY_NONE || number > files->items.count)
		return NULL;
	if (number == files->items.count) {
		if (fx_vector_reserve(&files->items, 1) < 0) {
			fx_report_fail(report, -ENOMEM);
			return NULL;
		}
		files->items.items[files->items.count++] = (struct file){.text = text};
	}
	file = &files->items.items[number];
	if (fx_report_text(report, text)->length > fx_report_text(report, file->text)->length)
		file->text = text;
	return file;
}

static void files_count(struct file *file, const struct fx_open_call *call,
			const struct fx_event *event, enum direction direction)
{
	file->calls++;
	file->time += call->end - call->ts;
	file->errors += fx_event_arg(event, "errno") != NULL;
	if (direction == DIRECTION_NONE)
		return;
	if (direction == DIRECTION_READ) {
		file->reads++;
		file->read += fx_bytes_of_event(event, FX_BYTES_READ);
		file->read_time += call->end - call->ts;
	} else {
		file->writes++;
		file->written += fx_bytes_of_event(event, FX_BYTES_WRITTEN);
		file->write_time += call->end - call->ts;
	}
}

/* The file of a descriptor that was opened under a path is known once it is used; else it stands under that path. */
static void files_settle(struct files *files, struct opened *opened, struct file *file)
{
	const struct fx_text *path;

	if (!opened->count)
		return;
	if (!file && opened->path) {
		path = fx_report_text(files->report, opened->path);
		file = files_get(files, path->data, path->length);
	}
	if (file)
		file->opens += opened->count;
	opened->count = 0;
}

/* By its descriptor, or by its stream. NULL: none is kept. */
static struct opened *files_opened(struct files *files, const struct fx_open_call *call,
				   int64_t descriptor)
{
	size_t number = fx_keys_number(
	    &files->open_keys,
	    (struct fx_key){.address = (uint64_t)descriptor,
			    .numbers = {call->thread->number, call->kind == FX_CALL_STDIO}});

	if (number == FX_KEY_NONE || number > files->opened.count)
		return NULL;
	if (number == files->opened.count) {
		if (fx_vector_reserve(&files->opened, 1) < 0) {
			fx_report_fail(files->report, -ENOMEM);
			return NULL;
		}
		files->opened.items[files->opened.count++] = (struct opened){0, 0};
	}
	return &files->opened.items[number];
}

static void files_open(struct files *files, const struct fx_open_call *call,
		       const struct fx_event *event)
{
	uint32_t path = fx_show_path(files->report, event);
	bool failed = fx_event_arg(event, "errno") != NULL;
	struct opened *opened, now = {1, path};
	const struct fx_text *text;
	struct file *file;
	int64_t descriptor;

	if (!path)
		return;
	if (failed) {
		text = fx_report_text(files->report, path);
		file = files_get(files, text->data, text->length);
		if (file)
			files_count(file, call, event, DIRECTION_NONE);
		return;
	}
	opened = fx_event_integer(event, "ret", &descriptor) ? files_opened(files, call, descriptor)
							     : NULL;
	if (opened) {
		files_settle(files, opened, NULL);
		*opened = now;
	} else {
		files_settle(files, &now, NULL);
	}
}

static void files_use(struct files *files, const struct fx_open_call *call,
		      const struct fx_event *event, const char *name, const char *descriptor_name,
		      enum direction direction)
{
	const struct fxt_string *text = fx_event_string(event, name);
	struct file *file = text ? files_get(files, text->data, text->length) : NULL;
	struct opened *opened;
	int64_t descriptor;

	if (!file)
		return;
	files_count(file, call, event, direction);
	if (!fx_event_integer(event, call->kind == FX_CALL_STDIO ? "stream" : descriptor_name,
			      &descriptor))
		return;
	opened = files_opened(files, call, descriptor);
	if (opened)
		files_settle(files, opened, file);
}

/* Closed without a word of what it was: the descriptor is another file's from now on. */
static void files_close(struct files *files, const struct fx_open_call *call,
			const struct fx_event *event)
{
	struct opened *opened;
	int64_t descriptor;

	if (!fx_event_integer(event, "fd", &descriptor))
		return;
	opened = files_opened(files, call, descriptor);
	if (opened)
		files_settle(files, opened, NULL);
}

static bool files_is_open(const struct fxt_string *name)
{
	return fxt_string_equals(name, "open") || fxt_string_equals(name, "openat") ||
	       fxt_string_equals(name, "creat") || fxt_string_equals(name, "fopen") ||
	       fxt_string_equals(name, "freopen");
}

static void files_enter(void *section, const struct fx_open_call *call,
			const struct fx_event *event)
{
	struct files *files = section;

	if (call->kind != FX_CALL_SYSCALL && call->kind != FX_CALL_STDIO)
		return;
	if (files_is_open(event->name)) {
		files_open(files, call, event);
		return;
	}
	if (fxt_string_equals(event->name, "close") && !fx_event_string(event, "file")) {
		files_close(files, call, event);
		return;
	}
	/* What is polled is waited for, and not used. */
	if (fx_waiting_of(&files->waiting, fx_report_texts(files->report), call, event) ==
	    FX_WAIT_POLL)
		return;
	files->streams += call->kind == FX_CALL_STDIO && fx_event_arg(event, "file");
	files_use(files, call, event, "file", "fd", files_direction(files, call->name));
	files_use(files, call, event, "in_file", "in_fd", DIRECTION_READ);
	files_use(files, call, event, "out_file", "out_fd", DIRECTION_WRITE);
}

/* --- Tables ----------------------------------------------------------------------------------- */

enum {
	BYTES,
	READ,
	WRITTEN,
	READS,
	WRITES,
	CALLS,
	TIME,
	READ_TIME,
	WRITE_TIME,
	OPENS,
	ERRORS,
	NAME,
};

static const struct fx_column file_columns[] = {
    [BYTES] = {"bytes", "bytes", FX_UNIT_BYTES},
    [READ] = {"read_bytes", "read", FX_UNIT_BYTES},
    [WRITTEN] = {"written_bytes", "written", FX_UNIT_BYTES},
    [READS] = {"reads", "reads", FX_UNIT_COUNT},
    [WRITES] = {"writes", "writes", FX_UNIT_COUNT},
    [CALLS] = {"calls", "calls", FX_UNIT_COUNT},
    [TIME] = {"time_ns", "time", FX_UNIT_NS},
    [READ_TIME] = {"read_ns", "in reads", FX_UNIT_NS},
    [WRITE_TIME] = {"write_ns", "in writes", FX_UNIT_NS},
    [OPENS] = {"opens", "opens", FX_UNIT_COUNT},
    [ERRORS] = {"errors", "errors", FX_UNIT_COUNT},
    [NAME] = {"name", "which", FX_UNIT_TEXT},
};

static void files_row(const struct files *files, struct fx_table *table, const struct file *file)
{
	const struct fx_text *text = fx_report_text(files->report, file->text);

	fx_table_row(table);
	fx_table_number(table, BYTES, (int64_t)(file->read + file->written));
	fx_table_number(table, READ, (int64_t)file->read);
	fx_table_number(table, WRITTEN, (int64_t)file->written);
	fx_table_number(table, READS, (int64_t)file->reads);
	fx_table_number(table, WRITES, (int64_t)file->writes);
	fx_table_number(table, CALLS, (int64_t)file->calls);
	fx_table_number(table, TIME, (int64_t)file->time);
	fx_table_number(table, READ_TIME, (int64_t)file->read_time);
	fx_table_number(table, WRITE_TIME, (int64_t)file->write_time);
	fx_table_number(table, OPENS, (int64_t)file->opens);
	fx_table_number(table, ERRORS, (int64_t)file->errors);
	fx_table_text(table, NAME, text->data, text->length);
}

static void files_add(struct files *files, bool are_peers)
{
	struct fx_table *table =
	    fx_table_new(are_peers ? "peers" : "files", are_peers ? "Sockets and pipes" : "Files",
			 file_columns, sizeof(file_columns) / sizeof(file_columns[0]));

	if (!table) {
		fx_report_fail(files->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < files->items.count; i++) {
		const char *text = fx_report_text(files->report, files->items.items[i].text)->data;

		if (files_is_peer(text) == are_peers)
			files_row(files, table, &files->items.items[i]);
	}
	if (!are_peers && files->streams > 0)
		fx_table_note(table,
			      "%s calls were of streams: their calls and time count, their bytes "
			      "do not, which libc moves by itself",
			      FX_COUNT(files->streams));
	if (!are_peers && files->keys.beyond > 0)
		fx_table_note(table, "there were more: what %s calls used was one too many",
			      FX_COUNT(files->keys.beyond));
	fx_report_add(files->report, table);
}

static void files_tables(void *section)
{
	struct files *files = section;

	for (size_t i = 0; i < files->opened.count; i++)
		files_settle(files, &files->opened.items[i], NULL);
	files_add(files, false);
	files_add(files, true);
}

const struct fx_section fx_section_files = {
    .kinds = FX_KIND(SYSCALL) | FX_KIND(STDIO),
    .create = files_create,
    .enter = files_enter,
    .tables = files_tables,
    .destroy = files_destroy,
};

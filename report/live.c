/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "report/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/bytes.h"
#include "report/kinds.h"
#include "report/waiting.h"

enum { LIVE_OPEN_MAX = 512, LIVE_NAME_MAX = 64 };

/* What is known of a name: it waits for such a thing, and moves bytes. */
enum {
	LIVE_KNOWN = 0x80,
	LIVE_BYTES_SHIFT = 5, /* enum fx_bytes_way */
	LIVE_BYTES = 0x3,
	LIVE_WAIT = 0x1f, /* enum fx_wait_kind */
};
_Static_assert(FX_WAIT_KIND_COUNT <= LIVE_WAIT + 1, "a kind of wait has room");

/* --- Rows ------------------------------------------------------------------------------------- */

static struct fx_live_row *live_row(struct fx_live *live, uint64_t pid, uint64_t tid)
{
	const struct fx_live_key key = {pid, tid};
	struct fx_live_row *row;

	HASH_FIND(hh, live->rows, &key, sizeof(key), row);
	if (row)
		return row;
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	row->key = key;
	HASH_ADD(hh, live->rows, key, sizeof(row->key), row);
	return row;
}

static void live_add(struct fx_live *live, struct fx_live_row *const rows[2],
		     enum fx_live_count count, uint64_t more, bool is_new)
{
	struct fx_live_row *all[] = {rows[0], rows[1], &live->sum};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		all[i]->totals[count] += more;
		if (!is_new)
			all[i]->before[count] += more;
	}
}

/* --- Records ---------------------------------------------------------------------------------- */

static int live_object(struct fx_live *live, const struct fxt_record *record)
{
	const struct fxt_kernel_object *object = &record->kernel_object;
	const struct fxt_arg *owner = fxt_record_find_arg(record, "process");
	struct fx_live_row *row = NULL;

	if (object->type == FXT_OBJECT_PROCESS)
		row = live_row(live, object->koid, 0);
	else if (object->type == FXT_OBJECT_THREAD && owner && owner->type == FXT_ARG_KOID)
		row = live_row(live, owner->koid, object->koid);
	else
		return 0;
	if (!row)
		return -ENOMEM;
	if (object->name.length > 0)
		snprintf(row->name, sizeof(row->name), "%.*s", (int)object->name.length,
			 object->name.data);
	return 0;
}

static bool live_kind_counts(enum fx_call_kind kind)
{
	return kind == FX_CALL_SYSCALL || kind == FX_CALL_PTHREAD || kind == FX_CALL_PROCESS ||
	       kind == FX_CALL_STDIO;
}

static uint8_t live_look(const struct fxt_event *event)
{
	char name[LIVE_NAME_MAX], category[LIVE_NAME_MAX];
	enum fx_call_kind kind;
	uint8_t known = LIVE_KNOWN;

	snprintf(name, sizeof(name), "%.*s", (int)event->name.length, event->name.data);
	snprintf(category, sizeof(category), "%.*s", (int)event->category.length,
		 event->category.data);
	kind = fx_call_kind_of(category);
	if (live_kind_counts(kind))
		known |= (uint8_t)fx_waiting_of_name(name);
	if (kind == FX_CALL_SYSCALL)
		known |= (uint8_t)(fx_bytes_of_name(name) << LIVE_BYTES_SHIFT);
	return known;
}

/* A name stands for one function; strings are numbered anew when they are defined anew. */
static uint8_t live_known(struct fx_live *live, const struct fxt_event *event)
{
	uint32_t serial = event->name.serial;
	size_t count = live->names.count;

	if (serial == 0)
		return live_look(event);
	if (serial >= count) {
		size_t more = serial + 1 - count;

		if (fx_vector_reserve(&live->names, more) < 0)
			return live_look(event);
		memset(live->names.items + count, 0, more);
		live->names.count += more;
	}
	if (!live->names.items[serial])
		live->names.items[serial] = live_look(event);
	return live->names.items[serial];
}

static int64_t live_integer(const struct fxt_record *record, const char *name)
{
	const struct fxt_arg *arg = fxt_record_find_arg(record, name);

	if (!arg)
		return 0;
	switch (arg->type) {
	case FXT_ARG_INT32:
		return arg->int32;
	case FXT_ARG_UINT32:
		return arg->uint32;
	case FXT_ARG_INT64:
		return arg->int64;
	case FXT_ARG_UINT64:
		return arg->uint64 <= INT64_MAX ? (int64_t)arg->uint64 : 0;
	default:
		return 0;
	}
}

/* What a call waits for; one that waits for a peer only where its descriptor is no file. */
static enum fx_wait_kind live_wait(uint8_t known, const struct fxt_record *record)
{
	enum fx_wait_kind wait = (enum fx_wait_kind)(known & LIVE_WAIT);
	const struct fxt_arg *file;

	if (wait == FX_WAIT_LOCK && fxt_record_find_arg(record, "ran"))
		return FX_WAIT_NONE;
	if (wait != FX_WAIT_PEER)
		return wait;
	file = fxt_record_find_arg(record, "file");
	if (file && file->type == FXT_ARG_STRING && file->string.length > 0 &&
	    file->string.data[0] == '/')
		return FX_WAIT_NONE;
	return wait;
}

static uint64_t live_bytes(uint8_t known, const struct fxt_record *record)
{
	enum fx_bytes_way way = (enum fx_bytes_way)(known >> LIVE_BYTES_SHIFT & LIVE_BYTES);
	const struct fxt_arg *flags;
	struct fx_bytes_said said;

	if (way == FX_BYTES_NONE)
		return 0;
	flags = fxt_record_find_arg(record, "flags");
	said = (struct fx_bytes_said){
	    .ret = live_integer(record, "ret"),
	    .size = live_integer(record, "size"),
	    .flags = flags && flags->type == FXT_ARG_STRING ? &flags->string : NULL,
	};
	return fx_bytes_moved(&record->event.name, way, &said);
}

static void live_call(struct fx_live *live, struct fx_live_row *const rows[2],
		      const struct fxt_record *record, uint8_t known, enum fx_wait_kind wait,
		      uint64_t begin, uint64_t end)
{
	bool is_new = end >= live->since;
	uint64_t moved = live_bytes(known, record);

	live_add(live, rows, FX_LIVE_CALLS, 1, is_new);
	if (moved > 0)
		live_add(live, rows, FX_LIVE_BYTES, moved, is_new);
	if (wait != FX_WAIT_NONE && end > begin)
		live_add(live, rows, FX_LIVE_WAITING, end - begin, is_new);
	if (wait == FX_WAIT_LOCK)
		live_add(live, rows, FX_LIVE_LOCKS, 1, is_new);
}

static int live_begin(struct fx_live_row *row, uint64_t ts, enum fx_wait_kind wait)
{
	if (row->open.count == LIVE_OPEN_MAX)
		return 0;
	if (fx_vector_reserve(&row->open, 1) < 0)
		return -ENOMEM;
	row->open.items[row->open.count++] = (struct fx_live_open){.ts = ts, .wait = (uint8_t)wait};
	return 0;
}

/* An end need not have the name of its begin; without a begin, it is none of a call. */
static void live_end(struct fx_live *live, struct fx_live_row *const rows[2],
		     const struct fxt_record *record, uint8_t known, uint64_t ts)
{
	struct fx_live_row *thread = rows[1];
	const struct fx_live_open *open;

	if (thread->open.count == 0)
		return;
	open = &thread->open.items[--thread->open.count];
	live_call(live, rows, record, known, (enum fx_wait_kind)open->wait, open->ts, ts);
}

static int live_event(struct fx_live *live, const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;
	uint64_t ticks = record->provider->ticks_per_second;
	uint64_t ts = fxt_ticks_to_ns(event->timestamp, ticks);
	struct fx_live_row *rows[2];
	uint8_t known;

	rows[0] = live_row(live, event->thread.pid, 0);
	rows[1] =
	    event->thread.tid ? live_row(live, event->thread.pid, event->thread.tid) : rows[0];
	if (!rows[0] || !rows[1])
		return -ENOMEM;
	switch (event->type) {
	case FXT_EVENT_COUNTER:
		if (fxt_string_equals(&event->category, "heap") &&
		    fxt_string_equals(&event->name, "heap"))
			rows[0]->heap = live_integer(record, "bytes");
		return 0;
	case FXT_EVENT_DURATION_COMPLETE:
		known = live_known(live, event);
		live_call(live, rows, record, known, live_wait(known, record), ts,
			  fxt_ticks_to_ns(event->end_time, ticks));
		return 0;
	case FXT_EVENT_DURATION_BEGIN:
		known = live_known(live, event);
		return live_begin(rows[1], ts, live_wait(known, record));
	case FXT_EVENT_DURATION_END:
		live_end(live, rows, record, live_known(live, event), ts);
		return 0;
	default:
		return 0;
	}
}

int fx_live_record(struct fx_live *live, const struct fxt_record *record)
{
	if (record->kind == FXT_KIND_EVENT)
		return live_event(live, record);
	if (record->kind == FXT_KIND_KERNEL_OBJECT)
		return live_object(live, record);
	return 0;
}

/* --- Rates ------------------------------------------------------------------------------------ */

static void live_step_row(struct fx_live_row *row, uint64_t ns)
{
	for (int i = 0; i < FX_LIVE_COUNT; i++) {
		uint64_t more = row->totals[i] - row->before[i];

		row->rates[i] = ns > 0 ? (double)more * 1e9 / (double)ns : 0;
		row->before[i] = row->totals[i];
	}
}

void fx_live_step(struct fx_live *live, uint64_t ns)
{
	struct fx_live_row *row = NULL, *next;

	HASH_ITER (hh, live->rows, row, next)
		live_step_row(row, ns);
	live_step_row(&live->sum, ns);
}

static int live_compare_ids(const struct fx_live_row *a, const struct fx_live_row *b)
{
	if (a->key.pid != b->key.pid)
		return a->key.pid < b->key.pid ? -1 : 1;
	return (a->key.tid > b->key.tid) - (a->key.tid < b->key.tid);
}

static int live_compare_heap(const struct fx_live_row *a, const struct fx_live_row *b)
{
	if (a->heap != b->heap)
		return a->heap > b->heap ? -1 : 1;
	return live_compare_ids(a, b);
}

#define FX_LIVE_COMPARE_(name, text, unit)                                                         \
	static int live_compare_##name(const struct fx_live_row *a, const struct fx_live_row *b)   \
	{                                                                                          \
		double left = a->rates[FX_LIVE_##name], right = b->rates[FX_LIVE_##name];          \
                                                                                                   \
		if (left > right || left < right)                                                  \
			return left > right ? -1 : 1;                                              \
		return live_compare_ids(a, b);                                                     \
	}
FX_LIVE_COUNTS(FX_LIVE_COMPARE_)

void fx_live_sort(struct fx_live *live, int order)
{
	static int (*const compares[])(const struct fx_live_row *, const struct fx_live_row *) = {
#define FX_LIVE_COMPARE_OF_(name, text, unit) live_compare_##name,
	    FX_LIVE_COUNTS(FX_LIVE_COMPARE_OF_) live_compare_heap,
	    live_compare_ids,
	};

	HASH_SORT(live->rows, compares[order]);
}

void fx_live_free(struct fx_live *live)
{
	struct fx_live_row *row = NULL, *next;

	HASH_ITER (hh, live->rows, row, next) {
		HASH_DEL(live->rows, row);
		fx_vector_free(&row->open);
		free(row);
	}
	fx_vector_free(&live->names);
}

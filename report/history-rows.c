/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/history-rows.h"
#include "report/report.h"
#include "report/show.h"

enum { ARGS_MAX = 32 };

#define USE_BEFORE                                                                                 \
	{"at_ns", "at", FX_UNIT_MOMENT}, {"time_ns", "took", FX_UNIT_NS},                          \
	    {"object", "#", FX_UNIT_NUMBER}, {"tid", "tid", FX_UNIT_NUMBER},                       \
	{                                                                                          \
		"thread", "thread", FX_UNIT_TEXT                                                   \
	}
#define USE_AFTER                                                                                  \
	{"holder", "held by", FX_UNIT_TEXT}, {"ended_by", "ended by", FX_UNIT_TEXT},               \
	{                                                                                          \
		"call", "call", FX_UNIT_TEXT                                                       \
	}

enum {
	USE_AT,
	USE_TIME,
	USE_OBJECT,
	USE_TID,
	USE_THREAD,
	USE_READ,
	USE_WRITTEN,
	USE_HOLDER,
	USE_FROM,
	USE_CALL
};

static const struct fx_column use_columns[] = {USE_BEFORE, FX_HISTORY_BYTES_COLUMNS, USE_AFTER};
static const struct fx_column lock_use_columns[] = {USE_BEFORE, USE_AFTER};

struct fx_table *fx_history_rows_new(const struct fx_history_telling *telling)
{
	return FX_HISTORY_TABLE(telling, "history", "Its uses, in order of time", use_columns,
				lock_use_columns);
}

/* A column that stands behind those of bytes. */
size_t fx_history_behind(const struct fx_history_telling *telling, size_t column)
{
	return telling->has_bytes ? column : column - FX_HISTORY_BYTES_COUNT;
}

void fx_history_set_thread(const struct fx_history_telling *telling, struct fx_table *table,
			   size_t column, uint64_t number)
{
	char text[FX_SHOW_MAX];

	fx_show_thread(fx_history_thread(telling, number), text);
	fx_table_string(table, column, text);
}

/* What the object's own columns say, and what a lock is called by. */
static bool tell_leaves_out(const struct fxt_arg *arg)
{
	static const char *const names[] = {
	    "file",	"file_2",    "file_3",	    "file_4",	   "in_file",
	    "out_file", "holder",    "holder_name", "taken",	   "taken_name",
	    "at",	"at_name",   "mutex_name",  "rwlock_name", "cond_name",
	    "sem_name", "spin_name", "once_name",   "barrier_name"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (fxt_string_equals(&arg->name, names[i]))
			return true;
	}
	return false;
}

static void tell_set_call(struct fx_history_telling *telling, const struct fx_use *use)
{
	struct fx_timeline *timeline = fx_report_exporter(telling->report)->timeline;
	struct fxt_arg args[ARGS_MAX];
	struct fx_event event = {.args = args};
	struct fxt_record record;
	char text[FX_SHOW_MAX];

	if (fx_timeline_decode(timeline, use->provider, use->word, &record) < 0)
		return;
	event.name = &record.event.name;
	event.category = &record.event.category;
	for (uint32_t i = 0; i < record.nargs && event.nargs < ARGS_MAX; i++) {
		if (!tell_leaves_out(&record.args[i]))
			args[event.nargs++] = record.args[i];
	}
	fx_show_call(&event, text);
	fx_table_string(telling->table, fx_history_behind(telling, USE_CALL), text);
}

static void tell_set_other(struct fx_history_telling *telling, size_t column, uint32_t thread)
{
	char name[FX_SHOW_MAX], text[FX_SHOW_MAX + 32];

	if (!thread)
		return;
	fx_show_thread(fx_history_thread(telling, thread - 1), name);
	snprintf(text, sizeof(text), "%s (tid %" PRIu64 ")", name,
		 fx_history_thread(telling, thread - 1)->key.tid);
	fx_table_string(telling->table, fx_history_behind(telling, column), text);
}

void fx_history_add_row(struct fx_history_telling *telling, uint32_t number,
			const struct fx_use *use, uint32_t from)
{
	struct fx_table *table = telling->table;

	if (telling->rows == 0) {
		fx_table_leave_out(table, 1);
		return;
	}
	telling->rows--;
	fx_table_row(table);
	fx_table_number(table, USE_AT, (int64_t)(use->at - fx_report_begin(telling->report)));
	fx_table_number(table, USE_TIME, (int64_t)(use->end - use->begin));
	fx_table_number(table, USE_OBJECT, number);
	fx_table_number(table, USE_TID, (int64_t)fx_history_thread(telling, use->thread)->key.tid);
	fx_history_set_thread(telling, table, USE_THREAD, use->thread);
	if (use->read)
		fx_table_number(table, USE_READ, (int64_t)use->read);
	if (use->written)
		fx_table_number(table, USE_WRITTEN, (int64_t)use->written);
	tell_set_other(telling, USE_HOLDER, use->holder);
	tell_set_other(telling, USE_FROM, from);
	tell_set_call(telling, use);
}

/* SPDX-License-Identifier: MIT */
/* What is told of the objects that were asked for: what they are, who used them, who waited for whom, and their uses. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/history-missing.h"
#include "report/history-rows.h"
#include "report/history-tables.h"
#include "report/report.h"
#include "report/show.h"
#include "report/units.h"

enum { USERS_MAX = 200000, ROWS_MAX = 1000000 };

/* --- Columns ---------------------------------------------------------------------------------- */

#define TALLY_COLUMNS                                                                              \
	{"uses", "uses", FX_UNIT_COUNT}, {"time_ns", "time", FX_UNIT_NS},                          \
	    {"waits", "waits", FX_UNIT_COUNT}, {"waited_ns", "waited", FX_UNIT_NS},                \
	    {"longest_ns", "longest", FX_UNIT_NS},                                                 \
	{                                                                                          \
		"longest_at_ns", "at", FX_UNIT_MOMENT                                              \
	}

enum { TALLY_COUNT = 6 };

#define OBJECT_BEFORE                                                                              \
	{"object", "#", FX_UNIT_NUMBER}, {"first_ns", "first", FX_UNIT_MOMENT},                    \
	    {"last_ns", "last", FX_UNIT_MOMENT}, TALLY_COLUMNS
#define OBJECT_AFTER                                                                               \
	{"opens", "opens", FX_UNIT_COUNT}, {"closes", "closes", FX_UNIT_COUNT},                    \
	    {"pid", "pid", FX_UNIT_NUMBER},                                                        \
	{                                                                                          \
		"name", "which", FX_UNIT_TEXT                                                      \
	}

enum { OBJECT_NUMBER, OBJECT_FIRST, OBJECT_LAST, OBJECT_TALLY };
enum {
	OBJECT_OPENS = OBJECT_TALLY + TALLY_COUNT + FX_HISTORY_BYTES_COUNT,
	OBJECT_CLOSES,
	OBJECT_PID,
	OBJECT_NAME
};

static const struct fx_column object_columns[] = {OBJECT_BEFORE, FX_HISTORY_BYTES_COLUMNS,
						  OBJECT_AFTER};
static const struct fx_column lock_columns[] = {OBJECT_BEFORE, OBJECT_AFTER};

#define USER_BEFORE {"object", "#", FX_UNIT_NUMBER}, TALLY_COLUMNS
#define USER_AFTER                                                                                 \
	{"pid", "pid", FX_UNIT_NUMBER}, {"tid", "tid", FX_UNIT_NUMBER},                            \
	{                                                                                          \
		"thread", "thread", FX_UNIT_TEXT                                                   \
	}

enum { USER_OBJECT, USER_TALLY };
enum { USER_PID = USER_TALLY + TALLY_COUNT + FX_HISTORY_BYTES_COUNT, USER_TID, USER_THREAD };

static const struct fx_column user_columns[] = {USER_BEFORE, FX_HISTORY_BYTES_COLUMNS, USER_AFTER};
static const struct fx_column lock_user_columns[] = {USER_BEFORE, USER_AFTER};

enum {
	WAITER_TOTAL,
	WAITER_COUNT,
	WAITER_LONGEST,
	WAITER_AT,
	WAITER_OBJECT,
	WAITER_TID,
	WAITER_THREAD,
	WAITER_FOR_TID,
	WAITER_FOR,
};

static const struct fx_column waiter_columns[] = {
    [WAITER_TOTAL] = {"total_ns", "total", FX_UNIT_NS},
    [WAITER_COUNT] = {"waits", "waits", FX_UNIT_COUNT},
    [WAITER_LONGEST] = {"longest_ns", "longest", FX_UNIT_NS},
    [WAITER_AT] = {"longest_at_ns", "at", FX_UNIT_MOMENT},
    [WAITER_OBJECT] = {"object", "#", FX_UNIT_NUMBER},
    [WAITER_TID] = {"tid", "tid", FX_UNIT_NUMBER},
    [WAITER_THREAD] = {"thread", "who", FX_UNIT_TEXT},
    [WAITER_FOR_TID] = {"for_tid", "for tid", FX_UNIT_NUMBER},
    [WAITER_FOR] = {"for_thread", "for whom", FX_UNIT_TEXT},
};

static void tell_tally(const struct fx_history_telling *telling, struct fx_table *table,
		       size_t first, const struct fx_history_tally *tally)
{
	fx_table_number(table, first, (int64_t)tally->uses);
	fx_table_number(table, first + 1, (int64_t)tally->time);
	fx_table_number(table, first + 2, (int64_t)tally->waits);
	fx_table_number(table, first + 3, (int64_t)tally->waited);
	if (tally->waits > 0) {
		fx_table_number(table, first + 4, (int64_t)tally->longest);
		fx_table_number(table, first + 5,
				(int64_t)(tally->longest_at - fx_report_begin(telling->report)));
	}
	if (telling->has_bytes) {
		fx_table_number(table, first + TALLY_COUNT, (int64_t)tally->read);
		fx_table_number(table, first + TALLY_COUNT + 1, (int64_t)tally->written);
	}
}

/* --- Uses ------------------------------------------------------------------------------------- */

static uint64_t tell_cut(const struct fx_history_telling *telling, uint64_t ts)
{
	uint64_t begin = fx_report_begin(telling->report), end = fx_report_end(telling->report);

	return ts < begin ? begin : ts > end ? end : ts;
}

static void tell_show(struct fx_history_telling *telling, struct fx_history_life *life,
		      const struct fx_use *of, uint32_t from, bool waits)
{
	struct fx_use use = *of;

	use.at = tell_cut(telling, use.at);
	use.begin = tell_cut(telling, use.begin);
	use.end = tell_cut(telling, use.end);
	fx_history_count_life(telling, life, &use, waits);
	fx_history_count_user(telling, (uint32_t)(life - telling->lives.items), &use, waits);
	fx_history_add_row(telling, life->number, &use, from);
}

static void tell_use(struct fx_history_telling *telling, const struct fx_use *use, uint32_t from)
{
	bool is_shown = use->flags & FX_USE_SHOWN, waits = fx_history_is_wait(telling, use, from);
	struct fx_history_life *life;

	if (!telling->history->objects.items[use->object].is_wanted)
		return;
	life = fx_history_life_of(telling, use);
	if (!life) {
		telling->beyond++;
		return;
	}
	fx_history_know_life(telling, life, use);
	if (is_shown)
		tell_show(telling, life, use, from, waits);
	if (fx_charges_add(&telling->charges, (uint32_t)(life - telling->lives.items), use, from,
			   waits && is_shown) < 0)
		fx_report_fail(telling->report, -ENOMEM);
}

static int tell_uses(struct fx_history_telling *telling)
{
	struct fx_uses_walk walk;
	const struct fx_use *use;
	uint32_t from = 0;
	int end, r = fx_uses_begin(&telling->history->uses, &walk);

	for (use = r == 0 ? fx_uses_first(&walk, &from) : NULL; use;
	     use = fx_uses_next(&walk, &from))
		tell_use(telling, use, from);
	end = fx_uses_end(&walk);
	if (r == 0)
		r = end;
	return r == 0 ? fx_charges_finish(&telling->charges) : r;
}

/* --- Tables ----------------------------------------------------------------------------------- */

static void tell_set_name(const struct fx_history_telling *telling, struct fx_table *table,
			  const struct fx_history_life *life)
{
	const struct fx_history_object *object = &telling->history->objects.items[life->object];
	struct fx_object lock = {object->number, object->what, object->text};
	size_t column = fx_history_behind(telling, OBJECT_NAME);
	char text[FX_SHOW_MAX];

	if (object->kind == FX_WANTED_FD) {
		snprintf(text, sizeof(text), "%" PRIu64 "%s%.500s", object->number,
			 life->text ? " " : "",
			 life->text ? fx_report_text(telling->report, life->text)->data : "");
		fx_table_string(table, column, text);
	} else if (object->kind == FX_WANTED_LOCK && object->number) {
		fx_show_object_text(telling->report, &lock, text);
		fx_table_string(table, column, text);
	} else {
		const struct fx_text *name = fx_report_text(telling->report, object->text);

		fx_table_text(table, column, name->data, name->length);
	}
}

static struct fx_table *tell_objects(struct fx_history_telling *telling)
{
	struct fx_table *table = FX_HISTORY_TABLE(telling, "objects", "What was asked for",
						  object_columns, lock_columns);

	for (size_t i = 0; table && i < telling->lives.count; i++) {
		const struct fx_history_life *life = &telling->lives.items[i];
		uint32_t process = telling->history->objects.items[life->object].process;
		uint64_t begin = fx_report_begin(telling->report);

		if (!life->number)
			continue;
		fx_table_row(table);
		fx_table_number(table, OBJECT_NUMBER, life->number);
		fx_table_number(table, OBJECT_FIRST, (int64_t)(life->first - begin));
		fx_table_number(table, OBJECT_LAST, (int64_t)(life->last - begin));
		tell_tally(telling, table, OBJECT_TALLY, &life->tally);
		fx_table_number(table, fx_history_behind(telling, OBJECT_OPENS),
				(int64_t)life->opens);
		fx_table_number(table, fx_history_behind(telling, OBJECT_CLOSES),
				(int64_t)life->closes);
		if (process != FX_HISTORY_NO_PROCESS)
			fx_table_number(table, fx_history_behind(telling, OBJECT_PID),
					(int64_t)fx_report_timeline(telling->report)
					    ->processes.items[process]
					    ->pid);
		tell_set_name(telling, table, life);
	}
	if (!table)
		return NULL;
	fx_table_keep_unless_sorted(table);
	if (telling->beyond > 0)
		fx_table_note(table, "there were more: %s uses were of one too many",
			      FX_COUNT(telling->beyond));
	if (telling->history->keys.beyond > 0)
		fx_table_note(table, "there were more: what %s calls used was one too many",
			      FX_COUNT(telling->history->keys.beyond));
	return table;
}

static struct fx_table *tell_users(struct fx_history_telling *telling)
{
	struct fx_table *table =
	    FX_HISTORY_TABLE(telling, "users", "Who used it", user_columns, lock_user_columns);

	for (size_t i = 0; table && i < telling->users.count; i++) {
		const struct fx_key *key = &telling->user_keys.keys.items[i];
		const struct fx_thread *thread = fx_history_thread(telling, key->numbers[0]);

		fx_table_row(table);
		fx_table_number(table, USER_OBJECT, telling->lives.items[key->address].number);
		tell_tally(telling, table, USER_TALLY, &telling->users.items[i]);
		fx_table_number(table, fx_history_behind(telling, USER_PID),
				(int64_t)thread->key.pid);
		fx_table_number(table, fx_history_behind(telling, USER_TID),
				(int64_t)thread->key.tid);
		fx_history_set_thread(telling, table, fx_history_behind(telling, USER_THREAD),
				      key->numbers[0]);
	}
	if (!table)
		return NULL;
	fx_table_sorted_by(table, USER_TALLY);
	if (telling->user_keys.beyond > 0)
		fx_table_note(table, "there were more threads than are kept");
	return table;
}

static struct fx_table *tell_waiters(struct fx_history_telling *telling)
{
	struct fx_table *table = fx_table_new("waiters", "Who waited for whom", waiter_columns,
					      sizeof(waiter_columns) / sizeof(*waiter_columns));
	bool any_unknown = false;

	for (size_t i = 0; table && i < telling->charges.items.count; i++) {
		const struct fx_charge *charge = &telling->charges.items.items[i];
		const struct fx_key *key = &telling->charges.keys.keys.items[i];
		uint32_t waiter = key->numbers[0], whom = key->numbers[1];

		fx_table_row(table);
		fx_table_number(table, WAITER_TOTAL, (int64_t)charge->total);
		fx_table_number(table, WAITER_COUNT, (int64_t)charge->count);
		fx_table_number(table, WAITER_LONGEST, (int64_t)charge->longest);
		fx_table_number(table, WAITER_AT,
				(int64_t)(charge->longest_at - fx_report_begin(telling->report)));
		fx_table_number(table, WAITER_OBJECT, telling->lives.items[key->address].number);
		fx_table_number(table, WAITER_TID,
				(int64_t)fx_history_thread(telling, waiter)->key.tid);
		fx_history_set_thread(telling, table, WAITER_THREAD, waiter);
		any_unknown |= !whom;
		if (!whom)
			continue;
		fx_table_number(table, WAITER_FOR_TID,
				(int64_t)fx_history_thread(telling, whom - 1)->key.tid);
		fx_history_set_thread(telling, table, WAITER_FOR, whom - 1);
	}
	if (!table)
		return NULL;
	if (any_unknown)
		fx_table_note(table, "without a name: no arrow says who was waited for");
	if (telling->charges.keys.beyond > 0)
		fx_table_note(table, "there were more pairs of threads than are kept");
	return table;
}

static void tell_note_uses(const struct fx_history_telling *telling)
{
	const struct fx_history *history = telling->history;

	if (history->wants_locks && !history->has_releases)
		fx_table_note(
		    telling->table,
		    "of locks, calls that waited are recorded, and releases that somebody "
		    "waited for: who took one without waiting is not known, and the "
		    "time counts for the one before; with -c '#default,pthread:all', fxtrace run "
		    "records all");
	if (history->wants_locks)
		fx_table_note(telling->table, "held by: who had the lock as the wait began; ended "
					      "by: whose call let it go on");
	if (history->streams > 0)
		fx_table_note(telling->table,
			      "calls of streams have no bytes, which libc moves by itself");
}

/* Room for the rows that are shown; all of them, where another order is asked for. */
static size_t tell_room(const struct fx_report_order *order)
{
	return order->top > 0 && !order->sort ? order->top : ROWS_MAX;
}

/* --- The whole -------------------------------------------------------------------------------- */

static void tell_free(struct fx_history_telling *telling)
{
	fx_vector_free(&telling->lives);
	free(telling->newest);
	fx_keys_free(&telling->user_keys);
	fx_vector_free(&telling->users);
	fx_charges_free(&telling->charges);
}

void fx_history_tell(struct fx_history *history)
{
	struct fx_history_telling telling = {
	    .history = history,
	    .report = history->report,
	    .user_keys.limit = USERS_MAX,
	    .charges.from = fx_report_begin(history->report),
	    .charges.to = fx_report_end(history->report),
	    .rows = tell_room(fx_report_order(history->report)),
	    .has_bytes = history->wants_fds || history->wants_files || history->wants_peers,
	};
	int r = -ENOMEM;

	telling.newest = calloc(history->objects.count + 1, sizeof(*telling.newest));
	telling.table = fx_history_rows_new(&telling);
	if (telling.newest && telling.table)
		r = tell_uses(&telling);
	if (r < 0) {
		fx_table_free(telling.table);
		fx_report_fail(history->report, r);
	} else {
		tell_note_uses(&telling);
		fx_table_keep_unless_sorted(telling.table);
		fx_report_add(history->report, tell_objects(&telling));
		fx_report_add(history->report, tell_users(&telling));
		fx_report_add(history->report, tell_waiters(&telling));
		fx_report_add(history->report, telling.table);
		fx_history_tell_missing(history);
	}
	tell_free(&telling);
}

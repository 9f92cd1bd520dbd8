/* SPDX-License-Identifier: MIT */
/* What is told of the objects that were asked for: what they are, who used them, who waited for whom, and their uses. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/charges.h"
#include "report/history.h"
#include "report/report.h"
#include "report/show.h"
#include "report/units.h"

enum { LIVES_MAX = 200000, USERS_MAX = 200000, ROWS_MAX = 1000000, ARGS_MAX = 32 };

struct tally {
	uint64_t uses, time, waits, waited, longest, longest_at, read, written;
};

/* An object from its begin to its end: a descriptor's number has several. */
struct life {
	uint32_t object;
	uint32_t number; /* counts from 1, of those that are told of; 0: no use of it was shown */
	uint32_t text;	 /* what it was called, as it was told at most length; 0: not told */
	uint64_t first, last, opens, closes;
	bool is_closed;
	struct tally tally;
};

struct telling {
	struct fx_history *history;
	struct fx_report *report;
	FX_VECTOR(struct life) lives;
	uint32_t *newest;	  /* by object: 1 + its last life; 0: it has none */
	struct fx_keys user_keys; /* address: life; thread */
	FX_VECTOR(struct tally) users;
	struct fx_charges charges;
	struct fx_table *table; /* of the uses */
	size_t rows;		/* that it may have */
	uint32_t numbers;	/* given out to lives */
	uint64_t beyond;	/* uses of lives for which there was no room */
	bool has_bytes;
};

/* --- Columns ---------------------------------------------------------------------------------- */

/* Locks move no bytes: where nothing else was asked for, tables have no columns of them. */
#define BYTES_COLUMNS                                                                              \
	{"read_bytes", "read", FX_UNIT_BYTES},                                                     \
	{                                                                                          \
		"written_bytes", "written", FX_UNIT_BYTES                                          \
	}

enum { BYTES_COUNT = 2 };

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
	OBJECT_OPENS = OBJECT_TALLY + TALLY_COUNT + BYTES_COUNT,
	OBJECT_CLOSES,
	OBJECT_PID,
	OBJECT_NAME
};

static const struct fx_column object_columns[] = {OBJECT_BEFORE, BYTES_COLUMNS, OBJECT_AFTER};
static const struct fx_column lock_columns[] = {OBJECT_BEFORE, OBJECT_AFTER};

#define USER_BEFORE {"object", "#", FX_UNIT_NUMBER}, TALLY_COLUMNS
#define USER_AFTER                                                                                 \
	{"pid", "pid", FX_UNIT_NUMBER}, {"tid", "tid", FX_UNIT_NUMBER},                            \
	{                                                                                          \
		"thread", "thread", FX_UNIT_TEXT                                                   \
	}

enum { USER_OBJECT, USER_TALLY };
enum { USER_PID = USER_TALLY + TALLY_COUNT + BYTES_COUNT, USER_TID, USER_THREAD };

static const struct fx_column user_columns[] = {USER_BEFORE, BYTES_COLUMNS, USER_AFTER};
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

static const struct fx_column use_columns[] = {USE_BEFORE, BYTES_COLUMNS, USE_AFTER};
static const struct fx_column lock_use_columns[] = {USE_BEFORE, USE_AFTER};

#define TABLE(telling, name, title, columns, without)                                              \
	((telling)->has_bytes                                                                      \
	     ? fx_table_new(name, title, columns, sizeof(columns) / sizeof(*(columns)))            \
	     : fx_table_new(name, title, without, sizeof(without) / sizeof(*(without))))

/* A column that stands behind those of bytes. */
static size_t tell_behind(const struct telling *telling, size_t column)
{
	return telling->has_bytes ? column : column - BYTES_COUNT;
}

static void tell_tally(const struct telling *telling, struct fx_table *table, size_t first,
		       const struct tally *tally)
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

static const struct fx_thread *tell_thread(const struct telling *telling, uint64_t number)
{
	return fx_report_timeline(telling->report)->threads.items[number];
}

static void tell_set_thread(const struct telling *telling, struct fx_table *table, size_t column,
			    uint64_t number)
{
	char text[FX_SHOW_MAX];

	fx_show_thread(tell_thread(telling, number), text);
	fx_table_string(table, column, text);
}

/* --- What is counted -------------------------------------------------------------------------- */

/* NULL: there is no room. */
static struct life *tell_life(struct telling *telling, const struct fx_use *use)
{
	const struct fx_history_object *object = &telling->history->objects.items[use->object];
	uint32_t *newest = &telling->newest[use->object];
	struct life *life = *newest ? &telling->lives.items[*newest - 1] : NULL;
	bool is_over = life && object->kind == FX_WANTED_FD &&
		       (life->is_closed || (use->flags & FX_USE_OPENS));

	if (life && !is_over)
		return life;
	if (telling->lives.count == LIVES_MAX)
		return NULL;
	if (fx_vector_reserve(&telling->lives, 1) < 0) {
		fx_report_fail(telling->report, -ENOMEM);
		return NULL;
	}
	telling->lives.items[telling->lives.count++] = (struct life){.object = use->object};
	*newest = (uint32_t)telling->lives.count;
	return &telling->lives.items[*newest - 1];
}

/* Of calls that are recorded though they wait for nobody, those that waited say so. */
static bool tell_is_wait(const struct telling *telling, const struct fx_use *use, uint32_t from)
{
	const struct fx_history *history = telling->history;
	const struct fx_history_object *object = &history->objects.items[use->object];

	if (use->wait == FX_WAIT_NONE)
		return false;
	if (!history->has_releases || object->kind != FX_WANTED_LOCK ||
	    object->process == FX_HISTORY_NO_PROCESS || (use->flags & FX_USE_WAITED) || from)
		return true;
	if (use->wait == FX_WAIT_LOCK)
		return use->deed == FX_DEED_TAKE && !(use->flags & FX_USE_TAKES);
	return use->wait != FX_WAIT_SEMAPHORE;
}

static void tally_add(struct tally *tally, const struct fx_use *use, bool waits)
{
	uint64_t time = use->end - use->begin;

	tally->uses++;
	tally->time += time;
	tally->read += use->read;
	tally->written += use->written;
	if (!waits)
		return;
	if (tally->waits++ == 0 || time > tally->longest) {
		tally->longest = time;
		tally->longest_at = use->begin;
	}
	tally->waited += time;
}

/* What is known of it by any use, whether that is shown or not. */
static void tell_know_life(struct telling *telling, struct life *life, const struct fx_use *use)
{
	life->is_closed |= (use->flags & FX_USE_CLOSES) != 0;
	if (use->text && (!life->text || fx_report_text(telling->report, use->text)->length >
					     fx_report_text(telling->report, life->text)->length))
		life->text = use->text;
}

static void tell_count_life(struct telling *telling, struct life *life, const struct fx_use *use,
			    bool waits)
{
	if (!life->number) {
		life->number = ++telling->numbers;
		life->first = use->at;
	}
	if (use->end > life->last)
		life->last = use->end;
	life->opens += (use->flags & FX_USE_OPENS) != 0;
	life->closes += (use->flags & FX_USE_CLOSES) != 0;
	tally_add(&life->tally, use, waits);
}

static void tell_count_user(struct telling *telling, uint32_t life, const struct fx_use *use,
			    bool waits)
{
	struct fx_key key = {.address = life, .numbers = {use->thread}};
	size_t number;

	if (fx_vector_reserve(&telling->users, 1) < 0) {
		fx_report_fail(telling->report, -ENOMEM);
		return;
	}
	number = fx_keys_number(&telling->user_keys, key);
	if (number == FX_KEY_NONE)
		return;
	if (number == telling->users.count)
		telling->users.items[telling->users.count++] = (struct tally){0};
	tally_add(&telling->users.items[number], use, waits);
}

/* --- One use ---------------------------------------------------------------------------------- */

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

static void tell_set_call(struct telling *telling, const struct fx_use *use)
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
	fx_table_string(telling->table, tell_behind(telling, USE_CALL), text);
}

static void tell_set_other(struct telling *telling, size_t column, uint32_t thread)
{
	char name[FX_SHOW_MAX], text[FX_SHOW_MAX + 32];

	if (!thread)
		return;
	fx_show_thread(tell_thread(telling, thread - 1), name);
	snprintf(text, sizeof(text), "%s (tid %" PRIu64 ")", name,
		 tell_thread(telling, thread - 1)->key.tid);
	fx_table_string(telling->table, tell_behind(telling, column), text);
}

static void tell_row(struct telling *telling, uint32_t number, const struct fx_use *use,
		     uint32_t from)
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
	fx_table_number(table, USE_TID, (int64_t)tell_thread(telling, use->thread)->key.tid);
	tell_set_thread(telling, table, USE_THREAD, use->thread);
	if (use->read)
		fx_table_number(table, USE_READ, (int64_t)use->read);
	if (use->written)
		fx_table_number(table, USE_WRITTEN, (int64_t)use->written);
	tell_set_other(telling, USE_HOLDER, use->holder);
	tell_set_other(telling, USE_FROM, from);
	tell_set_call(telling, use);
}

static uint64_t tell_cut(const struct telling *telling, uint64_t ts)
{
	uint64_t begin = fx_report_begin(telling->report), end = fx_report_end(telling->report);

	return ts < begin ? begin : ts > end ? end : ts;
}

static void tell_show(struct telling *telling, struct life *life, const struct fx_use *of,
		      uint32_t from, bool waits)
{
	struct fx_use use = *of;

	use.at = tell_cut(telling, use.at);
	use.begin = tell_cut(telling, use.begin);
	use.end = tell_cut(telling, use.end);
	tell_count_life(telling, life, &use, waits);
	tell_count_user(telling, (uint32_t)(life - telling->lives.items), &use, waits);
	tell_row(telling, life->number, &use, from);
}

static void tell_use(struct telling *telling, const struct fx_use *use, uint32_t from)
{
	bool is_shown = use->flags & FX_USE_SHOWN, waits = tell_is_wait(telling, use, from);
	struct life *life;

	if (!telling->history->objects.items[use->object].is_wanted)
		return;
	life = tell_life(telling, use);
	if (!life) {
		telling->beyond++;
		return;
	}
	tell_know_life(telling, life, use);
	if (is_shown)
		tell_show(telling, life, use, from, waits);
	if (fx_charges_add(&telling->charges, (uint32_t)(life - telling->lives.items), use, from,
			   waits && is_shown) < 0)
		fx_report_fail(telling->report, -ENOMEM);
}

static int tell_uses(struct telling *telling)
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

static void tell_set_name(const struct telling *telling, struct fx_table *table,
			  const struct life *life)
{
	const struct fx_history_object *object = &telling->history->objects.items[life->object];
	struct fx_object lock = {object->number, object->what, object->text};
	size_t column = tell_behind(telling, OBJECT_NAME);
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

static struct fx_table *tell_objects(struct telling *telling)
{
	struct fx_table *table =
	    TABLE(telling, "objects", "What was asked for", object_columns, lock_columns);

	for (size_t i = 0; table && i < telling->lives.count; i++) {
		const struct life *life = &telling->lives.items[i];
		uint32_t process = telling->history->objects.items[life->object].process;
		uint64_t begin = fx_report_begin(telling->report);

		if (!life->number)
			continue;
		fx_table_row(table);
		fx_table_number(table, OBJECT_NUMBER, life->number);
		fx_table_number(table, OBJECT_FIRST, (int64_t)(life->first - begin));
		fx_table_number(table, OBJECT_LAST, (int64_t)(life->last - begin));
		tell_tally(telling, table, OBJECT_TALLY, &life->tally);
		fx_table_number(table, tell_behind(telling, OBJECT_OPENS), (int64_t)life->opens);
		fx_table_number(table, tell_behind(telling, OBJECT_CLOSES), (int64_t)life->closes);
		if (process != FX_HISTORY_NO_PROCESS)
			fx_table_number(table, tell_behind(telling, OBJECT_PID),
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

static struct fx_table *tell_users(struct telling *telling)
{
	struct fx_table *table =
	    TABLE(telling, "users", "Who used it", user_columns, lock_user_columns);

	for (size_t i = 0; table && i < telling->users.count; i++) {
		const struct fx_key *key = &telling->user_keys.keys.items[i];
		const struct fx_thread *thread = tell_thread(telling, key->numbers[0]);

		fx_table_row(table);
		fx_table_number(table, USER_OBJECT, telling->lives.items[key->address].number);
		tell_tally(telling, table, USER_TALLY, &telling->users.items[i]);
		fx_table_number(table, tell_behind(telling, USER_PID), (int64_t)thread->key.pid);
		fx_table_number(table, tell_behind(telling, USER_TID), (int64_t)thread->key.tid);
		tell_set_thread(telling, table, tell_behind(telling, USER_THREAD), key->numbers[0]);
	}
	if (!table)
		return NULL;
	fx_table_sorted_by(table, USER_TALLY);
	if (telling->user_keys.beyond > 0)
		fx_table_note(table, "there were more threads than are kept");
	return table;
}

static struct fx_table *tell_waiters(struct telling *telling)
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
		fx_table_number(table, WAITER_TID, (int64_t)tell_thread(telling, waiter)->key.tid);
		tell_set_thread(telling, table, WAITER_THREAD, waiter);
		any_unknown |= !whom;
		if (!whom)
			continue;
		fx_table_number(table, WAITER_FOR_TID,
				(int64_t)tell_thread(telling, whom - 1)->key.tid);
		tell_set_thread(telling, table, WAITER_FOR, whom - 1);
	}
	if (!table)
		return NULL;
	if (any_unknown)
		fx_table_note(table, "without a name: no arrow says who was waited for");
	if (telling->charges.keys.beyond > 0)
		fx_table_note(table, "there were more pairs of threads than are kept");
	return table;
}

static void tell_note_uses(const struct telling *telling)
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

/* --- What is not there ------------------------------------------------------------------------ */

/* How far a lock is from what is wanted: by its address, or by its name. */
static uint64_t tell_distance(const struct fx_history *history, const struct fx_wanted *wanted,
			      const struct fx_history_object *object)
{
	if (wanted->pattern)
		return UINT64_MAX -
		       fx_wanted_alike(wanted, fx_report_text(history->report, object->text)->data);
	return object->number > wanted->number ? object->number - wanted->number
					       : wanted->number - object->number;
}

/* The lock that comes nearest. NULL: there is none. */
static const struct fx_history_object *tell_nearest(const struct fx_history *history,
						    const struct fx_wanted *wanted)
{
	const struct fx_history_object *found = NULL;

	for (size_t i = 0; i < history->objects.count; i++) {
		const struct fx_history_object *object = &history->objects.items[i];

		if (object->kind != FX_WANTED_LOCK ||
		    !(wanted->pattern ? object->text : object->number))
			continue;
		if (!found ||
		    tell_distance(history, wanted, object) < tell_distance(history, wanted, found))
			found = object;
	}
	return found;
}

static void tell_no_lock(const struct fx_history *history, const struct fx_wanted *wanted)
{
	const struct fx_history_object *object = tell_nearest(history, wanted);
	struct fx_object lock;
	char text[FX_SHOW_MAX];

	if (!object) {
		fx_report_miss(history->report,
			       "--lock %s: no call has used such a lock; fxtrace report --waits "
			       "shows what was waited for",
			       wanted->text);
		return;
	}
	lock = (struct fx_object){object->number, object->what, object->text};
	fx_show_object_text(history->report, &lock, text);
	fx_report_miss(history->report,
		       "--lock %s: no call has used it; there is %s, and fxtrace report --waits "
		       "shows all that were waited for",
		       wanted->text, text);
}

static void tell_no_fd(const struct fx_history *history, const struct fx_wanted *wanted)
{
	if (history->lowest > history->highest)
		fx_report_miss(history->report, "--fd %s: no call has used a descriptor",
			       wanted->text);
	else
		fx_report_miss(history->report,
			       "--fd %s: no call has used it; those that were used are between "
			       "%" PRIu64 " and %" PRIu64 "%s",
			       wanted->text, history->lowest, history->highest,
			       wanted->pid ? ", and fxtrace report --processes shows ids" : "");
}

static void tell_no_name(const struct fx_history *history, size_t number)
{
	const struct fx_wanted *wanted = &history->wanted[number];
	const char *option = wanted->kind == FX_WANTED_FILE ? "file" : "peer";
	uint32_t near = history->near[number].text;

	if (near)
		fx_report_miss(history->report,
			       "--%s %s: no call has used it; there is %s, and fxtrace report "
			       "--files shows all",
			       option, wanted->text, fx_report_text(history->report, near)->data);
	else
		fx_report_miss(history->report,
			       "--%s %s: no call has used it; fxtrace report --files shows all",
			       option, wanted->text);
}

static void tell_what_is_not_there(const struct fx_history *history)
{
	for (size_t i = 0; i < history->wanted_count; i++) {
		if (history->is_found[i])
			continue;
		if (history->wanted[i].kind == FX_WANTED_LOCK)
			tell_no_lock(history, &history->wanted[i]);
		else if (history->wanted[i].kind == FX_WANTED_FD)
			tell_no_fd(history, &history->wanted[i]);
		else
			tell_no_name(history, i);
	}
}

/* --- The whole -------------------------------------------------------------------------------- */

static void tell_free(struct telling *telling)
{
	fx_vector_free(&telling->lives);
	free(telling->newest);
	fx_keys_free(&telling->user_keys);
	fx_vector_free(&telling->users);
	fx_charges_free(&telling->charges);
}

void fx_history_tell(struct fx_history *history)
{
	struct telling telling = {
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
	telling.table =
	    TABLE(&telling, "history", "Its uses, in order of time", use_columns, lock_use_columns);
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
		tell_what_is_not_there(history);
	}
	tell_free(&telling);
}

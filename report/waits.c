/* SPDX-License-Identifier: MIT */
/*
 * Waiting: at which locks, which threads held them, and how many stood there at once; for which conditions, semaphores, children,
 * peers; and what each thread waited for.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/keys.h"
#include "report/locks.h"
#include "report/report.h"
#include "report/section.h"
#include "report/show.h"
#include "report/units.h"
#include "report/waiting.h"

enum { OBJECTS_MAX = 200000 };

/* All waits for one thing, or of one thread for things of one kind. */
struct waited {
	uint64_t total, count, longest;
	uint64_t longest_ts;
	const struct fx_thread *longest_thread;
	uint32_t name;	      /* of a call that waited */
	uint32_t object_name; /* of what is waited for; 0: not known */
};

struct waits {
	struct fx_report *report;
	struct fx_waiting waiting;
	bool is_waiting; /* what is called inside a wait is part of it */
	uint32_t depth;	 /* of the wait that is open */
	uint64_t unfinished;
	struct fx_keys objects; /* address or 0; process, enum fx_wait_kind, text: what it is */
	FX_VECTOR(struct waited) waited;
	struct fx_keys threads; /* address is the thread's number; kind */
	FX_VECTOR(struct waited) thread_waited;
	struct fx_locks locks;
	struct fx_keys ended; /* threads that were joined: handle; process */
	FX_VECTOR(const struct fx_thread *) ended_threads; /* NULL: several had this handle */
};

static void *waits_create(struct fx_report *report)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return NULL;
	waits->report = report;
	waits->objects.limit = OBJECTS_MAX;
	waits->threads.limit = OBJECTS_MAX;
	fx_locks_begin(&waits->locks, report, OBJECTS_MAX);
	waits->ended.limit = OBJECTS_MAX;
	return waits;
}

static void waits_destroy(void *section)
{
	struct waits *waits = section;

	fx_waiting_free(&waits->waiting);
	fx_keys_free(&waits->objects);
	fx_vector_free(&waits->waited);
	fx_keys_free(&waits->threads);
	fx_vector_free(&waits->thread_waited);
	fx_locks_free(&waits->locks);
	fx_keys_free(&waits->ended);
	fx_vector_free(&waits->ended_threads);
	free(waits);
}

/* --- What is seen ----------------------------------------------------------------------------- */

/* What the descriptors of a call are, of those that lead to somebody. */
static uint32_t waits_peer(struct fx_report *report, const struct fx_event *event)
{
	static const char *const names[] = {"file", "out_file", "in_file"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct fxt_string *file = fx_event_string(event, names[i]);

		if (file && (i == 0 || file->data[0] != '/'))
			return fx_report_intern_some(report, file->data, file->length);
	}
	return 0;
}

/* The key of what is waited for; `*ret_name' is the number of its own name, if it has one. */
static struct fx_key waits_object(struct fx_report *report, const struct fx_open_call *call,
				  const struct fx_event *event, enum fx_wait_kind kind,
				  uint32_t *ret_name)
{
	struct fx_key key = {.numbers = {call->thread->process->number, kind, 0, 0}};
	struct fx_object object;
	const struct fxt_string *text;
	int64_t number;

	switch (kind) {
	case FX_WAIT_CHILD:
		if (fx_event_integer(event, "ret", &number) && number > 0)
			key.address = (uint64_t)number;
		break;
	case FX_WAIT_PEER:
		key.numbers[2] = waits_peer(report, event);
		break;
	case FX_WAIT_POLL:
		text = fx_event_string(event, "file");
		if (!text)
			text = fx_event_string(event, "fds");
		if (text)
			key.numbers[2] = fx_report_intern_some(report, text->data, text->length);
		break;
	default:
		object = fx_show_object(report, event);
		key.address = object.address;
		key.numbers[2] = object.what;
		*ret_name = object.name;
		if (!key.address)
			key.numbers[2] = waits_peer(report, event);
	}
	if (!key.address && !key.numbers[2])
		key.numbers[2] = call->name;
	return key;
}

static void waited_add(struct waited *waited, const struct fx_open_call *call)
{
	uint64_t time = call->end - call->ts;

	if (waited->count == 0 || time > waited->longest) {
		waited->longest = time;
		waited->longest_ts = call->ts;
		waited->longest_thread = call->thread;
		waited->name = call->name;
	}
	waited->count++;
	waited->total += time;
}

/* Makes room for the item of a key that may be new. False: no memory. */
#define WAITS_ROOM(waits, vector, number)                                                          \
	((number) < (vector)->count ||                                                             \
	 (fx_vector_reserve(vector, 1) == 0                                                        \
	      ? (memset(&(vector)->items[(vector)->count++], 0, sizeof(*(vector)->items)), true)   \
	      : (fx_report_fail((waits)->report, -ENOMEM), false)))

static void waits_add(struct waits *waits, const struct fx_open_call *call,
		      const struct fx_event *event, enum fx_wait_kind kind)
{
	struct fx_key of_thread = {.address = call->thread->number, .numbers = {kind}};
	uint32_t name = 0;
	size_t number =
	    fx_keys_number(&waits->objects, waits_object(waits->report, call, event, kind, &name));

	waits->unfinished += call->is_unfinished;
	if (number != FX_KEY_NONE && WAITS_ROOM(waits, &waits->waited, number)) {
		waited_add(&waits->waited.items[number], call);
		if (name)
			waits->waited.items[number].object_name = name;
		if (kind == FX_WAIT_LOCK)
			fx_locks_add(&waits->locks, number, call, event);
	}
	number = fx_keys_number(&waits->threads, of_thread);
	if (number != FX_KEY_NONE && WAITS_ROOM(waits, &waits->thread_waited, number))
		waited_add(&waits->thread_waited.items[number], call);
}

static void waits_see_enter(void *section, const struct fx_open_call *call,
			    const struct fx_event *event)
{
	struct waits *waits = section;
	enum fx_wait_kind kind;

	if (call->kind == FX_CALL_PTHREAD)
		fx_locks_enter(&waits->locks, call, event);
	if (waits->is_waiting)
		return;
	kind = fx_waiting_of(&waits->waiting, fx_report_texts(waits->report), call, event);
	if (kind == FX_WAIT_NONE)
		return;
	waits->is_waiting = true;
	waits->depth = call->depth;
	waits_add(waits, call, event, kind);
}

static void waits_see_leave(void *section, const struct fx_open_call *call)
{
	struct waits *waits = section;

	if (call->depth == waits->depth)
		waits->is_waiting = false;
}

/* A thread that is joined says by which handle. */
static void waits_see_instant(void *section, const struct fx_event *event)
{
	struct waits *waits = section;
	const struct fx_thread *thread = event->thread;
	int64_t handle;
	size_t number, before = waits->ended_threads.count;

	if (!fxt_string_equals(event->name, "joined") ||
	    !fx_event_integer(event, "thread", &handle))
		return;
	number =
	    fx_keys_number(&waits->ended, (struct fx_key){.address = (uint64_t)handle,
							  .numbers = {thread->process->number}});
	if (number == FX_KEY_NONE || !WAITS_ROOM(waits, &waits->ended_threads, number))
		return;
	if (number == before)
		waits->ended_threads.items[number] = thread;
	else if (waits->ended_threads.items[number] != thread)
		waits->ended_threads.items[number] = NULL;
}

/* --- Tables ----------------------------------------------------------------------------------- */

#define COLUMNS(columns) (columns), sizeof(columns) / sizeof((columns)[0])

static void waits_set_thread(struct fx_table *table, size_t column, const struct fx_thread *thread)
{
	char text[FX_SHOW_MAX];

	fx_show_thread(thread, text);
	fx_table_string(table, column, text);
}

static void waits_set_text(const struct waits *waits, struct fx_table *table, size_t column,
			   uint32_t number)
{
	const struct fx_text *text;

	if (!number)
		return;
	text = fx_report_text(waits->report, number);
	fx_table_text(table, column, text->data, text->length);
}

static const struct fx_process *waits_process(const struct waits *waits, size_t object)
{
	return fx_report_timeline(waits->report)
	    ->processes.items[waits->objects.keys.items[object].numbers[0]];
}

/* The thread that has the handle; NULL: not known. */
static const struct fx_thread *waits_joined(struct waits *waits, const struct fx_key *object)
{
	size_t number =
	    fx_keys_number(&waits->ended, (struct fx_key){.address = object->address,
							  .numbers = {object->numbers[0]}});

	return number < waits->ended_threads.count ? waits->ended_threads.items[number] : NULL;
}

static void waits_set_child(const struct waits *waits, struct fx_table *table, size_t column,
			    uint64_t pid)
{
	struct fx_process *process;
	char name[FX_SHOW_MAX], text[FX_SHOW_MAX + 32];

	HASH_FIND(hh, fx_report_timeline(waits->report)->process_table, &pid, sizeof(pid), process);
	if (process)
		fx_show_process(process, name);
	snprintf(text, sizeof(text), "%s (pid %" PRIu64 ")", process ? name : "process", pid);
	fx_table_string(table, column, text);
}

static void waits_set_object(struct waits *waits, struct fx_table *table, size_t column,
			     size_t number)
{
	struct fx_key key = waits->objects.keys.items[number];
	struct fx_object object = {key.address, key.numbers[2],
				   waits->waited.items[number].object_name};
	const struct fx_thread *thread;
	char name[FX_SHOW_MAX], text[FX_SHOW_MAX + 64];

	if (!key.address) {
		waits_set_text(waits, table, column, key.numbers[2]);
		return;
	}
	if (key.numbers[1] == FX_WAIT_CHILD) {
		waits_set_child(waits, table, column, key.address);
		return;
	}
	thread = key.numbers[1] == FX_WAIT_THREAD ? waits_joined(waits, &key) : NULL;
	if (thread) {
		fx_show_thread(thread, name);
		snprintf(text, sizeof(text), "%s (tid %" PRIu64 ")", name, thread->key.tid);
	} else {
		fx_show_object_text(waits->report, &object, text);
	}
	fx_table_string(table, column, text);
}

static void waits_row(struct waits *waits, struct fx_table *table, size_t object)
{
	const struct waited *waited = &waits->waited.items[object];

	fx_table_row(table);
	fx_table_number(table, FX_LOCK_TOTAL, (int64_t)waited->total);
	fx_table_number(table, FX_LOCK_COUNT, (int64_t)waited->count);
	fx_table_number(table, FX_LOCK_LONGEST, (int64_t)waited->longest);
	fx_table_number(table, FX_LOCK_AT,
			(int64_t)(waited->longest_ts - fx_report_begin(waits->report)));
	waits_set_thread(table, FX_LOCK_LONGEST_THREAD, waited->longest_thread);
}

static void waits_fill_locks(struct waits *waits, struct fx_table *table)
{
	for (size_t i = 0; i < waits->waited.count; i++) {
		struct fx_key key = waits->objects.keys.items[i];

		if (key.numbers[1] != FX_WAIT_LOCK)
			continue;
		waits_row(waits, table, i);
		fx_table_number(table, FX_LOCK_PID, (int64_t)waits_process(waits, i)->pid);
		waits_set_object(waits, table, FX_LOCK_OBJECT, i);
		fx_locks_tell(&waits->locks, table, i, key, waits->waited.items[i].total);
	}
}

static void waits_add_locks(struct waits *waits)
{
	struct fx_table *table = fx_locks_table(&waits->locks, waits->waited.count);

	if (!table) {
		fx_report_fail(waits->report, -ENOMEM);
		return;
	}
	waits_fill_locks(waits, table);
	fx_locks_note(&waits->locks, table);
	if (waits->unfinished > 0)
		fx_table_note(table,
			      "%s wait%s, for locks or others, had not ended; counted "
			      "until the archive's end",
			      FX_COUNT(waits->unfinished), waits->unfinished == 1 ? "" : "s");
	fx_report_add(waits->report, table);
}

enum { OTHER_PID = FX_LOCK_LONGEST_THREAD + 1, OTHER_KIND, OTHER_CALL, OTHER_OBJECT };

static const struct fx_column other_columns[] = {
    [FX_LOCK_TOTAL] = {"total_ns", "total", FX_UNIT_NS},
    [FX_LOCK_COUNT] = {"waits", "waits", FX_UNIT_COUNT},
    [FX_LOCK_LONGEST] = {"longest_ns", "longest", FX_UNIT_NS},
    [FX_LOCK_AT] = {"longest_at_ns", "at", FX_UNIT_MOMENT},
    [FX_LOCK_LONGEST_THREAD] = {"longest_thread", "of", FX_UNIT_TEXT},
    [OTHER_PID] = {"pid", "pid", FX_UNIT_NUMBER},
    [OTHER_KIND] = {"kind", "for", FX_UNIT_TEXT},
    [OTHER_CALL] = {"call", "call", FX_UNIT_TEXT},
    [OTHER_OBJECT] = {"object", "which", FX_UNIT_TEXT},
};

static void waits_add_others(struct waits *waits)
{
	struct fx_table *table =
	    fx_table_new("waits", "What else was waited for", COLUMNS(other_columns));

	if (!table) {
		fx_report_fail(waits->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < waits->waited.count; i++) {
		uint32_t kind = waits->objects.keys.items[i].numbers[1];

		if (kind == FX_WAIT_LOCK)
			continue;
		waits_row(waits, table, i);
		fx_table_number(table, OTHER_PID, (int64_t)waits_process(waits, i)->pid);
		fx_table_string(table, OTHER_KIND, fx_wait_kind_text((enum fx_wait_kind)kind));
		waits_set_text(waits, table, OTHER_CALL, waits->waited.items[i].name);
		waits_set_object(waits, table, OTHER_OBJECT, i);
	}
	if (waits->objects.beyond > 0)
		fx_table_note(table, "there were more: what %s waits were for was one too many",
			      FX_COUNT(waits->objects.beyond));
	fx_report_add(waits->report, table);
}

enum { THREAD_TOTAL, THREAD_COUNT, THREAD_LONGEST, THREAD_TID, THREAD_NAME, THREAD_KIND };

static const struct fx_column thread_columns[] = {
    [THREAD_TOTAL] = {"total_ns", "total", FX_UNIT_NS},
    [THREAD_COUNT] = {"waits", "waits", FX_UNIT_COUNT},
    [THREAD_LONGEST] = {"longest_ns", "longest", FX_UNIT_NS},
    [THREAD_TID] = {"tid", "tid", FX_UNIT_NUMBER},
    [THREAD_NAME] = {"thread", "thread", FX_UNIT_TEXT},
    [THREAD_KIND] = {"kind", "for", FX_UNIT_TEXT},
};

static void waits_add_threads(struct waits *waits)
{
	struct fx_table *table =
	    fx_table_new("thread_waits", "What each thread waited for", COLUMNS(thread_columns));

	if (!table) {
		fx_report_fail(waits->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < waits->thread_waited.count; i++) {
		const struct waited *waited = &waits->thread_waited.items[i];

		fx_table_row(table);
		fx_table_number(table, THREAD_TOTAL, (int64_t)waited->total);
		fx_table_number(table, THREAD_COUNT, (int64_t)waited->count);
		fx_table_number(table, THREAD_LONGEST, (int64_t)waited->longest);
		fx_table_number(table, THREAD_TID, (int64_t)waited->longest_thread->key.tid);
		waits_set_thread(table, THREAD_NAME, waited->longest_thread);
		fx_table_string(
		    table, THREAD_KIND,
		    fx_wait_kind_text((enum fx_wait_kind)waits->threads.keys.items[i].numbers[0]));
	}
	if (waits->threads.beyond > 0)
		fx_table_note(table, "there were more threads than are kept");
	fx_report_add(waits->report, table);
}

static void waits_tables(void *section)
{
	waits_add_locks(section);
	waits_add_others(section);
	waits_add_threads(section);
}

const struct fx_section fx_section_waits = {
    .kinds = FX_KINDS_THAT_WAIT,
    .create = waits_create,
    .enter = waits_see_enter,
    .leave = waits_see_leave,
    .instant = waits_see_instant,
    .tables = waits_tables,
    .destroy = waits_destroy,
};

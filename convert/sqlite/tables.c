/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "convert/sqlite/arguments.h"
#include "convert/sqlite/tables.h"

/* Columns of a slice. */
enum {
	SLICE_ID = 1,
	SLICE_TS,
	SLICE_DUR,
	SLICE_TRACK,
	SLICE_CATEGORY,
	SLICE_NAME,
	SLICE_DEPTH,
	SLICE_PARENT,
	SLICE_ARGS,
};

static struct fx_sql_tables *sql_tables_get(struct fx_exporter *exporter)
{
	return (struct fx_sql_tables *)exporter;
}

static void sql_tables_fail(struct fx_sql_tables *tables, int error)
{
	if (tables->database.error == 0)
		tables->database.error = error;
}

void fx_sql_tables_init(struct fx_sql_tables *tables, const struct fx_exporter_ops *ops,
			struct fx_timeline *timeline, struct fx_sink *sink)
{
	memset(tables, 0, sizeof(*tables));
	tables->exporter.ops = ops;
	tables->exporter.timeline = timeline;
	tables->exporter.sink = sink;
}

void fx_sql_tables_release(struct fx_sql_tables *tables)
{
	fx_sql_tracks_release(&tables->tracks);
	fx_sql_states_release(&tables->states);
	fx_sql_arrows_release(&tables->arrows);
	fx_vector_free(&tables->open);
	fx_vector_free(&tables->operations);
	fx_vector_free(&tables->innermost);
}

void fx_sql_tables_begin(struct fx_sql_tables *tables, sqlite3 *db,
			 const struct fx_sql_wants *wants)
{
	fx_sql_begin(&tables->database, db, wants);
	fx_sql_tracks_init(&tables->tracks, &tables->database, tables->exporter.timeline->strings);
	fx_sql_states_init(&tables->states, &tables->database, tables->exporter.timeline);
}

/* --- Processes and threads -------------------------------------------------------------------- */

/* NULL: not known, or not in the archive. */
static const struct fx_process *sql_parent_of(const struct fx_timeline *timeline,
					      const struct fx_process *process)
{
	struct fx_process *parent = NULL;

	if (process->parent)
		HASH_FIND(hh, timeline->process_table, &process->parent, sizeof(process->parent),
			  parent);
	return parent;
}

static void sql_bind_known(sqlite3_stmt *row, int column, uint64_t value)
{
	if (value)
		sqlite3_bind_int64(row, column, (int64_t)value);
}

static void sql_tables_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	/* In the order of their columns. */
	static const enum fx_about abouts[] = {
	    FX_ABOUT_EXECUTABLE, FX_ABOUT_DIRECTORY, FX_ABOUT_TITLE,	FX_ABOUT_CONTAINER,
	    FX_ABOUT_POD,	 FX_ABOUT_IMAGE,     FX_ABOUT_POD_NAME, FX_ABOUT_POD_NAMESPACE};
	struct fx_sql_tables *tables = sql_tables_get(exporter);
	sqlite3_stmt *row = fx_sql_row(&tables->database, FX_SQL_PROCESS);
	const struct fx_process *parent;

	if (!row)
		return;
	sqlite3_bind_int64(row, 1, fx_sql_upid(process));
	sqlite3_bind_int64(row, 2, (int64_t)process->pid);
	fx_sql_bind_text(row, 3, process->name);
	if (process->about[FX_ABOUT_USER])
		sqlite3_bind_int64(row, 4, atoll(process->about[FX_ABOUT_USER]->data));
	fx_sql_bind_text(row, 5, process->about[FX_ABOUT_COMMAND]);
	sql_bind_known(row, 6, process->start_ts);
	sql_bind_known(row, 7, process->end_ts);
	parent = sql_parent_of(exporter->timeline, process);
	if (parent)
		sqlite3_bind_int64(row, 8, fx_sql_upid(parent));
	for (size_t i = 0; i < sizeof(abouts) / sizeof(abouts[0]); i++)
		fx_sql_bind_text(row, 9 + (int)i, process->about[abouts[i]]);
	fx_sql_insert(&tables->database, row);
}

static void sql_tables_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);
	sqlite3_stmt *row = fx_sql_row(&tables->database, FX_SQL_THREAD);

	fx_sql_states_thread(&tables->states, thread);
	fx_sql_track_of_thread(&tables->tracks, thread);
	if (!row)
		return;
	sqlite3_bind_int64(row, 1, fx_sql_utid(thread));
	sqlite3_bind_int64(row, 2, (int64_t)thread->key.tid);
	fx_sql_bind_text(row, 3, thread->name);
	sqlite3_bind_int64(row, 4, fx_sql_upid(thread->process));
	sqlite3_bind_int64(row, 5, thread->key.tid == thread->process->pid);
	fx_sql_insert(&tables->database, row);
}

static void sql_tables_enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);

	tables->track = fx_sql_track_of_thread(&tables->tracks, thread);
	tables->open.count = 0;
}

/* --- Slices ----------------------------------------------------------------------------------- */

static void sql_tables_bind_place(sqlite3_stmt *row, int64_t id, const struct fx_sql_place *place,
				  uint64_t ts)
{
	sqlite3_bind_int64(row, SLICE_ID, id);
	sqlite3_bind_int64(row, SLICE_TS, (int64_t)ts);
	sqlite3_bind_int64(row, SLICE_DUR, place->length);
	sqlite3_bind_int64(row, SLICE_TRACK, place->track);
	sqlite3_bind_int64(row, SLICE_DEPTH, place->depth);
	if (place->parent)
		sqlite3_bind_int64(row, SLICE_PARENT, place->parent);
}

/* The number of the set of an event's arguments; 0: it has none. */
static int64_t sql_tables_add_args(struct fx_sql_tables *tables, const struct fx_event *event)
{
	if (!fx_sql_has_args(event) || !fx_sql_add_args(&tables->database, tables->sets + 1, event))
		return 0;
	if (tables->taker)
		tables->taker->args(tables->taker, tables->sets + 1, event);
	return ++tables->sets;
}

/* Returns the number of its arguments; the slice's id is tables->slices. */
static int64_t sql_tables_add_slice(struct fx_sql_tables *tables, const struct fx_sql_place *place,
				    const struct fx_event *event)
{
	struct fx_sql_database *database = &tables->database;
	int64_t id = ++tables->slices, set = sql_tables_add_args(tables, event);
	sqlite3_stmt *row = NULL;

	if (database->wants.tables[FX_SQL_SLICE])
		row = fx_sql_row(database, FX_SQL_SLICE);
	if (event->link_count > 0)
		fx_sql_arrows_note(&tables->arrows, database, id, event);
	if (tables->taker)
		tables->taker->slice(tables->taker, &(struct fx_sql_slice){id, set, place, event});
	if (!row)
		return set;
	sql_tables_bind_place(row, id, place, event->ts);
	if (database->wants.categories)
		fx_sql_bind_string(database, row, SLICE_CATEGORY, event->category);
	if (database->wants.names)
		fx_sql_bind_string(database, row, SLICE_NAME, event->name);
	if (set)
		sqlite3_bind_int64(row, SLICE_ARGS, set);
	fx_sql_insert(database, row);
	return set;
}

/* On the thread at hand, in the innermost slice. */
static struct fx_sql_place sql_tables_here(const struct fx_sql_tables *tables)
{
	size_t depth = tables->open.count;

	return (struct fx_sql_place){
	    .track = tables->track,
	    .parent = depth > 0 ? tables->open.items[depth - 1] : 0,
	    .depth = (int64_t)depth,
	};
}

static void sql_tables_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);
	struct fx_sql_place place = sql_tables_here(tables);

	place.length = event->end == UINT64_MAX ? -1 : (int64_t)(event->end - event->ts);
	sql_tables_add_slice(tables, &place, event);
	if (fx_vector_reserve(&tables->open, 1) < 0)
		sql_tables_fail(tables, -ENOMEM);
	else
		tables->open.items[tables->open.count++] = tables->slices;
}

static void sql_tables_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
				 uint64_t ts)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);

	(void)thread, (void)ts;
	if (tables->open.count > 0)
		tables->open.count--;
}

/* An instant that a flow touches stays on its thread, whatever its scope. */
static void sql_tables_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);
	struct fx_sql_place place = sql_tables_here(tables);

	if (event->scope != FXT_SCOPE_THREAD && event->link_count == 0) {
		bool process = event->scope == FXT_SCOPE_PROCESS;

		place = (struct fx_sql_place){0};
		place.track = process
				  ? fx_sql_track_of_process(&tables->tracks, event->thread->process)
				  : fx_sql_track_of_trace(&tables->tracks);
	}
	sql_tables_add_slice(tables, &place, event);
}

static const struct fxt_string *sql_tables_constant(struct fxt_string *string, const char *text)
{
	string->data = text;
	string->length = (uint32_t)strlen(text);
	return string;
}

static void sql_tables_log(struct fx_exporter *exporter, const struct fx_event *event,
			   const struct fxt_string *message)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);
	struct fx_sql_place place = sql_tables_here(tables);
	struct fxt_string category = {0};
	struct fx_event log = *event;

	log.category = sql_tables_constant(&category, "log");
	log.name = message;
	sql_tables_add_slice(tables, &place, &log);
}

/* --- Counters --------------------------------------------------------------------------------- */

static double sql_tables_number(const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		return arg->int32;
	case FXT_ARG_UINT32:
		return arg->uint32;
	case FXT_ARG_INT64:
		return (double)arg->int64;
	case FXT_ARG_UINT64:
		return (double)arg->uint64;
	default:
		return arg->real;
	}
}

static void sql_tables_counter(struct fx_exporter *exporter, const struct fx_event *event,
			       uint64_t id)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);

	for (uint32_t i = 0; i < event->nargs; i++) {
		int64_t track =
		    fx_sql_track_of_counter(&tables->tracks, event, id, &event->args[i]);
		sqlite3_stmt *row = fx_sql_row(&tables->database, FX_SQL_COUNTER);

		if (tables->taker)
			tables->taker->counter(
			    tables->taker, event,
			    &(struct fx_sql_count){.track = track,
						   .value = sql_tables_number(&event->args[i]),
						   .number = id,
						   .key = &event->args[i].name});
		if (!row)
			continue;
		sqlite3_bind_int64(row, 2, (int64_t)event->ts);
		sqlite3_bind_int64(row, 3, track);
		sqlite3_bind_double(row, 4, sql_tables_number(&event->args[i]));
		fx_sql_insert(&tables->database, row);
	}
}

/* --- Async operations ------------------------------------------------------------------------- */

/* The place + 1 of the innermost operation of a track; NULL: no memory. */
static size_t *sql_tables_innermost(struct fx_sql_tables *tables,
				    const struct fx_async_track *track)
{
	size_t count = tables->innermost.count;

	if (track->number >= count) {
		size_t more = (size_t)track->number + 1 - count;

		if (fx_vector_reserve(&tables->innermost, more) < 0) {
			sql_tables_fail(tables, -ENOMEM);
			return NULL;
		}
		memset(tables->innermost.items + count, 0, more * sizeof(size_t));
		tables->innermost.count += more;
	}
	return &tables->innermost.items[track->number];
}

static struct fx_sql_place sql_tables_in_track(struct fx_sql_tables *tables,
					       const struct fx_async_track *track, size_t innermost)
{
	struct fx_sql_place place = {.track = fx_sql_track_of_async(&tables->tracks, track)};

	if (innermost > 0) {
		place.parent = tables->operations.items[innermost - 1].slice;
		place.depth = tables->operations.items[innermost - 1].depth + 1;
	}
	return place;
}

static void sql_tables_async_begin(struct fx_exporter *exporter, const struct fx_async_track *track,
				   uint64_t id, const struct fx_event *event)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);
	size_t *innermost = sql_tables_innermost(tables, track);
	struct fx_sql_place place;
	int64_t set;

	(void)id;
	if (!innermost || fx_vector_reserve(&tables->operations, 1) < 0) {
		sql_tables_fail(tables, -ENOMEM);
		return;
	}
	place = sql_tables_in_track(tables, track, *innermost);
	place.length = -1;
	set = sql_tables_add_slice(tables, &place, event);
	tables->operations.items[tables->operations.count++] = (struct fx_sql_operation){
	    .slice = tables->slices,
	    .args = set,
	    .ts = event->ts,
	    .outer = *innermost,
	    .depth = place.depth,
	};
	*innermost = tables->operations.count;
}

/* What the end says belongs to the slice that the begin made. */
static void sql_tables_end_row(struct fx_sql_tables *tables,
			       const struct fx_sql_operation *operation, uint64_t ts, int64_t set)
{
	sqlite3 *db = tables->database.db;
	int r = SQLITE_OK;

	if (tables->taker)
		tables->taker->ended(tables->taker, operation->slice, (int64_t)(ts - operation->ts),
				     set);
	if (tables->database.error < 0 || !tables->database.wants.tables[FX_SQL_SLICE])
		return;
	if (!tables->end_operation)
		r = sqlite3_prepare_v3(db,
				       "UPDATE slice SET dur = ?1, arg_set_id = ?2 WHERE id = ?3",
				       -1, SQLITE_PREPARE_PERSISTENT, &tables->end_operation, NULL);
	if (r == SQLITE_OK) {
		sqlite3_bind_int64(tables->end_operation, 1, (int64_t)(ts - operation->ts));
		if (set)
			sqlite3_bind_int64(tables->end_operation, 2, set);
		else
			sqlite3_bind_null(tables->end_operation, 2);
		sqlite3_bind_int64(tables->end_operation, 3, operation->slice);
		r = sqlite3_step(tables->end_operation);
		sqlite3_reset(tables->end_operation);
	}
	if (r != SQLITE_DONE)
		sql_tables_fail(tables, fx_sql_errno(db, r));
}

static void sql_tables_async_end(struct fx_exporter *exporter, const struct fx_async_track *track,
				 uint64_t id, const struct fx_event *event)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);
	size_t *innermost = sql_tables_innermost(tables, track);
	struct fx_sql_operation *operation;
	int64_t set;

	(void)id;
	if (!innermost || *innermost == 0)
		return;
	operation = &tables->operations.items[*innermost - 1];
	set = operation->args;
	if (set && fx_sql_add_args(&tables->database, set, event) && tables->taker)
		tables->taker->args(tables->taker, set, event);
	if (!set)
		set = sql_tables_add_args(tables, event);
	sql_tables_end_row(tables, operation, event->ts, set);
	*innermost = operation->outer;
}

static void sql_tables_async_instant(struct fx_exporter *exporter,
				     const struct fx_async_track *track, uint64_t id,
				     const struct fx_event *event)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);
	size_t *innermost = sql_tables_innermost(tables, track);
	struct fx_sql_place place;

	(void)id;
	if (!innermost)
		return;
	place = sql_tables_in_track(tables, track, *innermost);
	sql_tables_add_slice(tables, &place, event);
}

/* --- What the archive lacks ------------------------------------------------------------------- */

static void sql_tables_stat(struct fx_sql_tables *tables, const char *name, uint64_t index,
			    const char *severity, uint64_t value, const char *description)
{
	sqlite3_stmt *row = fx_sql_row(&tables->database, FX_SQL_STATS);

	if (!row)
		return;
	sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(row, 2, (int64_t)index);
	sqlite3_bind_text(row, 3, severity, -1, SQLITE_STATIC);
	sqlite3_bind_text(row, 4, "analysis", -1, SQLITE_STATIC);
	sqlite3_bind_int64(row, 5, (int64_t)value);
	sqlite3_bind_text(row, 6, description, -1, SQLITE_STATIC);
	fx_sql_insert(&tables->database, row);
}

static void sql_tables_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);
	struct fxt_string category = {0}, name = {.data = note->text->data,
						  .length = note->text->length,
						  .serial = note->text->id};
	struct fx_event event = {.ts = note->ts, .name = &name};
	struct fx_sql_place place = {.track =
					 fx_sql_track_of_notes(&tables->tracks, note->process)};

	event.category = sql_tables_constant(&category, "fxtrace");
	sql_tables_add_slice(tables, &place, &event);
	sql_tables_stat(tables, "fxtrace_note", (uint64_t)tables->slices, "data_loss", 1,
			note->text->data);
}

static void sql_tables_stats(struct fx_sql_tables *tables)
{
	static const struct {
		const char *name;
		const char *text;
	} counts[] = {
#define FX_SQL_LOSS_(name, text) {"fxtrace_" #name, text},
	    FX_MISFITS(FX_SQL_LOSS_)
#undef FX_SQL_LOSS_
	};
	const struct fx_timeline *timeline = tables->exporter.timeline;

	for (size_t i = 0; i < FX_MISFIT_COUNT; i++)
		sql_tables_stat(tables, counts[i].name, 0, "data_loss", timeline->misfits[i],
				counts[i].text);
	sql_tables_stat(tables, "fxtrace_faults", 0, "error", timeline->fault_count,
			"places where the archive is damaged");
}

/* --- The whole -------------------------------------------------------------------------------- */

static void sql_tables_metadata(struct fx_sql_tables *tables, const char *name, const char *text,
				const int64_t *number)
{
	sqlite3_stmt *row = fx_sql_row(&tables->database, FX_SQL_METADATA);

	if (!row)
		return;
	sqlite3_bind_text(row, 2, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(row, 3, "single", -1, SQLITE_STATIC);
	if (number)
		sqlite3_bind_int64(row, 4, *number);
	if (text)
		sqlite3_bind_text(row, 5, text, -1, SQLITE_STATIC);
	fx_sql_insert(&tables->database, row);
}

static void sql_tables_facts(struct fx_sql_tables *tables)
{
	const struct fx_timeline *timeline = tables->exporter.timeline;
	bool empty = timeline->first_ts == UINT64_MAX;
	int64_t providers = (int64_t)timeline->providers.count;
	const struct fx_host_record *host = &timeline->host;
	const struct {
		const char *name, *text;
	} told[] = {
	    {"system_name", host->system},	 {"system_release", host->release},
	    {"system_machine", host->machine},	 {"fxtrace_host", host->host},
	    {"fxtrace_recorder", host->fxtrace},
	};
	sqlite3_stmt *row = fx_sql_row(&tables->database, FX_SQL_BOUNDS);

	if (row) {
		sqlite3_bind_int64(row, 1, empty ? 0 : (int64_t)timeline->first_ts);
		sqlite3_bind_int64(row, 2, empty ? 0 : (int64_t)timeline->last_ts);
		fx_sql_insert(&tables->database, row);
	}
	sql_tables_metadata(tables, "trace_type", "fuchsia", NULL);
	sql_tables_metadata(tables, "fxtrace_version", PACKAGE_VERSION, NULL);
	sql_tables_metadata(tables, "fxtrace_providers", NULL, &providers);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		if (told[i].text[0])
			sql_tables_metadata(tables, told[i].name, told[i].text, NULL);
	}
}

void fx_sql_tables_finish(struct fx_exporter *exporter)
{
	struct fx_sql_tables *tables = sql_tables_get(exporter);

	fx_sql_states_end(&tables->states);
	fx_sql_arrows_end(&tables->arrows, &tables->database, exporter->timeline->strings);
	sql_tables_stats(tables);
	sql_tables_facts(tables);
	sqlite3_finalize(tables->end_operation);
	tables->end_operation = NULL;
	fx_sql_end(&tables->database);
	if (exporter->error == 0)
		exporter->error = tables->database.error;
}

static void sql_tables_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	fx_sql_states_switch(&sql_tables_get(exporter)->states, sched);
}

static void sql_tables_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	fx_sql_states_wakeup(&sql_tables_get(exporter)->states, wakeup);
}

/* For tables that have begun already. */
static void sql_tables_begun(struct fx_exporter *exporter)
{
	(void)exporter;
}

const struct fx_exporter_ops fx_sql_tables_ops = {
    .begin = sql_tables_begun,
    .process = sql_tables_process,
    .thread = sql_tables_thread,
    .enter_thread = sql_tables_enter_thread,
    .slice_begin = sql_tables_slice_begin,
    .slice_end = sql_tables_slice_end,
    .instant = sql_tables_instant,
    .counter = sql_tables_counter,
    .log = sql_tables_log,
    .async_begin = sql_tables_async_begin,
    .async_end = sql_tables_async_end,
    .async_instant = sql_tables_async_instant,
    .note = sql_tables_note,
    .sched_switch = sql_tables_switch,
    .sched_wakeup = sql_tables_wakeup,
    .finish = fx_sql_tables_finish,
};

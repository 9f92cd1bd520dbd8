/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/sqlite/tracks.h"

#include "lists/hashes.h"

enum sql_track_kind {
	SQL_TRACK_THREAD = 1,
	SQL_TRACK_PROCESS,
	SQL_TRACK_ASYNC,
	SQL_TRACK_NOTES,
	SQL_TRACK_TRACE,
	SQL_TRACK_COUNTER,
};

struct sql_track_key {
	uint64_t number; /* of the thread, the async track or the counter */
	int64_t upid;	 /* 0: none */
	uint32_t kind;	 /* enum sql_track_kind */
	uint32_t name;	 /* counters: numbers of strings, 0: empty */
	uint32_t arg;
	uint32_t padding;
};

struct fx_sql_track {
	struct sql_track_key key;
	int64_t id;
	UT_hash_handle hh;
};

void fx_sql_tracks_init(struct fx_sql_tracks *tracks, struct fx_sql_database *database,
			const struct fx_texts *strings)
{
	memset(tracks, 0, sizeof(*tracks));
	tracks->database = database;
	tracks->strings = strings;
}

void fx_sql_tracks_release(struct fx_sql_tracks *tracks)
{
	struct fx_sql_track *track = NULL, *next;

	HASH_ITER (hh, tracks->all, track, next) {
		HASH_DEL(tracks->all, track);
		free(track);
	}
}

/* The id of a track; *ret_row is to be filled and inserted, or NULL. */
static int64_t sql_track_find(struct fx_sql_tracks *tracks, const struct sql_track_key *key,
			      sqlite3_stmt **ret_row)
{
	struct fx_sql_track *track;

	*ret_row = NULL;
	HASH_FIND(hh, tracks->all, key, sizeof(*key), track);
	if (track)
		return track->id;
	track = calloc(1, sizeof(*track));
	if (!track) {
		tracks->database->error = -ENOMEM;
		return 0;
	}
	track->key = *key;
	track->id = ++tracks->count;
	HASH_ADD(hh, tracks->all, key, sizeof(track->key), track);
	*ret_row = fx_sql_row(tracks->database, FX_SQL_TRACK);
	if (*ret_row) {
		sqlite3_bind_int64(*ret_row, 1, track->id);
		if (key->upid)
			sqlite3_bind_int64(*ret_row, 5, key->upid);
	}
	return track->id;
}

static void sql_track_insert(struct fx_sql_tracks *tracks, sqlite3_stmt *row, const char *type,
			     const char *name)
{
	if (name)
		sqlite3_bind_text(row, 2, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(row, 3, type, -1, SQLITE_STATIC);
	fx_sql_insert(tracks->database, row);
}

int64_t fx_sql_track_of_thread(struct fx_sql_tracks *tracks, const struct fx_thread *thread)
{
	/* A thread's track is no track of its process. */
	struct sql_track_key key = {.kind = SQL_TRACK_THREAD, .number = thread->number};
	sqlite3_stmt *row;
	int64_t id = sql_track_find(tracks, &key, &row);

	if (row) {
		sqlite3_bind_int64(row, 4, fx_sql_utid(thread));
		sql_track_insert(tracks, row, "thread", thread->name ? thread->name->data : NULL);
	}
	return id;
}

int64_t fx_sql_track_of_process(struct fx_sql_tracks *tracks, const struct fx_process *process)
{
	struct sql_track_key key = {.kind = SQL_TRACK_PROCESS, .upid = fx_sql_upid(process)};
	sqlite3_stmt *row;
	int64_t id = sql_track_find(tracks, &key, &row);

	if (row)
		sql_track_insert(tracks, row, "process",
				 process->name ? process->name->data : NULL);
	return id;
}

int64_t fx_sql_track_of_async(struct fx_sql_tracks *tracks, const struct fx_async_track *async)
{
	struct sql_track_key key = {
	    .kind = SQL_TRACK_ASYNC, .number = async->number, .upid = fx_sql_upid(async->process)};
	sqlite3_stmt *row;
	int64_t id = sql_track_find(tracks, &key, &row);

	if (row)
		sql_track_insert(tracks, row, "async",
				 async->name ? fx_texts_get(tracks->strings, async->name)->data
					     : NULL);
	return id;
}

int64_t fx_sql_track_of_notes(struct fx_sql_tracks *tracks, const struct fx_process *process)
{
	struct sql_track_key key = {.kind = SQL_TRACK_NOTES,
				    .upid = process ? fx_sql_upid(process) : 0};
	sqlite3_stmt *row;
	int64_t id = sql_track_find(tracks, &key, &row);

	if (row)
		sql_track_insert(tracks, row, "notes", "fxtrace");
	return id;
}

int64_t fx_sql_track_of_trace(struct fx_sql_tracks *tracks)
{
	struct sql_track_key key = {.kind = SQL_TRACK_TRACE};
	sqlite3_stmt *row;
	int64_t id = sql_track_find(tracks, &key, &row);

	if (row)
		sql_track_insert(tracks, row, "global", "Instants of the whole trace");
	return id;
}

/* --- Counters --------------------------------------------------------------------------------- */

static const char *sql_track_text(const struct fx_sql_tracks *tracks, uint32_t id)
{
	return id ? fx_texts_get(tracks->strings, id)->data : "";
}

static bool sql_track_ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* NULL: not known. */
static const char *sql_track_unit(const char *name, const char *arg)
{
	if (sql_track_ends_with(arg, "bytes") || sql_track_ends_with(name, "bytes"))
		return "bytes";
	return sql_track_ends_with(arg, "_ns") ? "ns" : NULL;
}

static void sql_track_insert_counter(struct fx_sql_tracks *tracks, sqlite3_stmt *row,
				     const struct sql_track_key *key)
{
	const char *name = sql_track_text(tracks, key->name);
	const char *arg = sql_track_text(tracks, key->arg);
	const char *unit = sql_track_unit(name, arg);
	char *text;
	int r = key->number ? asprintf(&text, "%s %s #%" PRIu64, name, arg, key->number)
			    : asprintf(&text, "%s %s", name, arg);

	if (r < 0) {
		tracks->database->error = -ENOMEM;
		return;
	}
	if (unit)
		sqlite3_bind_text(row, 6, unit, -1, SQLITE_STATIC);
	sql_track_insert(tracks, row, "counter", text);
	free(text);
}

int64_t fx_sql_track_of_counter(struct fx_sql_tracks *tracks, const struct fx_event *event,
				uint64_t id, const struct fxt_arg *arg)
{
	struct sql_track_key key = {
	    .kind = SQL_TRACK_COUNTER,
	    .number = id,
	    .upid = fx_sql_upid(event->thread->process),
	    .name = event->name->serial,
	    .arg = arg->name.serial,
	};
	sqlite3_stmt *row;
	int64_t track = sql_track_find(tracks, &key, &row);

	if (row)
		sql_track_insert_counter(tracks, row, &key);
	return track;
}

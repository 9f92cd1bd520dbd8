/* SPDX-License-Identifier: MIT */
/* An exporter that puts a timeline into the tables of a database (database.h). */
#ifndef FX_CONVERT_SQLITE_TABLES_H
#define FX_CONVERT_SQLITE_TABLES_H

#include "convert/export.h"
#include "convert/sqlite/arrows.h"
#include "convert/sqlite/database.h"
#include "convert/sqlite/states.h"
#include "convert/sqlite/tracks.h"

/* An async operation that is open. */
struct fx_sql_operation {
	int64_t slice;
	int64_t args;
	uint64_t ts;
	size_t outer; /* its place + 1; 0: none */
	int64_t depth;
};

/* Where a slice stands. */
struct fx_sql_place {
	int64_t track;
	int64_t parent; /* 0: none */
	int64_t depth;
	int64_t length; /* -1: it did not finish */
};

struct fx_sql_slice {
	int64_t id;
	int64_t set; /* of arguments; 0: none */
	const struct fx_sql_place *place;
	const struct fx_event *event;
};

struct fx_sql_count {
	int64_t track;
	double value;
	uint64_t number; /* of the counter, of those of its name */
	const struct fxt_string *key;
};

/* What takes the rows of events in the tables' stead, of which they are then not wanted. */
struct fx_sql_taker {
	/* Before the slice that they belong to, or when an async operation ends. */
	void (*args)(struct fx_sql_taker *taker, int64_t set, const struct fx_event *event);
	void (*slice)(struct fx_sql_taker *taker, const struct fx_sql_slice *slice);
	/* An async operation, as it became known at its end. */
	void (*ended)(struct fx_sql_taker *taker, int64_t slice, int64_t length, int64_t set);
	void (*counter)(struct fx_sql_taker *taker, const struct fx_event *event,
			const struct fx_sql_count *count);
};

struct fx_sql_tables {
	struct fx_exporter exporter;
	struct fx_sql_database database;
	struct fx_sql_tracks tracks;
	struct fx_sql_states states;
	struct fx_sql_arrows arrows;
	struct fx_sql_taker *taker; /* NULL: none */
	int64_t slices;		    /* ids given out */
	int64_t sets;		    /* of arguments */
	/* The thread at hand. */
	int64_t track;
	FX_VECTOR(int64_t) open; /* slices, the innermost last */
	/* Async operations: by place, and of each track the place of the innermost + 1. */
	FX_VECTOR(struct fx_sql_operation) operations;
	FX_VECTOR(size_t) innermost;
	sqlite3_stmt *end_operation;
};

/* The calls of an exporter. fx_sql_tables_init() comes before the first of them. */
extern const struct fx_exporter_ops fx_sql_tables_ops;

/* `sink' may be NULL. */
void fx_sql_tables_init(struct fx_sql_tables *tables, const struct fx_exporter_ops *ops,
			struct fx_timeline *timeline, struct fx_sink *sink);
void fx_sql_tables_release(struct fx_sql_tables *tables);

/* The database, in which the tables were made. What is borrowed has to live until finish. */
void fx_sql_tables_begin(struct fx_sql_tables *tables, sqlite3 *db,
			 const struct fx_sql_wants *wants);
void fx_sql_tables_finish(struct fx_exporter *exporter);

#endif

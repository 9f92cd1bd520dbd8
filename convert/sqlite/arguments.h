/* SPDX-License-Identifier: MIT */
/* Arguments of events, as sets of rows: what the event says, and our remarks on it. */
#ifndef FX_CONVERT_SQLITE_ARGUMENTS_H
#define FX_CONVERT_SQLITE_ARGUMENTS_H

#include "convert/export.h"
#include "convert/sqlite/database.h"

/* A text, an integer or a real number. */
struct fx_sql_value {
	const char *type;
	const struct fxt_string *text; /* NULL: a number */
	bool is_int;
	int64_t number;
	double real;
};

/* What is nowhere else. */
struct fx_sql_scratch {
	struct fxt_string key;
	struct fxt_string string;
	char text[40];
};

struct fx_sql_arg {
	const struct fxt_string *key;
	struct fx_sql_value value;
	struct fx_sql_scratch scratch;
};

struct fx_sql_value fx_sql_value_of(const struct fxt_arg *arg, struct fx_sql_scratch *scratch);

/* The row of this number, from 0; false: there is none. *ret must not be moved. */
bool fx_sql_arg_at(const struct fx_event *event, uint32_t at, struct fx_sql_arg *ret);

/* Whether the event may have any: most have none. */
static inline bool fx_sql_has_args(const struct fx_event *event)
{
	return event->nargs + event->end_nargs > 0 || event->payload > 0 || event->flags;
}

/* How many rows the event has. */
uint32_t fx_sql_count_args(const struct fx_event *event);

/* Inserts them as a set of this number. Returns whether there is any. */
bool fx_sql_add_args(struct fx_sql_database *database, int64_t set, const struct fx_event *event);

#endif

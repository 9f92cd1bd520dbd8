/* SPDX-License-Identifier: MIT */
/*
 * What an archive answers to SQL.
 *
 * The rows of events are made from the archive as sqlite asks for them (virtual.h). The statement is looked at first:
 * of the other tables, which sqlite keeps, only those that it names are filled.
 *
 *     r = fx_query_open(sql, &query);            it is one statement that reads, and its names are known
 *     r = fx_query_fill(query, timeline);
 *     r = fx_query_answer(query, sink, style);
 *     fx_query_empty(query);                     before the timeline is closed
 *     fx_query_close(query);                     whatever r is
 */
#ifndef FX_QUERY_QUERY_H
#define FX_QUERY_QUERY_H

#include "convert/sink.h"
#include "convert/timeline.h"
#include "query/output.h"

struct fx_query;

/* Returns 0; -EINVAL: the statement is wrong, and fx_query_fault() says why; or another -errno. *ret is set but for
 * -ENOMEM. */
int fx_query_open(const char *sql, struct fx_query **ret);

void fx_query_empty(struct fx_query *query);

/* NULL is allowed. */
void fx_query_close(struct fx_query *query);

/* The timeline is borrowed until fx_query_empty(). Returns 0 or -errno. */
int fx_query_fill(struct fx_query *query, struct fx_timeline *timeline);

/* Returns 0, or as fx_query_open() does; errors of output stay in the sink. */
int fx_query_answer(struct fx_query *query, struct fx_sink *sink, enum fx_query_style style);

/* A line without its end: what is wrong with the statement, and where. */
const char *fx_query_fault(const struct fx_query *query);

#endif

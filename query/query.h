/* SPDX-License-Identifier: MIT */
/*
 * What an archive answers to SQL.
 *
 * sqlite works on tables of its own, in memory and, where they are large, in a file without a name. The statement is
 * looked at first: only the tables that it names are filled, of slices only with the texts that it reads.
 *
 *     r = fx_query_open(sql, &query);            it is one statement that reads, and its names are known
 *     r = fx_query_fill(query, timeline, ...);   the timeline is used up
 *     r = fx_query_answer(query, sink, style);
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

/* NULL is allowed. */
void fx_query_close(struct fx_query *query);

/* Returns 0 or -errno. */
int fx_query_fill(struct fx_query *query, struct fx_timeline *timeline, fx_progress *progress,
		  void *opaque);

/* Returns 0, or as fx_query_open() does; errors of output stay in the sink. */
int fx_query_answer(struct fx_query *query, struct fx_sink *sink, enum fx_query_style style);

/* A line without its end: what is wrong with the statement, and where. */
const char *fx_query_fault(const struct fx_query *query);

#endif

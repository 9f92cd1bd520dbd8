/* SPDX-License-Identifier: MIT */
/*
 * Back from a server: what its tables have of some archives (schema.def) becomes a timeline again, by way of an archive in a file
 * without a name, so that whatever walks through one tells of it what it tells of a file. The server chooses the rows.
 *
 * Arrows go from slice to slice, as the tables have them. Not there again are logs, asynchronous operations, and bytes of
 * large events. Of several archives each has ids of its own, as in a merged one; times are those of the archives if
 * they are of one host, else each archive's are counted from its own first event.
 */
#ifndef FX_LOAD_FETCH_H
#define FX_LOAD_FETCH_H

#include "convert/timeline.h"
#include "load/clickhouse.h"

struct fx_fetch_order {
	const char *archives; /* a condition on the table of them */
	unsigned kinds;	      /* of calls: FX_KIND() of each, and those that arrows touch; 0: all */
};

/* Returns 0 or -errno: -EIO, and then it is the server's fault, or that of the file for what it says. *ret is to be closed if it is 0. */
int fx_fetch(struct fx_clickhouse *server, const struct fx_fetch_order *order,
	     struct fx_timeline *ret);

#endif

/* SPDX-License-Identifier: MIT */
#include "load/clocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "load/schema.h"

enum { CLOCK_STATEMENT = 1024, CLOCK_TEXT = 128 };

/* For a statement, between quotation marks. */
static void clock_quote(const char *text, char *ret)
{
	char *to = ret;

	for (; *text && to < ret + CLOCK_TEXT - 3; text++) {
		if (*text == '\'' || *text == '\\')
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '\0';
}

/* Of what all rows of the archive have, `archives' has it, too: there the row comes from. */
int fx_load_clock(struct fx_clickhouse *server, const struct fx_load_timeline *timeline,
		  const struct fx_load_clock *clock)
{
	const char *name = fx_load_table_name(FX_LOAD_CLOCK);
	char statement[CLOCK_STATEMENT], id[100], how[CLOCK_TEXT], error[40] = "NULL";

	clock_quote(clock->how, how);
	if (!isinf(clock->error))
		snprintf(error, sizeof(error), "%.3f", clock->error);
	snprintf(statement, sizeof(statement),
		 "INSERT INTO %s SELECT toUInt64(%" PRIu64 "), toUInt32(%zu), toInt64(%" PRId64
		 "), toInt64(%" PRId64 "), toFloat64(%.17g), CAST(%s AS Nullable(Float64)), '%s',"
		 " archive, toUInt32(0), day, host, job, rank FROM %s WHERE archive = %" PRIu64
		 " AND archive GLOBAL NOT IN (SELECT archive FROM %s WHERE timeline = %" PRIu64
		 ") LIMIT 1",
		 name, timeline->id, timeline->count, clock->ts, clock->aligned, clock->slope,
		 error, how, fx_load_table_name(FX_LOAD_ARCHIVES), clock->archive, name,
		 timeline->id);
	snprintf(id, sizeof(id), "fxtrace-clock-%016" PRIx64 "-%016" PRIx64, timeline->id,
		 clock->archive);
	return fx_clickhouse_insert(server, statement, id, "", 0);
}

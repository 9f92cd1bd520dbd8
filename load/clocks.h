/* SPDX-License-Identifier: MIT */
/*
 * How the clocks of archives on a server lie to each other: in the table `clock', a row of each archive for each timeline that it has in common with
 * others. Such a row is a line: `aligned' + (a time - `ts') * `slope'. It says nothing that the archive's own rows say, so it comes when
 * these are all there; and it is there once, whoever is killed.
 */
#ifndef FX_LOAD_CLOCKS_H
#define FX_LOAD_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "load/clickhouse.h"

struct fx_load_timeline {
	uint64_t id; /* of its archives, in their order: fx_load_identity_of() */
	size_t count;
};

struct fx_load_clock {
	uint64_t archive;
	int64_t ts, aligned; /* ns */
	double slope;
	double error; /* ns; INFINITY: nothing tells */
	const char *how;
};

/* Brings a row to the server, if it is not there. Returns 0 or -errno, as fx_clickhouse_ask(). */
int fx_load_clock(struct fx_clickhouse *server, const struct fx_load_timeline *timeline,
		  const struct fx_load_clock *clock);

#endif

/* SPDX-License-Identifier: MIT */
/* fxtrace load --align: the clocks of the archives that are loaded, as `fxtrace merge' aligns them, in a table of the server's. */
#ifndef FX_CLIENT_LOAD_CLOCKS_H
#define FX_CLIENT_LOAD_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "archives/merge.h"
#include "load/clickhouse.h"

struct fx_load_clocks {
	const char *program;
	struct fx_merge_input *inputs; /* that are on the server, with room for all; owned */
	uint64_t *identities;	       /* the same */
	size_t count;
	bool quiet;
};

/* For so many archives. 0 or -ENOMEM. */
int fx_load_clocks_init(const char *program, size_t count, struct fx_load_clocks *ret);
void fx_load_clocks_free(struct fx_load_clocks *clocks);

/* One more is on the server. */
void fx_load_clocks_add(struct fx_load_clocks *clocks, const char *path, uint64_t identity);

/* Aligns them. Returns the exit status; what is wrong is said. */
int fx_load_clocks(struct fx_load_clocks *clocks, struct fx_clickhouse *server);

#endif

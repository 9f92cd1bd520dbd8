/* SPDX-License-Identifier: MIT */
/* The clock records of an archive (format/clock-record.h). They belong to its writer's thread. */
#ifndef FX_MANAGER_CLOCKS_H
#define FX_MANAGER_CLOCKS_H

#include <stdbool.h>

#include "format/clock-record.h"

struct fx_archive;

struct fx_clocks {
	struct fx_clock_record newest;
	bool waiting; /* it is not written yet: there was no section to write it in */
};

/* Finds out whose clock it is, and reads it. */
void fx_clocks_init(struct fx_clocks *clocks);

/* Reads the clocks anew, and writes a record. */
void fx_clocks_read(struct fx_clocks *clocks, struct fx_archive *archive);

/* Writes what waits for the first section. */
void fx_clocks_catch_up(struct fx_clocks *clocks, struct fx_archive *archive);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Tables of symbols that took long to make, kept on disk for the next time: a file for each in a folder of the user's own,
 *
 *	| head: what it is, of which file, how much, a sum | the table's parts (symbols/flat.h) |
 *
 * A file is kept under its build-id, with what else the table depends on: its size, which changes when it is stripped, the debug
 * file that there was or was not, and what was asked for. What is damaged, too large, not the user's own or of another
 * version counts for nothing, and is written anew. Nothing that goes wrong here is told: it only takes longer.
 *
 * Files are written under another name first, so each is whole. The oldest are removed when all take more than they may; a
 * use makes a file young.
 */
#ifndef FX_SYMBOLS_STORE_H
#define FX_SYMBOLS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/symbols.h"
#include "symbols/table.h"

/* A table is kept that took so long, or takes so much. */
#define FX_STORE_NS    UINT64_C(50000000)
#define FX_STORE_BYTES (UINT64_C(4) << 20)

/* What all files may take, and how many there may be. */
#define FX_STORE_ALL_BYTES (UINT64_C(1) << 30)
#define FX_STORE_ALL_FILES 1024u

/* A file whose symbols are read; all zero: there is none. */
struct fx_store_file {
	uint64_t device, inode, size, changed_seconds, changed_nanoseconds;
};

struct fx_store_key {
	uint8_t build_id[FX_BUILD_ID_MAX]; /* zero behind it */
	uint64_t build_id_size;
	uint64_t size;		    /* of the file itself */
	struct fx_store_file debug; /* the debug file beside it */
	uint64_t wants_sources, wants_lines;
};

/*
 * The folder, by what was asked for: NULL: the user's own for such things; "no": none; else its path. False: there is none,
 * as where this process acts for another than whose surroundings it has.
 */
bool fx_store_folder(const char *asked, char ret[FX_STORE_PATH_MAX]);

/* The table of that file. False: it is not there. `limit' as of fx_flat_read(). */
bool fx_store_get(const char *folder, const struct fx_store_key *key, uint64_t limit,
		  struct fx_symtab *ret);

/* Keeps a table, if that is worth it after so long a time. */
void fx_store_put(const char *folder, const struct fx_store_key *key, const struct fx_symtab *table,
		  uint64_t took_ns);

#endif

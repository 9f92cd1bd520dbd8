/* SPDX-License-Identifier: MIT */
/* The processes that read symbols: the starter, and for each job a watcher and a reader (symbols/loader.h). */
#ifndef FX_SYMBOLS_READER_H
#define FX_SYMBOLS_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/flat.h"
#include "symbols/jit-map.h"
#include "symbols/symbols.h"
#include "symbols/view.h"

/* What a reader may take, beside the bytes of its table: seconds of a processor, and seconds. */
#define FX_LOAD_CPU_SECONDS 10
#define FX_LOAD_SECONDS	    30

#define FX_JOB_PATH_MAX	    4096
#define FX_JOB_PATTERNS_MAX 8192

/* What the starter is sent; then these descriptors. */
struct fx_job {
	uint64_t limit; /* bytes that the table may take */
	uint64_t build_id_size;
	uint8_t build_id[FX_BUILD_ID_MAX];
	struct fx_view view;
	bool has_file, has_root, wants_sources, wants_lines;
	bool is_map; /* of made code; then: */
	struct fx_jit_source map;
	char path[FX_JOB_PATH_MAX];
	char store[FX_STORE_PATH_MAX]; /* where tables are kept; "": nowhere */
	char patterns
	    [FX_JOB_PATTERNS_MAX]; /* of functions whose recipes are wanted; "": symbols are */
};

enum {
	FX_JOB_ENDED, /* a pipe: how the reader ended; nobody reads it any more: it is to end */
	FX_JOB_TABLE, /* the memfd */
	FX_JOB_FILE,  /* the file, or the root */
	FX_JOB_FDS,
};

/* What stands at the beginning of the memfd; the parts of the table follow. */
struct fx_job_answer {
	uint64_t failed;     /* as fx_elf_load() returns it */
	uint64_t was_stored; /* as in struct fx_symtab */
	struct fx_flat_head flat;
};

/* The same of recipes; their table follows. */
struct fx_job_recipes {
	uint64_t failed; /* as fx_recipes_read() returns it */
	uint64_t size;
	uint64_t matched, left_out, unknown, is_cut; /* as in struct fx_recipes */
};

/* Keeps the socket alone of all that is open. To be called before any process goes on that counts on it: a lock of the archive
 * would outlive its session. */
void fx_reader_detach(int socket);

/* The starter: serves jobs, from the socket that was kept, until nobody can send any. */
_Noreturn void fx_reader_serve(void);

#endif

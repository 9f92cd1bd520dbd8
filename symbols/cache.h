/* SPDX-License-Identifier: MIT */
/*
 * The files of all spaces.
 *
 * A file is told by its path together with its build-id; without one, by its path together with
 * device, inode, size and time of change, as they were when a module named it. It moves through
 *these states:
 *
 *	waiting   named by a module; open if it could be opened and not too many others are
 *	loading   being read by the loader
 *	loaded    its table is in memory
 *	failed    gives no names; waits to be told as a problem, once
 *
 * A loaded file that no space uses any more is idle. Idle tables are kept, since the next process
 * will most likely want them again, up to a limit; beyond that, those idle for longest go
 *back to waiting.
 */
#ifndef FX_SYMBOLS_CACHE_H
#define FX_SYMBOLS_CACHE_H

#include "symbols/loader.h"
#include "symbols/strings.h"
#include "symbols/symbols.h"
#include "symbols/table.h"

#include <uthash.h>

/* The limit for idle tables. */
#define FX_IDLE_BYTES ((size_t)256 << 20)

/* Files held open while they wait. */
#define FX_OPEN_FILES 64

enum fx_file_state {
	FX_FILE_WAITING,
	FX_FILE_LOADING,
	FX_FILE_LOADED,
	FX_FILE_FAILED,
};

/* What tells a file without build-id from its successors under the same path. */
struct fx_file_identity {
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	uint64_t changed_seconds;
	uint64_t changed_nanoseconds;
};

struct fx_symbol_file {
	UT_hash_handle hh;
	struct fx_symbol_file *prev; /* in cache->open, cache->idle or cache->problems */
	struct fx_symbol_file *next;
	enum fx_file_state state;
	enum fx_symbol_problem_kind problem; /* of a failed one */
	uint32_t users;			     /* modules in spaces */
	int fd;				     /* -1: not open; else in cache->open */
	bool idle;			     /* in cache->idle */
	struct fx_load *load;		     /* if loading */
	uint64_t waited;		     /* ns, for the load */
	const char *module;		     /* path without folders, fit to show */
	const char *text_path;		     /* path, fit to show */
	struct fx_symtab table;		     /* if loaded */
	size_t path_size;		     /* with its NUL */
	size_t build_id_size;
	size_t key_size;
	uint64_t user; /* see struct fx_view_key */
	/* the path with its NUL, then the build-id, or else the identity; then, unless the view is the reader's own, its key */
	char key[];
};

/* How long the files of a user were waited for. */
struct fx_symbol_waiter {
	UT_hash_handle hh;
	uint64_t user;
	uint64_t waited; /* ns */
};

struct fx_symbol_cache {
	struct fx_symbol_file *files; /* by key */
	struct fx_symbol_file *open;  /* oldest first */
	struct fx_symbol_file *idle;  /* idle for longest first */
	struct fx_symbol_file *problems;
	struct fx_strings strings;
	char *debug_path;
	struct fx_loader *loader; /* borrowed; NULL: files are read at once */
	struct fx_symbol_waiter *waiters;
	uint64_t unidentified; /* files that could not be told from others */
	size_t open_count;
	size_t idle_bytes;
	size_t idle_limit; /* FX_IDLE_BYTES, but for tests */
	struct fx_symbol_counters counters;
};

/* The file of a module, made if need be, with one user more. 0 or -ENOMEM. */
int fx_file_use(struct fx_symbol_cache *cache, const struct fx_view *view,
		const struct fx_symbol_module *module, struct fx_symbol_file **ret_file);

void fx_file_unuse(struct fx_symbol_cache *cache, struct fx_symbol_file *file);

/*
 * The symbol that contains a link-time address; reads the file's symbols first if need be. False if
 * there is none.
 */
bool fx_file_find(struct fx_symbol_cache *cache, const struct fx_view *view,
		  struct fx_symbol_file *file, uint64_t address, const char **ret_name,
		  uint64_t *ret_offset);

#endif

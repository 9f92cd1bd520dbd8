/* SPDX-License-Identifier: MIT */
/*
 * The files whose symbols are wanted, those of all spaces.
 *
 * A file is told by its path together with its build-id; without one, by its path together with
 * device, inode, size and time of change, as they were when a module named it. It moves through
 * these states:
 *
 *	waiting   named by a module; open if it could be opened and not too many others are
 *	loading   being read by the loader
 *	loaded    its table is in memory
 *	failed    gives no names
 *
 * A file that no space uses any more is idle. Idle files are kept, since the next process will most
 * likely want them again, up to a limit of number and bytes; beyond it, those that are idle for
 * longest are freed.
 *
 *	file.c      what is held of them, and given back
 *	reading.c   how they are read, and for how long they are waited for
 *	cache.c     which module has which file
 */
#ifndef FX_SYMBOLS_FILE_H
#define FX_SYMBOLS_FILE_H

#include "lists/hashes-lenient.h"
#include "symbols/loader.h"
#include "symbols/strings.h"
#include "symbols/symbols.h"
#include "symbols/table.h"

/* The limits for idle files. */
#define FX_IDLE_BYTES ((size_t)256 << 20)
#define FX_IDLE_FILES 256u

/* The longest path of a map of made code, with its NUL. */
#define FX_MAP_PATH_MAX 64

/* Files held open while they wait. */
#define FX_OPEN_FILES 64

enum fx_file_state {
	FX_FILE_WAITING,
	FX_FILE_LOADING,
	FX_FILE_LOADED,
	FX_FILE_FAILED,
};

/* Those whose programs name files: what theirs take together. */
struct fx_symbol_user {
	UT_hash_handle hh;
	bool lost;	  /* not in the hash for lack of memory */
	uint64_t user;	  /* see struct fx_view_key */
	uint64_t bytes;	  /* of tables in memory */
	uint32_t loading; /* files that are being read */
	uint32_t awaited; /* files that a space waits for */
	uint64_t since;	  /* ns; while there are such; else when the last wait ended */
	uint64_t waited;  /* ns, for those before */
};

struct fx_symbol_file {
	UT_hash_handle hh;
	bool lost;			    /* not in the hash for lack of memory */
	struct fx_symbol_file *prev, *next; /* in cache->open or cache->idle */
	enum fx_file_state state;
	uint32_t users;			     /* modules in spaces */
	int fd;				     /* -1: not open; else in cache->open */
	bool single;			     /* nobody else can ever name it */
	bool awaited;			     /* by a space, for its names; */
	bool given_up;			     /* or no longer: it takes too long */
	enum fx_symbol_problem_kind failure; /* if failed */
	bool is_map;		  /* no ELF file, but a map of made code (symbols/made.h); then: */
	struct fx_jit_source map; /* what is to be read of it */
	bool is_scarce;		  /* there were no descriptors to read it */
	uint64_t since;		  /* ns; when it was first asked for */
	struct fx_load *load;	  /* if loading */
	struct fx_symbol_user *user; /* the user that it is read for */
	const char *module;	     /* path without folders, fit to show */
	const char **functions;	     /* by place: the name to show, NULL until it is asked for */
	struct fx_strings strings;   /* that, and the names that were asked for */
	struct fx_symtab table;	     /* if loaded */
	size_t path_size;	     /* with its NUL */
	size_t build_id_size;
	size_t key_size;
	/* the path with its NUL, then the build-id, or else the identity; then, unless the view is the
	 * reader's own, its key */
	char key[];
};

/* Takes a file into the cache that nobody else can name: a part of a map of made code, to be freed by fx_file_free(). 0 or
 * -ENOMEM. */
int fx_file_create_map(struct fx_symbol_cache *cache, const struct fx_view *view, const char *path,
		       const struct fx_jit_source *source, struct fx_symbol_file **ret);

/* A file that gives no names, until somebody takes note. */
struct fx_symbol_trouble {
	struct fx_symbol_trouble *prev, *next;
	enum fx_symbol_problem_kind kind;
	char path[FX_SYMBOL_NAME_MAX + 1]; /* fit to show */
};

struct fx_symbol_cache {
	struct fx_symbol_file *files; /* by key */
	struct fx_symbol_file *open;  /* oldest first */
	struct fx_symbol_file *idle;  /* idle for longest first */
	struct fx_symbol_user *users; /* by user */
	struct fx_symbol_trouble *troubles;
	struct fx_symbol_trouble *told; /* the one that was taken last */
	char *debug_path;
	char store[FX_STORE_PATH_MAX]; /* where tables are kept; "": nowhere */
	struct fx_loader *loader;      /* borrowed; NULL: files are read at once */
	uint64_t unidentified;	       /* files that could not be told from others */
	size_t open_count;
	size_t idle_bytes;
	size_t idle_count;
	size_t idle_limit;   /* FX_IDLE_BYTES, but for tests */
	uint64_t wait_ns;    /* FX_SYMBOL_WAIT_NS, but for tests */
	uint64_t file_limit; /* bytes of the symbols of one file, */
	uint64_t user_limit; /* and of the tables of one user's files */
	bool wants_sources, wants_lines;
	struct fx_symbol_counters counters;
};

/* Something waits for its names from `now` on, and no longer. */
void fx_file_wait_begin(struct fx_symbol_file *file, uint64_t now);
void fx_file_wait_end(struct fx_symbol_file *file, uint64_t now);

/* Opens a file that is not open. 0, or an enum fx_symbol_problem_kind plus one. */
int fx_file_reopen(struct fx_symbol_cache *cache, struct fx_symbol_file *file);

/* One that is not open stays so. */
void fx_file_close(struct fx_symbol_cache *cache, struct fx_symbol_file *file);

/* Nobody uses it any more, at least for now. */
void fx_file_idle(struct fx_symbol_cache *cache, struct fx_symbol_file *file);

/* A thread uses it that has found it idle. */
void fx_file_revive(struct fx_symbol_cache *cache, struct fx_symbol_file *file);

/* Frees a file that nobody uses and that is not idle either, with what was read; a reader that is at it ends. */
void fx_file_free(struct fx_symbol_cache *cache, struct fx_symbol_file *file);

/* Frees idle files of the user until there is room for `bytes` more. False: they are not enough. */
bool fx_file_make_room(struct fx_symbol_cache *cache, const struct fx_symbol_user *user,
		       uint64_t bytes);

/* The path of a file. */
static inline const char *fx_file_path(const struct fx_symbol_file *file)
{
	return file->key;
}

/* NULL: it has none. */
static inline const uint8_t *fx_file_build_id(const struct fx_symbol_file *file)
{
	return file->build_id_size ? (const uint8_t *)file->key + file->path_size : NULL;
}

#endif

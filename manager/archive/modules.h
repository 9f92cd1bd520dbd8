/* SPDX-License-Identifier: MIT */
/*
 * One provider's modules, as it recorded them, and the names of its functions.
 */
#ifndef FX_MANAGER_MODULES_H
#define FX_MANAGER_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "symbols/patterns.h"
#include "symbols/symbols.h"

/* Room for a function's name. */
#define FX_MODULES_TEXT_MAX FX_SYMBOL_TEXT_MAX

/* The same with a place in its source behind it. */
#define FX_MODULES_CALLER_MAX (FX_MODULES_TEXT_MAX + 320u)

/* What comes before its module. */
#define FX_UNPLACED 16u

struct fx_module;

struct fx_modules {
	struct fx_symbol_cache *cache;	  /* borrowed */
	const struct fx_view *view;	  /* borrowed; NULL: the manager's own */
	struct fx_symspace *space;	  /* made at the first module */
	struct fx_module *by_id;	  /* uthash */
	uint32_t map_pid;		  /* of a map of made code; 0: none is read */
	uint64_t map_owner, map_since_ns; /* as of fx_symspace_expect_map() */
	bool waiting;			  /* names are wanted that are still being read */
	unsigned unplaced_next;
	uint64_t unplaced[FX_UNPLACED]; /* addresses that are wanted, and lie in no module as yet */
};

/* `view`: from where the process sees its files; outlives the modules. */
void fx_modules_init(struct fx_modules *ret, struct fx_symbol_cache *cache,
		     const struct fx_view *view);

/* As fx_symspace_expect_map(), before the first module. */
void fx_modules_expect_map(struct fx_modules *modules, uint32_t pid, uint64_t owner,
			   uint64_t since_ns);
void fx_modules_destroy(struct fx_modules *modules);

/* Takes a Profiler module or mmap record. 0 or -errno; what makes no sense is left out. */
int fx_modules_add(struct fx_modules *modules, const struct fxt_record *record);

/* Which modules there are up to now. Others may come later in the same addresses (dlclose and dlopen). */
uint32_t fx_modules_moment(const struct fx_modules *modules);

/* A name will be asked for: sees to it that it can be told. */
void fx_modules_want(struct fx_modules *modules, uint32_t moment, uint64_t address);

/* The same of an address that may be of anything. Whether there is something to wait for. */
bool fx_modules_want_known(struct fx_modules *modules, uint64_t address);

/* Whether an address has a name, and not only a number. */
bool fx_modules_has_name(struct fx_modules *modules, uint32_t moment, uint64_t address);

/* Whether all names that were wanted are known, as far as they will be; those that are not are addresses. */
bool fx_modules_are_ready(struct fx_modules *modules);

/* Writes the name of the function that was at `address` at that moment, NUL-terminated. Returns its length. */
size_t fx_modules_name(struct fx_modules *modules, uint32_t moment, uint64_t address,
		       char ret[FX_MODULES_TEXT_MAX]);

/* The same for the function that a call returns into at `address`; with --lines, " (file:line)" behind it. */
size_t fx_modules_caller(struct fx_modules *modules, uint32_t moment, uint64_t address,
			 char ret[FX_MODULES_CALLER_MAX]);

/* False: no more. */
typedef bool fx_modules_line(void *opaque, const char *line, size_t length);

/* The same, and before it a line for each function that was inlined there, the innermost first. */
void fx_modules_callers(struct fx_modules *modules, uint32_t moment, uint64_t address,
			fx_modules_line *take, void *opaque);

/* A function as a line of such a list has it: its module, a slash, its name. False: it has no name, or a longer one. */
bool fx_modules_function(struct fx_modules *modules, uint32_t moment, uint64_t address, char *ret,
			 size_t size);

/* What a list of manager/settings/functions.h says of the function at `address'. */
struct fx_pattern_verdict fx_modules_judge(struct fx_modules *modules, uint32_t moment,
					   uint64_t address, const char *functions);

#endif

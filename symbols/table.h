/* SPDX-License-Identifier: MIT */
/*
 * The code symbols of one file, sorted by address.
 *
 *	begin, add ..., finish, find ..., clear
 *
 * After finish the entries have distinct, ascending starts. Where symbols lie within one another,
 * each entry knows the one around it (`outer`), so that an address behind an inner symbol's end is
 * found in the outer one by following those links.
 */
#ifndef FX_SYMBOLS_TABLE_H
#define FX_SYMBOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"
#include "symbols/line-map.h"

/* What decides between symbols at one address: the greater value wins. */
enum {
	FX_RANK_STRONG = 1 << 0,
	FX_RANK_UNDERSCORE = 1 << 1, /* times 15 less the number of leading underscores */
	FX_RANK_GLOBAL = 1 << 5,
	FX_RANK_SIZED = 1 << 6,
	FX_RANK_FUNCTION = 1 << 7,
};

#define FX_NO_ENTRY UINT32_MAX

struct fx_symtab_entry {
	uint64_t start; /* link-time address */
	uint32_t size;	/* bytes; at most 4 GiB less one */
	uint32_t name;	/* offset in names, of the symbol as it is in the file */
	uint32_t outer; /* index of the smallest entry around this one, or FX_NO_ENTRY */
	uint32_t rank;
};

/* What tells a file that has grown from one in its place. */
#define FX_JIT_TAIL 32u

/* How far a map of made code has been read (symbols/jit-map.h). */
struct fx_jit_mark {
	uint64_t device, inode, end; /* of the file, and in bytes */
	char tail[FX_JIT_TAIL];	     /* what stands before that; */
	uint32_t tail_size;	     /* so many bytes */
	bool is_anew;		     /* from its beginning: what was read before is void */
};

struct fx_symtab {
	FX_VECTOR(struct fx_symtab_entry) entries;
	FX_VECTOR(char) names;
	uint32_t *
	    sources; /* by entry: offset in names of its source file, 0 unknown; NULL: nobody asked */
	const char **shown; /* by entry: the name to show, NULL until it is asked for; not owned */
	bool is_partial;    /* there is a debug file with more, which may not be read */
	bool has_lines;	    /* they were asked for */
	bool was_stored;    /* it was kept on disk (symbols/store.h) */
	struct fx_line_map lines;
	struct fx_jit_mark jit; /* of one that is a map's */
};

void fx_symtab_begin(struct fx_symtab *table);

/*
 * Adds a symbol whose name has length bytes. limit is the end of the code that it begins in: the symbol ends there at the
 * latest. flags are FX_RANK_STRONG, _GLOBAL and _FUNCTION. 0, -ENOMEM, or -EFBIG if the table is
 * full; on an error the table is as before.
 */
int fx_symtab_add(struct fx_symtab *table, const char *name, size_t length, uint64_t start,
		  uint64_t size, uint64_t limit, uint32_t flags);

/* Sorts. 0 or -ENOMEM; fx_symtab_clear() is due in either case. */
int fx_symtab_finish(struct fx_symtab *table);

/* Index of the innermost symbol that contains address, or FX_NO_ENTRY. */
uint32_t fx_symtab_find(const struct fx_symtab *table, uint64_t address);

/* After finish: room for the source files of all, none of which is known; and that of those that begin at an address. 0,
 * -ENOMEM or -EFBIG. */
int fx_symtab_want_sources(struct fx_symtab *table);
int fx_symtab_set_source(struct fx_symtab *table, uint64_t start, const char *path);

/* Adds a text to the names; *ret: its offset. 0, -ENOMEM or -EFBIG. */
int fx_symtab_add_text(struct fx_symtab *table, const char *text, uint32_t *ret);

/* The source file of an entry; NULL: not known. */
const char *fx_symtab_source(const struct fx_symtab *table, size_t index);

/* The bytes of an entry, if its file says it; else 0. */
uint32_t fx_symtab_size(const struct fx_symtab *table, size_t index);

/* Bytes of memory that the table holds. */
size_t fx_symtab_memory(const struct fx_symtab *table);

void fx_symtab_clear(struct fx_symtab *table);

#endif

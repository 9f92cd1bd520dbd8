/* SPDX-License-Identifier: MIT */
/*
 * Names of code addresses in traced processes.
 *
 * The resolver works outside the process, and often after its death: it never looks into /proc itself.
 * What it knows of a process are the modules that the process recorded about itself, at its start
 * and after each dlopen().
 *
 *	cache ── files, each opened and its symbols sorted once, however many processes use it
 *	  ├── space: one process image, a list of modules
 *	  └── space ...
 *
 * A file is opened when the first module that names it is added, so that a program that is deleted
 * right after its run still has names; its symbols are read at the first address asked for. Symbols
 * come from .symtab, else from a separate debug file (by build-id, then by .gnu_debuglink), else
 * from .gnu_debugdata, else from .dynsym. Nothing is ever fetched from the network.
 *
 * A file on disk whose build-id differs from the recorded one is not the file that ran. It gives no
 * names, and neither does one that is missing, unreadable or not ELF;
 * fx_symbol_cache_next_problem() tells of each such file once, as long as it is remembered.
 *
 * Names
 *	C++, Rust (legacy and v0), D and OCaml are demangled, C++ and D with their parameters. Rust's hash is
 *	left out. What compilers append stays: ".cold", ".part.0", ".isra.0" and ".constprop.0" stand as they
 *	are after a C name and as " [clone .cold]" after one of C++ or D; only ".llvm.NUMBER" is removed,
 *	and so is a symbol version ("@@GLIBC_2.2.5"). Names are valid UTF-8 without control characters, at
 *	most FX_SYMBOL_NAME_MAX bytes; longer ones end in "…#" and a hash of the whole symbol; other
 *	bytes are escaped (base/escape.h).
 *
 *	Of several symbols at one address the name is, in this order: a function's rather than a
 *	typeless label's, one with a size, one that is not local, the one with the fewest leading
 *	underscores ("read", which glibc defines as a weak alias, rather than "__read"), a strong
 *	one rather than a weak one, the first in byte order. A symbol with a size contains the addresses
 *	within it; one without extends to the next symbol or the end of its section.
 *
 * Threads: a cache, its spaces and all that they returned belong to one thread at a time. That
 * thread needs FX_SYMBOL_STACK bytes of stack.
 */
#ifndef FX_SYMBOLS_SYMBOLS_H
#define FX_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest name in bytes, without the final NUL. */
#define FX_SYMBOL_NAME_MAX 1024

/* The longest build-id in bytes; in use are 8 to 20. */
#define FX_BUILD_ID_MAX 64

/* What the demangler may take for the most deeply nested name, in bytes. */
#define FX_SYMBOL_STACK (4u << 20)

/* What the symbols of one file may take, in it and in memory, and those of one user's files in memory, in bytes. */
#define FX_SYMBOL_BYTES	     (UINT64_C(256) << 20)
#define FX_SYMBOL_USER_BYTES (UINT64_C(1024) << 20)

/* The longest path of a folder in which tables are kept, with its NUL. */
#define FX_STORE_PATH_MAX 1024u

struct fx_loader;
struct fx_view;
struct fx_symbol_cache;
struct fx_symspace;

/* A part of a module's memory, as the process recorded it. */
struct fx_symbol_module {
	const char *path; /* absolute; may end in " (deleted)", or be no file's, as "[vdso]" */
	const uint8_t *build_id; /* NULL if the module has none */
	size_t build_id_size;
	uint64_t bias;	/* run-time minus link-time address (dlpi_addr); 0 unless relocatable */
	uint64_t start; /* run-time addresses [start, end): one segment or the whole module */
	uint64_t end;
};

enum fx_symbol_kind {
	FX_SYMBOL_NAMED,     /* name, module and offset are known */
	FX_SYMBOL_IN_MODULE, /* in a module, but in none of its known symbols */
	FX_SYMBOL_UNKNOWN,   /* in no module */
};

struct fx_symbol {
	enum fx_symbol_kind kind;
	const char *name;   /* FX_SYMBOL_NAMED, else NULL */
	const char *module; /* file name without its folders; NULL if FX_SYMBOL_UNKNOWN */
	/*
	 * Bytes from the symbol's start; FX_SYMBOL_IN_MODULE: the link-time address, which
	 * addr2line takes; FX_SYMBOL_UNKNOWN: the run-time address.
	 */
	uint64_t offset;
	/* FX_SYMBOL_NAMED: */
	const char
	    *source;   /* the file that the function stands in; NULL: not known, or nobody asked */
	uint32_t size; /* bytes; 0: not known */
};

/* Where code comes from. Strings are valid as those of a symbol are. */
struct fx_symbol_place {
	const char *function; /* an inlined one; NULL: the symbol itself */
	const char *file;     /* without its folders, as the debug information has it */
	uint32_t line;	      /* 0: not known */
};

/* So many functions are followed that are inlined into one another. */
#define FX_SYMBOL_PLACES_MAX 32u

enum fx_symbol_problem_kind {
	FX_SYMBOL_FILE_MISSING,	   /* deleted, or never a file */
	FX_SYMBOL_FILE_UNREADABLE, /* exists, but cannot be opened, or is no regular file */
	FX_SYMBOL_FILE_CHANGED,	   /* not the file that ran */
	FX_SYMBOL_FILE_NOT_ELF,
	FX_SYMBOL_FILE_DAMAGED, /* ELF, but its symbols cannot be read */
	FX_SYMBOL_FILE_NO_MEMORY,
	FX_SYMBOL_FILE_TOO_LARGE, /* its symbols take more than one file's may */
	FX_SYMBOL_FILE_BEYOND,	  /* its user's files take more than they may */
	FX_SYMBOL_FILE_TOO_SLOW,  /* it took too long to read */
	FX_SYMBOL_FILE_CRASHED,	  /* its reader ended without an answer */
	FX_SYMBOL_FILE_PARTIAL, /* its debug file exists, but cannot be opened; what names it has itself are given */
	FX_SYMBOL_FILE_NO_DESCRIPTORS, /* too few descriptors are left to read it */
};

struct fx_symbol_problem {
	const char *path; /* valid until the next is taken */
	enum fx_symbol_problem_kind kind;
};

struct fx_symbol_counters {
	uint64_t files; /* distinct files that modules have named, as far as they are remembered */
	uint64_t opens; /* files opened, debug files not counted */
	uint64_t loads; /* symbol tables read and sorted */
	uint64_t symbols; /* in the tables held now */
	uint64_t stored_loads,
	    stored_symbols;   /* of the tables read so far: those that were kept on disk */
	uint64_t names;	      /* demangled so far */
	uint64_t sources;     /* that were told */
	uint64_t table_bytes; /* memory of the tables held now */
};

/*
 * debug_path says where separate debug files are looked for, in libdwfl's syntax; NULL: beside the
 * module, in .debug beside it, and under /usr/lib/debug. 0 or -ENOMEM.
 */
int fx_symbol_cache_create(const char *debug_path, struct fx_symbol_cache **ret);

/*
 * From now on files are read by the loader, which must outlive the cache, in processes apart. Nothing waits for them here:
 * until a file is read, there are addresses. A caller that wants names says so by fx_symspace_want(), and asks
 * fx_symspace_is_ready() now and then; that is so at the latest after FX_SYMBOL_WAIT_NS for a file, and when the files of
 * one user have been waited for FX_SYMBOL_WAIT_USER_NS.
 */
#define FX_SYMBOL_WAIT_NS      UINT64_C(5000000000)
#define FX_SYMBOL_WAIT_USER_NS UINT64_C(15000000000)
void fx_symbol_cache_load_apart(struct fx_symbol_cache *cache, struct fx_loader *loader);

/* The limits in place of FX_SYMBOL_BYTES and FX_SYMBOL_USER_BYTES; 0: as it is. */
void fx_symbol_cache_limit(struct fx_symbol_cache *cache, uint64_t file, uint64_t user);

/* From now on the source files of functions are read as well. */
void fx_symbol_cache_want_sources(struct fx_symbol_cache *cache);

/* From now on the places of code (fx_symspace_places_at()) are read as well. */
void fx_symbol_cache_want_lines(struct fx_symbol_cache *cache);

/* From now on tables that take long to make are kept on disk, in that folder (symbols/store.h). */
void fx_symbol_cache_keep(struct fx_symbol_cache *cache, const char *folder);

/* All spaces must be destroyed before. NULL is allowed. */
void fx_symbol_cache_destroy(struct fx_symbol_cache *cache);

void fx_symbol_cache_count(const struct fx_symbol_cache *cache, struct fx_symbol_counters *ret);

/* Takes the next file that turned out to give no names; false if there is none. */
bool fx_symbol_cache_next_problem(struct fx_symbol_cache *cache, struct fx_symbol_problem *ret);

/* A few words for a message, as "has changed since it ran". */
const char *fx_symbol_problem_text(enum fx_symbol_problem_kind kind);

/* The cache must outlive the space. 0 or -ENOMEM. */
int fx_symspace_create(struct fx_symbol_cache *cache, struct fx_symspace **ret);

/* From where the space's files are seen; must outlive it. Before the first module. */
void fx_symspace_set_view(struct fx_symspace *space, const struct fx_view *view);

/*
 * The process may write a map of code that it makes, under the number by which it calls itself. `owner': the user whose file that is;
 * since_ns: when the process began (CLOCK_REALTIME).
 */
void fx_symspace_expect_map(struct fx_symspace *space, uint32_t pid, uint64_t owner,
			    uint64_t since_ns);

/* NULL is allowed. Names that were returned are valid until then, those of made code until the next is asked for. */
void fx_symspace_destroy(struct fx_symspace *space);

/*
 * Adds a module, or one segment of it. It hides what was added before in the same addresses, since
 * dlclose() and dlopen() use addresses again; adding what already stands there does nothing. All
 * strings are copied. 0, -EINVAL if the facts contradict each other, -ENOSPC after 65536 modules,
 * -ENOMEM.
 */
int fx_symspace_add_module(struct fx_symspace *space, const struct fx_symbol_module *module);

/*
 * How many modules the space has: the moment that fx_symspace_resolve_at() can go back to, for an
 * address that was seen before modules that are already added.
 */
uint32_t fx_symspace_moment(const struct fx_symspace *space);

/*
 * The name of an address is wanted: begins to read its file if need be. Does nothing for a cache without a loader. False: the
 * address is in no module.
 */
bool fx_symspace_want(struct fx_symspace *space, uint32_t moment, uint64_t address);

/* The same of an address in no module: it may lie in code that the process made. */
void fx_symspace_want_made(struct fx_symspace *space, uint64_t address);

/* Whether all that was wanted is known, as far as it will be. */
bool fx_symspace_is_ready(struct fx_symspace *space);

/*
 * Names an address; what is not known is told by ret->kind. Strings are valid until the space is destroyed. Without a
 * loader, the first address in a file reads that file's symbols: some milliseconds, or half a second for a million
 * symbols.
 */
void fx_symspace_resolve(struct fx_symspace *space, uint64_t address, struct fx_symbol *ret);
void fx_symspace_resolve_at(struct fx_symspace *space, uint32_t moment, uint64_t address,
			    struct fx_symbol *ret);

/*
 * The place of an address, and if that is in inlined functions, the places that they were called from, from the inside to the
 * symbol's own code, which is the last unless there are too many. How many; 0: not known.
 */
unsigned fx_symspace_places_at(struct fx_symspace *space, uint32_t moment, uint64_t address,
			       struct fx_symbol_place ret[FX_SYMBOL_PLACES_MAX]);

/* Room for what fx_symbol_format() writes, in bytes. */
#define FX_SYMBOL_TEXT_MAX (FX_SYMBOL_NAME_MAX + sizeof("+0x0123456789abcdef"))

/*
 * Writes "name", "name+0x12", "module+0x123" or "0x7f0123456789", always ended by a NUL; cut if
 * size is less than FX_SYMBOL_TEXT_MAX. Returns the length written.
 */
size_t fx_symbol_format(const struct fx_symbol *symbol, char *buffer, size_t size);

/* Whether it can be known on this machine what functions are called with, and what they return. */
bool fx_values_are_known(void);

#endif

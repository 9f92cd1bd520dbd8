/* SPDX-License-Identifier: MIT */
/*
 * Processes by what is mapped in them: code of which file lies where, as the kernel's records of mappings, forks,
 * programs and ends say, in order of time.
 */
#ifndef FX_KERNEL_SPACE_H
#define FX_KERNEL_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/image.h"

struct fx_symspace;
struct fx_symbol_cache;
struct unw_addr_space;

/* Code in memory. */
struct fx_mapping {
	uint64_t start, end;
	uint64_t bias;		/* address minus that of the image */
	struct fx_image *image; /* NULL: of no file */
};

struct fx_space {
	uint32_t pid;
	struct fx_mapping *mappings; /* in order */
	size_t count, room;
	struct fx_symspace *names; /* NULL before the first that was asked for */
	uint32_t changes;	   /* of the mappings so far */
	/* The unwinder's: what it remembers, since which of the changes, and how that is let go. */
	struct unw_addr_space *unwinder;
	uint32_t unwinder_changes;
	void (*unwinder_end)(struct unw_addr_space *unwinder);
	char name[16];	 /* as the kernel has it; "" not known */
	uint32_t others; /* its threads beside the first, */
	uint64_t
	    counted_ns; /* as /proc had them then, and records since; 0: as records have them alone */
	bool has_lost_first; /* which has ended before them */
	bool is_preloaded;   /* of its system calls it tells itself */
	bool is_own;	     /* of interest: the program, and what it has started */
	uint64_t
	    serial; /* of this program in this process; that of who made the process, 0: not known */
	uint64_t parent;
	uint64_t
	    followed_ns; /* whom it has started before then is not followed for it (kernel/follow.h) */
};

struct fx_spaces;

/* The cache must outlive them. 0 or -ENOMEM. */
int fx_spaces_create(struct fx_symbol_cache *names, struct fx_spaces **ret);
void fx_spaces_destroy(struct fx_spaces *spaces);

/* The process's, made if need be; NULL without memory. */
struct fx_space *fx_space_of(struct fx_spaces *spaces, uint32_t pid);

/* NULL: nothing is known of it. */
const struct fx_space *fx_space_known(const struct fx_spaces *spaces, uint32_t pid);

/* A process is the program; so are those that it has started before that was known. `see': each that is from now on. */
void fx_space_own(struct fx_spaces *spaces, uint32_t pid,
		  void (*see)(void *opaque, struct fx_space *space), void *opaque);

/* What /proc says of a process that runs already. */
void fx_space_read(struct fx_spaces *spaces, uint32_t pid);

/* Code of a file was mapped. */
void fx_space_map(struct fx_spaces *spaces, uint32_t pid, uint64_t start, uint64_t size,
		  uint64_t offset, uint64_t device, uint64_t inode, const char *path);

/* A process was made, or became another program. */
void fx_space_fork(struct fx_spaces *spaces, uint32_t parent, uint32_t child);
void fx_space_exec(struct fx_spaces *spaces, uint32_t pid);

/* A further thread began, and any ended, at a time of CLOCK_BOOTTIME: what is older than what /proc said is in that already. True: with it the process, of which nothing is known any more. */
void fx_space_thread(struct fx_spaces *spaces, uint32_t pid, uint64_t ns);
bool fx_space_end(struct fx_spaces *spaces, uint32_t pid, bool is_first, uint64_t ns);

/* The code that an address lies in; NULL: none. */
const struct fx_mapping *fx_space_find(const struct fx_space *space, uint64_t address);

/* The names of the process's code; NULL without memory. */
struct fx_symspace *fx_space_names(struct fx_spaces *spaces, struct fx_space *space);

#endif

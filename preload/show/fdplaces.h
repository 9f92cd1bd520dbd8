/* SPDX-License-Identifier: MIT */
/*
 * Paths that need not be asked for. The kernel takes microseconds to say where a descriptor leads, by /proc, as long as for
 * some opens. What a process opens by its name in a directory's descriptor, without following a link, lies where the directory does:
 *
 *	openat(4, "a", O_NOFOLLOW) = 5		4 is /x/y, as the kernel has said lately: 5 is /x/y/a
 *
 * A directory's path is believed for a millisecond, for others may move it or one that it lies in; and no longer than until the process
 * itself has moved something that may be one of these. Then the path of the next such file is asked for, and
 * shows whether the directory's is still the same. The path of a device, which some open again and again, is believed as long.
 */
#ifndef FX_PRELOAD_FDPLACES_H
#define FX_PRELOAD_FDPLACES_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/stat.h>

#include "preload/show/text.h"

#define FX_PLACES_DIRECTORIES 6u
#define FX_PLACES_FILES	      8u
#define FX_PLACES_NAME	      64u /* bytes of a name, with its NUL; longer ones are not remembered */

/* A descriptor, as long as its number means the same. */
struct fx_place_fd {
	int32_t fd;
	uint32_t age;
};

struct fx_place_directory {
	struct fx_place_fd at;
	uint64_t since; /* CLOCK_BOOTTIME ns: its path was true then; 0: that has to be looked at */
	uint16_t length; /* of the path; 0: there is none */
	char path[FX_TEXT_MAX];
};

struct fx_place_file {
	struct fx_place_fd at, directory;
	char name[FX_PLACES_NAME]; /* empty: there is none, or its path has been told */
};

/* A device file; those that are removed and made anew do not get the same inode so soon. */
struct fx_place_device {
	uint64_t since; /* as above */
	uint64_t inode;
	uint32_t major, minor; /* of its file system */
	uint16_t length;
	char path[FX_TEXT_MAX];
};

/* All zero at first, and in a forked child. */
struct fx_places {
	uint32_t busy; /* a thread is at work here: others ask the kernel */
	uint32_t next_directory, next_file;
	struct fx_place_directory directories[FX_PLACES_DIRECTORIES];
	struct fx_place_file files[FX_PLACES_FILES];
	struct fx_place_device device; /* the newest */
};

/* `at' was opened by `name' in `directory', with these flags of open(). */
void fx_places_opened(struct fx_places *p, struct fx_place_fd at, struct fx_place_fd directory,
		      const char *name, int flags);

/* Something was moved that was called so there; NULL: it is not known what, or more than that. */
void fx_places_moved(struct fx_places *p, struct fx_place_fd directory, const char *name);

/* Appends the path of `at', if that need not be asked for. */
bool fx_places_tell(struct fx_places *p, struct fx_place_fd at, const struct statx *file,
		    struct fx_text *t);

/* The kernel has said what `at' is. */
void fx_places_learn(struct fx_places *p, struct fx_place_fd at, const struct statx *file,
		     const struct fx_text *t);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Whether a program takes a preloaded library of this machine's kind, as far as its file tells. If not,
 * it runs untraced; and with some of the reasons it must be started without, for it would write to its
 * stderr, or refuse to run.
 */
#ifndef FX_BASE_LOADABLE_H
#define FX_BASE_LOADABLE_H

#include <stdbool.h>

enum fx_loadable {
	FX_LOADABLE = 0, /* or not to be told: what starts it will say what is wrong */
#define FX_OBSTACLE(id, complains, why, cure) FX_LOADABLE_##id,
#include "base/loadable.def"
#undef FX_OBSTACLE
	FX_LOADABLE_COUNT
};

/* Looks at the file `path`, relative to the directory `dirfd` (or AT_FDCWD); for a script, at the
 * interpreter that its first line names. Raw system calls alone: a bad `path` is the kernel's to refuse. */
enum fx_loadable fx_loadable_file(int dirfd, const char *path);

/* The same for an open file, whose offset stays. */
enum fx_loadable fx_loadable_fd(int fd);

/* Opens a regular file to be read; anything else could block or act. -errno on failure. */
int fx_loadable_open(int dirfd, const char *path);

/* What of this process's limits, that a program gets from it, is in the way: FX_LOADABLE or FX_LOADABLE_NARROW. Where the
 * dynamic linker finds no room for the library or behind it, it ends the program. */
enum fx_loadable fx_loadable_here(void);

/* Whether a list as LD_PRELOAD has it, or NULL, names a sanitizer's library: FX_LOADABLE_SANITIZER_NAMED. */
bool fx_loadable_names_sanitizer(const char *preload);

/* Such a program must be started without the library. */
bool fx_loadable_complains(enum fx_loadable verdict);

/* Why it cannot be traced, and what would help: static text; NULL for FX_LOADABLE. */
const char *fx_loadable_why(enum fx_loadable verdict);
const char *fx_loadable_cure(enum fx_loadable verdict);

#endif

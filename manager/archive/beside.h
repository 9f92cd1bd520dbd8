/* SPDX-License-Identifier: MIT */
/*
 * A file that has its name only once it is whole. Until then it has none, or, where a file system cannot do that, one of
 * its own in the same folder, which goes with the process.
 */
#ifndef FX_MANAGER_BESIDE_H
#define FX_MANAGER_BESIDE_H

#include <stdbool.h>
#include <sys/stat.h>

struct fx_beside {
	int fd;	      /* what is written; the caller's to close */
	int held;     /* the same, until the name is given */
	int dir;      /* the folder */
	int old;      /* the file that has the name now, or -1 */
	char *name;   /* what it is to be called */
	char own[32]; /* what it is called; empty: it has no name */
	mode_t mode;  /* of what is new */
};

/*
 * Makes the file that shall be called `name` in `dir`. `old`, unless -1, is the open file that it shall take the place of,
 * which is this one's if this succeeds. 1: nobody may make a file there, or none that could take that place. 0 or -errno.
 */
int fx_beside_make(int dir, const char *name, mode_t mode, int old, struct fx_beside **ret);

/* What is written has its name, unless -errno; then all is as before. Frees. */
int fx_beside_keep(struct fx_beside *beside);

/* As if there had been none. Frees. NULL: nothing. */
void fx_beside_drop(struct fx_beside *beside);

#endif

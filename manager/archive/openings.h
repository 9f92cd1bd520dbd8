/* SPDX-License-Identifier: MIT */
/*
 * How often named semaphores were opened, by whomever: the kernel tells it of all files in their folder (fanotify(7)), without their openers.
 * What one process does twice it may tell once, but not what two do. So if as many openings were told as processes say that they have
 * opened it, nobody else has. Of files that were there before, nobody knows who has them.
 */
#ifndef FX_MANAGER_OPENINGS_H
#define FX_MANAGER_OPENINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a file that was there before, and where openings were missed: more than there are processes. */
#define FX_OPENINGS_UNKNOWN UINT32_MAX

struct fx_opened;

struct fx_openings {
	int fd; /* below 0: the kernel tells nothing */
	dev_t device;
	bool is_lossy;
	struct fx_opened *files; /* uthash, by inode */
};

void fx_openings_begin(struct fx_openings *o);

/* What the kernel has told by now. */
void fx_openings_take(struct fx_openings *o);

/* Of the semaphore of that key (engine/share-key.h); 0: none is known. */
uint32_t fx_openings_count(const struct fx_openings *o, uint64_t key);

void fx_openings_end(struct fx_openings *o);

#endif

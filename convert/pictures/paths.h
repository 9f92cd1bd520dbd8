/* SPDX-License-Identifier: MIT */
/*
 * Calls merged by path: a function, its caller, the caller's caller and so on; each path once, with what was measured
 * there. Paths are numbers; 0 is the root of all. A path's number is larger than its parent's.
 */
#ifndef FX_CONVERT_PICTURES_PATHS_H
#define FX_CONVERT_PICTURES_PATHS_H

#include "convert/pictures/options.h"
#include "lists/vector.h"

#define FX_PATH_NONE UINT32_MAX

struct fx_path {
	uint32_t parent;
	uint32_t name;	   /* number of a text of the timeline; 0: empty */
	uint32_t category; /* likewise */
	uint32_t first;	   /* child; FX_PATH_NONE: there is none */
	uint32_t last;
	uint32_t next;	/* sibling */
	uint32_t cause; /* text: what is waited for; 0: nothing; FX_PATH_NONE: not looked up yet */
	bool is_rest;	/* stands for all further paths below its parent */
	uint64_t self[FX_MEASURE_COUNT];
};

struct fx_paths {
	FX_VECTOR(struct fx_path) list;
	uint32_t *table; /* open addressing, by parent, name and category */
	size_t table_size;
	uint32_t limit; /* paths beyond it are merged with others below their parent */
	uint32_t rest_name;
};

/* Returns 0 or -ENOMEM. What was begun is freed by fx_paths_destroy(). */
int fx_paths_init(struct fx_paths *paths, uint32_t limit, uint32_t rest_name);
void fx_paths_destroy(struct fx_paths *paths);

/* The path of a call below @parent; FX_PATH_NONE: no memory. */
uint32_t fx_paths_child(struct fx_paths *paths, uint32_t parent, uint32_t name, uint32_t category);

/*
 * What was measured on each path and below it: one number for each path, in an array of the caller's to free. NULL:
 * no memory.
 */
uint64_t *fx_paths_totals(const struct fx_paths *paths, enum fx_measure measure);

/* The path that stands behind @path in the order of a walk that visits parents first; FX_PATH_NONE: it was the last. */
uint32_t fx_paths_next(const struct fx_paths *paths, uint32_t path);

#endif

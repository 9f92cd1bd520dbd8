/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/pictures/paths.h"

enum { FIRST_TABLE = 1024 };

static size_t paths_slot(const struct fx_paths *paths, uint32_t parent, uint32_t name,
			 uint32_t category)
{
	uint64_t hash = ((uint64_t)parent << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 29 ^ category) * UINT64_C(0xbf58476d1ce4e5b9);
	return (size_t)(hash ^ hash >> 32) & (paths->table_size - 1);
}

/* The slot of a path, or the free one where it belongs. */
static uint32_t *paths_find(const struct fx_paths *paths, uint32_t parent, uint32_t name,
			    uint32_t category)
{
	size_t slot = paths_slot(paths, parent, name, category);

	for (;; slot = (slot + 1) & (paths->table_size - 1)) {
		const struct fx_path *path;

		if (paths->table[slot] == FX_PATH_NONE)
			return &paths->table[slot];
		path = &paths->list.items[paths->table[slot]];
		if (path->parent == parent && path->name == name && path->category == category)
			return &paths->table[slot];
	}
}

static int paths_grow_table(struct fx_paths *paths)
{
	size_t size = paths->table_size ? 2 * paths->table_size : FIRST_TABLE;
	uint32_t *table = malloc(size * sizeof(*table));

	if (!table)
		return -ENOMEM;
	memset(table, 0xff, size * sizeof(*table));
	free(paths->table);
	paths->table = table;
	paths->table_size = size;
	for (size_t i = 1; i < paths->list.count; i++) {
		const struct fx_path *path = &paths->list.items[i];

		*paths_find(paths, path->parent, path->name, path->category) = (uint32_t)i;
	}
	return 0;
}

static uint32_t paths_add(struct fx_paths *paths, uint32_t parent, uint32_t name, uint32_t category)
{
	uint32_t id = (uint32_t)paths->list.count;
	struct fx_path *above;

	if (fx_vector_reserve(&paths->list, 1) < 0)
		return FX_PATH_NONE;
	if (2 * paths->list.count >= paths->table_size && paths_grow_table(paths) < 0)
		return FX_PATH_NONE;
	*paths_find(paths, parent, name, category) = id;
	paths->list.items[paths->list.count++] = (struct fx_path){
	    .parent = parent,
	    .name = name,
	    .category = category,
	    .first = FX_PATH_NONE,
	    .last = FX_PATH_NONE,
	    .next = FX_PATH_NONE,
	    .cause = FX_PATH_NONE,
	};
	above = &paths->list.items[parent];
	if (above->last == FX_PATH_NONE)
		above->first = id;
	else
		paths->list.items[above->last].next = id;
	above->last = id;
	return id;
}

int fx_paths_init(struct fx_paths *paths, uint32_t limit, uint32_t rest_name)
{
	*paths = (struct fx_paths){.limit = limit, .rest_name = rest_name};
	if (fx_vector_reserve(&paths->list, FIRST_TABLE) < 0 || paths_grow_table(paths) < 0)
		return -ENOMEM;
	paths->list.items[paths->list.count++] = (struct fx_path){.parent = FX_PATH_NONE,
								  .first = FX_PATH_NONE,
								  .last = FX_PATH_NONE,
								  .next = FX_PATH_NONE,
								  .cause = 0};
	return 0;
}

void fx_paths_destroy(struct fx_paths *paths)
{
	fx_vector_free(&paths->list);
	free(paths->table);
	paths->table = NULL;
}

/* Each path has one for the rest at most, so that these are not more than the others. */
static uint32_t paths_rest(struct fx_paths *paths, uint32_t parent)
{
	uint32_t id = *paths_find(paths, parent, paths->rest_name, 0);

	if (id == FX_PATH_NONE)
		id = paths_add(paths, parent, paths->rest_name, 0);
	if (id != FX_PATH_NONE)
		paths->list.items[id].is_rest = true;
	return id;
}

uint32_t fx_paths_child(struct fx_paths *paths, uint32_t parent, uint32_t name, uint32_t category)
{
	uint32_t id;

	if (parent == FX_PATH_NONE || paths->list.items[parent].is_rest)
		return parent;
	id = *paths_find(paths, parent, name, category);
	if (id != FX_PATH_NONE)
		return id;
	if (paths->list.count > paths->limit)
		return paths_rest(paths, parent);
	return paths_add(paths, parent, name, category);
}

uint64_t *fx_paths_totals(const struct fx_paths *paths, enum fx_measure measure)
{
	uint64_t *totals = calloc(paths->list.count, sizeof(*totals));

	for (size_t i = totals ? paths->list.count : 0; i-- > 0;) {
		totals[i] += paths->list.items[i].self[measure];
		if (i > 0)
			totals[paths->list.items[i].parent] += totals[i];
	}
	return totals;
}

uint32_t fx_paths_next(const struct fx_paths *paths, uint32_t path)
{
	const struct fx_path *list = paths->list.items;

	if (list[path].first != FX_PATH_NONE)
		return list[path].first;
	while (path != FX_PATH_NONE && list[path].next == FX_PATH_NONE)
		path = list[path].parent;
	return path == FX_PATH_NONE ? FX_PATH_NONE : list[path].next;
}

/* SPDX-License-Identifier: MIT */
#include "symbols/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More underscores than these count no further. */
#define UNDERSCORES_MAX 15u

void fx_symtab_begin(struct fx_symtab *table)
{
	*table = (struct fx_symtab){0};
}

void fx_symtab_clear(struct fx_symtab *table)
{
	fx_vector_free(&table->entries);
	fx_vector_free(&table->names);
	free(table->shown);
	free(table->sources);
	fx_line_map_clear(&table->lines);
	fx_symtab_begin(table);
}

static uint32_t count_underscores(const char *name, size_t length)
{
	uint32_t count = 0;

	while (count < UNDERSCORES_MAX && count < length && name[count] == '_')
		count++;
	return count;
}

static uint32_t rank_of(const char *name, size_t length, uint64_t size, uint32_t flags)
{
	uint32_t shortness = UNDERSCORES_MAX - count_underscores(name, length);

	return flags | (size ? FX_RANK_SIZED : 0) | shortness * FX_RANK_UNDERSCORE;
}

static int names_reserve(struct fx_symtab *table, size_t size)
{
	if (table->names.count + size > UINT32_MAX)
		return -EFBIG;
	return fx_vector_reserve(&table->names, size);
}

static int entries_reserve(struct fx_symtab *table)
{
	if (table->entries.count >= FX_NO_ENTRY / 2)
		return -EFBIG;
	return fx_vector_reserve(&table->entries, 1);
}

/* There is room. Offset of the copy. */
static uint32_t name_append(struct fx_symtab *table, const char *name, size_t length)
{
	char *copy = table->names.items + table->names.count;

	memcpy(copy, name, length);
	copy[length] = '\0';
	table->names.count += length + 1;
	return (uint32_t)(copy - table->names.items);
}

int fx_symtab_add(struct fx_symtab *table, const char *name, size_t length, uint64_t start,
		  uint64_t size, uint64_t limit, uint32_t flags)
{
	uint64_t extent = size && size < limit - start ? size : limit - start;
	int r;

	if (start >= limit)
		return 0;
	r = names_reserve(table, length + 1);
	if (r == 0)
		r = entries_reserve(table);
	if (r != 0)
		return r;
	table->entries.items[table->entries.count++] = (struct fx_symtab_entry){
	    .start = start,
	    .size = extent < UINT32_MAX ? (uint32_t)extent : UINT32_MAX,
	    .name = name_append(table, name, length),
	    .rank = rank_of(name, length, size, flags),
	};
	return 0;
}

/* By address; at one address the best first. */
static int table_entry_compare(const void *left, const void *right, void *names)
{
	const struct fx_symtab_entry *a = left;
	const struct fx_symtab_entry *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return strcmp((const char *)names + a->name, (const char *)names + b->name);
}

static bool entry_contains(const struct fx_symtab_entry *entry, uint64_t address)
{
	return address - entry->start < entry->size;
}

/* From this entry outwards, the first that contains the address. */
static uint32_t find_outwards(const struct fx_symtab *table, uint32_t index, uint64_t address)
{
	while (index != FX_NO_ENTRY && !entry_contains(&table->entries.items[index], address))
		index = table->entries.items[index].outer;
	return index;
}

/*
 * Keeps the best entry at each address, drops labels without a size inside symbols that have one,
 * ends the other labels where the next symbol begins, and links inner to outer entries. The links
 * from the last kept entry outwards are the stack of what is still open, so this is linear.
 */
static void entries_settle(struct fx_symtab *table)
{
	struct fx_symtab_entry *entries = table->entries.items;
	uint32_t kept = 0;

	for (size_t i = 0; i < table->entries.count; i++) {
		struct fx_symtab_entry entry = entries[i];
		struct fx_symtab_entry *last = kept ? &entries[kept - 1] : NULL;

		if (last && last->start == entry.start)
			continue;
		if (last && !(last->rank & FX_RANK_SIZED) && entry_contains(last, entry.start))
			last->size = (uint32_t)(entry.start - last->start);
		entry.outer = find_outwards(table, kept ? kept - 1 : FX_NO_ENTRY, entry.start);
		if (entry.outer != FX_NO_ENTRY && !(entry.rank & FX_RANK_SIZED))
			continue;
		entries[kept++] = entry;
	}
	table->entries.count = kept;
}

/* Gives back what the growing took in advance; that this fails is no harm. */
static void table_shrink(struct fx_symtab *table)
{
	size_t size = table->entries.count * sizeof(*table->entries.items);
	struct fx_symtab_entry *entries = size ? realloc(table->entries.items, size) : NULL;
	char *names = table->names.count ? realloc(table->names.items, table->names.count) : NULL;

	if (entries) {
		table->entries.items = entries;
		table->entries.capacity = table->entries.count;
	}
	if (names) {
		table->names.items = names;
		table->names.capacity = table->names.count;
	}
}

int fx_symtab_finish(struct fx_symtab *table)
{
	if (!table->entries.count)
		return 0;
	qsort_r(table->entries.items, table->entries.count, sizeof(*table->entries.items),
		table_entry_compare, table->names.items);
	entries_settle(table);
	table_shrink(table);
	/* Of a large array only the pages in use become resident. */
	table->shown = calloc(table->entries.count, sizeof(*table->shown));
	return table->shown ? 0 : -ENOMEM;
}

uint32_t fx_symtab_find(const struct fx_symtab *table, uint64_t address)
{
	size_t low = 0,
	       high =
		   table->entries.count; /* in the end at low: the first entry behind the address */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->entries.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return find_outwards(table, low ? (uint32_t)(low - 1) : FX_NO_ENTRY, address);
}

int fx_symtab_add_text(struct fx_symtab *table, const char *text, uint32_t *ret)
{
	size_t length = strlen(text);
	int r = names_reserve(table, length + 1);

	if (r == 0)
		*ret = name_append(table, text, length);
	return r;
}

int fx_symtab_want_sources(struct fx_symtab *table)
{
	table->sources = calloc(table->entries.count + 1, sizeof(*table->sources));
	return table->sources ? 0 : -ENOMEM;
}

/* Functions of one file come one after another. */
static int source_add(struct fx_symtab *table, const char *path, uint32_t before, uint32_t *ret)
{
	*ret = before;
	if (before && strcmp(table->names.items + before, path) == 0)
		return 0;
	return fx_symtab_add_text(table, path, ret);
}

int fx_symtab_set_source(struct fx_symtab *table, uint64_t start, const char *path)
{
	uint32_t index = fx_symtab_find(table, start);
	int r;

	if (index == FX_NO_ENTRY || table->entries.items[index].start != start)
		return 0;
	/* The last is the one that was added last. */
	r = source_add(table, path, table->sources[table->entries.count], &table->sources[index]);
	if (r == 0)
		table->sources[table->entries.count] = table->sources[index];
	return r;
}

const char *fx_symtab_source(const struct fx_symtab *table, size_t index)
{
	uint32_t source = table->sources ? table->sources[index] : 0;

	return source ? table->names.items + source : NULL;
}

uint32_t fx_symtab_size(const struct fx_symtab *table, size_t index)
{
	const struct fx_symtab_entry *entry = &table->entries.items[index];

	return entry->rank & FX_RANK_SIZED ? entry->size : 0;
}

size_t fx_symtab_memory(const struct fx_symtab *table)
{
	return fx_line_map_memory(&table->lines) +
	       (table->sources ? table->entries.count * sizeof(*table->sources) : 0) +
	       table->entries.capacity * sizeof(*table->entries.items) + table->names.capacity +
	       (table->shown ? table->entries.count * sizeof(*table->shown) : 0);
}

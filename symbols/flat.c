/* SPDX-License-Identifier: MIT */
#include "symbols/flat.h"

#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "symbols/symbols.h"

/* In the order in which they stand. */
enum {
	PART_ENTRIES,
	PART_NAMES,
	PART_SOURCES,
	PART_PLACES,
	PART_ROWS,
	PARTS,
};

struct part {
	void *data;
	size_t size;
};

static int flat_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

static void parts_of(const struct fx_symtab *table, struct part ret[PARTS])
{
	const struct fx_line_map *lines = &table->lines;

	ret[PART_ENTRIES] = (struct part){table->entries.items,
					  table->entries.count * sizeof(*table->entries.items)};
	ret[PART_NAMES] = (struct part){table->names.items, table->names.count};
	ret[PART_SOURCES] = (struct part){
	    table->sources, table->sources ? table->entries.count * sizeof(*table->sources) : 0};
	ret[PART_PLACES] =
	    (struct part){lines->places.items, lines->places.count * sizeof(*lines->places.items)};
	ret[PART_ROWS] =
	    (struct part){lines->rows.items, lines->rows.count * sizeof(*lines->rows.items)};
}

void fx_flat_describe(const struct fx_symtab *table, struct fx_flat_head *ret)
{
	*ret = (struct fx_flat_head){
	    .count = table->entries.count,
	    .names_size = table->names.count,
	    .place_count = table->lines.places.count,
	    .row_count = table->lines.rows.count,
	    .is_partial = table->is_partial,
	    .has_sources = table->sources != NULL,
	    .has_lines = table->has_lines,
	    .jit = table->jit,
	};
}

static bool head_fits(const struct fx_flat_head *head, uint64_t limit)
{
	const struct fx_symtab *none = NULL;

	return head->count <= limit / sizeof(*none->entries.items) && head->names_size <= limit &&
	       head->place_count <= limit / sizeof(*none->lines.places.items) &&
	       head->row_count <= limit / sizeof(*none->lines.rows.items);
}

uint64_t fx_flat_size(const struct fx_flat_head *head)
{
	const struct fx_symtab *none = NULL;

	return head->count * sizeof(*none->entries.items) + head->names_size +
	       (head->has_sources ? head->count * sizeof(*none->sources) : 0) +
	       head->place_count * sizeof(*none->lines.places.items) +
	       head->row_count * sizeof(*none->lines.rows.items);
}

static uint64_t sum_add(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 32;
}

static uint64_t sum_bytes(uint64_t sum, const void *data, size_t size)
{
	const char *at = data;
	uint64_t word;

	sum = sum_add(sum, size);
	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = sum_add(sum, word);
	}
	word = 0;
	if (size)
		memcpy(&word, at, size);
	return sum_add(sum, word);
}

uint64_t fx_flat_sum_of(const void *data, size_t size)
{
	return sum_bytes(0, data, size);
}

uint64_t fx_flat_sum(const struct fx_symtab *table)
{
	struct part parts[PARTS];
	uint64_t sum = 0;

	parts_of(table, parts);
	for (size_t i = 0; i < PARTS; i++)
		sum = sum_bytes(sum, parts[i].data, parts[i].size);
	return sum;
}

bool fx_flat_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

bool fx_flat_read_all(int fd, void *data, size_t size, off_t at)
{
	char *to = data;

	while (size) {
		ssize_t n = pread(fd, to, size, at);

		if (n <= 0)
			return false;
		to += n;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

bool fx_flat_write(int fd, const struct fx_symtab *table)
{
	struct part parts[PARTS];

	parts_of(table, parts);
	for (size_t i = 0; i < PARTS; i++)
		if (!fx_flat_write_all(fd, parts[i].data, parts[i].size))
			return false;
	return true;
}

/* Whether whatever the table says can be looked up in it. */
static bool flat_is_sound(const struct fx_symtab *table)
{
	if (table->entries.count &&
	    (!table->names.count || table->names.items[table->names.count - 1]))
		return false;
	if (!fx_line_map_is_sound(&table->lines, table->names.count))
		return false;
	for (size_t i = 0; i < table->entries.count; i++) {
		const struct fx_symtab_entry *e = &table->entries.items[i];

		if (table->sources && table->sources[i] >= table->names.count)
			return false;
		if (e->name >= table->names.count || (e->outer != FX_NO_ENTRY && e->outer >= i) ||
		    (i && e->start <= e[-1].start))
			return false;
	}
	return true;
}

/* An empty table with room for what the head says. */
static bool flat_reserve(const struct fx_flat_head *head, struct fx_symtab *table)
{
	*table = (struct fx_symtab){
	    .is_partial = head->is_partial != 0,
	    .has_lines = head->has_lines != 0,
	    .jit = head->jit,
	};
	/* Of a large array only the pages in use become resident. */
	table->shown = calloc(head->count + 1, sizeof(*table->shown));
	if (head->has_sources)
		table->sources = calloc(head->count + 1, sizeof(*table->sources));
	return table->shown && (!head->has_sources || table->sources) &&
	       fx_vector_reserve(&table->entries, head->count) == 0 &&
	       fx_vector_reserve(&table->names, head->names_size) == 0 &&
	       fx_vector_reserve(&table->lines.places, head->place_count) == 0 &&
	       fx_vector_reserve(&table->lines.rows, head->row_count) == 0;
}

/* Fills the table, in which there is room. */
static bool parts_read(int fd, off_t at, const struct fx_flat_head *head, struct fx_symtab *table)
{
	struct part parts[PARTS];

	table->entries.count = head->count;
	table->names.count = head->names_size;
	table->lines.places.count = head->place_count;
	table->lines.rows.count = head->row_count;
	parts_of(table, parts);
	for (size_t i = 0; i < PARTS; i++) {
		if (!fx_flat_read_all(fd, parts[i].data, parts[i].size, at))
			return false;
		at += (off_t)parts[i].size;
	}
	return true;
}

int fx_flat_read(int fd, off_t at, const struct fx_flat_head *head, uint64_t limit,
		 struct fx_symtab *ret)
{
	struct fx_symtab table;
	bool has_room;

	if (!head_fits(head, limit))
		return flat_problem(FX_SYMBOL_FILE_TOO_LARGE);
	has_room = flat_reserve(head, &table);
	if (has_room && parts_read(fd, at, head, &table) && flat_is_sound(&table)) {
		*ret = table;
		return 0;
	}
	fx_symtab_clear(&table);
	return flat_problem(has_room ? FX_SYMBOL_FILE_DAMAGED : FX_SYMBOL_FILE_NO_MEMORY);
}

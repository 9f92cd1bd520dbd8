/* SPDX-License-Identifier: MIT */
/*
 * What the reader remembers of each provider: its string and thread tables.
 *
 * A string table has 32767 places, of which most providers use few and some use all: it is a
 * list of pages, made when first written to. Texts are copied, since the buffer that the records
 * are read into is reused; a place keeps its memory when it is defined again.
 */
#ifndef FX_FORMAT_TABLES_H
#define FX_FORMAT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

struct fx_string_entry {
	char *data; /* NULL: never defined */
	uint32_t length;
	uint32_t capacity;
	uint32_t serial;
};

#define FX_STRING_PAGE_SIZE  128
#define FX_STRING_PAGE_COUNT ((FXT_MAX_STRING_INDEX + 1) / FX_STRING_PAGE_SIZE)

struct fx_string_table {
	struct fx_string_entry *pages[FX_STRING_PAGE_COUNT];
};

struct fx_thread_entry {
	bool defined;
	uint64_t pid;
	uint64_t tid;
};

struct fx_thread_table {
	struct fx_thread_entry entries[FXT_MAX_THREAD_INDEX + 1];
};

/* Both tables are made when first written to. All zero is the empty state. */
struct fx_tables {
	struct fx_string_table *strings;
	struct fx_thread_table *threads;
	size_t bytes; /* what all of it takes */
};

void fx_tables_clear(struct fx_tables *tables);

/* Index 0 is left alone. Returns 0 or -ENOMEM. */
int fx_tables_set_string(struct fx_tables *tables, unsigned index, const struct fxt_string *text,
			 uint32_t serial);
/* Forgets what an index stands for. */
void fx_tables_unset_string(struct fx_tables *tables, unsigned index);
int fx_tables_set_thread(struct fx_tables *tables, unsigned index, uint64_t pid, uint64_t tid);

/* NULL if never defined. */
static inline const struct fx_string_entry *fx_tables_string(const struct fx_tables *tables,
							     unsigned index)
{
	const struct fx_string_entry *page;

	if (!tables->strings || index > FXT_MAX_STRING_INDEX)
		return NULL;
	page = tables->strings->pages[index / FX_STRING_PAGE_SIZE];
	if (!page || !page[index % FX_STRING_PAGE_SIZE].data)
		return NULL;
	return page + index % FX_STRING_PAGE_SIZE;
}

static inline const struct fx_thread_entry *fx_tables_thread(const struct fx_tables *tables,
							     unsigned index)
{
	if (!tables->threads || index > FXT_MAX_THREAD_INDEX ||
	    !tables->threads->entries[index].defined)
		return NULL;
	return &tables->threads->entries[index];
}

#endif /* FX_FORMAT_TABLES_H */

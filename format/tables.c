/* SPDX-License-Identifier: MIT */
#include "format/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void string_page_free(struct fx_string_entry *page)
{
	if (!page)
		return;
	for (size_t i = 0; i < FX_STRING_PAGE_SIZE; i++)
		free(page[i].data);
	free(page);
}

void fx_tables_clear(struct fx_tables *tables)
{
	if (tables->strings)
		for (size_t i = 0; i < FX_STRING_PAGE_COUNT; i++)
			string_page_free(tables->strings->pages[i]);
	free(tables->strings);
	free(tables->threads);
	*tables = (struct fx_tables){0};
}

/* The place of an index, made if need be; NULL without memory. */
static struct fx_string_entry *string_place(struct fx_tables *tables, unsigned index)
{
	struct fx_string_entry **page;

	if (!tables->strings) {
		tables->strings = calloc(1, sizeof(*tables->strings));
		tables->bytes += sizeof(*tables->strings);
	}
	if (!tables->strings)
		return NULL;
	page = &tables->strings->pages[index / FX_STRING_PAGE_SIZE];
	if (!*page) {
		*page = calloc(FX_STRING_PAGE_SIZE, sizeof(**page));
		tables->bytes += FX_STRING_PAGE_SIZE * sizeof(**page);
	}
	return *page ? *page + index % FX_STRING_PAGE_SIZE : NULL;
}

int fx_tables_set_string(struct fx_tables *tables, unsigned index, const struct fxt_string *text,
			 uint32_t serial)
{
	struct fx_string_entry *entry;

	if (index == 0 || index > FXT_MAX_STRING_INDEX)
		return 0;
	entry = string_place(tables, index);
	if (!entry)
		return -ENOMEM;
	if (!entry->data || entry->capacity < text->length) {
		char *data = realloc(entry->data, text->length ? text->length : 1);

		if (!data)
			return -ENOMEM;
		tables->bytes += text->length - (entry->data ? entry->capacity : 0);
		entry->data = data;
		entry->capacity = text->length;
	}
	memcpy(entry->data, text->data, text->length);
	entry->length = text->length;
	entry->serial = serial;
	return 0;
}

void fx_tables_unset_string(struct fx_tables *tables, unsigned index)
{
	struct fx_string_entry *page;

	if (!tables->strings || index > FXT_MAX_STRING_INDEX)
		return;
	page = tables->strings->pages[index / FX_STRING_PAGE_SIZE];
	if (!page || !page[index % FX_STRING_PAGE_SIZE].data)
		return;
	page += index % FX_STRING_PAGE_SIZE;
	tables->bytes -= page->capacity;
	free(page->data);
	*page = (struct fx_string_entry){0};
}

int fx_tables_set_thread(struct fx_tables *tables, unsigned index, uint64_t pid, uint64_t tid)
{
	if (index == 0 || index > FXT_MAX_THREAD_INDEX)
		return 0;
	if (!tables->threads) {
		tables->threads = calloc(1, sizeof(*tables->threads));
		tables->bytes += sizeof(*tables->threads);
	}
	if (!tables->threads)
		return -ENOMEM;
	tables->threads->entries[index] =
	    (struct fx_thread_entry){.defined = true, .pid = pid, .tid = tid};
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "kernel/kallsyms.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists/vector.h"

/* Longer names there are none: KSYM_NAME_LEN of the kernel. */
#define NAME_ROOM 513

struct kallsyms_entry {
	uint64_t address;
	uint32_t name; /* where it begins */
};

struct fx_kallsyms {
	FX_VECTOR(struct kallsyms_entry) entries; /* in order */
	FX_VECTOR(char) names;
};

static int kallsyms_add(struct fx_kallsyms *symbols, uint64_t address, const char *name)
{
	size_t size = strlen(name) + 1;

	if (fx_vector_reserve(&symbols->entries, 1) < 0 ||
	    fx_vector_reserve(&symbols->names, size) < 0)
		return -ENOMEM;
	symbols->entries.items[symbols->entries.count++] =
	    (struct kallsyms_entry){address, (uint32_t)symbols->names.count};
	memcpy(symbols->names.items + symbols->names.count, name, size);
	symbols->names.count += size;
	return 0;
}

static int kallsyms_before(const void *a, const void *b)
{
	const struct kallsyms_entry *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->name < right->name ? -1 : left->name > right->name;
}

/*
 * Lines are "ADDRESS TYPE NAME [MODULE]"; code is of type t and w. Who may not see addresses reads zeros. There are some 200,000 of
 * them, so that sscanf() would take longer than all else.
 */
static int kallsyms_take(struct fx_kallsyms *symbols, char *line)
{
	char *at, type;
	uint64_t address = strtoull(line, &at, 16);

	if (!address || at == line || at[0] != ' ' || !at[1] || at[2] != ' ')
		return 0;
	type = (char)(at[1] | 0x20);
	at += 3;
	at[strcspn(at, " \t\n")] = 0;
	if ((type != 't' && type != 'w') || !*at)
		return 0;
	at[strnlen(at, NAME_ROOM - 1)] = 0;
	return kallsyms_add(symbols, address, at);
}

struct fx_kallsyms *fx_kallsyms_read(const char *path)
{
	struct fx_kallsyms *symbols = calloc(1, sizeof(*symbols));
	FILE *file = fopen(path ? path : "/proc/kallsyms", "re");
	char line[NAME_ROOM + 128];
	int r = symbols && file ? 0 : -ENOMEM;

	while (r == 0 && fgets(line, sizeof(line), file))
		r = kallsyms_take(symbols, line);
	if (file)
		fclose(file);
	if (r < 0 || symbols->entries.count == 0) {
		fx_kallsyms_free(symbols);
		return NULL;
	}
	qsort(symbols->entries.items, symbols->entries.count, sizeof(*symbols->entries.items),
	      kallsyms_before);
	return symbols;
}

void fx_kallsyms_free(struct fx_kallsyms *symbols)
{
	if (!symbols)
		return;
	fx_vector_free(&symbols->entries);
	fx_vector_free(&symbols->names);
	free(symbols);
}

/* Of several at one address the first that the kernel lists. */
const char *fx_kallsyms_find(const struct fx_kallsyms *symbols, uint64_t address)
{
	const struct kallsyms_entry *items = symbols->entries.items;
	size_t low = 0, high = symbols->entries.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	for (low--; low > 0 && items[low - 1].address == items[low].address; low--)
		;
	return symbols->names.items + items[low].name;
}

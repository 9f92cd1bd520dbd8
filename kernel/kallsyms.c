/* SPDX-License-Identifier: MIT */
#include "kernel/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/store.h"
#include "symbols/table.h"

/* Longer names there are none: KSYM_NAME_LEN of the kernel. */
#define NAME_ROOM 513

/* Each part of what is kept takes less. */
#define PART_BYTES (UINT64_C(256) << 20)

#define LISTING "/proc/kallsyms"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* Where the kernel's own text begins and ends. */
#define TEXT_BEGIN "_stext"
#define TEXT_END   "_etext"

struct fx_kallsyms {
	const char *path;     /* borrowed */
	bool is_read;	      /* or it was tried */
	struct fx_symtab all; /* no entries: not read */
	struct fx_symtab
	    text;	     /* as it was kept, the last entry is its end; no entries: it was not */
	uint64_t begin, end; /* of the text; both 0: not known */
};

/* What was loaded later has a rank. */
static int kallsyms_add(struct fx_symtab *table, uint64_t address, const char *name, bool is_loaded)
{
	struct fx_symtab_entry entry = {.start = address, .outer = FX_NO_ENTRY, .rank = is_loaded};
	int r = fx_vector_reserve(&table->entries, 1) < 0
		    ? -ENOMEM
		    : fx_symtab_add_text(table, name, &entry.name);

	if (r == 0)
		table->entries.items[table->entries.count++] = entry;
	return r;
}

static int kallsyms_before(const void *a, const void *b)
{
	const struct fx_symtab_entry *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->name < right->name ? -1 : left->name > right->name;
}

/*
 * Lines are "ADDRESS TYPE NAME [MODULE]"; code is of type t and w. Who may not see addresses reads zeros. There are some 200,000 of
 * them, so that sscanf() would take longer than all else.
 */
static int kallsyms_take(struct fx_kallsyms *symbols, char *line)
{
	bool is_loaded;
	char *at, type;
	uint64_t address = strtoull(line, &at, 16);

	if (!address || at == line || at[0] != ' ' || !at[1] || at[2] != ' ')
		return 0;
	type = (char)(at[1] | 0x20);
	at += 3;
	is_loaded = strchr(at, '[') != NULL;
	at[strcspn(at, " \t\n")] = 0;
	if ((type != 't' && type != 'w') || !*at)
		return 0;
	at[strnlen(at, NAME_ROOM - 1)] = 0;
	if (strcmp(at, TEXT_BEGIN) == 0)
		symbols->begin = address;
	if (strcmp(at, TEXT_END) == 0)
		symbols->end = address;
	return kallsyms_add(&symbols->all, address, at, is_loaded);
}

/* Most of them come in order. Of several at one address the first that the kernel lists stays. */
static void kallsyms_sort(struct fx_symtab *table)
{
	struct fx_symtab_entry *items = table->entries.items;
	size_t count = table->entries.count, kept = 0;
	bool is_sorted = true;

	for (size_t i = 1; i < count && is_sorted; i++)
		is_sorted = items[i - 1].start <= items[i].start;
	if (!is_sorted)
		qsort(items, count, sizeof(*items), kallsyms_before);
	for (size_t i = 0; i < count; i++) {
		if (!kept || items[i].start != items[kept - 1].start)
			items[kept++] = items[i];
	}
	table->entries.count = kept;
}

static void kallsyms_load(struct fx_kallsyms *symbols)
{
	FILE *file = fopen(symbols->path, "re");
	char line[NAME_ROOM + 128];
	int r = file ? 0 : -errno;

	symbols->is_read = true;
	while (r == 0 && fgets(line, sizeof(line), file))
		r = kallsyms_take(symbols, line);
	if (file)
		fclose(file);
	if (r < 0)
		fx_symtab_clear(&symbols->all);
	kallsyms_sort(&symbols->all);
}

/* --- What is kept ------------------------------------------------------------------------------- */

/* The kernel may lie elsewhere after each boot. False: that is not known. */
static bool kallsyms_key(struct fx_store_key *ret)
{
	static const char begin[] = "kallsyms ";
	FILE *file = fopen(BOOT_ID, "re");
	uint8_t *id = ret->build_id + sizeof(begin) - 1;

	*ret = (struct fx_store_key){.build_id_size = sizeof(begin) - 1};
	memcpy(ret->build_id, begin, sizeof(begin) - 1);
	if (file) {
		ret->build_id_size += fread(id, 1, FX_BUILD_ID_MAX - sizeof(begin), file);
		fclose(file);
	}
	return ret->build_id_size > sizeof(begin) - 1;
}

static void text_keep(const struct fx_kallsyms *symbols, const char *folder,
		      const struct fx_store_key *key)
{
	const struct fx_symtab *all = &symbols->all;
	struct fx_symtab text;
	int r = 0;

	fx_symtab_begin(&text);
	for (size_t i = 0; r == 0 && i < all->entries.count; i++) {
		const struct fx_symtab_entry *entry = &all->entries.items[i];

		if (entry->start >= symbols->begin && entry->start < symbols->end)
			r = kallsyms_add(&text, entry->start, all->names.items + entry->name,
					 false);
	}
	if (r == 0 && kallsyms_add(&text, symbols->end, TEXT_END, false) == 0)
		fx_store_put(folder, key, &text, FX_STORE_NS); /* it is worth it */
	fx_symtab_clear(&text);
}

/* What is kept, if it is there. */
static bool text_recall(struct fx_kallsyms *symbols, const char *folder,
			const struct fx_store_key *key)
{
	const struct fx_symtab *text = &symbols->text;

	if (!fx_store_get(folder, key, PART_BYTES, &symbols->text) || text->entries.count < 2)
		return false;
	symbols->begin = text->entries.items[0].start;
	symbols->end = text->entries.items[text->entries.count - 1].start;
	return true;
}

struct fx_kallsyms *fx_kallsyms_read(const char *path, const char *folder)
{
	struct fx_kallsyms *symbols = calloc(1, sizeof(*symbols));
	struct fx_store_key key;

	if (!symbols)
		return NULL;
	symbols->path = path ? path : LISTING;
	fx_symtab_begin(&symbols->all);
	fx_symtab_begin(&symbols->text);
	if (folder && !kallsyms_key(&key))
		folder = NULL;
	if (folder && text_recall(symbols, folder, &key))
		return symbols;
	kallsyms_load(symbols);
	if (!symbols->all.entries.count) {
		fx_kallsyms_free(symbols);
		return NULL;
	}
	if (folder && symbols->begin && symbols->end)
		text_keep(symbols, folder, &key);
	return symbols;
}

void fx_kallsyms_free(struct fx_kallsyms *symbols)
{
	if (!symbols)
		return;
	fx_symtab_clear(&symbols->all);
	fx_symtab_clear(&symbols->text);
	free(symbols);
}

bool fx_kallsyms_is_whole(const struct fx_kallsyms *symbols)
{
	return symbols->is_read;
}

/* --- Looking up --------------------------------------------------------------------------------- */

/* Whether something was loaded whose functions are listed: modules, or programs of BPF. */
static bool loaded_are_listed(void)
{
	FILE *modules = fopen("/proc/modules", "re");
	FILE *programs = fopen("/proc/sys/net/core/bpf_jit_kallsyms", "re");
	bool are = modules && fgetc(modules) != EOF;

	are |= programs && fgetc(programs) != '0';
	if (modules)
		fclose(modules);
	if (programs)
		fclose(programs);
	return are;
}

static const struct fx_symtab_entry *entry_before(const struct fx_symtab *table, uint64_t address)
{
	size_t low = 0, high = table->entries.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->entries.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &table->entries.items[low - 1] : NULL;
}

/* Behind the text are those that were loaded, and what has no names: what stands before that in the list is not what it is. */
const char *fx_kallsyms_find(struct fx_kallsyms *symbols, uint64_t address)
{
	bool is_text = address >= symbols->begin && address < symbols->end;
	const struct fx_symtab *table =
	    is_text && symbols->text.entries.count ? &symbols->text : &symbols->all;
	const struct fx_symtab_entry *entry;

	if (table == &symbols->all && !symbols->is_read) {
		symbols->is_read = true;
		if (strcmp(symbols->path, LISTING) != 0 || loaded_are_listed())
			kallsyms_load(symbols);
	}
	entry = entry_before(table, address);
	if (!entry || (!is_text && !entry->rank && address >= symbols->end && symbols->end))
		return NULL;
	return table->names.items + entry->name;
}

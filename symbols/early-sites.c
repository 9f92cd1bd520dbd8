/* SPDX-License-Identifier: MIT */
#include "symbols/early-sites.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/gate.h>

#include "lists/vector.h"

/* What the linker calls a function by that was one file's own. */
#define EARLY_OWN ".lto_priv."

struct early_symbol {
	const char *name;
	uint64_t address;
};

struct early_symbols {
	FX_VECTOR(struct early_symbol) of; /* in order of name */
	bool any;			   /* the file has a table of them */
};

static int early_symbol_compare(const void *a, const void *b)
{
	const struct early_symbol *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static int early_symbols_take(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			      struct early_symbols *symbols)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 1; data && i < count && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		if (fx_vector_reserve(&symbols->of, 1) < 0)
			return -ENOMEM;
		symbols->of.items[symbols->of.count++] =
		    (struct early_symbol){name, symbol.st_value};
	}
	symbols->any = true;
	return 0;
}

/* The first that is not before `name'. */
static const struct early_symbol *early_symbols_from(const struct early_symbols *symbols,
						     const char *name)
{
	size_t low = 0, high = symbols->of.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(symbols->of.items[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < symbols->of.count ? &symbols->of.items[low] : NULL;
}

static uint64_t early_address(const struct early_symbols *symbols, const char *name)
{
	const struct early_symbol *found = early_symbols_from(symbols, name);
	char own[1024];
	size_t length = strlen(name);

	if (found && strcmp(found->name, name) == 0)
		return found->address;
	if (length + sizeof(EARLY_OWN) > sizeof(own))
		return 0;
	memcpy(own, name, length);
	memcpy(own + length, EARLY_OWN, sizeof(EARLY_OWN));
	found = early_symbols_from(symbols, own);
	return found && strncmp(found->name, own, length + sizeof(EARLY_OWN) - 1) == 0
		   ? found->address
		   : 0;
}

/* Of a note's field. False: it is damaged. */
static bool early_field(const char *field, size_t size, struct fx_site_seen *ret)
{
	uint32_t numbers[3];
	const char *end;

	if (size < sizeof(numbers))
		return false;
	memcpy(numbers, field, sizeof(numbers));
	*ret = (struct fx_site_seen){
	    .name = field + sizeof(numbers),
	    .line = numbers[0],
	    .size = numbers[1],
	    .flags = numbers[2],
	};
	end = memchr(ret->name, 0, size - sizeof(numbers));
	if (!end)
		return false;
	ret->file = end + 1;
	return memchr(ret->file, 0, (size_t)(field + size - ret->file)) != NULL;
}

static int early_notes_read(Elf_Data *data, const struct early_symbols *symbols, fx_site_take *take,
			    void *opaque)
{
	size_t at = 0, name, field;
	struct fx_site_seen seen;
	GElf_Nhdr note;
	int r = 0;

	while (r == 0 && data && (at = gelf_getnote(data, at, &note, &name, &field)) > 0) {
		if (note.n_type != FXTRACE_NOTE_EARLY ||
		    note.n_namesz != sizeof(FXTRACE_NOTE_OWNER) ||
		    memcmp((const char *)data->d_buf + name, FXTRACE_NOTE_OWNER,
			   sizeof(FXTRACE_NOTE_OWNER)) != 0 ||
		    !early_field((const char *)data->d_buf + field, note.n_descsz, &seen))
			continue;
		seen.address = early_address(symbols, seen.name);
		if (seen.address || !symbols->any)
			r = take(opaque, &seen);
	}
	return r;
}

int fx_early_sites_read(Elf *elf, fx_site_take *take, void *opaque)
{
	struct early_symbols symbols = {0};
	Elf_Scn *section = NULL, *notes = NULL;
	GElf_Shdr header;
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return 0;
	while (r == 0 && (section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && strcmp(name, FXTRACE_EARLY_SECTION) == 0)
			notes = section;
		if (header.sh_type == SHT_SYMTAB)
			r = early_symbols_take(elf, section, &header, &symbols);
	}
	if (symbols.of.count > 0)
		qsort(symbols.of.items, symbols.of.count, sizeof(symbols.of.items[0]),
		      early_symbol_compare);
	if (r == 0 && notes)
		r = early_notes_read(elf_getdata(notes, NULL), &symbols, take, opaque);
	fx_vector_free(&symbols.of);
	return r;
}

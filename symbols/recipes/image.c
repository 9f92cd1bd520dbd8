/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/gate.h>

/* More than any link editor makes. */
#define SECTIONS_MAX 4096u
#define SLOTS_MAX    (1u << 20)

static int image_sections_read(struct fx_image *image)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t count = 0;

	if (elf_getshdrnum(image->elf, &count) || count > SECTIONS_MAX)
		return -EINVAL;
	image->sections = calloc(count + 1, sizeof(*image->sections));
	if (!image->sections)
		return -ENOMEM;
	while ((section = elf_nextscn(image->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    (header.sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_TLS)) != SHF_ALLOC)
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf && image->section_count < count)
			image->sections[image->section_count++] =
			    (struct fx_image_section){header.sh_addr, data->d_size, data->d_buf,
						      (header.sh_flags & SHF_EXECINSTR) != 0};
	}
	return 0;
}

static int image_slot_compare(const void *left, const void *right)
{
	const struct fx_image_slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Takes the relocations of a section that name a function. */
static int image_slots_take(struct fx_image *image, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *symbols = elf_getscn(image->elf, header->sh_link);
	Elf_Data *data = elf_getdata(section, NULL),
		 *names = symbols ? elf_getdata(symbols, NULL) : NULL;
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Shdr of_symbols;

	if (!data || !names || !gelf_getshdr(symbols, &of_symbols) || !count)
		return 0;
	if (image->slots.count + count > SLOTS_MAX)
		return -EINVAL;
	if (fx_vector_reserve(&image->slots, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		GElf_Rela relocation;
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getrela(data, (int)i, &relocation) ||
		    !gelf_getsym(names, (int)GELF_R_SYM(relocation.r_info), &symbol))
			continue;
		name = elf_strptr(image->elf, of_symbols.sh_link, symbol.st_name);
		if (name && *name)
			image->slots.items[image->slots.count++] =
			    (struct fx_image_slot){relocation.r_offset, name};
	}
	return 0;
}

static int image_slots_read(struct fx_image *image)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int r = 0;

	while (r == 0 && (section = elf_nextscn(image->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    (header.sh_flags & SHF_ALLOC))
			r = image_slots_take(image, section, &header);
	}
	if (image->slots.count)
		qsort(image->slots.items, image->slots.count, sizeof(*image->slots.items),
		      image_slot_compare);
	return r;
}

int fx_image_read(Elf *elf, struct fx_image *ret)
{
	int r;

	*ret = (struct fx_image){.elf = elf};
	r = image_sections_read(ret);
	if (r == 0)
		r = image_slots_read(ret);
	if (r < 0)
		fx_image_clear(ret);
	return r;
}

void fx_image_clear(struct fx_image *image)
{
	free(image->sections);
	fx_vector_free(&image->slots);
	memset(image, 0, sizeof(*image));
}

const uint8_t *fx_image_code(const struct fx_image *image, uint64_t address, size_t *ret_size)
{
	for (size_t i = 0; i < image->section_count; i++) {
		const struct fx_image_section *p = &image->sections[i];

		if (p->is_code && address - p->start < p->size) {
			*ret_size = p->size - (address - p->start);
			return p->bytes + (address - p->start);
		}
	}
	return NULL;
}

bool fx_image_constant(const struct fx_image *image, uint64_t address, unsigned size, uint64_t *ret)
{
	for (size_t i = 0; image && i < image->section_count; i++) {
		const struct fx_image_section *p = &image->sections[i];

		if (p->is_code || address - p->start >= p->size ||
		    size > p->size - (address - p->start) || size > sizeof(*ret))
			continue;
		*ret = 0;
		memcpy(ret, p->bytes + (address - p->start), size);
		return true;
	}
	return false;
}

const char *fx_image_slot_name(const struct fx_image *image, uint64_t address)
{
	const struct fx_image_slot key = {.address = address};
	const struct fx_image_slot *found =
	    image->slots.count ? bsearch(&key, image->slots.items, image->slots.count, sizeof(key),
					 image_slot_compare)
			       : NULL;

	return found ? found->name : NULL;
}

/* Of a module that the compiler plugin has made. */
static bool image_has_gates(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && strcmp(name, FXTRACE_SITES_SECTION) == 0)
			return true;
	}
	return false;
}

bool fx_image_has_hooks(const struct fx_image *image)
{
	for (size_t i = 0; i < image->slots.count; i++) {
		if (strcmp(image->slots.items[i].name, "__cyg_profile_func_enter") == 0)
			return true;
	}
	return image_has_gates(image->elf);
}

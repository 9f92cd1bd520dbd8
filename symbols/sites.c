/* SPDX-License-Identifier: MIT */
#include "symbols/sites.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <fxtrace/gate.h>

#include "symbols/early-sites.h"
#include "symbols/inspect.h"

/* The section that holds an address, the last that was asked for. */
struct sites_text {
	Elf *elf;
	uint64_t start;
	const char *data;
	size_t size;
};

static bool sites_find_text(struct sites_text *text, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (text->data && address >= text->start && address - text->start < text->size)
		return true;
	while ((section = elf_nextscn(text->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_ALLOC) || address < header.sh_addr ||
		    address - header.sh_addr >= header.sh_size)
			continue;
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf || address - header.sh_addr >= data->d_size)
			return false;
		text->start = header.sh_addr;
		text->data = data->d_buf;
		text->size = data->d_size;
		return true;
	}
	return false;
}

static const char *sites_text_at(struct sites_text *text, uint64_t address)
{
	const char *found;

	if (!sites_find_text(text, address))
		return "";
	found = text->data + (address - text->start);
	return memchr(found, 0, text->size - (address - text->start)) ? found : "";
}

static uint64_t sites_target(uint64_t at, size_t field, int32_t distance)
{
	return at + field + (uint64_t)(int64_t)distance;
}

static int sites_read_section(Elf *elf, uint64_t start, const Elf_Data *data, fx_site_take *take,
			      void *opaque)
{
	struct sites_text text = {.elf = elf};
	int r = 0;

	for (size_t i = 0; r == 0 && data->d_size - i >= sizeof(struct fxtrace_site);
	     i += sizeof(struct fxtrace_site)) {
		struct fx_site_seen seen;
		struct fxtrace_site site;
		uint64_t at = start + i;

		memcpy(&site, (const char *)data->d_buf + i, sizeof(site));
		seen = (struct fx_site_seen){
		    .address =
			sites_target(at, offsetof(struct fxtrace_site, function), site.function),
		    .line = site.line,
		    .size = site.size,
		    .flags = site.flags,
		};
		seen.name = sites_text_at(
		    &text, sites_target(at, offsetof(struct fxtrace_site, name), site.name));
		seen.file = sites_text_at(
		    &text, sites_target(at, offsetof(struct fxtrace_site, file), site.file));
		r = take(opaque, &seen);
	}
	return r;
}

int fx_sites_read(Elf *elf, fx_site_take *take, void *opaque)
{
	Elf_Scn *section = NULL;
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return 0;
	while (r == 0 && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		data = name && strcmp(name, FXTRACE_SITES_SECTION) == 0 ? elf_rawdata(section, NULL)
									: NULL;
		if (data && data->d_buf)
			r = sites_read_section(elf, header.sh_addr, data, take, opaque);
	}
	return r;
}

int fx_sites_of_file(const char *path, fx_site_take *take, void *opaque)
{
	struct fx_elf_facts facts;
	int r = fx_elf_inspect(path, &facts), fd;
	Elf *elf;

	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	r = elf && elf_kind(elf) == ELF_K_ELF ? fx_sites_read(elf, take, opaque) : -EINVAL;
	if (r == 0 && !facts.made)
		r = fx_early_sites_read(elf, take, opaque);
	elf_end(elf);
	close(fd);
	return r;
}

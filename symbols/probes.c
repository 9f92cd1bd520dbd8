/* SPDX-License-Identifier: MIT */
#include "symbols/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define OWNER "stapsdt"
#define TYPE  3

struct fx_probe_symbols {
	Elf *elf;
};

struct probes_file {
	struct fx_probe_symbols symbols;
	bool has_base;
	uint64_t
	    base; /* where .stapsdt.base is: it has moved with the code since the notes were written, by prelink */
	fx_probe_take *take;
	void *opaque;
};

static bool symbol_in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name,
			    size_t length, uint64_t *ret)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < count && i <= INT_MAX; i++) {
		const char *text;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
			continue;
		text = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (text && strncmp(text, name, length) == 0 && !text[length]) {
			*ret = symbol.st_value;
			return true;
		}
	}
	return false;
}

bool fx_probe_symbol(const struct fx_probe_symbols *symbols, const char *name, size_t length,
		     uint64_t *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (symbols && (section = elf_nextscn(symbols->elf, section))) {
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
		    symbol_in_table(symbols->elf, section, &header, name, length, ret))
			return true;
	}
	return false;
}

/* Where in the file the byte of an address stands. Of bytes that the file does not have (.bss) there is no place. */
static bool file_offset(const struct probes_file *file, uint64_t address, uint64_t *ret)
{
	GElf_Phdr segment;
	size_t count;

	if (elf_getphdrnum(file->symbols.elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->symbols.elf, (int)i, &segment) ||
		    segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*ret = address - segment.p_vaddr + segment.p_offset;
		return true;
	}
	return false;
}

/* The text at *at, which is moved behind it; NULL: it has no end. */
static const char *probe_text(const char **at, const char *end)
{
	const char *text = *at, *stop = memchr(text, 0, (size_t)(end - text));

	if (stop)
		*at = stop + 1;
	return stop ? text : NULL;
}

/* Of a note: three addresses, of the probe, of .stapsdt.base as it was then, of the semaphore; and three texts. */
static int note_read(const struct probes_file *file, const char *at, size_t size)
{
	const char *end = at + size;
	struct fx_probe_seen probe = {.symbols = &file->symbols};
	uint64_t words[3], moved;

	if (size < sizeof(words))
		return 0;
	memcpy(words, at, sizeof(words));
	at += sizeof(words);
	probe.provider = probe_text(&at, end);
	probe.name = probe.provider ? probe_text(&at, end) : NULL;
	probe.arguments = probe.name ? probe_text(&at, end) : NULL;
	moved = file->has_base ? file->base - words[1] : 0;
	probe.address = words[0] + moved;
	if (!probe.arguments || !file_offset(file, probe.address, &probe.offset))
		return 0;
	if (!words[2] || !file_offset(file, words[2] + moved, &probe.semaphore))
		probe.semaphore = 0;
	return file->take(file->opaque, &probe);
}

static int probe_notes_read(const struct probes_file *file, Elf_Data *data)
{
	size_t at = 0, name, text;
	GElf_Nhdr note;
	int r = 0;

	while (r == 0 && (at = gelf_getnote(data, at, &note, &name, &text)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type == TYPE && note.n_namesz == sizeof(OWNER) &&
		    memcmp(bytes + name, OWNER, sizeof(OWNER)) == 0)
			r = note_read(file, bytes + text, note.n_descsz);
	}
	return r;
}

static void base_find(struct probes_file *file, size_t names)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (!file->has_base && (section = elf_nextscn(file->symbols.elf, section))) {
		const char *name = gelf_getshdr(section, &header)
				       ? elf_strptr(file->symbols.elf, names, header.sh_name)
				       : NULL;

		file->has_base = name && strcmp(name, ".stapsdt.base") == 0;
	}
	if (file->has_base)
		file->base = header.sh_addr;
}

static int probes_read(struct probes_file *file)
{
	Elf_Scn *section = NULL;
	size_t names;
	int r = 0;

	if (elf_kind(file->symbols.elf) != ELF_K_ELF ||
	    gelf_getclass(file->symbols.elf) != ELFCLASS64)
		return -EINVAL;
	if (elf_getshdrstrndx(file->symbols.elf, &names) < 0)
		return 0;
	base_find(file, names);
	while (r == 0 && (section = elf_nextscn(file->symbols.elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;

		/* Notes stay when a file is stripped. */
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_buf)
			r = probe_notes_read(file, data);
	}
	return r;
}

int fx_probes_of_file(const char *path, fx_probe_take *take, void *opaque)
{
	struct probes_file file = {.take = take, .opaque = opaque};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;

	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	file.symbols.elf = elf_begin(fd, ELF_C_READ, NULL);
	r = file.symbols.elf ? probes_read(&file) : -EINVAL;
	elf_end(file.symbols.elf);
	close(fd);
	return r;
}

/* SPDX-License-Identifier: MIT */
#include "symbols/inspect.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fxtrace/gate.h>

/* Where distributions put debug files, by build-id. */
#define DEBUG_FILES "/usr/lib/debug/.build-id"

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void take_symbol(const char *name, const GElf_Sym *symbol, struct fx_elf_facts *facts)
{
	static const char *const profiling[] = {"mcount", "_mcount", "__fentry__"};

	static const char *const filters[] = {"prctl", "seccomp_load"};

	if (symbol->st_shndx != SHN_UNDEF) {
		if (GELF_ST_TYPE(symbol->st_info) == STT_FUNC && strcmp(name, "malloc") == 0)
			facts->allocator = true;
		return;
	}
	if (strcmp(name, "__cyg_profile_func_enter") == 0)
		facts->hooks = true;
	if (is_one_of(name, profiling, sizeof(profiling) / sizeof(profiling[0])))
		facts->profiling = true;
	if (is_one_of(name, filters, sizeof(filters) / sizeof(filters[0])))
		facts->filters = true;
}

static void take_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			 struct fx_elf_facts *facts)
{
	Elf_Data *data = elf_getdata(section, NULL);
	int count = header->sh_entsize ? (int)(header->sh_size / header->sh_entsize) : 0;
	GElf_Sym symbol;

	for (int i = 1; data && i < count && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (name)
			take_symbol(name, &symbol, facts);
	}
}

/* The plugin's notes. */
static void take_notes(Elf_Scn *section, struct fx_elf_facts *facts)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, name, description;
	bool promised = false;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
		if (note.n_namesz != sizeof(FXTRACE_NOTE_OWNER) ||
		    memcmp((const char *)data->d_buf + name, FXTRACE_NOTE_OWNER,
			   sizeof(FXTRACE_NOTE_OWNER)) != 0)
			continue;
		facts->hooks |= note.n_type == FXTRACE_NOTE_GATE;
		promised |= note.n_type == FXTRACE_NOTE_PROMISED;
		facts->made |= note.n_type == FXTRACE_NOTE_MADE;
	}
	facts->promised |= promised && !facts->made;
}

static void take_section(Elf *elf, size_t names, Elf_Scn *section, struct fx_elf_facts *facts)
{
	GElf_Shdr header;
	const char *name;

	if (!gelf_getshdr(section, &header))
		return;
	name = elf_strptr(elf, names, header.sh_name);
	if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
		take_symbols(elf, section, &header, facts);
	if (header.sh_type == SHT_SYMTAB || (name && strcmp(name, ".gnu_debugdata") == 0))
		facts->names = true;
	if (header.sh_type == SHT_NOTE && name && strcmp(name, ".note." FXTRACE_NOTE_OWNER) == 0)
		take_notes(section, facts);
	if (name && strcmp(name, FXTRACE_SITES_SECTION) == 0)
		facts->hooks = facts->names = true;
	if (name && strcmp(name, "__patchable_function_entries") == 0)
		facts->room = true;
	if (name && strcmp(name, "xray_instr_map") == 0)
		facts->sleds = true;
	if (name && strcmp(name, ".note.go.buildid") == 0)
		facts->go = true;
}

static bool has_debug_file(Elf *elf)
{
	const void *id;
	const uint8_t *bytes;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
	char path[sizeof(DEBUG_FILES) + 160];
	int at;

	if (size < 2 || size > 64)
		return false;
	bytes = id;
	at = snprintf(path, sizeof(path), "%s/%02x/", DEBUG_FILES, bytes[0]);
	for (ssize_t i = 1; i < size; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", bytes[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	return access(path, R_OK) == 0;
}

static void take_interpreter(Elf *elf, struct fx_elf_facts *facts)
{
	GElf_Phdr segment;
	size_t count, size = 0;
	const char *file = elf_rawfile(elf, &size);

	for (size_t i = 0; elf_getphdrnum(elf, &count) == 0 && i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_INTERP)
			continue;
		if (file && segment.p_filesz < sizeof(facts->interpreter) &&
		    segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset)
			memcpy(facts->interpreter, file + segment.p_offset, segment.p_filesz);
	}
}

static int inspect(Elf *elf, struct fx_elf_facts *facts)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF)
		return -EINVAL;
	take_interpreter(elf, facts);
	if (elf_getshdrstrndx(elf, &names) < 0)
		return 0;
	while ((section = elf_nextscn(elf, section)))
		take_section(elf, names, section, facts);
	facts->names |= has_debug_file(elf);
	return 0;
}

int fx_elf_inspect(const char *path, struct fx_elf_facts *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;
	Elf *elf;

	*ret = (struct fx_elf_facts){0};
	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	r = elf ? inspect(elf, ret) : -EINVAL;
	elf_end(elf);
	close(fd);
	return r;
}

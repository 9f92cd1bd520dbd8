/* SPDX-License-Identifier: MIT */
#include "kernel/code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/frames.h"

/* Bytes of a file's tables that are kept in memory, at most, and how many are read at once: of large ones few are needed. And bytes of
 * its notes that are looked at. */
#define TABLES_BYTES (UINT64_C(64) << 20)
#define BLOCK_BYTES  (UINT64_C(16) << 10)
#define NOTES_BYTES  4096u

static bool bytes_read(const struct fx_code *code, uint64_t offset, void *to, size_t size)
{
	if (code->own) {
		memcpy(to, code->own + offset, size);
		return true;
	}
	return pread(code->fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* The first note of GNU's that is a build-id. */
static void notes_read(struct fx_code *code, const Elf64_Phdr *header)
{
	_Alignas(8) uint8_t notes[NOTES_BYTES];
	size_t size = header->p_filesz < sizeof(notes) ? header->p_filesz : sizeof(notes), at = 0;

	if (code->build_id_size || !bytes_read(code, header->p_offset, notes, size))
		return;
	while (at + sizeof(Elf64_Nhdr) <= size) {
		const Elf64_Nhdr *note = (const void *)(notes + at);
		size_t name = at + sizeof(*note), data = name + ((note->n_namesz + 3) & ~3u);
		size_t next = data + ((note->n_descsz + 3) & ~3u);

		if (next > size || next < at)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && note->n_descsz <= FX_CODE_ID_MAX) {
			memcpy(code->build_id, notes + data, note->n_descsz);
			code->build_id_size = note->n_descsz;
			return;
		}
		at = next;
	}
}

static void segment_note(struct fx_code *code, const Elf64_Phdr *header)
{
	if (header->p_type == PT_LOAD && code->count < FX_CODE_SEGMENTS)
		code->segments[code->count++] =
		    (struct fx_code_segment){header->p_vaddr, header->p_offset, header->p_filesz};
	if (header->p_type == PT_NOTE)
		notes_read(code, header);
	if (header->p_type == PT_GNU_EH_FRAME)
		code->table = header->p_vaddr;
}

static const struct fx_code_segment *segment_of(const struct fx_code *code, uint64_t address)
{
	for (unsigned i = 0; i < code->count; i++) {
		const struct fx_code_segment *s = &code->segments[i];

		if (address >= s->address && address - s->address < s->size)
			return s;
	}
	return NULL;
}

/* A section of this name, as far as it is in memory. False: there is none. */
static bool section_find(const struct fx_code *code, const Elf64_Ehdr *header, const char *name,
			 Elf64_Shdr *ret)
{
	Elf64_Shdr names;
	char found[16] = "";

	if (header->e_shentsize != sizeof(names) || header->e_shstrndx >= header->e_shnum ||
	    !bytes_read(code, header->e_shoff + header->e_shstrndx * sizeof(names), &names,
			sizeof(names)))
		return false;
	for (unsigned i = 0; i < header->e_shnum; i++) {
		if (bytes_read(code, header->e_shoff + i * sizeof(*ret), ret, sizeof(*ret)) &&
		    ret->sh_flags & SHF_ALLOC && ret->sh_name < names.sh_size &&
		    bytes_read(code, names.sh_offset + ret->sh_name, found, strlen(name) + 1) &&
		    strcmp(found, name) == 0)
			return true;
	}
	return false;
}

/* Where nothing else of the file is. */
static uint64_t address_behind(const struct fx_code *code)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < code->count; i++) {
		const struct fx_code_segment *s = &code->segments[i];

		if (s->address + s->size > end)
			end = s->address + s->size;
	}
	return (end + (UINT64_C(1) << 24)) & ~UINT64_C(0xffff);
}

static void code_index(struct fx_code *code, const Elf64_Ehdr *header)
{
	uint64_t table = address_behind(code);
	const struct fx_code_segment *tables;
	Elf64_Shdr section;
	uint8_t *bytes;

	if (code->own || !section_find(code, header, ".eh_frame", &section) ||
	    section.sh_size > TABLES_BYTES)
		return;
	tables = segment_of(code, section.sh_addr);
	bytes = malloc(section.sh_size);
	if (tables && bytes && bytes_read(code, section.sh_offset, bytes, section.sh_size)) {
		code->made_size =
		    fx_frames_index(bytes, section.sh_size, section.sh_addr, table, &code->made);
		code->table = code->made_size ? table : 0;
		code->tables = *tables;
	}
	free(bytes);
}

bool fx_code_parse(struct fx_code *code)
{
	const struct fx_code_segment *tables;
	Elf64_Ehdr header;

	if (!bytes_read(code, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr program;

		if (!bytes_read(code, header.e_phoff + i * sizeof(program), &program,
				sizeof(program)))
			return false;
		segment_note(code, &program);
	}
	tables = code->table ? segment_of(code, code->table) : NULL;
	if (tables) {
		code->tables = *tables;
	} else {
		code->table = 0;
		code_index(code, &header);
	}
	return true;
}

/* A part of the tables, which is needed; NULL: it cannot be had. Behind it stand the bytes that a word at its end has in the next. */
static const uint8_t *table_block(struct fx_code *code, uint64_t number)
{
	const struct fx_code_segment *tables = &code->tables;
	uint64_t count = (tables->size + BLOCK_BYTES - 1) / BLOCK_BYTES;
	uint64_t at = number * BLOCK_BYTES, left = tables->size - at;
	size_t size = left < BLOCK_BYTES + 7 ? (size_t)left : BLOCK_BYTES + 7;
	uint8_t *block;

	if (!code->blocks)
		code->blocks = calloc((size_t)count, sizeof(*code->blocks));
	if (!code->blocks || code->blocks[number])
		return code->blocks ? code->blocks[number] : NULL;
	block = malloc(BLOCK_BYTES + 7);
	if (block && !bytes_read(code, tables->offset + at, block, size)) {
		free(block);
		block = NULL;
	}
	return code->blocks[number] = block;
}

static bool segment_has_word(const struct fx_code_segment *s, uint64_t address)
{
	return address >= s->address && s->size >= 8 && address - s->address <= s->size - 8;
}

bool fx_code_word(struct fx_code *code, uint64_t address, uint64_t *ret)
{
	const struct fx_code_segment *s;

	if (code->made && address >= code->table && address - code->table < code->made_size) {
		memcpy(ret, code->made + (address - code->table), 8);
		return true;
	}
	if (code->tables.size <= TABLES_BYTES && segment_has_word(&code->tables, address)) {
		uint64_t at = address - code->tables.address;
		const uint8_t *block = table_block(code, at / BLOCK_BYTES);

		if (block) {
			memcpy(ret, block + at % BLOCK_BYTES, 8);
			return true;
		}
	}
	s = segment_of(code, address);
	return s && segment_has_word(s, address) &&
	       bytes_read(code, s->offset + (address - s->address), ret, 8);
}

bool fx_code_address(const struct fx_code *code, uint64_t offset, uint64_t *ret)
{
	const uint64_t page = (uint64_t)getpagesize();

	for (unsigned i = 0; i < code->count; i++) {
		const struct fx_code_segment *s = &code->segments[i];
		uint64_t begin = s->offset & ~(page - 1);

		if (offset >= begin && offset < s->offset + s->size) {
			*ret = (s->address & ~(page - 1)) + (offset - begin);
			return true;
		}
	}
	return false;
}

void fx_code_close(struct fx_code *code)
{
	if (code->fd >= 0)
		close(code->fd);
	for (uint64_t at = 0; code->blocks && at < code->tables.size; at += BLOCK_BYTES)
		free(code->blocks[at / BLOCK_BYTES]);
	free(code->blocks);
	free(code->made);
}

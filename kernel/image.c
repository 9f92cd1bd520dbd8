/* SPDX-License-Identifier: MIT */
#include "kernel/image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <linux/memfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/frames.h"
#include "lists/hashes.h"

/* Segments of a file, and bytes of its tables that are kept in memory, at most. */
#define SEGMENTS     16u
#define TABLES_BYTES (UINT64_C(64) << 20)
#define NOTES_BYTES  4096u

struct segment {
	uint64_t address, offset, size; /* in the file */
};

struct image_key {
	uint64_t device, inode;
};

struct fx_image {
	UT_hash_handle hh;
	struct image_key key;
	unsigned uses;
	int fd; /* -1: memory of this process */
	const uint8_t *own;
	struct segment segments[SEGMENTS];
	unsigned count;
	struct segment tables; /* the segment with the unwind tables */
	uint8_t *table_bytes;  /* read when first needed; NULL: not, or not to be had */
	bool tables_tried;
	uint8_t *made; /* a search table of our own, at facts.table */
	size_t made_size;
	uint8_t build_id[FX_IMAGE_ID_MAX];
	struct fx_image_facts facts;
	char copy[32]; /* of the vDSO's: where a file of it is */
	char path[];
};

static struct fx_image *images;

/* --- Reading ------------------------------------------------------------------------------------ */

static bool bytes_read(const struct fx_image *image, uint64_t offset, void *to, size_t size)
{
	if (image->own) {
		memcpy(to, image->own + offset, size);
		return true;
	}
	return pread(image->fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* The first note of GNU's that is a build-id. */
static void notes_read(struct fx_image *image, const Elf64_Phdr *header)
{
	_Alignas(8) uint8_t notes[NOTES_BYTES];
	size_t size = header->p_filesz < sizeof(notes) ? header->p_filesz : sizeof(notes), at = 0;

	if (image->facts.build_id || !bytes_read(image, header->p_offset, notes, size))
		return;
	while (at + sizeof(Elf64_Nhdr) <= size) {
		const Elf64_Nhdr *note = (const void *)(notes + at);
		size_t name = at + sizeof(*note), data = name + ((note->n_namesz + 3) & ~3u);
		size_t next = data + ((note->n_descsz + 3) & ~3u);

		if (next > size || next < at)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && note->n_descsz <= FX_IMAGE_ID_MAX) {
			memcpy(image->build_id, notes + data, note->n_descsz);
			image->facts.build_id = image->build_id;
			image->facts.build_id_size = note->n_descsz;
			return;
		}
		at = next;
	}
}

static void segment_note(struct fx_image *image, const Elf64_Phdr *header)
{
	if (header->p_type == PT_LOAD && image->count < SEGMENTS)
		image->segments[image->count++] =
		    (struct segment){header->p_vaddr, header->p_offset, header->p_filesz};
	if (header->p_type == PT_NOTE)
		notes_read(image, header);
	if (header->p_type == PT_GNU_EH_FRAME)
		image->facts.table = header->p_vaddr;
}

static const struct segment *segment_of(const struct fx_image *image, uint64_t address)
{
	for (unsigned i = 0; i < image->count; i++) {
		const struct segment *s = &image->segments[i];

		if (address >= s->address && address - s->address < s->size)
			return s;
	}
	return NULL;
}

/* A section of this name, as far as it is in memory. False: there is none. */
static bool section_find(const struct fx_image *image, const Elf64_Ehdr *header, const char *name,
			 Elf64_Shdr *ret)
{
	Elf64_Shdr names;
	char found[16] = "";

	if (header->e_shentsize != sizeof(names) || header->e_shstrndx >= header->e_shnum ||
	    !bytes_read(image, header->e_shoff + header->e_shstrndx * sizeof(names), &names,
			sizeof(names)))
		return false;
	for (unsigned i = 0; i < header->e_shnum; i++) {
		if (bytes_read(image, header->e_shoff + i * sizeof(*ret), ret, sizeof(*ret)) &&
		    ret->sh_flags & SHF_ALLOC && ret->sh_name < names.sh_size &&
		    bytes_read(image, names.sh_offset + ret->sh_name, found, strlen(name) + 1) &&
		    strcmp(found, name) == 0)
			return true;
	}
	return false;
}

/* Where nothing else of the file is. */
static uint64_t address_behind(const struct fx_image *image)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < image->count; i++) {
		const struct segment *s = &image->segments[i];

		if (s->address + s->size > end)
			end = s->address + s->size;
	}
	return (end + (UINT64_C(1) << 24)) & ~UINT64_C(0xffff);
}

static void image_index(struct fx_image *image, const Elf64_Ehdr *header)
{
	uint64_t table = address_behind(image);
	const struct segment *tables;
	Elf64_Shdr section;
	uint8_t *bytes;

	if (image->own || !section_find(image, header, ".eh_frame", &section) ||
	    section.sh_size > TABLES_BYTES)
		return;
	tables = segment_of(image, section.sh_addr);
	bytes = malloc(section.sh_size);
	if (tables && bytes && bytes_read(image, section.sh_offset, bytes, section.sh_size)) {
		image->made_size =
		    fx_frames_index(bytes, section.sh_size, section.sh_addr, table, &image->made);
		image->facts.table = image->made_size ? table : 0;
		image->tables = *tables;
	}
	free(bytes);
}

static bool image_parse(struct fx_image *image)
{
	const struct segment *tables;
	Elf64_Ehdr header;

	if (!bytes_read(image, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr program;

		if (!bytes_read(image, header.e_phoff + i * sizeof(program), &program,
				sizeof(program)))
			return false;
		segment_note(image, &program);
	}
	tables = image->facts.table ? segment_of(image, image->facts.table) : NULL;
	if (tables) {
		image->tables = *tables;
	} else {
		image->facts.table = 0;
		image_index(image, &header);
	}
	return true;
}

static void tables_load(struct fx_image *image)
{
	image->tables_tried = true;
	if (image->tables.size > TABLES_BYTES)
		return;
	image->table_bytes = malloc(image->tables.size);
	if (image->table_bytes &&
	    !bytes_read(image, image->tables.offset, image->table_bytes, image->tables.size)) {
		free(image->table_bytes);
		free(image->made);
		image->table_bytes = NULL;
	}
}

static bool segment_has_word(const struct segment *s, uint64_t address)
{
	return address >= s->address && s->size >= 8 && address - s->address <= s->size - 8;
}

bool fx_image_word(struct fx_image *image, uint64_t address, uint64_t *ret)
{
	const struct segment *s;

	if (image->made && address >= image->facts.table &&
	    address - image->facts.table < image->made_size) {
		memcpy(ret, image->made + (address - image->facts.table), 8);
		return true;
	}
	if (segment_has_word(&image->tables, address)) {
		if (!image->tables_tried)
			tables_load(image);
		if (image->table_bytes) {
			memcpy(ret, image->table_bytes + (address - image->tables.address), 8);
			return true;
		}
	}
	s = segment_of(image, address);
	return s && segment_has_word(s, address) &&
	       bytes_read(image, s->offset + (address - s->address), ret, 8);
}

bool fx_image_address(const struct fx_image *image, uint64_t offset, uint64_t *ret)
{
	const uint64_t page = (uint64_t)getpagesize();

	for (unsigned i = 0; i < image->count; i++) {
		const struct segment *s = &image->segments[i];
		uint64_t begin = s->offset & ~(page - 1);

		if (offset >= begin && offset < s->offset + s->size) {
			*ret = (s->address & ~(page - 1)) + (offset - begin);
			return true;
		}
	}
	return false;
}

/* --- Which there are ----------------------------------------------------------------------------- */

static struct fx_image *image_new(const char *path)
{
	size_t size = strlen(path) + 1;
	struct fx_image *image = calloc(1, sizeof(*image) + size);

	if (!image)
		return NULL;
	image->fd = -1;
	image->uses = 1;
	memcpy(image->path, path, size);
	image->facts.path = image->path;
	return image;
}

static void image_free(struct fx_image *image)
{
	if (image->fd >= 0)
		close(image->fd);
	free(image->table_bytes);
	free(image);
}

static struct fx_image *image_finish(struct fx_image *image)
{
	if (!image_parse(image)) {
		image_free(image);
		return NULL;
	}
	HASH_ADD(hh, images, key, sizeof(image->key), image);
	return image;
}

static struct fx_image *image_find(const struct image_key *key)
{
	struct fx_image *image;

	HASH_FIND(hh, images, key, sizeof(*key), image);
	return image ? fx_image_share(image) : NULL;
}

/* Its symbols are read from a file as any others: from a copy. Its image ends where its last section does. */
static void vdso_copy(struct fx_image *image)
{
	const Elf64_Ehdr *header = (const void *)image->own;
	size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	int fd = (int)syscall(SYS_memfd_create, "vdso", MFD_CLOEXEC);

	if (fd < 0 || write(fd, image->own, size) != (ssize_t)size)
		return;
	snprintf(image->copy, sizeof(image->copy), "/proc/self/fd/%d", fd);
	image->facts.path = image->copy;
	image->facts.is_vdso = true;
}

static struct fx_image *vdso_get(void)
{
	static const struct image_key key = {0, 0};
	struct fx_image *image = image_find(&key);

	if (image || !getauxval(AT_SYSINFO_EHDR))
		return image;
	image = image_new("[vdso]");
	if (!image)
		return NULL;
	image->own = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	image = image_finish(image);
	if (image)
		vdso_copy(image);
	return image;
}

/* As the process sees it, or, if it has ended, as we do; and only the file that it was. */
static int file_open(uint32_t pid, const char *path, uint64_t inode, struct stat *ret)
{
	char seen[4200];
	int fd;

	snprintf(seen, sizeof(seen), "/proc/%u/root%s", pid, path);
	fd = open(seen, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 &&
	    (fstat(fd, ret) < 0 || !S_ISREG(ret->st_mode) || (inode && ret->st_ino != inode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

struct fx_image *fx_image_get(uint32_t pid, const char *path, uint64_t inode)
{
	struct image_key key;
	struct fx_image *image;
	struct stat st;
	int fd;

	if (strcmp(path, "[vdso]") == 0)
		return vdso_get();
	fd = path[0] == '/' && path[1] != '/' ? file_open(pid, path, inode, &st) : -1;
	if (fd < 0)
		return NULL;
	key = (struct image_key){st.st_dev, st.st_ino};
	image = image_find(&key);
	if (image) {
		close(fd);
		return image;
	}
	image = image_new(path);
	if (!image) {
		close(fd);
		return NULL;
	}
	image->key = key;
	image->fd = fd;
	return image_finish(image);
}

struct fx_image *fx_image_share(struct fx_image *image)
{
	if (image)
		image->uses++;
	return image;
}

void fx_image_release(struct fx_image *image)
{
	if (!image || --image->uses)
		return;
	HASH_DEL(images, image);
	image_free(image);
}

const struct fx_image_facts *fx_image_facts(const struct fx_image *image)
{
	return &image->facts;
}

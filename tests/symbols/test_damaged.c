/* SPDX-License-Identifier: MIT */
/*
 * Damaged ELF files: whatever is in them, the resolver answers. Each round takes a sound file, spoils
 * it by a fixed seed, and asks for names throughout.
 */
#include "tests/symbols/world.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 2000
#define SPAN   0x8000 /* link-time addresses that are asked for */

struct image {
	uint8_t *bytes;
	size_t size;
};

static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct image image_read(const char *name)
{
	char *path = world_path(name);
	FILE *file = fopen(path, "rb");
	struct stat status;
	cr_assert(file && !fstat(fileno(file), &status));
	struct image image = {.bytes = malloc((size_t)status.st_size),
			      .size = (size_t)status.st_size};
	cr_assert_eq(fread(image.bytes, 1, image.size, file), image.size);
	fclose(file);
	free(path);
	return image;
}

/* A place in what libelf reads as structure: file header, program headers, section headers, or the
 * contents of a section that has entries. */
static size_t structural_offset(const struct image *image)
{
	Elf64_Ehdr header;
	memcpy(&header, image->bytes, sizeof(header));
	Elf64_Shdr section;
	memcpy(&section,
	       image->bytes + header.e_shoff + random_next() % header.e_shnum * sizeof(section),
	       sizeof(section));
	switch (random_next() % 4) {
	case 0:
		return random_next() % sizeof(header);
	case 1:
		return header.e_phoff + random_next() % (header.e_phnum * sizeof(Elf64_Phdr));
	case 2:
		return header.e_shoff + random_next() % (header.e_shnum * sizeof(section));
	default:
		if (section.sh_type == SHT_NOBITS || !section.sh_size)
			return random_next() % image->size;
		return section.sh_offset + random_next() % section.sh_size;
	}
}

static void spoil(const struct image *sound, struct image *damaged)
{
	memcpy(damaged->bytes, sound->bytes, sound->size);
	damaged->size = sound->size;
	for (uint64_t flips = 1 + random_next() % 6; flips; flips--) {
		uint8_t *byte = &damaged->bytes[structural_offset(sound)];
		switch (random_next() % 3) {
		case 0:
			*byte ^= (uint8_t)(1 << random_next() % 8);
			break;
		case 1:
			*byte = 0xff;
			break;
		default:
			*byte = (uint8_t)random_next();
		}
	}
	if (random_next() % 8 == 0)
		damaged->size = random_next() % sound->size;
}

/* How many of the addresses asked for have a name. */
static size_t count_names(const char *path)
{
	struct fx_symbol_cache *cache;
	struct fx_symspace *space;
	cr_assert_eq(fx_symbol_cache_create(NULL, &cache), 0);
	cr_assert_eq(fx_symspace_create(cache, &space), 0);
	struct fx_symbol_module module = {
	    .path = path, .bias = 0x10000, .start = 0x10000, .end = 0x10000 + SPAN};
	cr_assert_eq(fx_symspace_add_module(space, &module), 0);
	size_t named = 0;
	for (uint64_t address = module.start; address < module.end; address += 8) {
		struct fx_symbol symbol;
		fx_symspace_resolve(space, address, &symbol);
		cr_assert_str_eq(symbol.module, "damaged");
		if (symbol.kind == FX_SYMBOL_NAMED) {
			cr_assert_leq(strlen(symbol.name), FX_SYMBOL_NAME_MAX);
			named++;
		} else {
			cr_assert_eq(symbol.offset, address - module.bias);
		}
	}
	fx_symspace_destroy(space);
	fx_symbol_cache_destroy(cache);
	return named;
}

static void image_write(const struct image *image, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, image->bytes, image->size), (ssize_t)image->size);
	close(fd);
}

static void spoil_rounds(const char *name, uint64_t seed)
{
	char directory[] = "/tmp/fxtrace-symbols-XXXXXX";
	cr_assert_not_null(mkdtemp(directory));
	char path[64];
	snprintf(path, sizeof(path), "%s/damaged", directory);

	struct image sound = image_read(name);
	struct image damaged = {.bytes = malloc(sound.size)};
	image_write(&sound, path);
	size_t all = count_names(path);
	cr_expect_gt(all, 0, "the sound file has names");

	random_state = seed;
	size_t fewer = 0;
	for (int round = 0; round < ROUNDS; round++) {
		spoil(&sound, &damaged);
		image_write(&damaged, path);
		fewer += count_names(path) < all;
	}
	cr_expect_gt(fewer, ROUNDS / 20, "the damage is felt: %zu", fewer);

	cr_expect_eq(unlink(path), 0);
	cr_expect_eq(rmdir(directory), 0);
	free(sound.bytes);
	free(damaged.bytes);
}

Test(damaged, program, .timeout = 120)
{
	spoil_rounds("target-pie", 1);
}

Test(damaged, shared_object, .timeout = 120)
{
	spoil_rounds("libtarget-stripped.so", 2);
}

Test(damaged, compressed_debug_data, .timeout = 120)
{
	spoil_rounds("target-mini", 3);
}

/* The section that holds the names of .symtab. */
static Elf64_Shdr find_strtab(const struct image *image)
{
	Elf64_Ehdr header;
	memcpy(&header, image->bytes, sizeof(header));
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(image->bytes + header.e_shoff);
	for (size_t i = 0; i < header.e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			return sections[sections[i].sh_link];
	cr_assert_fail("no symbol table");
	abort();
}

/* A name that has no end within its table would be read from whatever stands behind it. */
Test(damaged, names_without_an_end)
{
	char directory[] = "/tmp/fxtrace-symbols-XXXXXX";
	cr_assert_not_null(mkdtemp(directory));
	char path[64];
	snprintf(path, sizeof(path), "%s/damaged", directory);
	struct image image = image_read("target-pie");
	Elf64_Shdr strtab = find_strtab(&image);
	memset(image.bytes + strtab.sh_offset + 1, 'x', strtab.sh_size - 1);
	image_write(&image, path);
	cr_expect_eq(count_names(path), 0);
	image.bytes[strtab.sh_offset + strtab.sh_size - 1] = '\0';
	image_write(&image, path);
	cr_expect_gt(count_names(path), 0);
	cr_expect_eq(unlink(path), 0);
	cr_expect_eq(rmdir(directory), 0);
	free(image.bytes);
}

Test(damaged, cut_anywhere, .timeout = 120)
{
	char path[] = "/tmp/fxtrace-symbols-XXXXXX";
	cr_assert_not_null(mkdtemp(path));
	char file[64];
	snprintf(file, sizeof(file), "%s/damaged", path);
	struct image image = image_read("libtarget-stripped.so");
	size_t whole = image.size;
	for (size_t size = 0; size < whole; size += size < 512 ? 1 : 97) {
		image.size = size;
		image_write(&image, file);
		count_names(file);
	}
	cr_expect_eq(unlink(file), 0);
	cr_expect_eq(rmdir(path), 0);
	free(image.bytes);
}

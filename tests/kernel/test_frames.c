/* SPDX-License-Identifier: MIT */
/* The search table of our own against the one that the linker has made, of this program and of libc. */
#include "kernel/frames.h"

#include <criterion/criterion.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	int32_t start, description;
};

/* The linker's table, as it lies in memory. */
struct header {
	uint8_t version, pointer, count, table;
	int32_t to_frames;
	uint32_t entry_count;
	struct entry entries[];
};

struct found {
	const char *name;
	const struct header *header;
	const uint8_t *frames, *end; /* up to the end of its segment */
};

static int find_module(struct dl_phdr_info *info, size_t size, void *opaque)
{
	struct found *found = opaque;
	const struct header *header = NULL;

	(void)size;
	if (found->name ? !strstr(info->dlpi_name, found->name) : info->dlpi_name[0])
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			header = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	if (!header)
		return 0;
	found->header = header;
	found->frames = (const uint8_t *)&header->to_frames + header->to_frames;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const uint8_t *start = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);

		if (info->dlpi_phdr[i].p_type == PT_LOAD && found->frames >= start &&
		    found->frames < start + info->dlpi_phdr[i].p_filesz)
			found->end = start + info->dlpi_phdr[i].p_filesz;
	}
	return 1;
}

static void expect_same_table(const char *name)
{
	struct found found = {.name = name};
	struct header *made;
	uint8_t *bytes;

	dl_iterate_phdr(find_module, &found);
	cr_assert_not_null(found.end, "%s has no table", name ? name : "the program");
	/* Where the linker's lies: so distances are the same. */
	size_t size = fx_frames_index(found.frames, (size_t)(found.end - found.frames),
				      (uintptr_t)found.frames, (uintptr_t)found.header, &bytes);
	made = (struct header *)bytes;
	cr_assert_gt(size, sizeof(*made));
	cr_assert_eq(memcmp(made, found.header, 8), 0);
	cr_assert_eq(made->entry_count, found.header->entry_count, "%u, not %u", made->entry_count,
		     found.header->entry_count);
	for (uint32_t i = 0; i < made->entry_count; i++) {
		cr_assert_eq(made->entries[i].start, found.header->entries[i].start);
		cr_assert_eq(made->entries[i].description, found.header->entries[i].description);
	}
	free(bytes);
}

Test(frames, of_this_program)
{
	expect_same_table(NULL);
}

Test(frames, of_libc)
{
	expect_same_table("libc.so.6");
}

/* Whatever the bytes are: nothing outside of them is read, which the sanitizers look at. */
Test(frames, damaged)
{
	struct found found = {.name = "libc.so.6"};

	dl_iterate_phdr(find_module, &found);
	cr_assert_not_null(found.end);
	srand(1);
	for (int i = 0; i < 2000; i++) {
		size_t size = (size_t)rand() % 600;
		uint8_t *bytes = malloc(size + 1), *table;

		memcpy(bytes, found.frames, size);
		for (size_t j = 0; size && j < 8; j++)
			bytes[(size_t)rand() % size] = (uint8_t)rand();
		bytes = realloc(bytes, size ? size : 1); /* to the byte */
		fx_frames_index(bytes, size, (uintptr_t)found.frames, 0x10000, &table);
		free(table);
		free(bytes);
	}
}

Test(frames, empty)
{
	const uint8_t nothing[8] = {0};
	uint8_t *table;

	cr_expect_eq(fx_frames_index(nothing, 0, 0x1000, 0x2000, &table), 0);
	cr_expect_null(table);
	cr_expect_eq(fx_frames_index(nothing, sizeof(nothing), 0x1000, 0x2000, &table), 0);
	cr_expect_null(table);
}

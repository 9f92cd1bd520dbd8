/* SPDX-License-Identifier: MIT */
/* The table of one file's recipes, as far as its making may fail. */
#include "symbols/recipes/recipes.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPECS "arg1/x"

static bool has_no_memory;

/* In libc's place, and that of all libraries. */
char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = has_no_memory && strcmp(text, SPECS) == 0 ? NULL : malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

/* A small program with hooks, and with debug information. */
static int recipes_read(struct fx_recipes *ret)
{
	struct fx_elf_source source = {.path = "/program", .limit = 16 << 20};
	const char *folder = getenv("FX_SRCDIR");
	char path[4096];
	int r;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/recipes/elf-gcc0",
		 folder ? folder : ".");
	source.fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(source.fd, 0, "%s", path);
	r = fx_recipes_read(&source, "(*@" SPECS "\n", ret);
	close(source.fd);
	return r;
}

Test(recipes, formats_are_kept)
{
	struct fx_recipes recipes;

	cr_assert_eq(recipes_read(&recipes), 0);
	cr_expect_gt(recipes.matched, 0);
	cr_expect_not_null(recipes.table);
	fx_recipes_clear(&recipes);
}

/* A function is not shown in another way than was asked for. */
Test(recipes, no_memory_for_formats_is_an_error)
{
	struct fx_recipes recipes;

	has_no_memory = true;
	cr_expect_eq(recipes_read(&recipes), FX_SYMBOL_FILE_NO_MEMORY + 1);
	cr_expect_null(recipes.table);
}

/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target, linked with this, over its corpus: FUZZ_CORPUS names the folder, or several as a shell does: {a,b}. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "tests/fuzz/fuzz.h"

static void replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long size;

	cr_assert_not_null(file, "%s", path);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	/* As large as the input, no larger, so that a sanitizer sees what reads beyond it. */
	data = malloc(size ? (size_t)size : 1);
	cr_assert_not_null(data);
	cr_assert_eq(fread(data, 1, (size_t)size, file), (size_t)size);
	fclose(file);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
}

Test(fuzz, corpus)
{
	const char *srcdir = getenv("FX_SRCDIR");
	char pattern[4096];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/tests/fuzz/corpus/" FUZZ_CORPUS "/*",
		 srcdir ? srcdir : ".");
	cr_assert_eq(glob(pattern, GLOB_BRACE, NULL, &found), 0, "%s: nothing found", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++)
		replay(found.gl_pathv[i]);
	globfree(&found);
}

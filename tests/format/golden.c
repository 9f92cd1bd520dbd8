/* SPDX-License-Identifier: MIT */
#include "tests/format/golden.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

static void golden_add_line(struct golden *g, const char *line)
{
	size_t used = strlen(g->expected);
	size_t length = strlen(line);

	switch (line[0]) {
	case '#':
	case '\n':
		return;
	case '!':
		g->is_good = false;
		/* fall through */
	case '>':
		cr_assert_lt(used + length, sizeof(g->expected), "%s: too long", g->name);
		memcpy(g->expected + used, line, length + 1);
		return;
	default:
		cr_assert_lt(g->n_words, (size_t)GOLDEN_MAX_WORDS, "%s: too long", g->name);
		cr_assert_eq(sscanf(line, "%16" SCNx64, &g->words[g->n_words++]), 1, "%s: %s",
			     g->name, line);
	}
}

static void golden_read(struct golden *g, const char *path)
{
	FILE *file = fopen(path, "r");
	const char *base = strrchr(path, '/') + 1;
	char line[8192];

	cr_assert_not_null(file, "%s", path);
	memset(g, 0, sizeof(*g));
	snprintf(g->name, sizeof(g->name), "%.*s", (int)(strlen(base) - strlen(".hex")), base);
	g->is_good = true;
	while (fgets(line, sizeof(line), file))
		golden_add_line(g, line);
	fclose(file);
}

size_t golden_for_each(void (*test)(const struct golden *golden))
{
	static struct golden golden;
	const char *srcdir = getenv("FX_SRCDIR");
	char pattern[4096];
	glob_t found;
	size_t n;

	snprintf(pattern, sizeof(pattern), "%s/tests/format/golden/*.hex", srcdir ? srcdir : ".");
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0, "%s: nothing found", pattern);
	n = found.gl_pathc;
	for (size_t i = 0; i < n; i++) {
		golden_read(&golden, found.gl_pathv[i]);
		test(&golden);
	}
	globfree(&found);
	return n;
}

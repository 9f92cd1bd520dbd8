/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/print.h"
#include "why/why-internal.h"
#include "why/words.h"

/* A frame may not have what divides frames. */
static void collapsed_frame(const struct fx_why *why, uint32_t node, FILE *out)
{
	char text[FX_WHY_TEXT_MAX];

	fx_why_words_node(why->timeline, &why->path.tree, node, text);
	for (char *at = text; *at; at++) {
		if (*at == ';')
			*at = ':';
	}
	fx_print_shown(out, text, strlen(text), 0);
}

/* The nodes from the root to this one. */
static void collapsed_line(const struct fx_why *why, uint32_t node, uint32_t *way, FILE *out)
{
	const struct fx_why_node *nodes = why->path.tree.nodes.items;
	uint64_t self = nodes[node].self;
	size_t count = 0;

	for (way[count++] = node; node != FX_WHY_ROOT; way[count++] = node)
		node = nodes[node].parent;
	while (count-- > 0) {
		collapsed_frame(why, way[count], out);
		if (count > 0)
			fputc(';', out);
	}
	fprintf(out, " %" PRIu64 "\n", self);
}

int fx_why_print_collapsed(const struct fx_why *why, FILE *out)
{
	const struct fx_why_tree *tree = &why->path.tree;
	uint32_t *way = malloc((tree->nodes.count + 1) * sizeof(*way));

	if (!way)
		return -ENOMEM;
	for (size_t i = 0; i < tree->nodes.count; i++) {
		if (tree->nodes.items[i].self > 0)
			collapsed_line(why, (uint32_t)i, way, out);
	}
	free(way);
	return 0;
}

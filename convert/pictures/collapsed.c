/* SPDX-License-Identifier: MIT */
/* A line for each path: the names of the calls, the outermost first, and its weight. For flamegraph.pl and others. */
#include "config.h"

#include "convert/formats.h"
#include "convert/pictures/picture.h"
#include "convert/pictures/plain.h"

struct collapsed {
	struct fx_picture picture;
	FX_VECTOR(uint32_t) stack; /* paths, the innermost first */
};

static void collapsed_put(struct collapsed *collapsed, uint32_t path)
{
	struct fx_picture *picture = &collapsed->picture;
	const struct fx_path *list = picture->paths.list.items;
	struct fx_sink *sink = picture->exporter.sink;

	collapsed->stack.count = 0;
	for (uint32_t at = path; at != 0; at = list[at].parent) {
		if (fx_vector_reserve(&collapsed->stack, 1) < 0) {
			picture->exporter.error = -ENOMEM;
			return;
		}
		collapsed->stack.items[collapsed->stack.count++] = at;
	}
	for (size_t i = collapsed->stack.count; i-- > 0;) {
		fx_plain_name(sink, fx_picture_name(picture, collapsed->stack.items[i]), ';');
		fx_plain_raw(sink, i > 0 ? ";" : " ");
	}
	fx_plain_uint(sink, list[path].self[picture->options.weight]);
	fx_plain_raw(sink, "\n");
}

static void collapsed_write(struct fx_picture *picture)
{
	struct collapsed *collapsed = (struct collapsed *)picture;
	uint64_t *totals = fx_picture_totals(picture);

	for (uint32_t path = 1; totals && path < picture->paths.list.count; path++) {
		if (picture->paths.list.items[path].self[picture->options.weight] > 0)
			collapsed_put(collapsed, path);
	}
	free(totals);
}

static const struct fx_picture_format collapsed_format = {.write = collapsed_write};

struct fx_exporter *fx_collapsed_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	return fx_picture_make(sizeof(struct collapsed), &collapsed_format, timeline, sink);
}

void fx_collapsed_free(struct fx_exporter *exporter)
{
	if (exporter)
		fx_vector_free(&((struct collapsed *)exporter)->stack);
	fx_picture_free(exporter);
}

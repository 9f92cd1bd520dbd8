/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "convert/pictures/flame.h"
#include "convert/pictures/plain.h"
#include "convert/pictures/svg.h"

enum {
	BOXES = 20000, /* more than these a browser takes long to draw */
	TOP = 40,
};

struct flame {
	struct fx_picture *picture;
	struct fx_svg svg;
	uint64_t *totals;
	uint64_t *starts;  /* of each path's box */
	uint64_t *cursors; /* where the next box above a path's starts */
	uint64_t least;	   /* that is drawn */
	uint32_t depth;
	size_t left_out;
};

static size_t flame_count(const struct flame *flame, uint64_t least)
{
	size_t count = 0;

	for (size_t i = 0; i < flame->picture->paths.list.count; i++)
		count += flame->totals[i] >= least;
	return count;
}

/* A box may be seen when what is below it is zoomed. */
static void flame_choose(struct flame *flame)
{
	flame->least = 1;
	while (flame_count(flame, flame->least) > BOXES)
		flame->least *= 2;
	flame->left_out = flame_count(flame, 1) - flame_count(flame, flame->least);
}

static uint32_t flame_depth(const struct flame *flame, uint32_t path)
{
	uint32_t depth = 0;

	for (; path != 0; path = flame->picture->paths.list.items[path].parent)
		depth++;
	return depth;
}

static void flame_lay_out(struct flame *flame)
{
	const struct fx_path *list = flame->picture->paths.list.items;

	for (uint32_t path = 0; path < flame->picture->paths.list.count; path++) {
		uint32_t depth;

		if (path > 0) {
			flame->starts[path] = flame->cursors[list[path].parent];
			flame->cursors[list[path].parent] += flame->totals[path];
		}
		flame->cursors[path] = flame->starts[path];
		if (flame->totals[path] < flame->least)
			continue;
		depth = flame_depth(flame, path);
		if (flame->depth < depth)
			flame->depth = depth;
	}
}

static void flame_put_share(struct flame *flame, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), " (%.2f %%)",
		 100.0 * (double)value / (double)flame->totals[0]);
	fx_plain_raw(flame->svg.sink, text);
}

static void flame_put_facts(struct flame *flame, uint32_t path)
{
	const struct fx_path *at = &flame->picture->paths.list.items[path];
	enum fx_measure weight = flame->picture->options.weight;
	struct fx_sink *sink = flame->svg.sink;
	const struct fx_text *category = fx_picture_category(flame->picture, path);
	char text[FX_AMOUNT_SIZE];

	if (category->length > 0) {
		fx_svg_escape(sink, category->data, category->length);
		fx_plain_raw(sink, "\n");
	}
	fx_plain_raw(sink, fx_svg_amount(weight, flame->totals[path], text));
	flame_put_share(flame, flame->totals[path]);
	if (at->self[weight] != flame->totals[path]) {
		fx_plain_raw(sink, ", itself ");
		fx_plain_raw(sink, fx_svg_amount(weight, at->self[weight], text));
		flame_put_share(flame, at->self[weight]);
	}
	if (at->self[FX_MEASURE_CALLS] > 0 && weight != FX_MEASURE_CALLS) {
		fx_plain_raw(sink, ", calls: ");
		fx_plain_uint(sink, at->self[FX_MEASURE_CALLS]);
	}
}

static void flame_put_box(struct flame *flame, uint32_t path)
{
	static const struct fx_text all = {.data = "all", .length = 3};
	struct fx_svg_box box = {
	    .from = flame->starts[path],
	    .to = flame->starts[path] + flame->totals[path],
	    .y = TOP + (int)(flame->depth - flame_depth(flame, path)) * FX_SVG_ROW,
	    .label = path > 0 ? fx_picture_name(flame->picture, path) : &all,
	    .category = fx_picture_category(flame->picture, path),
	};

	fx_svg_box_begin(&flame->svg, &box);
	flame_put_facts(flame, path);
	fx_svg_box_end(&flame->svg, &box);
}

/* What is not in the picture. */
static void flame_put_remarks(struct flame *flame, int y)
{
	const struct fx_picture *picture = flame->picture;
	struct fx_text remark = {0};
	char text[160], amount[FX_AMOUNT_SIZE];

	if (flame->left_out > 0) {
		remark.length = (uint32_t)snprintf(
		    text, sizeof(text), "%zu paths of less than %s each are not drawn",
		    flame->left_out, fx_svg_amount(picture->options.weight, flame->least, amount));
		remark.data = text;
		fx_svg_line(&flame->svg, FX_SVG_MARGIN, y, "n", &remark, FX_SVG_WIDTH);
		y += FX_SVG_ROW;
	}
	for (size_t i = 0; i < picture->notes.count; i++, y += FX_SVG_ROW)
		fx_svg_line(&flame->svg, FX_SVG_MARGIN, y, "n", picture->notes.items[i],
			    FX_SVG_WIDTH);
}

static void flame_title(const struct flame *flame, char *text, size_t size)
{
	static const char *const titles[FX_MEASURE_COUNT] = {
#define TITLE_(name, measure, help) [FX_MEASURE_##measure] = help,
	    FX_WEIGHTS(TITLE_)
#undef TITLE_
	};
	enum fx_measure weight = flame->picture->options.weight;
	char amount[FX_AMOUNT_SIZE];

	snprintf(text, size, "Flame graph: %s, %s in all", titles[weight],
		 fx_svg_amount(weight, flame->totals[0], amount));
}

static void flame_draw(struct flame *flame)
{
	const struct fx_picture *picture = flame->picture;
	size_t remarks = picture->notes.count + (flame->left_out > 0);
	int bottom = TOP + ((int)flame->depth + 1) * FX_SVG_ROW;
	char title[160];

	flame->svg.axis.to = flame->totals[0] > 0 ? flame->totals[0] : 1;
	flame_title(flame, title, sizeof(title));
	fx_svg_begin(&flame->svg, bottom + ((int)remarks + 1) * FX_SVG_ROW, title);
	for (uint32_t path = 0; path < picture->paths.list.count; path++) {
		if (flame->totals[path] >= flame->least)
			flame_put_box(flame, path);
	}
	flame_put_remarks(flame, bottom + FX_SVG_ROW);
	fx_svg_end(&flame->svg);
}

void fx_flame_write(struct fx_picture *picture)
{
	struct flame flame = {
	    .picture = picture,
	    .svg = {.sink = picture->exporter.sink,
		    .axis = {.left = FX_SVG_MARGIN, .measure = picture->options.weight}},
	    .totals = fx_picture_totals(picture),
	};

	if (flame.totals) {
		flame.starts = calloc(picture->paths.list.count, sizeof(*flame.starts));
		flame.cursors = calloc(picture->paths.list.count, sizeof(*flame.cursors));
	}
	if (flame.starts && flame.cursors) {
		flame_choose(&flame);
		flame_lay_out(&flame);
		flame_draw(&flame);
	} else {
		picture->exporter.error = -ENOMEM;
	}
	free(flame.totals);
	free(flame.starts);
	free(flame.cursors);
}

/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's format: functions with what is their own, and each with those that it calls. For callgrind_annotate and
 * KCachegrind. There are no lines of sources; all stands at line 0. Names are said once and have numbers from then on.
 */
#include "config.h"

#include <string.h>

#include "convert/formats.h"
#include "convert/pictures/functions.h"
#include "convert/pictures/plain.h"

struct callgrind {
	struct fx_picture picture;
	struct fx_functions functions;
	FX_VECTOR(bool) named; /* functions */
	FX_VECTOR(bool) named_files;
};

static void callgrind_header(struct fx_picture *picture, const uint64_t *totals)
{
	const struct fx_measure_info *info = &fx_measure_infos[picture->options.weight];
	struct fx_sink *sink = picture->exporter.sink;

	fx_plain_raw(sink, "# callgrind format\nversion: 1\ncreator: fxtrace\n");
	for (size_t i = 0; i < picture->notes.count; i++) {
		fx_plain_raw(sink, "desc: Note: ");
		fx_plain_name(sink, picture->notes.items[i], 0);
		fx_plain_raw(sink, "\n");
	}
	fx_plain_raw(sink, "positions: line\nevent: ");
	fx_plain_raw(sink, info->type);
	fx_plain_raw(sink, " : ");
	fx_plain_raw(sink, info->type);
	fx_plain_raw(sink, ", ");
	fx_plain_raw(sink, info->unit);
	fx_plain_raw(sink, "\nevents: ");
	fx_plain_raw(sink, info->type);
	fx_plain_raw(sink, "\nsummary: ");
	fx_plain_uint(sink, totals ? totals[0] : 0);
	fx_plain_raw(sink, "\n");
}

/* KIND=(number) name; the name only where the number comes first. */
static void callgrind_name(struct callgrind *callgrind, const char *kind, uint32_t number,
			   bool *named, uint32_t name, const char *otherwise)
{
	struct fx_sink *sink = callgrind->picture.exporter.sink;

	fx_plain_raw(sink, kind);
	fx_plain_raw(sink, "=(");
	fx_plain_uint(sink, number);
	fx_plain_raw(sink, ")");
	if (!*named) {
		*named = true;
		fx_plain_raw(sink, " ");
		if (name)
			fx_plain_name(
			    sink, fx_texts_get(callgrind->picture.exporter.timeline->strings, name),
			    0);
		else
			fx_plain_raw(sink, otherwise);
	}
	fx_plain_raw(sink, "\n");
}

/* Categories stand where the format has files. */
static void callgrind_names(struct callgrind *callgrind, const char *file, const char *kind,
			    uint32_t function)
{
	const struct fx_path *path = &callgrind->functions.paths.list.items[function];

	callgrind_name(callgrind, file, path->category + 1,
		       &callgrind->named_files.items[path->category], path->category, "fxtrace");
	callgrind_name(callgrind, kind, function, &callgrind->named.items[function], path->name,
		       FX_UNNAMED);
}

static void callgrind_cost(struct callgrind *callgrind, uint64_t cost)
{
	struct fx_sink *sink = callgrind->picture.exporter.sink;

	fx_plain_raw(sink, "0 ");
	fx_plain_uint(sink, cost);
	fx_plain_raw(sink, "\n");
}

static void callgrind_function(struct callgrind *callgrind, uint32_t function)
{
	struct fx_functions *functions = &callgrind->functions;
	struct fx_sink *sink = callgrind->picture.exporter.sink;

	fx_plain_raw(sink, "\n");
	callgrind_names(callgrind, "fl", "fn", function);
	callgrind_cost(callgrind, functions->costs.items[function]);
	for (uint32_t edge = functions->paths.list.items[function].first; edge != FX_PATH_NONE;
	     edge = functions->paths.list.items[edge].next) {
		callgrind_names(callgrind, "cfi", "cfn", fx_functions_callee(functions, edge));
		fx_plain_raw(sink, "calls=");
		fx_plain_uint(sink, functions->calls.items[edge]);
		fx_plain_raw(sink, " 0\n");
		callgrind_cost(callgrind, functions->costs.items[edge]);
	}
}

static int callgrind_body(struct callgrind *callgrind, const uint64_t *totals)
{
	struct fx_functions *functions = &callgrind->functions;
	size_t texts = fx_texts_count(callgrind->picture.exporter.timeline->strings) + 1;

	if (fx_functions_make(&callgrind->picture, totals, functions) < 0 ||
	    fx_vector_reserve(&callgrind->named, functions->paths.list.count) < 0 ||
	    fx_vector_reserve(&callgrind->named_files, texts) < 0)
		return -ENOMEM;
	memset(callgrind->named.items, 0, functions->paths.list.count * sizeof(bool));
	memset(callgrind->named_files.items, 0, texts * sizeof(bool));
	for (uint32_t function = functions->paths.list.items[0].first; function != FX_PATH_NONE;
	     function = functions->paths.list.items[function].next)
		callgrind_function(callgrind, function);
	return 0;
}

static void callgrind_write(struct fx_picture *picture)
{
	struct callgrind *callgrind = (struct callgrind *)picture;
	uint64_t *totals = fx_picture_totals(picture);

	callgrind_header(picture, totals);
	if (totals && callgrind_body(callgrind, totals) < 0)
		picture->exporter.error = -ENOMEM;
	fx_plain_raw(picture->exporter.sink, "\ntotals: ");
	fx_plain_uint(picture->exporter.sink, totals ? totals[0] : 0);
	fx_plain_raw(picture->exporter.sink, "\n");
	free(totals);
}

static const struct fx_picture_format callgrind_format = {.write = callgrind_write};

struct fx_exporter *fx_callgrind_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	return fx_picture_make(sizeof(struct callgrind), &callgrind_format, timeline, sink);
}

void fx_callgrind_free(struct fx_exporter *exporter)
{
	if (exporter) {
		fx_functions_destroy(&((struct callgrind *)exporter)->functions);
		fx_vector_free(&((struct callgrind *)exporter)->named);
		fx_vector_free(&((struct callgrind *)exporter)->named_files);
	}
	fx_picture_free(exporter);
}

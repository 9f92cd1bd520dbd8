/* SPDX-License-Identifier: MIT */
/*
 * pprof's format: a sample for each path, with all that was measured there. A message is written in pieces, which a
 * reader puts together; strings are known only at the end, so each gets its number where it is first used.
 */
#include "config.h"

#include <string.h>

#include "convert/formats.h"
#include "convert/pictures/picture.h"
#include "convert/pictures/place.h"
#include "convert/pictures/plain.h"
#include "convert/pictures/profile.pb-c.h"

struct pprof {
	struct fx_picture picture;
	struct fx_paths
	    functions; /* children of the root: functions, which are locations as well */
	FX_VECTOR(int64_t) string_numbers; /* of the timeline's texts; 0: not used yet */
	int64_t strings;
	enum fx_measure measures[FX_MEASURE_COUNT]; /* those that are shown */
	size_t measure_count;
	FX_VECTOR(uint64_t) stack;
	FX_VECTOR(unsigned char) packed;
};

static void pprof_fail(struct pprof *pprof)
{
	pprof->picture.exporter.error = -ENOMEM;
}

/* --- Pieces of the message -------------------------------------------------------------------- */

static void pprof_put(struct pprof *pprof, const Fx__Profile__Profile *piece)
{
	size_t size = fx__profile__profile__get_packed_size(piece);

	pprof->packed.count = 0;
	if (fx_vector_reserve(&pprof->packed, size) < 0) {
		pprof_fail(pprof);
		return;
	}
	fx_sink_write(pprof->picture.exporter.sink, pprof->packed.items,
		      fx__profile__profile__pack(piece, pprof->packed.items));
}

static int64_t pprof_add_string(struct pprof *pprof, const char *text)
{
	Fx__Profile__Profile piece = FX__PROFILE__PROFILE__INIT;
	char *strings[] = {(char *)text};

	piece.n_string_table = 1;
	piece.string_table = strings;
	pprof_put(pprof, &piece);
	return pprof->strings++;
}

/* The number of a text of the timeline, which is written where it comes first. */
static int64_t pprof_string(struct pprof *pprof, uint32_t text)
{
	struct fx_texts *texts = pprof->picture.exporter.timeline->strings;
	size_t count = pprof->string_numbers.count;

	if (text == 0)
		return 0;
	if (text >= count) {
		size_t needed = fx_texts_count(texts) + 1;

		if (fx_vector_reserve(&pprof->string_numbers, needed - count) < 0) {
			pprof_fail(pprof);
			return 0;
		}
		memset(pprof->string_numbers.items + count, 0, (needed - count) * sizeof(int64_t));
		pprof->string_numbers.count = needed;
	}
	if (pprof->string_numbers.items[text] == 0 && fx_texts_get(texts, text)->length > 0)
		pprof->string_numbers.items[text] =
		    pprof_add_string(pprof, fx_texts_get(texts, text)->data);
	return pprof->string_numbers.items[text];
}

/* A function's name and file; where its text has a source line behind the name, by that. */
static void pprof_name_function(struct pprof *pprof, const struct fx_path *path,
				Fx__Profile__Function *function, Fx__Profile__Line *line)
{
	struct fx_texts *texts = pprof->picture.exporter.timeline->strings;
	const struct fx_text *text = path->name ? fx_texts_get(texts, path->name) : NULL;
	struct fx_frame_place place;

	if (text && fx_frame_place(text->data, text->length, &place)) {
		uint32_t name = fx_texts_add(texts, text->data, place.name_length);

		function->name = pprof_string(pprof, name);
		function->filename =
		    pprof_string(pprof, fx_texts_add(texts, place.file, place.file_length));
		line->has_line = 1;
		line->line = place.line;
	} else {
		function->name = pprof_string(pprof, path->name);
		function->filename = pprof_string(pprof, path->category);
	}
}

static void pprof_add_function(struct pprof *pprof, uint32_t id, const struct fx_path *path,
			       int64_t unnamed)
{
	Fx__Profile__Profile piece = FX__PROFILE__PROFILE__INIT;
	Fx__Profile__Function function = FX__PROFILE__FUNCTION__INIT, *functions[] = {&function};
	Fx__Profile__Location location = FX__PROFILE__LOCATION__INIT, *locations[] = {&location};
	Fx__Profile__Line line = FX__PROFILE__LINE__INIT, *lines[] = {&line};

	pprof_name_function(pprof, path, &function, &line);
	function.has_id = function.has_name = function.has_system_name = function.has_filename = 1;
	function.id = id;
	function.name = function.system_name = function.name ? function.name : unnamed;
	line.has_function_id = 1;
	line.function_id = id;
	location.has_id = 1;
	location.id = id;
	location.n_line = 1;
	location.line = lines;
	piece.n_function = 1;
	piece.function = functions;
	piece.n_location = 1;
	piece.location = locations;
	pprof_put(pprof, &piece);
}

/* The location of a call, which is written where it comes first. */
static uint64_t pprof_location(struct pprof *pprof, const struct fx_path *path, int64_t unnamed)
{
	size_t known = pprof->functions.list.count;
	uint32_t id = fx_paths_child(&pprof->functions, 0, path->name, path->category);

	if (id == FX_PATH_NONE) {
		pprof_fail(pprof);
		return 0;
	}
	if (pprof->functions.list.count > known)
		pprof_add_function(pprof, id, path, unnamed);
	return id;
}

/* --- Samples ---------------------------------------------------------------------------------- */

/* The values of a path; false: there are none. */
static bool pprof_take_values(const struct pprof *pprof, const struct fx_path *path,
			      int64_t values[FX_MEASURE_COUNT])
{
	bool some = false;

	for (size_t i = 0; i < pprof->measure_count; i++) {
		values[i] = (int64_t)path->self[pprof->measures[i]];
		some = some || values[i] != 0;
	}
	return some;
}

static void pprof_put_sample(struct pprof *pprof, uint32_t path, int64_t unnamed)
{
	const struct fx_path *list = pprof->picture.paths.list.items;
	Fx__Profile__Profile piece = FX__PROFILE__PROFILE__INIT;
	Fx__Profile__Sample sample = FX__PROFILE__SAMPLE__INIT, *samples[] = {&sample};
	int64_t values[FX_MEASURE_COUNT];

	if (!pprof_take_values(pprof, &list[path], values))
		return;
	pprof->stack.count = 0;
	for (; path != 0; path = list[path].parent) {
		if (fx_vector_reserve(&pprof->stack, 1) < 0) {
			pprof_fail(pprof);
			return;
		}
		pprof->stack.items[pprof->stack.count++] =
		    pprof_location(pprof, &list[path], unnamed);
	}
	sample.n_location_id = pprof->stack.count;
	sample.location_id = pprof->stack.items;
	sample.n_value = pprof->measure_count;
	sample.value = values;
	piece.n_sample = 1;
	piece.sample = samples;
	pprof_put(pprof, &piece);
}

/* --- The whole -------------------------------------------------------------------------------- */

static void pprof_put_type(struct pprof *pprof, enum fx_measure measure)
{
	Fx__Profile__Profile piece = FX__PROFILE__PROFILE__INIT;
	Fx__Profile__ValueType type = FX__PROFILE__VALUE_TYPE__INIT, *types[] = {&type};

	type.has_type = type.has_unit = 1;
	type.type = pprof_add_string(pprof, fx_measure_infos[measure].type);
	type.unit = pprof_add_string(pprof, fx_measure_infos[measure].unit);
	piece.n_sample_type = 1;
	piece.sample_type = types;
	piece.has_default_sample_type = pprof->picture.options.weight == measure;
	piece.default_sample_type = type.type;
	pprof_put(pprof, &piece);
}

static void pprof_put_types(struct pprof *pprof)
{
	for (int measure = 0; measure < FX_MEASURE_COUNT; measure++) {
		if (!fx_picture_has(&pprof->picture, (enum fx_measure)measure))
			continue;
		pprof->measures[pprof->measure_count++] = (enum fx_measure)measure;
		pprof_put_type(pprof, (enum fx_measure)measure);
	}
}

/* How long it took, and what is missing. */
static void pprof_put_facts(struct pprof *pprof)
{
	const struct fx_picture *picture = &pprof->picture;
	const struct fx_timeline *timeline = picture->exporter.timeline;
	Fx__Profile__Profile piece = FX__PROFILE__PROFILE__INIT;
	uint64_t to = picture->to < timeline->last_ts ? picture->to : timeline->last_ts;

	piece.has_duration_nanos = timeline->first_ts != UINT64_MAX && to > picture->from;
	piece.duration_nanos = (int64_t)(to - picture->from);
	pprof_put(pprof, &piece);
	for (size_t i = 0; i < picture->notes.count; i++) {
		int64_t comment = pprof_string(pprof, picture->notes.items[i]->id);

		piece = (Fx__Profile__Profile)FX__PROFILE__PROFILE__INIT;
		piece.n_comment = 1;
		piece.comment = &comment;
		pprof_put(pprof, &piece);
	}
}

static void pprof_write(struct fx_picture *picture)
{
	struct pprof *pprof = (struct pprof *)picture;
	uint64_t *totals = fx_picture_totals(picture);
	int64_t unnamed;

	free(totals);
	pprof_add_string(pprof, "");
	unnamed = pprof_add_string(pprof, FX_UNNAMED);
	pprof_put_types(pprof);
	pprof_put_facts(pprof);
	if (!fx_picture_is_good(picture) || fx_paths_init(&pprof->functions, UINT32_MAX, 0) < 0) {
		pprof_fail(pprof);
		return;
	}
	for (uint32_t path = 1; path < picture->paths.list.count; path++)
		pprof_put_sample(pprof, path, unnamed);
}

static const struct fx_picture_format pprof_format = {.all_measures = true, .write = pprof_write};

struct fx_exporter *fx_pprof_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	return fx_picture_make(sizeof(struct pprof), &pprof_format, timeline, sink);
}

void fx_pprof_free(struct fx_exporter *exporter)
{
	struct pprof *pprof = (struct pprof *)exporter;

	if (pprof) {
		fx_paths_destroy(&pprof->functions);
		fx_vector_free(&pprof->string_numbers);
		fx_vector_free(&pprof->stack);
		fx_vector_free(&pprof->packed);
	}
	fx_picture_free(exporter);
}

/* SPDX-License-Identifier: MIT */
/*
 * speedscope's format: of time, a profile for each thread with the begin and end of each call; of anything else, one
 * profile of paths and their weights. https://www.speedscope.app/file-format-schema.json describes it. The table of
 * frames, which is known at the end, stands there.
 */
#include "config.h"

#include "convert/formats.h"
#include "convert/json-text.h"
#include "convert/pictures/picture.h"
#include "convert/pictures/place.h"
#include "convert/pictures/plain.h"

struct speedscope {
	struct fx_picture picture;
	struct fx_paths
	    frames; /* the children of the root; a frame has the number of its path less one */
	bool has_profiles;
	bool has_events;
	uint64_t first; /* times count from here */
	uint64_t last;	/* of the thread at hand */
	FX_VECTOR(uint32_t) stack;
	FX_VECTOR(uint32_t) open; /* frames of the thread at hand */
};

static struct fx_sink *speedscope_sink(const struct speedscope *speedscope)
{
	return speedscope->picture.exporter.sink;
}

static bool speedscope_is_timed(const struct fx_picture *picture)
{
	return picture->options.weight == FX_MEASURE_WALL;
}

static uint32_t speedscope_frame(struct speedscope *speedscope, uint32_t path)
{
	const struct fx_path *at = &speedscope->picture.paths.list.items[path];
	uint32_t id = fx_paths_child(&speedscope->frames, 0, at->name, at->category);

	if (id == FX_PATH_NONE)
		speedscope->picture.exporter.error = -ENOMEM;
	return id == FX_PATH_NONE ? 0 : id - 1;
}

static void speedscope_string(struct speedscope *speedscope, const struct fx_text *text)
{
	if (text->length > 0)
		fx_json_string(speedscope_sink(speedscope), text->data, text->length);
	else
		fx_json_raw(speedscope_sink(speedscope), "\"" FX_UNNAMED "\"");
}

/* --- Time ------------------------------------------------------------------------------------- */

static void speedscope_event(struct speedscope *speedscope, const char *type, uint32_t frame,
			     uint64_t ts)
{
	struct fx_sink *sink = speedscope_sink(speedscope);

	fx_json_raw(sink, speedscope->has_events ? ",\n{\"type\":\"" : "\n{\"type\":\"");
	speedscope->has_events = true;
	fx_json_raw(sink, type);
	fx_json_raw(sink, "\",\"frame\":");
	fx_json_uint(sink, frame);
	fx_json_raw(sink, ",\"at\":");
	fx_json_uint(sink, ts - speedscope->first);
	fx_json_raw(sink, "}");
	speedscope->last = ts;
}

static void speedscope_open(struct speedscope *speedscope, uint32_t path, uint64_t ts)
{
	uint32_t frame = speedscope_frame(speedscope, path);

	if (fx_vector_reserve(&speedscope->open, 1) < 0) {
		speedscope->picture.exporter.error = -ENOMEM;
		return;
	}
	speedscope->open.items[speedscope->open.count++] = frame;
	speedscope_event(speedscope, "O", frame, ts);
}

static void speedscope_close(struct speedscope *speedscope, uint64_t ts)
{
	speedscope_event(speedscope, "C", speedscope->open.items[--speedscope->open.count], ts);
}

static void speedscope_head(struct speedscope *speedscope, const char *type)
{
	struct fx_sink *sink = speedscope_sink(speedscope);

	fx_json_raw(sink, speedscope->has_profiles ? ",\n{\"type\":\"" : "\n{\"type\":\"");
	speedscope->has_profiles = true;
	fx_json_raw(sink, type);
	fx_json_raw(sink, "\",\"name\":");
}

static void speedscope_enter(struct fx_picture *picture)
{
	struct speedscope *speedscope = (struct speedscope *)picture;
	struct fx_sink *sink = picture->exporter.sink;
	const struct fx_text *name;

	speedscope->has_events = false;
	speedscope->last = picture->from > speedscope->first ? picture->from : speedscope->first;
	if (!speedscope_is_timed(picture))
		return;
	speedscope_head(speedscope, "evented");
	name = fx_picture_thread_title(picture);
	speedscope_string(speedscope, name);
	fx_json_raw(sink, ",\"unit\":\"nanoseconds\",\"startValue\":");
	fx_json_uint(sink, speedscope->last - speedscope->first);
	fx_json_raw(sink, ",\"events\":[");
}

/* Frames of a stack that the call carries stand around it. */
static void speedscope_begin_call(struct fx_picture *picture, const struct fx_event *event,
				  uint64_t ts)
{
	struct speedscope *speedscope = (struct speedscope *)picture;
	const struct fx_path *list = picture->paths.list.items;
	uint32_t path = picture->open[picture->depth - 1].path;
	uint32_t above =
	    picture->depth > 1 ? picture->open[picture->depth - 2].path : picture->root;

	(void)event;
	if (!speedscope_is_timed(picture))
		return;
	speedscope->stack.count = 0;
	for (uint32_t at = path; at != above && at != 0; at = list[at].parent) {
		if (fx_vector_reserve(&speedscope->stack, 1) < 0) {
			picture->exporter.error = -ENOMEM;
			return;
		}
		speedscope->stack.items[speedscope->stack.count++] = at;
	}
	/* A path that was one too many may be that of the call around it. */
	if (speedscope->stack.count == 0)
		speedscope_open(speedscope, path, ts);
	for (size_t i = speedscope->stack.count; i-- > 0;)
		speedscope_open(speedscope, speedscope->stack.items[i], ts);
}

static void speedscope_end_call(struct fx_picture *picture, uint64_t ts)
{
	struct speedscope *speedscope = (struct speedscope *)picture;

	if (!speedscope_is_timed(picture) || speedscope->open.count == 0)
		return;
	speedscope_close(speedscope, ts);
	/* The frames of a stack stand around outermost calls alone. */
	while (picture->depth == 1 && speedscope->open.count > 0)
		speedscope_close(speedscope, ts);
}

static void speedscope_leave(struct fx_picture *picture)
{
	struct speedscope *speedscope = (struct speedscope *)picture;

	if (!speedscope_is_timed(picture))
		return;
	fx_json_raw(picture->exporter.sink, "\n],\"endValue\":");
	fx_json_uint(picture->exporter.sink, speedscope->last - speedscope->first);
	fx_json_raw(picture->exporter.sink, "}");
}

/* --- Weights ---------------------------------------------------------------------------------- */

static void speedscope_stack(struct speedscope *speedscope, uint32_t path)
{
	const struct fx_path *list = speedscope->picture.paths.list.items;
	struct fx_sink *sink = speedscope_sink(speedscope);

	speedscope->stack.count = 0;
	for (; path != 0; path = list[path].parent) {
		if (fx_vector_reserve(&speedscope->stack, 1) < 0) {
			speedscope->picture.exporter.error = -ENOMEM;
			return;
		}
		speedscope->stack.items[speedscope->stack.count++] =
		    speedscope_frame(speedscope, path);
	}
	fx_json_raw(sink, "[");
	for (size_t i = speedscope->stack.count; i-- > 0;) {
		fx_json_uint(sink, speedscope->stack.items[i]);
		if (i > 0)
			fx_json_raw(sink, ",");
	}
	fx_json_raw(sink, "]");
}

static const char *speedscope_unit(enum fx_measure measure)
{
	switch (measure) {
	case FX_MEASURE_WALL:
	case FX_MEASURE_ON_CPU:
	case FX_MEASURE_OFF_CPU:
		return "nanoseconds";
	case FX_MEASURE_ALLOC_SPACE:
	case FX_MEASURE_INUSE_SPACE:
		return "bytes";
	default:
		return "none";
	}
}

/* Calls @put for each path that weighs anything. */
static void speedscope_list(struct speedscope *speedscope,
			    void (*put)(struct speedscope *speedscope, uint32_t path))
{
	const struct fx_picture *picture = &speedscope->picture;
	const char *comma = "\n";

	for (uint32_t path = 1; path < picture->paths.list.count; path++) {
		if (picture->paths.list.items[path].self[picture->options.weight] == 0)
			continue;
		fx_json_raw(picture->exporter.sink, comma);
		put(speedscope, path);
		comma = ",\n";
	}
}

static void speedscope_weight(struct speedscope *speedscope, uint32_t path)
{
	const struct fx_picture *picture = &speedscope->picture;

	fx_json_uint(picture->exporter.sink,
		     picture->paths.list.items[path].self[picture->options.weight]);
}

static void speedscope_sampled(struct speedscope *speedscope)
{
	struct fx_sink *sink = speedscope_sink(speedscope);
	enum fx_measure weight = speedscope->picture.options.weight;
	uint64_t *totals = fx_picture_totals(&speedscope->picture);

	if (!totals)
		return;
	speedscope_head(speedscope, "sampled");
	fx_json_raw(sink, "\"");
	fx_json_raw(sink, fx_measure_infos[weight].type);
	fx_json_raw(sink, "\",\"unit\":\"");
	fx_json_raw(sink, speedscope_unit(weight));
	fx_json_raw(sink, "\",\"startValue\":0,\"endValue\":");
	fx_json_uint(sink, totals[0]);
	fx_json_raw(sink, ",\"samples\":[");
	speedscope_list(speedscope, speedscope_stack);
	fx_json_raw(sink, "],\"weights\":[");
	speedscope_list(speedscope, speedscope_weight);
	fx_json_raw(sink, "]}");
	free(totals);
}

/* --- The whole -------------------------------------------------------------------------------- */

static void speedscope_begin(struct fx_picture *picture)
{
	struct speedscope *speedscope = (struct speedscope *)picture;
	uint64_t first = picture->exporter.timeline->first_ts;

	speedscope->first = first == UINT64_MAX ? 0 : first;
	if (fx_paths_init(&speedscope->frames, UINT32_MAX, 0) < 0)
		picture->exporter.error = -ENOMEM;
	fx_json_raw(picture->exporter.sink,
		    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		    "\"exporter\":\"fxtrace\",\"profiles\":[");
}

/* Its name, its file, and where that has one behind the name, its source line. */
static void speedscope_put_frame(struct speedscope *speedscope, const struct fx_path *frame)
{
	struct fx_sink *sink = speedscope_sink(speedscope);
	struct fx_texts *texts = speedscope->picture.exporter.timeline->strings;
	static const struct fx_text none = {.data = ""};
	const struct fx_text *text = frame->name ? fx_texts_get(texts, frame->name) : &none;
	struct fx_frame_place place;

	if (fx_frame_place(text->data, text->length, &place)) {
		fx_json_string(sink, text->data, place.name_length);
		fx_json_raw(sink, ",\"file\":");
		fx_json_string(sink, place.file, place.file_length);
		fx_json_raw(sink, ",\"line\":");
		fx_json_uint(sink, place.line);
		return;
	}
	speedscope_string(speedscope, text);
	if (frame->category) {
		fx_json_raw(sink, ",\"file\":");
		speedscope_string(speedscope, fx_texts_get(texts, frame->category));
	}
}

static void speedscope_put_frames(struct speedscope *speedscope)
{
	struct fx_sink *sink = speedscope_sink(speedscope);

	for (size_t i = 1; i < speedscope->frames.list.count; i++) {
		fx_json_raw(sink, i > 1 ? ",\n{\"name\":" : "\n{\"name\":");
		speedscope_put_frame(speedscope, &speedscope->frames.list.items[i]);
		fx_json_raw(sink, "}");
	}
}

/* What is missing stands where the viewer shows the name of the file. */
static void speedscope_put_name(struct speedscope *speedscope)
{
	const struct fx_picture *picture = &speedscope->picture;
	struct fx_sink *sink = speedscope_sink(speedscope);

	if (picture->notes.count == 0)
		return;
	fx_json_raw(sink, ",\"name\":");
	fx_json_string(sink, picture->notes.items[0]->data, picture->notes.items[0]->length);
}

static void speedscope_write(struct fx_picture *picture)
{
	struct speedscope *speedscope = (struct speedscope *)picture;

	/* The viewer takes no file without a profile. */
	if (!speedscope_is_timed(picture) || !speedscope->has_profiles)
		speedscope_sampled(speedscope);
	else
		free(fx_picture_totals(picture));
	fx_json_raw(picture->exporter.sink, "\n],\"shared\":{\"frames\":[");
	speedscope_put_frames(speedscope);
	fx_json_raw(picture->exporter.sink, "\n]}");
	speedscope_put_name(speedscope);
	fx_json_raw(picture->exporter.sink, "}\n");
}

static const struct fx_picture_format speedscope_format = {
    .begin = speedscope_begin,
    .enter_thread = speedscope_enter,
    .call_begin = speedscope_begin_call,
    .call_end = speedscope_end_call,
    .leave_thread = speedscope_leave,
    .write = speedscope_write,
};

struct fx_exporter *fx_speedscope_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	return fx_picture_make(sizeof(struct speedscope), &speedscope_format, timeline, sink);
}

void fx_speedscope_free(struct fx_exporter *exporter)
{
	struct speedscope *speedscope = (struct speedscope *)exporter;

	if (speedscope) {
		fx_paths_destroy(&speedscope->frames);
		fx_vector_free(&speedscope->stack);
		fx_vector_free(&speedscope->open);
	}
	fx_picture_free(exporter);
}

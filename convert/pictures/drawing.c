/* SPDX-License-Identifier: MIT */
/* The format svg: a flame graph, or with --timeline the threads over time. */
#include "config.h"

#include "convert/formats.h"
#include "convert/pictures/flame.h"
#include "convert/pictures/rows.h"

struct drawing {
	struct fx_picture picture;
	struct fx_rows rows;
};

static struct fx_rows *drawing_rows(struct fx_picture *picture)
{
	return &((struct drawing *)picture)->rows;
}

static void drawing_enter(struct fx_picture *picture)
{
	fx_rows_enter(drawing_rows(picture), picture);
}

static void drawing_call(struct fx_picture *picture, const struct fx_event *event, uint64_t ts)
{
	fx_rows_call(drawing_rows(picture), picture, event, ts);
}

static void drawing_instant(struct fx_picture *picture, const struct fx_event *event)
{
	fx_rows_instant(drawing_rows(picture), picture, event);
}

static void drawing_write_rows(struct fx_picture *picture)
{
	fx_rows_write(drawing_rows(picture), picture);
}

static const struct fx_picture_format timeline_format = {
    .enter_thread = drawing_enter,
    .call_begin = drawing_call,
    .instant = drawing_instant,
    .write = drawing_write_rows,
};

static void drawing_begin(struct fx_picture *picture)
{
	if (!picture->options.timeline)
		return;
	picture->format = &timeline_format;
	fx_rows_begin(drawing_rows(picture), picture);
}

static const struct fx_picture_format flame_format = {
    .begin = drawing_begin,
    .write = fx_flame_write,
};

struct fx_exporter *fx_svg_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	return fx_picture_make(sizeof(struct drawing), &flame_format, timeline, sink);
}

void fx_svg_free(struct fx_exporter *exporter)
{
	if (exporter)
		fx_rows_destroy(&((struct drawing *)exporter)->rows);
	fx_picture_free(exporter);
}

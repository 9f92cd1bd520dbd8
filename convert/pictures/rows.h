/* SPDX-License-Identifier: MIT */
/*
 * A timeline: for each thread, below its process, the calls over time, and arrows for flows. What is too narrow to be
 * told apart is merged into one box, so that a picture has a bounded size whatever the archive has.
 */
#ifndef FX_CONVERT_PICTURES_ROWS_H
#define FX_CONVERT_PICTURES_ROWS_H

#include "convert/pictures/picture.h"
#include "convert/pictures/svg.h"

struct fx_rows_box;
struct fx_rows_thread;
struct fx_rows_point;

struct fx_rows {
	struct fx_svg svg;
	FX_VECTOR(struct fx_rows_box) boxes;
	FX_VECTOR(struct fx_rows_thread) threads;
	FX_VECTOR(struct fx_rows_point) points;
	size_t left_out; /* threads */
	uint64_t too_deep;
	uint64_t arrows_left_out;
	size_t last
	    [FX_MAX_DEPTH]; /* of each depth of the thread at hand, its last box; SIZE_MAX: none */
};

void fx_rows_begin(struct fx_rows *rows, struct fx_picture *picture);
void fx_rows_enter(struct fx_rows *rows, struct fx_picture *picture);
void fx_rows_call(struct fx_rows *rows, struct fx_picture *picture, const struct fx_event *event,
		  uint64_t ts);
void fx_rows_instant(struct fx_rows *rows, struct fx_picture *picture,
		     const struct fx_event *event);
void fx_rows_write(struct fx_rows *rows, struct fx_picture *picture);
void fx_rows_destroy(struct fx_rows *rows);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Drawings that a browser shows: boxes along one axis (a time, or a weight), each with a label and a text for the
 * pointer, and the script that zooms and searches. Names never become anything but text.
 */
#ifndef FX_CONVERT_PICTURES_SVG_H
#define FX_CONVERT_PICTURES_SVG_H

#include "convert/pictures/options.h"
#include "convert/sink.h"
#include "convert/texts.h"

enum {
	FX_SVG_WIDTH = 1200,
	FX_SVG_ROW = 17,
	FX_SVG_MARGIN = 10,
};

/* What is drawn, from left to right. */
struct fx_svg_axis {
	int left; /* in pixels; the axis ends FX_SVG_MARGIN before the right edge */
	uint64_t from;
	uint64_t to;   /* more than from */
	uint64_t zero; /* what is told counts from here */
	enum fx_measure measure;
	bool has_ticks; /* lines with times */
};

struct fx_svg {
	struct fx_sink *sink;
	struct fx_svg_axis axis;
};

/* A box; what the pointer tells of it follows as text, up to fx_svg_box_end(). */
struct fx_svg_box {
	uint64_t from;
	uint64_t to;
	int y;
	const struct fx_text *label;
	const struct fx_text *category;
};

void fx_svg_begin(struct fx_svg *svg, int height, const char *title);
void fx_svg_end(struct fx_svg *svg);

void fx_svg_box_begin(struct fx_svg *svg, const struct fx_svg_box *box);
void fx_svg_box_end(struct fx_svg *svg, const struct fx_svg_box *box);

/* A line of text at a place; @style is a class of the sheet: "", "b" (bold), "n" (a remark). */
void fx_svg_line(struct fx_svg *svg, int x, int y, const char *style, const struct fx_text *text,
		 int width);

/* Any bytes as text. */
void fx_svg_escape(struct fx_sink *sink, const char *data, size_t length);

/* An amount with its unit, as "1.25 ms". */
enum { FX_AMOUNT_SIZE = 48 };
const char *fx_svg_amount(enum fx_measure measure, uint64_t value, char text[FX_AMOUNT_SIZE]);

/* Where something lies, in pixels. */
double fx_svg_place(const struct fx_svg *svg, uint64_t at);

#endif

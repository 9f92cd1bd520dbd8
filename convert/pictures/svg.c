/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "convert/pictures/plain.h"
#include "convert/pictures/svg.h"
#include "convert/pictures/svg_script.h"

/* Of a letter of the labels, in pixels. */
#define LETTER 6.7

#define TICKS  10u /* lines with times, at most */
#define HIDDEN " style=\"display:none\""

/* --- Text ------------------------------------------------------------------------------------- */

/* XML has no characters for most controls; those that turn the direction of text would change what others say. */
static bool svg_is_control(const unsigned char *at, size_t size)
{
	if (size == 1)
		return at[0] < 0x20 || at[0] == 0x7f;
	if (size == 2)
		return at[0] == 0xc2 && at[1] < 0xa0;
	if (size == 3 && at[0] == 0xe2 && at[1] == 0x80)
		return at[2] >= 0xa8 && at[2] <= 0xae;
	if (size == 3 && at[0] == 0xe2 && at[1] == 0x81)
		return at[2] >= 0xa6 && at[2] <= 0xa9;
	return size == 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
}

static void svg_put_byte(struct fx_sink *sink, unsigned char byte)
{
	char text[8];

	snprintf(text, sizeof(text), "\\x%02X", byte);
	fx_plain_raw(sink, text);
}

static void svg_put_character(struct fx_sink *sink, const char *at, size_t size)
{
	switch (*at) {
	case '&':
		fx_plain_raw(sink, "&amp;");
		break;
	case '<':
		fx_plain_raw(sink, "&lt;");
		break;
	case '>':
		fx_plain_raw(sink, "&gt;");
		break;
	case '"':
		fx_plain_raw(sink, "&quot;");
		break;
	case '\'':
		fx_plain_raw(sink, "&#39;");
		break;
	default:
		fx_sink_write(sink, at, size);
	}
}

void fx_svg_escape(struct fx_sink *sink, const char *data, size_t length)
{
	size_t size;

	for (size_t i = 0; i < length; i += size) {
		const unsigned char *at = (const unsigned char *)data + i;

		size = fx_utf8_sequence(data + i, length - i);
		if (size > 0 && !svg_is_control(at, size)) {
			svg_put_character(sink, data + i, size);
			continue;
		}
		size = size > 0 ? size : 1;
		for (size_t k = 0; k < size; k++)
			svg_put_byte(sink, at[k]);
	}
}

static const struct fx_text *svg_label(const struct fx_text *text)
{
	static const struct fx_text unnamed = {.data = FX_UNNAMED,
					       .length = sizeof(FX_UNNAMED) - 1};

	return text->length > 0 ? text : &unnamed;
}

/* As much of a text as fits into @width pixels. */
static void svg_put_fitting(struct fx_sink *sink, const struct fx_text *text, double width)
{
	size_t room = width > 0 ? (size_t)(width / LETTER) : 0, end = 0, letters = 0, size;

	if (room < 3)
		return;
	while (end < text->length && letters < room) {
		size = fx_utf8_sequence(text->data + end, text->length - end);
		end += size > 0 ? size : 1;
		letters += size > 2 ? 2 : 1;
	}
	if (end == text->length) {
		fx_svg_escape(sink, text->data, end);
		return;
	}
	for (letters = end = 0; letters < room - 2;) {
		size = fx_utf8_sequence(text->data + end, text->length - end);
		end += size > 0 ? size : 1;
		letters += size > 2 ? 2 : 1;
	}
	fx_svg_escape(sink, text->data, end);
	fx_plain_raw(sink, "…");
}

const char *fx_svg_amount(enum fx_measure measure, uint64_t value, char text[FX_AMOUNT_SIZE])
{
	static const char *const times[] = {"ns", "µs", "ms", "s"};
	static const char *const sizes[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	const char *unit = fx_measure_infos[measure].unit;
	bool is_time = strcmp(unit, "nanoseconds") == 0;
	size_t last = is_time ? 3 : 4, at = 0;
	double amount = (double)value;

	if (strcmp(unit, "count") == 0) {
		snprintf(text, FX_AMOUNT_SIZE, "%llu", (unsigned long long)value);
		return text;
	}
	while (amount >= (is_time ? 1000 : 1024) && at < last) {
		amount /= is_time ? 1000 : 1024;
		at++;
	}
	snprintf(text, FX_AMOUNT_SIZE, at == 0 ? "%.0f %s" : "%.2f %s", amount,
		 is_time ? times[at] : sizes[at]);
	return text;
}

/* --- The document ----------------------------------------------------------------------------- */

static const char svg_style[] =
    "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#111;pointer-events:none}"
    ".b{font-weight:bold}.n{fill:#a40}.t{fill:#777}"
    ".f:hover rect{stroke:#000;stroke-width:1}"
    ".f{cursor:pointer}.dim rect{opacity:.25}.hit rect{fill:#e0f !important}"
    ".l{stroke:#e4e4e4}.a{fill:none;stroke:#c33;stroke-width:1.1;pointer-events:none}"
    "input,button{font:11px sans-serif}";

double fx_svg_place(const struct fx_svg *svg, uint64_t at)
{
	const struct fx_svg_axis *axis = &svg->axis;
	double length = (double)(axis->to - axis->from);

	if (at < axis->from)
		at = axis->from;
	if (at > axis->to)
		at = axis->to;
	return axis->left +
	       (double)(at - axis->from) / length * (FX_SVG_WIDTH - FX_SVG_MARGIN - axis->left);
}

static void svg_print(struct fx_svg *svg, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void svg_print(struct fx_svg *svg, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fx_plain_raw(svg->sink, text);
}

/* Between two lines: 1, 2 or 5 and noughts, so that there are TICKS of them at most. */
static uint64_t svg_step(uint64_t length)
{
	uint64_t step = 1;

	for (unsigned i = 0; length / step >= TICKS && step < UINT64_MAX / 5; i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

/* Lines with times; the script moves them, and shows those that are not needed now. */
static void svg_put_ticks(struct fx_svg *svg, int height)
{
	const struct fx_svg_axis *axis = &svg->axis;
	uint64_t step = svg_step(axis->to - axis->from), zero = axis->from - axis->zero;
	uint64_t at = axis->from + (step - zero % step) % step;
	char amount[FX_AMOUNT_SIZE];

	for (unsigned i = 0; i < TICKS; i++, at += step) {
		bool is_shown = at >= axis->from && at <= axis->to;
		double x = fx_svg_place(svg, at), width;

		svg_print(svg, "<line class=\"l\" x1=\"%.1f\" y1=\"34\" x2=\"%.1f\" y2=\"%d\"%s/>",
			  x, x, height, is_shown ? "" : HIDDEN);
		width =
		    LETTER * (double)strlen(fx_svg_amount(axis->measure, at - axis->zero, amount));
		svg_print(svg, "<text class=\"t\" x=\"%.1f\" y=\"46\"%s>%s</text>\n", x + 3,
			  is_shown && x + 3 + width <= FX_SVG_WIDTH - FX_SVG_MARGIN ? "" : HIDDEN,
			  amount);
	}
}

void fx_svg_begin(struct fx_svg *svg, int height, const char *title)
{
	svg_print(svg,
		  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		  "viewBox=\"0 0 %d %d\" data-left=\"%d\" data-right=\"%d\" ",
		  FX_SVG_WIDTH, height, FX_SVG_WIDTH, height, svg->axis.left,
		  FX_SVG_WIDTH - FX_SVG_MARGIN);
	svg_print(svg, "data-from=\"%llu\" data-to=\"%llu\" data-unit=\"%s\">\n<style>",
		  (unsigned long long)(svg->axis.from - svg->axis.zero),
		  (unsigned long long)(svg->axis.to - svg->axis.zero),
		  fx_measure_infos[svg->axis.measure].unit);
	fx_plain_raw(svg->sink, svg_style);
	svg_print(
	    svg,
	    "</style>\n<defs><marker id=\"a\" markerWidth=\"7\" markerHeight=\"6\" refX=\"6\" "
	    "refY=\"3\" orient=\"auto\"><path d=\"M0 0L7 3L0 6z\" fill=\"#c33\"/></marker>"
	    "</defs>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
	    "<text class=\"b\" x=\"%d\" y=\"20\">",
	    FX_SVG_WIDTH, height, FX_SVG_MARGIN);
	fx_svg_escape(svg->sink, title, strlen(title));
	fx_plain_raw(svg->sink, "</text>\n");
	if (svg->axis.has_ticks)
		svg_put_ticks(svg, height);
}

void fx_svg_end(struct fx_svg *svg)
{
	fx_plain_raw(svg->sink, "<script><![CDATA[\n");
	fx_plain_raw(svg->sink, fx_svg_script);
	fx_plain_raw(svg->sink, "]]></script>\n</svg>\n");
}

void fx_svg_line(struct fx_svg *svg, int x, int y, const char *style, const struct fx_text *text,
		 int width)
{
	svg_print(svg, "<text class=\"%s\" x=\"%d\" y=\"%d\">", style, x, y);
	svg_put_fitting(svg->sink, text, width);
	fx_plain_raw(svg->sink, "</text>\n");
}

/* --- Boxes ------------------------------------------------------------------------------------ */

static uint32_t svg_hash(const struct fx_text *text)
{
	uint32_t hash = 2166136261U;

	for (uint32_t i = 0; i < text->length; i++)
		hash = (hash ^ (unsigned char)text->data[i]) * 16777619U;
	return hash ^ hash >> 15;
}

/* Each category has a colour of its own, and each name a shade of it. */
static unsigned svg_hue(const struct fx_text *category)
{
	static const struct {
		const char *category;
		unsigned hue;
	} hues[] = {{"function", 215}, {"syscall", 28}, {"pthread", 268}, {"process", 140},
		    {"malloc", 350},   {"stdio", 50},	{"libc", 80},	  {"dl", 180}};

	for (size_t i = 0; i < sizeof(hues) / sizeof(hues[0]); i++) {
		if (strcmp(hues[i].category, category->data) == 0)
			return hues[i].hue;
	}
	return category->length > 0 ? svg_hash(category) % 360 : 0;
}

/* Wide boxes leave a gap to the next, and the narrowest can still be seen. */
static double svg_visible(double width)
{
	if (width > 2)
		return width - 0.4;
	return width > 0.4 ? width : 0.4;
}

void fx_svg_box_begin(struct fx_svg *svg, const struct fx_svg_box *box)
{
	double x = fx_svg_place(svg, box->from), width = fx_svg_place(svg, box->to) - x;
	uint32_t hash = svg_hash(box->label);

	svg_print(svg, "<g class=\"f\" data-x=\"%llu\" data-w=\"%llu\">",
		  (unsigned long long)(box->from - svg->axis.from),
		  (unsigned long long)(box->to - box->from));
	svg_print(
	    svg,
	    "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"hsl(%u,%s,%u%%)\"/>"
	    "<title>",
	    x, box->y, svg_visible(width), FX_SVG_ROW - 2,
	    (svg_hue(box->category) + 360 + hash % 24 - 12) % 360,
	    box->category->length > 0 ? "62%" : "0%", 74 + hash / 24 % 10);
	fx_svg_escape(svg->sink, svg_label(box->label)->data, svg_label(box->label)->length);
	fx_plain_raw(svg->sink, "\n");
}

void fx_svg_box_end(struct fx_svg *svg, const struct fx_svg_box *box)
{
	double x = fx_svg_place(svg, box->from), width = fx_svg_place(svg, box->to) - x;

	svg_print(svg, "</title><text x=\"%.2f\" y=\"%d\">", x + 3, box->y + 11);
	svg_put_fitting(svg->sink, svg_label(box->label), width - 4);
	fx_plain_raw(svg->sink, "</text></g>\n");
}

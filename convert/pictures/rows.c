/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/pictures/plain.h"
#include "convert/pictures/rows.h"
#include "convert/title.h"

enum {
	LEFT = 170,	/* names of threads stand there */
	TOP = 56,	/* below the title and the times */
	GAP = 9,	/* between threads */
	THREADS = 300,	/* drawn at most */
	DEPTH = 64,	/* of a thread, drawn at most */
	MANY = 30000,	/* boxes; from here on merging is coarser */
	ARROWS = 20000, /* ends of arrows, kept at most */
	NO_THREAD = -1,
};

struct fx_rows_box {
	uint64_t from;
	uint64_t to;
	uint64_t length; /* of the call, also where it reaches beyond the picture */
	uint64_t count;	 /* of calls that it stands for */
	uint32_t name;
	uint32_t category;
	uint16_t depth;
	bool unfinished;
};

struct fx_rows_thread {
	const struct fx_thread *thread;
	uint64_t first; /* when the first call began */
	uint64_t process_first;
	size_t boxes; /* where those of it begin, and how many */
	size_t count;
	unsigned lanes;
	int y;
};

/* An end of an arrow. */
struct fx_rows_point {
	uint64_t chain;
	uint64_t ts;
	uint32_t thread; /* number of the timeline's */
	uint16_t lane;
	uint8_t role;
};

/* --- Gathering -------------------------------------------------------------------------------- */

void fx_rows_begin(struct fx_rows *rows, struct fx_picture *picture)
{
	const struct fx_timeline *timeline = picture->exporter.timeline;
	uint64_t last = timeline->first_ts == UINT64_MAX ? 0 : timeline->last_ts;
	uint64_t to = picture->to < last ? picture->to : last;

	rows->svg = (struct fx_svg){
	    .sink = picture->exporter.sink,
	    .axis = {.left = LEFT,
		     .zero = last ? timeline->first_ts : 0,
		     .from = picture->from,
		     .to = to > picture->from ? to : picture->from + 1,
		     .measure = FX_MEASURE_WALL,
		     .has_ticks = true},
	};
}

static struct fx_rows_thread *rows_thread(struct fx_rows *rows)
{
	return &rows->threads.items[rows->threads.count - 1];
}

void fx_rows_enter(struct fx_rows *rows, struct fx_picture *picture)
{
	if (fx_vector_reserve(&rows->threads, 1) < 0) {
		picture->exporter.error = -ENOMEM;
		return;
	}
	rows->threads.items[rows->threads.count++] = (struct fx_rows_thread){
	    .thread = picture->thread,
	    .first = UINT64_MAX,
	    .boxes = rows->boxes.count,
	};
	memset(rows->last, 0xff, sizeof(rows->last));
}

/* How long a call must be to have a box of its own, and the longest gap between calls that are merged. */
static uint64_t rows_grain(const struct fx_rows *rows)
{
	double pixel = (double)(rows->svg.axis.to - rows->svg.axis.from) /
		       (FX_SVG_WIDTH - FX_SVG_MARGIN - LEFT);
	double grain = 0.5;

	for (size_t limit = MANY; rows->boxes.count > limit && grain < 64; limit *= 2)
		grain *= 4;
	return (uint64_t)(pixel * grain);
}

static bool rows_merge(struct fx_rows *rows, const struct fx_rows_box *box)
{
	uint64_t grain = rows_grain(rows);
	struct fx_rows_box *last;

	if (rows->last[box->depth] == SIZE_MAX || box->to - box->from >= grain)
		return false;
	last = &rows->boxes.items[rows->last[box->depth]];
	if (last->count == 1 && last->to - last->from >= grain)
		return false;
	if (box->from < last->to || box->from - last->to >= grain)
		return false;
	last->to = box->to;
	last->length += box->length;
	if (last->name != box->name)
		last->name = 0;
	if (last->category != box->category)
		last->category = 0;
	last->count++;
	return true;
}

static void rows_add(struct fx_rows *rows, struct fx_picture *picture,
		     const struct fx_rows_box *box)
{
	if (rows_merge(rows, box))
		return;
	if (fx_vector_reserve(&rows->boxes, 1) < 0) {
		picture->exporter.error = -ENOMEM;
		return;
	}
	rows->last[box->depth] = rows->boxes.count;
	rows->boxes.items[rows->boxes.count++] = *box;
	rows_thread(rows)->count++;
}

/* The arrows that end or begin at an event. */
static void rows_take_links(struct fx_rows *rows, const struct fx_picture *picture,
			    const struct fx_event *event, size_t lane)
{
	if (event->ts < rows->svg.axis.from || event->ts > rows->svg.axis.to)
		return;
	for (size_t i = 0; i < event->link_count; i++) {
		if (rows->points.count >= ARROWS || fx_vector_reserve(&rows->points, 1) < 0) {
			rows->arrows_left_out++;
			continue;
		}
		rows->points.items[rows->points.count++] = (struct fx_rows_point){
		    .chain = event->links[i].chain,
		    .ts = event->ts,
		    .thread = picture->thread->number,
		    .lane = (uint16_t)(lane < DEPTH ? lane : DEPTH - 1),
		    .role = (uint8_t)event->links[i].role,
		};
	}
}

void fx_rows_call(struct fx_rows *rows, struct fx_picture *picture, const struct fx_event *event,
		  uint64_t ts)
{
	uint64_t last = picture->exporter.timeline->last_ts;
	uint64_t end = event->end == UINT64_MAX ? last : event->end;
	size_t depth = picture->depth - 1;
	struct fx_rows_thread *thread = rows_thread(rows);

	if (thread->first > ts)
		thread->first = ts;
	if (depth >= DEPTH) {
		rows->too_deep++;
		return;
	}
	if (thread->lanes <= depth)
		thread->lanes = (unsigned)depth + 1;
	rows_add(
	    rows, picture,
	    &(struct fx_rows_box){
		.from = ts,
		.to = end < rows->svg.axis.to ? end : rows->svg.axis.to,
		.length = end - event->ts,
		.count = 1,
		.name = event->name->serial,
		.category = event->category->serial,
		.depth = (uint16_t)depth,
		.unfinished = event->end == UINT64_MAX || (event->flags & FX_ENTRY_UNFINISHED) != 0,
	    });
	rows_take_links(rows, picture, event, depth);
}

void fx_rows_instant(struct fx_rows *rows, struct fx_picture *picture, const struct fx_event *event)
{
	rows_take_links(rows, picture, event, picture->depth > 0 ? picture->depth - 1 : 0);
}

/* --- Order ------------------------------------------------------------------------------------ */

static int rows_compare_size(const void *a, const void *b)
{
	const struct fx_rows_thread *left = a, *right = b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return left->thread->number < right->thread->number
		   ? -1
		   : left->thread->number > right->thread->number;
}

/* Processes and their threads as they began. */
static int rows_compare_start(const void *a, const void *b)
{
	const struct fx_rows_thread *left = a, *right = b;

	if (left->process_first != right->process_first)
		return left->process_first < right->process_first ? -1 : 1;
	if (left->thread->process != right->thread->process)
		return left->thread->process->number < right->thread->process->number ? -1 : 1;
	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return left->thread->number < right->thread->number
		   ? -1
		   : left->thread->number > right->thread->number;
}

/* Threads without calls have no row; of too many, those with the most boxes have one. */
static void rows_choose(struct fx_rows *rows)
{
	size_t kept = 0;

	if (rows->threads.count == 0)
		return;
	qsort(rows->threads.items, rows->threads.count, sizeof(struct fx_rows_thread),
	      rows_compare_size);
	while (kept < rows->threads.count && rows->threads.items[kept].count > 0)
		kept++;
	rows->left_out = kept > THREADS ? kept - THREADS : 0;
	rows->threads.count = kept - rows->left_out;
}

static int rows_sort(struct fx_rows *rows, const struct fx_timeline *timeline)
{
	uint64_t *firsts = malloc((timeline->processes.count + 1) * sizeof(*firsts));

	if (!firsts)
		return -ENOMEM;
	memset(firsts, 0xff, (timeline->processes.count + 1) * sizeof(*firsts));
	for (size_t i = 0; i < rows->threads.count; i++) {
		uint64_t *first = &firsts[rows->threads.items[i].thread->process->number];

		if (*first > rows->threads.items[i].first)
			*first = rows->threads.items[i].first;
	}
	for (size_t i = 0; i < rows->threads.count; i++)
		rows->threads.items[i].process_first =
		    firsts[rows->threads.items[i].thread->process->number];
	free(firsts);
	if (rows->threads.count > 0)
		qsort(rows->threads.items, rows->threads.count, sizeof(struct fx_rows_thread),
		      rows_compare_start);
	return 0;
}

static bool rows_begins_process(const struct fx_rows *rows, size_t i)
{
	const struct fx_rows_thread *threads = rows->threads.items;

	return i == 0 || threads[i].thread->process != threads[i - 1].thread->process;
}

/* Where each thread stands. Returns where the last one ends. */
static int rows_lay_out(struct fx_rows *rows)
{
	int y = TOP;

	for (size_t i = 0; i < rows->threads.count; i++) {
		if (rows_begins_process(rows, i))
			y += FX_SVG_ROW;
		rows->threads.items[i].y = y;
		y += (int)rows->threads.items[i].lanes * FX_SVG_ROW + GAP;
	}
	return y;
}

/* --- Drawing ---------------------------------------------------------------------------------- */

/* Above the rows of a process is room for all of its title. */
static void rows_put_process(struct fx_rows *rows, const struct fx_process *process, int y)
{
	char title[FX_TITLE_MAX], text[FX_TITLE_MAX + 32];
	struct fx_text line = {.data = text};

	line.length = (uint32_t)snprintf(text, sizeof(text), "%s %llu",
					 fx_title_of(process, title) ? title : "process",
					 (unsigned long long)process->pid);
	fx_svg_line(&rows->svg, 6, y, "b", &line, FX_SVG_WIDTH - FX_SVG_MARGIN);
}

static void rows_put_name(struct fx_rows *rows, const struct fx_thread *thread, int y)
{
	const struct fx_text *name = thread->name;
	char text[200];
	struct fx_text line = {.data = text};

	line.length = (uint32_t)snprintf(
	    text, sizeof(text), "%.16s%s %llu", name ? name->data : "thread",
	    name && name->length > 16 ? "…" : "", (unsigned long long)thread->key.tid);
	fx_svg_line(&rows->svg, 14, y, "", &line, LEFT);
}

static void rows_put_facts(struct fx_rows *rows, const struct fx_rows_box *box,
			   const struct fx_text *category)
{
	struct fx_sink *sink = rows->svg.sink;
	char text[FX_AMOUNT_SIZE];

	if (category->length > 0) {
		fx_svg_escape(sink, category->data, category->length);
		fx_plain_raw(sink, "\n");
	}
	fx_plain_raw(sink, fx_svg_amount(FX_MEASURE_WALL, box->length, text));
	if (box->count > 1) {
		fx_plain_raw(sink, " in ");
		fx_plain_uint(sink, box->count);
		fx_plain_raw(sink, " calls");
	}
	if (box->unfinished)
		fx_plain_raw(sink, ", did not finish");
}

static const struct fx_text *rows_text(const struct fx_picture *picture, uint32_t id)
{
	static const struct fx_text none = {.data = ""};

	return id ? fx_texts_get(picture->exporter.timeline->strings, id) : &none;
}

static void rows_put_box(struct fx_rows *rows, const struct fx_picture *picture,
			 const struct fx_rows_box *at, int y)
{
	static const struct fx_text several = {.data = "several", .length = 7};
	struct fx_svg_box box = {
	    .from = at->from,
	    .to = at->to,
	    .y = y + at->depth * FX_SVG_ROW,
	    .label = at->count > 1 && !at->name ? &several : rows_text(picture, at->name),
	    .category = rows_text(picture, at->category),
	};

	fx_svg_box_begin(&rows->svg, &box);
	rows_put_facts(rows, at, box.category);
	fx_svg_box_end(&rows->svg, &box);
}

static void rows_put_thread(struct fx_rows *rows, const struct fx_picture *picture, size_t i)
{
	const struct fx_rows_thread *row = &rows->threads.items[i];

	if (rows_begins_process(rows, i))
		rows_put_process(rows, row->thread->process, row->y - 5);
	rows_put_name(rows, row->thread, row->y + 11);
	for (size_t k = 0; k < row->count; k++)
		rows_put_box(rows, picture, &rows->boxes.items[row->boxes + k], row->y);
}

static int rows_compare_points(const void *a, const void *b)
{
	const struct fx_rows_point *left = a, *right = b;

	if (left->chain != right->chain)
		return left->chain < right->chain ? -1 : 1;
	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	return left->role - right->role;
}

static void rows_put_arrow(struct fx_rows *rows, const struct fx_rows_point *from, int y1,
			   const struct fx_rows_point *to, int y2)
{
	double x1 = fx_svg_place(&rows->svg, from->ts), x2 = fx_svg_place(&rows->svg, to->ts);
	uint64_t zero = rows->svg.axis.from;
	char text[300];

	snprintf(text, sizeof(text),
		 "<path class=\"a\" data-from=\"%llu\" data-to=\"%llu\" data-y1=\"%d\" "
		 "data-y2=\"%d\" d=\"M%.1f %dC%.1f %d %.1f %d %.1f %d\" marker-end=\"url(#a)\"/>\n",
		 (unsigned long long)(from->ts - zero), (unsigned long long)(to->ts - zero), y1, y2,
		 x1, y1, x1 + 25, y1, x2 - 25, y2, x2, y2);
	fx_plain_raw(rows->svg.sink, text);
}

static int rows_point_y(const int *places, const struct fx_rows_point *point)
{
	int y = places[point->thread];

	return y == NO_THREAD ? NO_THREAD : y + point->lane * FX_SVG_ROW + 8;
}

static void rows_put_arrows(struct fx_rows *rows, const struct fx_picture *picture)
{
	size_t threads = picture->exporter.timeline->threads.count;
	int *places = malloc((threads + 1) * sizeof(*places));

	if (!places)
		return;
	for (size_t i = 0; i < threads; i++)
		places[i] = NO_THREAD;
	for (size_t i = 0; i < rows->threads.count; i++)
		places[rows->threads.items[i].thread->number] = rows->threads.items[i].y;
	if (rows->points.count > 0)
		qsort(rows->points.items, rows->points.count, sizeof(struct fx_rows_point),
		      rows_compare_points);
	for (size_t i = 1; i < rows->points.count; i++) {
		const struct fx_rows_point *from = &rows->points.items[i - 1], *to = from + 1;
		int y1 = rows_point_y(places, from), y2 = rows_point_y(places, to);

		if (from->chain == to->chain && y1 != NO_THREAD && y2 != NO_THREAD)
			rows_put_arrow(rows, from, y1, to, y2);
	}
	free(places);
}

/* --- The whole -------------------------------------------------------------------------------- */

static int rows_put_remark(struct fx_rows *rows, int y, uint64_t count, const char *what)
{
	char text[120];
	struct fx_text line = {.data = text};

	if (count == 0)
		return y;
	line.length =
	    (uint32_t)snprintf(text, sizeof(text), "%llu %s", (unsigned long long)count, what);
	fx_svg_line(&rows->svg, FX_SVG_MARGIN, y, "n", &line, FX_SVG_WIDTH);
	return y + FX_SVG_ROW;
}

void fx_rows_write(struct fx_rows *rows, struct fx_picture *picture)
{
	size_t remarks = picture->notes.count;
	char title[100], amount[FX_AMOUNT_SIZE];
	int y;

	if (!fx_picture_is_good(picture))
		return;
	rows_choose(rows);
	if (rows_sort(rows, picture->exporter.timeline) < 0) {
		picture->exporter.error = -ENOMEM;
		return;
	}
	y = rows_lay_out(rows);
	remarks += (rows->left_out > 0) + (rows->too_deep > 0) + (rows->arrows_left_out > 0);
	snprintf(title, sizeof(title), "Timeline: %s",
		 fx_svg_amount(FX_MEASURE_WALL, rows->svg.axis.to - rows->svg.axis.from, amount));
	fx_svg_begin(&rows->svg, y + ((int)remarks + 1) * FX_SVG_ROW, title);
	for (size_t i = 0; i < rows->threads.count; i++)
		rows_put_thread(rows, picture, i);
	rows_put_arrows(rows, picture);
	y = rows_put_remark(rows, y + FX_SVG_ROW, rows->left_out,
			    "threads with fewer calls are not drawn");
	y = rows_put_remark(rows, y, rows->too_deep, "calls nested deeper than 64 are not drawn");
	y = rows_put_remark(rows, y, rows->arrows_left_out, "ends of arrows are not drawn");
	for (size_t i = 0; i < picture->notes.count; i++, y += FX_SVG_ROW)
		fx_svg_line(&rows->svg, FX_SVG_MARGIN, y, "n", picture->notes.items[i],
			    FX_SVG_WIDTH);
	fx_svg_end(&rows->svg);
}

void fx_rows_destroy(struct fx_rows *rows)
{
	fx_vector_free(&rows->boxes);
	fx_vector_free(&rows->threads);
	fx_vector_free(&rows->points);
}

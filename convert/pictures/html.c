/* SPDX-License-Identifier: MIT */
/*
 * One page that opens without a network: a timeline with arrows and arguments, a flame graph, the tables of a report. The data
 * stand in it as JSON, in columns; html.js shows them. Of more events than a browser bears the longest are kept.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/formats.h"
#include "convert/json-text.h"
#include "convert/pictures/html_script.h"
#include "convert/pictures/plain.h"
#include "convert/title.h"

enum { EVENTS_MAX = 1000000 };

struct item {
	uint64_t ts, dur;
	uint64_t order; /* in which they came: by thread, then time */
	uint32_t name, thread, depth, args;
};

/* A place where an event is part of a flow. */
struct end {
	uint64_t chain, order;
	uint64_t ts;
};

struct html {
	struct fx_exporter exporter;
	struct fx_sink *sink;
	FX_VECTOR(struct item) items;
	FX_VECTOR(struct end) ends;
	uint64_t seen;	   /* events */
	uint64_t shortest; /* ns: what is shorter has been left out */
	uint32_t depth;
};

static struct html *html_get(struct fx_exporter *exporter)
{
	return (struct html *)exporter;
}

/* --- What is seen ----------------------------------------------------------------------------- */

static int html_compare_lengths(const void *a, const void *b)
{
	const struct item *left = a, *right = b;

	if (left->dur != right->dur)
		return left->dur < right->dur ? 1 : -1;
	return (left->order > right->order) - (left->order < right->order);
}

static int html_compare_orders(const void *a, const void *b)
{
	const struct item *left = a, *right = b;

	return (left->order > right->order) - (left->order < right->order);
}

/* Keeps the longest ones. */
static void html_thin(struct html *html)
{
	if (html->items.count <= EVENTS_MAX)
		return;
	qsort(html->items.items, html->items.count, sizeof(struct item), html_compare_lengths);
	html->items.count = EVENTS_MAX;
	html->shortest = html->items.items[EVENTS_MAX - 1].dur;
}

/* "name: value", a line each. */
static void html_put_arg(FILE *out, const struct fxt_arg *arg)
{
	fprintf(out, "%.*s: ", (int)arg->name.length, arg->name.data);
	switch (arg->type) {
	case FXT_ARG_INT32:
		fprintf(out, "%" PRId32 "\n", arg->int32);
		break;
	case FXT_ARG_UINT32:
		fprintf(out, "%" PRIu32 "\n", arg->uint32);
		break;
	case FXT_ARG_INT64:
		fprintf(out, "%" PRId64 "\n", arg->int64);
		break;
	case FXT_ARG_DOUBLE:
		fprintf(out, "%g\n", arg->real);
		break;
	case FXT_ARG_STRING:
		fprintf(out, "%.*s\n", (int)arg->string.length, arg->string.data);
		break;
	case FXT_ARG_POINTER:
		fprintf(out, "0x%" PRIx64 "\n", arg->pointer);
		break;
	case FXT_ARG_BOOL:
		fputs(arg->boolean ? "yes\n" : "no\n", out);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		fprintf(out, "%" PRIu64 "\n", arg->uint64);
		break;
	default:
		fputs("null\n", out);
	}
}

/* The number of the text of all arguments; 0: there are none. */
static uint32_t html_args(struct html *html, const struct fx_event *event)
{
	char *text = NULL;
	size_t size = 0;
	uint32_t number;
	FILE *out;

	if (event->nargs + event->end_nargs == 0)
		return 0;
	out = open_memstream(&text, &size);
	if (!out) {
		html->exporter.error = -ENOMEM;
		return 0;
	}
	for (uint32_t i = 0; i < event->nargs; i++)
		html_put_arg(out, &event->args[i]);
	for (uint32_t i = 0; i < event->end_nargs; i++)
		html_put_arg(out, &event->end_args[i]);
	fclose(out);
	number = fx_texts_add(html->exporter.timeline->strings, text, size);
	free(text);
	return number;
}

static void html_note_links(struct html *html, const struct fx_event *event)
{
	if (event->link_count == 0 || fx_vector_reserve(&html->ends, event->link_count) < 0)
		return;
	for (size_t i = 0; i < event->link_count; i++)
		html->ends.items[html->ends.count++] =
		    (struct end){event->links[i].chain, html->seen, event->ts};
}

static void html_add(struct html *html, const struct fx_event *event, uint64_t dur)
{
	html_note_links(html, event);
	html->seen++;
	if (html->shortest && dur <= html->shortest)
		return;
	if (fx_vector_reserve(&html->items, 1) < 0) {
		html->exporter.error = -ENOMEM;
		return;
	}
	html->items.items[html->items.count++] = (struct item){
	    .ts = event->ts - html->exporter.timeline->first_ts,
	    .dur = dur,
	    .order = html->seen - 1,
	    .name = event->name->serial,
	    .thread = event->thread->number,
	    .depth = html->depth,
	    .args = html_args(html, event),
	};
	if (html->items.count >= 2 * (size_t)EVENTS_MAX)
		html_thin(html);
}

static void html_enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	(void)thread;
	html_get(exporter)->depth = 0;
}

static void html_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct html *html = html_get(exporter);
	uint64_t end = event->end == UINT64_MAX ? exporter->timeline->last_ts : event->end;

	html_add(html, event, end - event->ts);
	html->depth++;
}

static void html_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			   uint64_t ts)
{
	struct html *html = html_get(exporter);

	(void)thread;
	(void)ts;
	if (html->depth > 0)
		html->depth--;
}

static void html_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	html_add(html_get(exporter), event, 0);
}

/* --- The page --------------------------------------------------------------------------------- */

/* A string in quotation marks; `<' cannot end the script that it stands in. */
static void html_string(struct html *html, const struct fx_text *text)
{
	size_t begin = 0;

	fx_plain_raw(html->sink, "\"");
	for (size_t i = 0; text && i < text->length; i++) {
		unsigned char byte = (unsigned char)text->data[i];
		char escaped[8];

		if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != '<')
			continue;
		fx_sink_write(html->sink, text->data + begin, i - begin);
		snprintf(escaped, sizeof(escaped), "\\u%04x", byte);
		fx_plain_raw(html->sink, escaped);
		begin = i + 1;
	}
	if (text)
		fx_sink_write(html->sink, text->data + begin, text->length - begin);
	fx_plain_raw(html->sink, "\"");
}

static void html_thread_title(struct html *html, const struct fx_thread *thread)
{
	const struct fx_text *name = thread->name ? thread->name : thread->process->name;
	struct fx_text whole = {0};
	const char *process = thread->process->name ? thread->process->name->data : "process";
	char *text, title[FX_TITLE_MAX];
	int length;

	/* The first thread of a process has its number, and most often its name: there stands the process's title. */
	if (thread->key.tid == thread->process->pid && name == thread->process->name)
		length = asprintf(&text, "%s %" PRIu64,
				  fx_title_of(thread->process, title) ? title : process,
				  thread->process->pid);
	else
		length =
		    asprintf(&text, "%s %" PRIu64 " / %s %" PRIu64, process, thread->process->pid,
			     name ? name->data : "thread", thread->key.tid);

	if (length < 0) {
		html->exporter.error = -ENOMEM;
		length = 0;
		text = NULL;
	}
	whole.data = text;
	whole.length = (uint32_t)length;
	html_string(html, &whole);
	free(text);
}

/* The numbers that texts have in the page: those that are used, in order of their use. */
struct numbering {
	uint32_t *of_text;
	FX_VECTOR(uint32_t) used;
};

static uint32_t html_number(struct html *html, struct numbering *numbering, uint32_t text)
{
	if (!numbering->of_text || fx_vector_reserve(&numbering->used, 1) < 0) {
		html->exporter.error = -ENOMEM;
		return 0;
	}
	if (!numbering->of_text[text]) {
		numbering->used.items[numbering->used.count++] = text;
		numbering->of_text[text] = (uint32_t)numbering->used.count;
	}
	return numbering->of_text[text] - 1;
}

enum column { COLUMN_TS, COLUMN_DUR, COLUMN_DEPTH, COLUMN_THREAD };

static void html_column(struct html *html, const char *name, enum column column)
{
	uint64_t last = 0, thread = UINT64_MAX;

	fx_plain_raw(html->sink, name);
	for (size_t i = 0; i < html->items.count; i++) {
		const struct item *item = &html->items.items[i];
		uint64_t value = 0;

		if (item->thread != thread)
			last = 0;
		thread = item->thread;
		switch (column) {
		case COLUMN_TS:
			value = item->ts - last;
			last = item->ts;
			break;
		case COLUMN_DUR:
			value = item->dur;
			break;
		case COLUMN_DEPTH:
			value = item->depth;
			break;
		case COLUMN_THREAD:
			value = item->thread;
			break;
		}
		fx_plain_raw(html->sink, i > 0 ? "," : "");
		fx_plain_uint(html->sink, value);
	}
	fx_plain_raw(html->sink, "]");
}

/* A column of texts' numbers, and the texts. */
static void html_texts(struct html *html, const char *column, const char *texts, bool is_args)
{
	uint32_t count = fx_texts_count(html->exporter.timeline->strings);
	struct numbering numbering = {.of_text = calloc((size_t)count + 1, sizeof(uint32_t))};

	fx_plain_raw(html->sink, column);
	for (size_t i = 0; i < html->items.count; i++) {
		const struct item *item = &html->items.items[i];

		fx_plain_raw(html->sink, i > 0 ? "," : "");
		fx_plain_uint(html->sink,
			      html_number(html, &numbering, is_args ? item->args : item->name));
	}
	fx_plain_raw(html->sink, texts);
	for (size_t i = 0; i < numbering.used.count; i++) {
		uint32_t text = numbering.used.items[i];

		fx_plain_raw(html->sink, i > 0 ? ",\n" : "\n");
		html_string(html,
			    text ? fx_texts_get(html->exporter.timeline->strings, text) : NULL);
	}
	fx_plain_raw(html->sink, "]");
	free(numbering.of_text);
	fx_vector_free(&numbering.used);
}

static int html_compare_ends(const void *a, const void *b)
{
	const struct end *left = a, *right = b;

	if (left->chain != right->chain)
		return left->chain > right->chain ? 1 : -1;
	if (left->ts != right->ts)
		return left->ts > right->ts ? 1 : -1;
	return (left->order > right->order) - (left->order < right->order);
}

/* Where an event stands among those that are kept; false: it is not. */
static bool html_find(const struct html *html, uint64_t order, size_t *ret)
{
	const struct item key = {.order = order}, *found = NULL;

	if (html->items.count > 0)
		found = bsearch(&key, html->items.items, html->items.count, sizeof(key),
				html_compare_orders);
	if (found)
		*ret = (size_t)(found - html->items.items);
	return found != NULL;
}

static void html_arrows(struct html *html)
{
	const char *comma = "";

	fx_plain_raw(html->sink, ",\"arrows\":[");
	if (html->ends.count > 0)
		qsort(html->ends.items, html->ends.count, sizeof(struct end), html_compare_ends);
	for (size_t i = 1; i < html->ends.count; i++) {
		const struct end *from = &html->ends.items[i - 1], *to = &html->ends.items[i];
		size_t first, second;

		if (from->chain != to->chain || !html_find(html, from->order, &first) ||
		    !html_find(html, to->order, &second))
			continue;
		fx_plain_raw(html->sink, comma);
		fx_plain_raw(html->sink, "[");
		fx_plain_uint(html->sink, first);
		fx_plain_raw(html->sink, ",");
		fx_plain_uint(html->sink, second);
		fx_plain_raw(html->sink, "]");
		comma = ",";
	}
	fx_plain_raw(html->sink, "]");
}

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>fxtrace</title>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n"
    "<style>body{font:13px sans-serif;margin:12px}canvas{width:100%;display:block;"
    "border:1px solid #ccc;cursor:pointer}h2{font-size:14px;margin:14px 0 4px}"
    "td,th{text-align:right;padding:1px 10px;font-variant-numeric:tabular-nums}"
    "#calls td:last-child,thead th:last-child,.text{text-align:left;overflow-wrap:anywhere}"
    "h3{font-size:13px;margin:14px 0 2px}.note{color:#555;margin:2px 10px}td{vertical-align:top}"
    "#details{white-space:pre-wrap;background:#f4f4f4;padding:6px;min-height:6em;"
    "overflow-wrap:anywhere}</style></head><body>\n"
    "<p><input id=\"search\" type=\"search\" placeholder=\"Search names\"> <span id=\"found\">"
    "</span> <span id=\"range\"></span></p>\n";

static const char page_body[] =
    "<h2>Timeline</h2><canvas id=\"timeline\"></canvas>\n"
    "<p>Wheel or w, s: zoom. Drag or a, d: move. Double click: zoom to a call. 0: all. Enter in "
    "the search: the next one.</p>\n"
    "<pre id=\"details\">Click a call: its arguments are shown here.</pre>\n"
    "<h2>Flame graph: time of all threads, by calls and their callers</h2>"
    "<canvas id=\"flame\"></canvas>\n"
    "<h2>Calls</h2><table><thead><tr><th>self</th><th>total</th><th>calls</th><th>longest</th>"
    "<th>name</th></tr></thead><tbody id=\"calls\"></tbody></table>\n"
    "<div id=\"tables\"></div>\n"
    "<script type=\"application/json\" id=\"data\">{";

static void html_begin(struct fx_exporter *exporter)
{
	fx_plain_raw(html_get(exporter)->sink, page_head);
}

static void html_say_left_out(struct html *html)
{
	if (html->seen <= html->items.count)
		return;
	fx_plain_raw(html->sink, "<p><b>Only the longest ");
	fx_plain_uint(html->sink, html->items.count);
	fx_plain_raw(html->sink, " of ");
	fx_plain_uint(html->sink, html->seen);
	fx_plain_raw(html->sink,
		     " events are shown; times of their own include what is not.</b></p>\n");
}

static void html_finish(struct fx_exporter *exporter)
{
	struct html *html = html_get(exporter);
	const struct fx_timeline *timeline = exporter->timeline;

	html_thin(html);
	if (html->items.count > 0)
		qsort(html->items.items, html->items.count, sizeof(struct item),
		      html_compare_orders);
	html_say_left_out(html);
	fx_plain_raw(html->sink, page_body);
	fx_plain_raw(html->sink, "\"span\":");
	fx_plain_uint(html->sink, timeline->first_ts == UINT64_MAX
				      ? 0
				      : timeline->last_ts - timeline->first_ts);
	fx_plain_raw(html->sink, ",\"threads\":[");
	for (size_t i = 0; i < timeline->threads.count; i++) {
		fx_plain_raw(html->sink, i > 0 ? ",{\"title\":" : "{\"title\":");
		html_thread_title(html, timeline->threads.items[i]);
		fx_plain_raw(html->sink, "}");
	}
	html_column(html, "],\"ts\":[", COLUMN_TS);
	html_column(html, ",\"dur\":[", COLUMN_DUR);
	html_column(html, ",\"depth\":[", COLUMN_DEPTH);
	html_column(html, ",\"thread\":[", COLUMN_THREAD);
	html_texts(html, ",\"name\":[", "],\"names\":[", false);
	html_texts(html, ",\"args\":[", "],\"texts\":[", true);
	html_arrows(html);
	fx_plain_raw(html->sink, "}</script>\n<script type=\"application/json\" id=\"report\">");
	fx_plain_raw(html->sink, exporter->tables ? exporter->tables : "[]");
	fx_plain_raw(html->sink, "</script>\n<script>");
	fx_plain_raw(html->sink, fx_html_script);
	fx_plain_raw(html->sink, "</script></body></html>\n");
}

static void html_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	(void)exporter;
	(void)process;
}

static void html_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	(void)exporter;
	(void)thread;
}

static void html_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	(void)event;
	(void)id;
	exporter->timeline->misfits[FX_MISFIT_OTHER_FORMAT]++;
}

static void html_log(struct fx_exporter *exporter, const struct fx_event *event,
		     const struct fxt_string *message)
{
	struct html *html = html_get(exporter);
	struct fxt_string name = *message;
	struct fx_event named = *event;

	name.serial = fx_texts_add(exporter->timeline->strings, message->data, message->length);
	named.name = &name;
	html_add(html, &named, 0);
}

static void html_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	(void)exporter;
	(void)note;
}

static const struct fx_exporter_ops html_ops = {
    .begin = html_begin,
    .process = html_process,
    .thread = html_thread,
    .enter_thread = html_enter_thread,
    .slice_begin = html_slice_begin,
    .slice_end = html_slice_end,
    .instant = html_instant,
    .counter = html_counter,
    .log = html_log,
    .note = html_note,
    .finish = html_finish,
};

struct fx_exporter *fx_html_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	struct html *html = calloc(1, sizeof(*html));

	if (!html)
		return NULL;
	html->exporter = (struct fx_exporter){
	    .ops = &html_ops, .sink = sink, .timeline = timeline, .takes_tables = true};
	html->sink = sink;
	return &html->exporter;
}

void fx_html_free(struct fx_exporter *exporter)
{
	struct html *html = html_get(exporter);

	fx_vector_free(&html->items);
	fx_vector_free(&html->ends);
	free(html);
}

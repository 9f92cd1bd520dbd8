/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/convert.h"
#include "convert/utf8.h"
#include "report/report.h"
#include "report/section.h"
#include "report/units.h"

/* What the filter says of a text: asked once for each. */
enum { VERDICT_UNKNOWN, VERDICT_PASS, VERDICT_REFUSE };

/* Texts of unbounded number, such as paths, that are kept. */
enum { TEXTS_MAX = 1000000 };

struct text_facts {
	uint8_t as_name, as_category; /* VERDICT_ */
	uint8_t kind;		      /* enum fx_call_kind, once as_category is known */
};

/* One stands in no table of sections: it is of objects that are asked for. */
enum { SECTIONS_MAX = FX_SECTION_COUNT + 1 };

/* The sections that are told of calls of a kind. */
struct listeners {
	size_t enter_count, leave_count;
	struct {
		void (*tell)(void *section, const struct fx_open_call *call,
			     const struct fx_event *event);
		void *state;
	} enter[SECTIONS_MAX];
	struct {
		void (*tell)(void *section, const struct fx_open_call *call);
		void *state;
	} leave[SECTIONS_MAX];
};

struct fx_report {
	struct fx_exporter exporter; /* first: the walk hands it to us */
	const struct fx_report_order *order;
	const struct fx_section *sections[SECTIONS_MAX];
	void *states[SECTIONS_MAX];
	size_t section_count;
	/* The same, by the kinds of calls that they are told of. */
	struct listeners listeners[FX_CALL_KIND_COUNT];
	uint64_t begin, end;
	bool thread_passes;
	uint64_t texts_made; /* fx_report_intern_some() */
	uint64_t lost;	     /* records that the archive says are missing */
	char cure[120];	     /* what would have kept them; "": nothing known */
	FX_VECTOR(struct fx_open_call) stack;
	FX_VECTOR(struct text_facts) facts;
	FX_VECTOR(struct fx_table *) tables;
	FX_VECTOR(char *) missing;
};

/* Calls a function of each section that has it. */
#define FOR_EACH_SECTION(report, function, ...)                                                    \
	for (size_t i_ = 0; i_ < (report)->section_count; i_++) {                                  \
		if ((report)->sections[i_]->function)                                              \
			(report)->sections[i_]->function((report)->states[i_], ##__VA_ARGS__);     \
	}

static struct fx_report *report_of(struct fx_exporter *exporter)
{
	return (struct fx_report *)exporter;
}

/* --- The filter ------------------------------------------------------------------------------- */

static const struct text_facts no_facts = {VERDICT_PASS, VERDICT_PASS, FX_CALL_OTHER};

static struct text_facts *report_add_facts(struct fx_report *report, uint32_t text)
{
	size_t count = report->facts.count, more = text + 1 - count;

	if (fx_vector_reserve(&report->facts, more) < 0) {
		report->exporter.error = -ENOMEM;
		return NULL;
	}
	memset(report->facts.items + count, 0, more * sizeof(struct text_facts));
	report->facts.count += more;
	return &report->facts.items[text];
}

static inline struct text_facts *report_facts(struct fx_report *report, uint32_t text)
{
	return text < report->facts.count ? &report->facts.items[text]
					  : report_add_facts(report, text);
}

static const char *report_text_data(const struct fx_report *report, uint32_t text)
{
	return text ? fx_report_text(report, text)->data : "";
}

static const struct text_facts *report_name_facts(struct fx_report *report, uint32_t name)
{
	struct text_facts *facts = report_facts(report, name);

	if (!facts)
		return &no_facts;
	if (facts->as_name == VERDICT_UNKNOWN)
		facts->as_name =
		    fx_patterns_match(&report->order->filter.names, report_text_data(report, name))
			? VERDICT_PASS
			: VERDICT_REFUSE;
	return facts;
}

static const struct text_facts *report_category_facts(struct fx_report *report, uint32_t category)
{
	struct text_facts *facts = report_facts(report, category);

	if (!facts)
		return &no_facts;
	if (facts->as_category == VERDICT_UNKNOWN) {
		const char *text = report_text_data(report, category);

		facts->kind = fx_call_kind_of(text);
		facts->as_category = fx_patterns_match(&report->order->filter.categories, text)
					 ? VERDICT_PASS
					 : VERDICT_REFUSE;
	}
	return facts;
}

/* Whether the sections see an event. What is known of its category may not last beyond this call. */
static bool report_shows(struct fx_report *report, const struct fx_event *event,
			 const struct text_facts *category)
{
	uint64_t end = event->end > event->ts ? event->end : event->ts;

	return report->thread_passes && end >= report->begin && event->ts <= report->end &&
	       category->as_category == VERDICT_PASS &&
	       report_name_facts(report, event->name->serial)->as_name == VERDICT_PASS;
}

/* --- The walk: struct fx_exporter_ops --------------------------------------------------------- */

static uint64_t report_cut(const struct fx_report *report, uint64_t ts)
{
	return ts < report->begin ? report->begin : ts > report->end ? report->end : ts;
}

static void report_leave(struct fx_report *report)
{
	struct fx_open_call *call = &report->stack.items[report->stack.count - 1];
	const struct listeners *listeners = &report->listeners[call->kind];

	for (size_t i = 0; call->is_shown && i < listeners->leave_count; i++)
		listeners->leave[i].tell(listeners->leave[i].state, call);
	report->stack.count--;
	if (report->stack.count > 0)
		report->stack.items[report->stack.count - 1].inside += call->end - call->ts;
}

/* Calls that did not finish stay open until their thread is over. */
static void report_leave_all(struct fx_report *report)
{
	while (report->stack.count > 0)
		report_leave(report);
}

static void report_enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	struct fx_report *report = report_of(exporter);

	report_leave_all(report);
	report->thread_passes = fx_filter_thread(&report->order->filter, thread);
}

/* The manager ends what was open at a death or a stop, and says so. */
static bool report_says_unfinished(const struct fx_event *event)
{
	const struct fxt_arg *arg = NULL;

	if (event->nargs + event->end_nargs > 0)
		arg = fx_event_arg(event, "unfinished");
	return arg && arg->type == FXT_ARG_BOOL && arg->boolean;
}

/* One that ends by becoming another program is not cut off. */
static bool report_is_exec(const struct fx_event *event, enum fx_call_kind kind)
{
	const char *name = event->name->data;

	return (kind == FX_CALL_PROCESS || kind == FX_CALL_SYSCALL) && event->name->length >= 4 &&
	       (memcmp(name, "exec", 4) == 0 || memcmp(name, "fexe", 4) == 0);
}

static void report_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct fx_report *report = report_of(exporter);
	const struct text_facts *category = report_category_facts(report, event->category->serial);
	const struct listeners *listeners = &report->listeners[category->kind];
	struct fx_open_call *call;

	if (fx_vector_reserve(&report->stack, 1) < 0) {
		exporter->error = -ENOMEM;
		return;
	}
	call = &report->stack.items[report->stack.count];
	*call = (struct fx_open_call){
	    .thread = event->thread,
	    .ts = report_cut(report, event->ts),
	    .end = report_cut(report, event->end),
	    .name = event->name->serial,
	    .category = event->category->serial,
	    .depth = (uint32_t)report->stack.count,
	    .kind = category->kind,
	    .is_unfinished =
		event->end == UINT64_MAX || (event->flags & FX_ENTRY_UNFINISHED) ||
		(report_says_unfinished(event) && !report_is_exec(event, category->kind)),
	};
	call->is_shown = report_shows(report, event, category);
	report->stack.count++;
	for (size_t i = 0; call->is_shown && i < listeners->enter_count; i++)
		listeners->enter[i].tell(listeners->enter[i].state, call, event);
	if (!call->is_shown)
		FOR_EACH_SECTION(report, hidden_enter, call, event);
	if (event->link_count > 0)
		FOR_EACH_SECTION(report, link, event);
}

static void report_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			     uint64_t ts)
{
	struct fx_report *report = report_of(exporter);

	(void)thread;
	(void)ts;
	/* Empty only where memory has run out. */
	if (report->stack.count > 0)
		report_leave(report);
}

/* Records that are missing, whatever the filter lets pass of what is there. */
static void report_look_at_loss(struct fx_report *report, const struct fx_event *event)
{
	const struct fxt_arg *cure = fx_event_arg(event, "cure");
	int64_t count;

	if (!report->thread_passes || !fxt_string_equals(event->category, "fxtrace") ||
	    !fxt_string_equals(event->name, "records dropped") ||
	    !fx_event_integer(event, "count", &count) || count < 0)
		return;
	report->lost += (uint64_t)count;
	if (cure && cure->type == FXT_ARG_STRING && cure->string.length < sizeof(report->cure) &&
	    fx_utf8_is_clean(cure->string.data, cure->string.length)) {
		memcpy(report->cure, cure->string.data, cure->string.length);
		report->cure[cure->string.length] = 0;
	}
}

static void report_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct fx_report *report = report_of(exporter);

	report_look_at_loss(report, event);
	if (report_shows(report, event, report_category_facts(report, event->category->serial))) {
		FOR_EACH_SECTION(report, instant, event);
	} else {
		FOR_EACH_SECTION(report, hidden_instant, event);
	}
	if (event->link_count > 0)
		FOR_EACH_SECTION(report, link, event);
}

static void report_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	struct fx_report *report = report_of(exporter);

	if (report_shows(report, event, report_category_facts(report, event->category->serial)))
		FOR_EACH_SECTION(report, counter, event, id);
}

static void report_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	FOR_EACH_SECTION(report_of(exporter), switch_, sched);
}

static void report_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	FOR_EACH_SECTION(report_of(exporter), wakeup, wakeup);
}

static void report_begin(struct fx_exporter *exporter)
{
	(void)exporter;
}

static void report_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	(void)exporter;
	(void)process;
}

static void report_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	(void)exporter;
	(void)thread;
}

static void report_log(struct fx_exporter *exporter, const struct fx_event *event,
		       const struct fxt_string *message)
{
	(void)exporter;
	(void)event;
	(void)message;
}

static void report_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	(void)exporter;
	(void)note;
}

static void report_finish(struct fx_exporter *exporter)
{
	report_leave_all(report_of(exporter));
}

static const struct fx_exporter_ops report_ops = {
    .begin = report_begin,
    .process = report_process,
    .thread = report_thread,
    .enter_thread = report_enter_thread,
    .slice_begin = report_slice_begin,
    .slice_end = report_slice_end,
    .instant = report_instant,
    .counter = report_counter,
    .log = report_log,
    .note = report_note,
    .sched_switch = report_switch,
    .sched_wakeup = report_wakeup,
    .finish = report_finish,
};

/* --- What sections may ask ------------------------------------------------------------------- */

const struct fx_texts *fx_report_texts(const struct fx_report *report)
{
	return report->exporter.timeline->strings;
}

const struct fx_text *fx_report_text(const struct fx_report *report, uint32_t number)
{
	return fx_texts_get(report->exporter.timeline->strings, number);
}

uint32_t fx_report_intern(struct fx_report *report, const char *text, size_t length)
{
	uint32_t number;

	if (length == 0)
		return 0;
	number = fx_texts_add(report->exporter.timeline->strings, text, length);
	if (!number)
		fx_report_fail(report, -ENOMEM);
	return number;
}

uint32_t fx_report_intern_some(struct fx_report *report, const char *text, size_t length)
{
	uint32_t before = fx_report_text_count(report), number;

	if (length == 0)
		return 0;
	if (report->texts_made >= TEXTS_MAX)
		return fx_texts_find(report->exporter.timeline->strings, text, length);
	number = fx_report_intern(report, text, length);
	report->texts_made += number > before;
	return number;
}

uint32_t fx_report_text_count(const struct fx_report *report)
{
	return fx_texts_count(report->exporter.timeline->strings);
}

const struct fx_open_call *fx_report_stack(const struct fx_report *report, size_t *ret_count)
{
	*ret_count = report->stack.count;
	return report->stack.items;
}

const struct fx_timeline *fx_report_timeline(const struct fx_report *report)
{
	return report->exporter.timeline;
}

const struct fx_report_order *fx_report_order(const struct fx_report *report)
{
	return report->order;
}

uint64_t fx_report_begin(const struct fx_report *report)
{
	return report->begin;
}

uint64_t fx_report_end(const struct fx_report *report)
{
	return report->end;
}

struct fx_runs_pool *fx_report_pool(struct fx_report *report)
{
	return &report->exporter.timeline->pool;
}

void fx_report_miss(struct fx_report *report, const char *format, ...)
{
	char *said, *line;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&said, format, args);
	va_end(args);
	if (r < 0) {
		fx_report_fail(report, -ENOMEM);
		return;
	}
	r = asprintf(&line, "%s%s", said, report->lost > 0 ? "; records were lost" : "");
	free(said);
	if (r < 0 || fx_vector_reserve(&report->missing, 1) < 0)
		fx_report_fail(report, -ENOMEM);
	else
		report->missing.items[report->missing.count++] = line;
}

void fx_report_fail(struct fx_report *report, int error)
{
	report->exporter.error = error;
}

void fx_report_add(struct fx_report *report, struct fx_table *table)
{
	if (!table || fx_vector_reserve(&report->tables, 1) < 0) {
		fx_table_free(table);
		fx_report_fail(report, -ENOMEM);
		return;
	}
	report->tables.items[report->tables.count++] = table;
}

/* --- The whole -------------------------------------------------------------------------------- */

struct section_entry {
	const struct fx_section *section;
	bool is_usual;
};

static const struct section_entry section_table[] = {
#define FX_SECTION(name, is_usual, help) {&fx_section_##name, is_usual},
#include "report/sections.def"
#undef FX_SECTION
};

static void report_add_listener(struct listeners *listeners, const struct fx_section *section,
				void *state)
{
	if (section->enter) {
		listeners->enter[listeners->enter_count].tell = section->enter;
		listeners->enter[listeners->enter_count++].state = state;
	}
	if (section->leave) {
		listeners->leave[listeners->leave_count].tell = section->leave;
		listeners->leave[listeners->leave_count++].state = state;
	}
}

static void report_listen(struct fx_report *report, const struct fx_section *section, void *state)
{
	for (unsigned kind = 0; kind < FX_CALL_KIND_COUNT; kind++) {
		if (section->kinds == 0 || (section->kinds >> kind & 1))
			report_add_listener(&report->listeners[kind], section, state);
	}
}

static int report_create_section(struct fx_report *report, const struct fx_section *section)
{
	size_t at = report->section_count;

	report->sections[at] = section;
	report->states[at] = section->create(report);
	if (!report->states[at])
		return -ENOMEM;
	report_listen(report, section, report->states[at]);
	report->section_count++;
	return 0;
}

static int report_create_sections(struct fx_report *report)
{
	bool any = report->order->objects.count > 0;
	int r = any ? report_create_section(report, &fx_section_history) : 0;

	for (size_t i = 0; i < FX_SECTION_COUNT; i++)
		any |= report->order->sections[i];
	for (size_t i = 0; i < FX_SECTION_COUNT && r == 0; i++) {
		if (any ? report->order->sections[i] : section_table[i].is_usual)
			r = report_create_section(report, section_table[i].section);
	}
	return r;
}

static void report_set_span(struct fx_report *report)
{
	const struct fx_timeline *timeline = report->exporter.timeline;
	const struct fx_filter *filter = &report->order->filter;
	uint64_t first = timeline->first_ts == UINT64_MAX ? 0 : timeline->first_ts;
	uint64_t last = timeline->last_ts;

	report->begin = filter->from < UINT64_MAX - first ? first + filter->from : last;
	report->end = filter->to < last - first ? first + filter->to : last;
	if (report->begin > last)
		report->begin = last;
	if (report->end < report->begin)
		report->end = report->begin;
}

static int report_arrange_tables(struct fx_report *report)
{
	bool sorted = !report->order->sort;

	for (size_t i = 0; i < report->tables.count; i++) {
		struct fx_table *table = report->tables.items[i];

		if (fx_table_error(table) < 0)
			return -ENOMEM;
		if (fx_table_arrange(table, report->order->sort, report->order->top) == 0)
			sorted = true;
		else
			fx_table_arrange(table, NULL, report->order->top);
	}
	return sorted ? 0 : -ENOENT;
}

/* The tables of a section; where records are missing, the first one says so. */
static void report_add_tables(struct fx_report *report, size_t section)
{
	size_t before = report->tables.count;

	report->sections[section]->tables(report->states[section]);
	if (report->lost > 0 && report->tables.count > before)
		fx_table_note(report->tables.items[before],
			      "%s records were lost, so numbers are too low%s%s",
			      FX_COUNT(report->lost), *report->cure ? "; to keep them: " : "",
			      report->cure);
}

int fx_report_fill(struct fx_report *report)
{
	for (size_t i = 0; i < report->section_count; i++)
		report_add_tables(report, i);
	return report->exporter.error < 0 ? report->exporter.error : report_arrange_tables(report);
}

int fx_report_open(struct fx_timeline *timeline, const struct fx_report_order *order,
		   struct fx_report **ret)
{
	struct fx_report *report = calloc(1, sizeof(*report));

	if (!report)
		return -ENOMEM;
	report->exporter = (struct fx_exporter){.ops = &report_ops, .timeline = timeline};
	report->order = order;
	report_set_span(report);
	if (report_create_sections(report) < 0) {
		fx_report_free(report);
		return -ENOMEM;
	}
	*ret = report;
	return 0;
}

struct fx_exporter *fx_report_exporter(struct fx_report *report)
{
	return &report->exporter;
}

int fx_report_make(struct fx_timeline *timeline, const struct fx_report_order *order,
		   fx_progress *progress, void *opaque, struct fx_report **ret)
{
	struct fx_report *report;
	int r = fx_report_open(timeline, order, &report);

	if (r < 0)
		return r;
	r = fx_convert(&report->exporter, progress, opaque);
	if (r == 0)
		r = fx_report_fill(report);
	if (r < 0)
		fx_report_free(report);
	else
		*ret = report;
	return r;
}

void fx_report_free(struct fx_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->section_count; i++)
		report->sections[i]->destroy(report->states[i]);
	for (size_t i = 0; i < report->tables.count; i++)
		fx_table_free(report->tables.items[i]);
	fx_vector_free(&report->tables);
	for (size_t i = 0; i < report->missing.count; i++)
		free(report->missing.items[i]);
	fx_vector_free(&report->missing);
	fx_vector_free(&report->stack);
	fx_vector_free(&report->facts);
	free(report);
}

const char *fx_report_missing(const struct fx_report *report, size_t number)
{
	return number < report->missing.count ? report->missing.items[number] : NULL;
}

size_t fx_report_table_count(const struct fx_report *report)
{
	return report->tables.count;
}

const struct fx_table *fx_report_table(const struct fx_report *report, size_t number)
{
	return report->tables.items[number];
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "convert/utf8.h"
#include "report/show.h"
#include "report/verdicts.h"
#include "report/walk.h"

static uint64_t report_cut(const struct fx_report *report, uint64_t ts)
{
	return ts < report->begin ? report->begin : ts > report->end ? report->end : ts;
}

static void report_leave(struct fx_report *report)
{
	struct fx_open_call *call = &report->stack.items[report->stack.count - 1];
	const struct fx_report_listeners *listeners = &report->listeners[call->kind];

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
	struct fx_report *report = fx_report_of(exporter);

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

bool fx_report_is_unfinished(const struct fx_event *event, enum fx_call_kind kind)
{
	return event->end == UINT64_MAX || (event->flags & FX_ENTRY_UNFINISHED) ||
	       (report_says_unfinished(event) && !report_is_exec(event, kind));
}

static void report_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct fx_report *report = fx_report_of(exporter);
	const struct fx_report_facts *category =
	    fx_report_category_facts(report, event->category->serial);
	const struct fx_report_listeners *listeners = &report->listeners[category->kind];
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
	    .is_unfinished = fx_report_is_unfinished(event, category->kind),
	};
	call->is_shown = fx_report_shows(report, event, category);
	report->stack.count++;
	for (size_t i = 0; call->is_shown && i < listeners->enter_count; i++)
		listeners->enter[i].tell(listeners->enter[i].state, call, event);
	if (!call->is_shown)
		FX_REPORT_EACH_SECTION(report, hidden_enter, call, event);
	if (event->link_count > 0)
		FX_REPORT_EACH_SECTION(report, link, event);
}

static void report_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			     uint64_t ts)
{
	struct fx_report *report = fx_report_of(exporter);

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
	struct fx_report *report = fx_report_of(exporter);

	report_look_at_loss(report, event);
	if (fx_report_shows(report, event,
			    fx_report_category_facts(report, event->category->serial))) {
		FX_REPORT_EACH_SECTION(report, instant, event);
	} else {
		FX_REPORT_EACH_SECTION(report, hidden_instant, event);
	}
	if (event->link_count > 0)
		FX_REPORT_EACH_SECTION(report, link, event);
}

static void report_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	struct fx_report *report = fx_report_of(exporter);

	if (fx_report_shows(report, event,
			    fx_report_category_facts(report, event->category->serial)))
		FX_REPORT_EACH_SECTION(report, counter, event, id);
}

static void report_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	FX_REPORT_EACH_SECTION(fx_report_of(exporter), switch_, sched);
}

static void report_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	FX_REPORT_EACH_SECTION(fx_report_of(exporter), wakeup, wakeup);
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
	report_leave_all(fx_report_of(exporter));
}

const struct fx_exporter_ops fx_report_ops = {
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

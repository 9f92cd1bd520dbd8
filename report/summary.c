/* SPDX-License-Identifier: MIT */
/* The summary: what an archive holds, what it lacks and why, and what matters most in it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/findings.h"
#include "report/report.h"
#include "report/section.h"
#include "report/units.h"
#include "report/waiting.h"

/* Records that were lost for one cause. */
struct loss {
	uint32_t cause, cure; /* numbers of texts */
	uint64_t count;
};

struct summary {
	struct fx_report *report;
	struct fx_findings *findings;
	struct fx_waiting waiting;
	FX_VECTOR(struct loss) losses; /* a handful */
	uint64_t calls, instants, counters, unfinished;
	uint32_t waits; /* open calls that wait, and those inside them */
};

static void summary_destroy(void *section)
{
	struct summary *summary = section;

	fx_findings_free(summary->findings);
	fx_waiting_free(&summary->waiting);
	fx_vector_free(&summary->losses);
	free(summary);
}

static void *summary_create(struct fx_report *report)
{
	struct summary *summary = calloc(1, sizeof(*summary));

	if (!summary)
		return NULL;
	summary->report = report;
	summary->findings = fx_findings_new(report);
	if (summary->findings)
		return summary;
	summary_destroy(summary);
	return NULL;
}

static void summary_enter(void *section, const struct fx_open_call *call,
			  const struct fx_event *event)
{
	struct summary *summary = section;
	enum fx_wait_kind wait = FX_WAIT_NONE;

	if (fx_waiting_may(call))
		wait =
		    fx_waiting_of(&summary->waiting, fx_report_texts(summary->report), call, event);
	if (call->depth == 0)
		summary->waits = 0;
	summary->calls++;
	summary->unfinished += call->is_unfinished;
	fx_findings_enter(summary->findings, call, event,
			  summary->waits == 0 ? wait : FX_WAIT_NONE);
	if (summary->waits > 0 || wait != FX_WAIT_NONE)
		summary->waits++;
}

static void summary_leave(void *section, const struct fx_open_call *call)
{
	struct summary *summary = section;

	fx_findings_leave(summary->findings, call);
	if (summary->waits > 0)
		summary->waits--;
}

static uint32_t summary_text(struct summary *summary, const struct fx_event *event,
			     const char *name)
{
	const struct fxt_arg *arg = fx_event_arg(event, name);

	if (!arg || arg->type != FXT_ARG_STRING)
		return 0;
	return fx_report_intern(summary->report, arg->string.data, arg->string.length);
}

static void summary_note_loss(struct summary *summary, const struct fx_event *event)
{
	struct loss loss = {summary_text(summary, event, "cause"),
			    summary_text(summary, event, "cure"), 0};
	int64_t count = 0;

	fx_event_integer(event, "count", &count);
	for (size_t i = 0; i < summary->losses.count; i++) {
		if (summary->losses.items[i].cause == loss.cause) {
			summary->losses.items[i].count += (uint64_t)count;
			return;
		}
	}
	if (fx_vector_reserve(&summary->losses, 1) < 0) {
		fx_report_fail(summary->report, -ENOMEM);
		return;
	}
	loss.count = (uint64_t)count;
	summary->losses.items[summary->losses.count++] = loss;
}

static void summary_instant(void *section, const struct fx_event *event)
{
	struct summary *summary = section;

	fx_findings_instant(summary->findings, event);
	if (fxt_string_equals(event->category, "fxtrace") &&
	    fxt_string_equals(event->name, "records dropped"))
		summary_note_loss(summary, event);
	else
		summary->instants++;
}

static void summary_counter(void *section, const struct fx_event *event, uint64_t id)
{
	struct summary *summary = section;

	(void)event;
	(void)id;
	summary->counters++;
}

/* --- Tables ----------------------------------------------------------------------------------- */

enum { SPAN, PROCESSES, THREADS, CALLS, INSTANTS, COUNTERS, LOST };

static const struct fx_column summary_columns[] = {
    [SPAN] = {"span_ns", "span", FX_UNIT_NS},
    [PROCESSES] = {"processes", "processes", FX_UNIT_COUNT},
    [THREADS] = {"threads", "threads", FX_UNIT_COUNT},
    [CALLS] = {"calls", "calls", FX_UNIT_COUNT},
    [INSTANTS] = {"instants", "instants", FX_UNIT_COUNT},
    [COUNTERS] = {"counter_values", "counter values", FX_UNIT_COUNT},
    [LOST] = {"lost", "records lost", FX_UNIT_COUNT},
};

enum { COUNT, CAUSE, CURE };

static const struct fx_column loss_columns[] = {
    [COUNT] = {"count", "records", FX_UNIT_COUNT},
    [CAUSE] = {"cause", "cause", FX_UNIT_TEXT},
    [CURE] = {"cure", "what helps", FX_UNIT_TEXT},
};

static uint64_t summary_lost(const struct summary *summary)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < summary->losses.count; i++)
		lost += summary->losses.items[i].count;
	return lost;
}

/* Where, and what was begun with. */
static void summary_add_origin(const struct fx_timeline *timeline, struct fx_table *table)
{
	const struct fx_host_record *host = &timeline->host;
	const struct fx_process *first =
	    timeline->processes.count > 0 ? timeline->processes.items[0] : NULL;
	const struct fx_text *command = first ? first->about[FX_ABOUT_COMMAND] : NULL,
			     *directory = first ? first->about[FX_ABOUT_DIRECTORY] : NULL,
			     *user = first ? first->about[FX_ABOUT_USER] : NULL;

	if (host->host[0])
		fx_table_note(table, "recorded on %s (%s %s %s) by fxtrace %s", host->host,
			      host->system, host->release, host->machine, host->fxtrace);
	if (command)
		fx_table_note(table, "the first process, %llu: %s%s%s%s%s",
			      (unsigned long long)first->pid, command->data,
			      directory ? ", in " : "", directory ? directory->data : "",
			      user ? ", as user " : "", user ? user->data : "");
}

static void summary_add_counts(struct summary *summary)
{
	const struct fx_timeline *timeline = fx_report_timeline(summary->report);
	struct fx_table *table = fx_table_new("summary", "Summary", summary_columns,
					      sizeof(summary_columns) / sizeof(summary_columns[0]));

	if (!table) {
		fx_report_fail(summary->report, -ENOMEM);
		return;
	}
	fx_table_row(table);
	fx_table_number(
	    table, SPAN,
	    (int64_t)(fx_report_end(summary->report) - fx_report_begin(summary->report)));
	fx_table_number(table, PROCESSES, (int64_t)timeline->processes.count);
	fx_table_number(table, THREADS, (int64_t)timeline->threads.count);
	fx_table_number(table, CALLS, (int64_t)summary->calls);
	fx_table_number(table, INSTANTS, (int64_t)summary->instants);
	fx_table_number(table, COUNTERS, (int64_t)summary->counters);
	fx_table_number(table, LOST, (int64_t)summary_lost(summary));
	summary_add_origin(timeline, table);
	if (summary->unfinished > 0)
		fx_table_note(table, "%s call%s had not ended", FX_COUNT(summary->unfinished),
			      summary->unfinished == 1 ? "" : "s");
	if (summary->calls + summary->instants + summary->counters == 0 &&
	    fx_filter_is_set(&fx_report_order(summary->report)->filter))
		fx_table_note(
		    table,
		    "no event passes --process, --thread, --category, --name, --from and --to");
	if (timeline->fault.kind != FXT_FAULT_NONE)
		fx_table_note(table, "the archive is damaged: all numbers are of what is whole");
	fx_report_add(summary->report, table);
}

static void summary_set(const struct summary *summary, struct fx_table *table, size_t column,
			uint32_t text)
{
	if (text)
		fx_table_string(table, column, fx_report_text(summary->report, text)->data);
}

static void summary_add_losses(struct summary *summary)
{
	struct fx_table *table =
	    fx_table_new("losses", "Records that were lost, which makes the other numbers too low",
			 loss_columns, sizeof(loss_columns) / sizeof(loss_columns[0]));

	if (!table) {
		fx_report_fail(summary->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < summary->losses.count; i++) {
		fx_table_row(table);
		fx_table_number(table, COUNT, (int64_t)summary->losses.items[i].count);
		summary_set(summary, table, CAUSE, summary->losses.items[i].cause);
		summary_set(summary, table, CURE, summary->losses.items[i].cure);
	}
	fx_report_add(summary->report, table);
}

static void summary_tables(void *section)
{
	struct summary *summary = section;

	summary_add_counts(summary);
	if (summary->losses.count > 0)
		summary_add_losses(summary);
	fx_findings_tables(summary->findings);
}

const struct fx_section fx_section_summary = {
    .create = summary_create,
    .enter = summary_enter,
    .leave = summary_leave,
    .instant = summary_instant,
    .counter = summary_counter,
    .tables = summary_tables,
    .destroy = summary_destroy,
};

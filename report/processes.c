/* SPDX-License-Identifier: MIT */
/*
 * Processes: a tree with their commands, lifetimes, ends, and what they waited for; and the longest chain of processes
 * that had to run one after another.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/lives.h"
#include "report/report.h"
#include "report/section.h"
#include "report/waiting.h"

struct processes {
	struct fx_lives lives;
	struct fx_waiting waiting;
};

static void *processes_create(struct fx_report *report)
{
	struct processes *all = calloc(1, sizeof(*all));

	if (all)
		all->lives.report = report;
	return all;
}

static void processes_destroy(void *section)
{
	struct processes *all = section;

	fx_lives_free(&all->lives);
	fx_waiting_free(&all->waiting);
	free(all);
}

static void processes_enter(void *section, const struct fx_open_call *call,
			    const struct fx_event *event)
{
	struct processes *all = section;
	enum fx_wait_kind wait = FX_WAIT_NONE;

	if (fx_waiting_may(call))
		wait =
		    fx_waiting_of(&all->waiting, fx_report_texts(all->lives.report), call, event);
	fx_lives_enter(&all->lives, call, event, wait);
}

static void processes_leave(void *section, const struct fx_open_call *call)
{
	struct processes *all = section;

	(void)call;
	fx_lives_leave(&all->lives);
}

static void processes_instant(void *section, const struct fx_event *event)
{
	struct processes *all = section;

	fx_lives_instant(&all->lives, event);
}

/* --- The tree --------------------------------------------------------------------------------- */

static void processes_set_name(const struct processes *all, struct fx_table *table, size_t column,
			       size_t number)
{
	const char *command = fx_lives_command(&all->lives, number);

	if (command[0])
		fx_table_string(table, column, command);
}

enum { LIFETIME, BEGIN, WAITED, MOST, THREADS, CALLS, END, PID, COMMAND };

static const struct fx_column process_columns[] = {
    [LIFETIME] = {"lifetime_ns", "lifetime", FX_UNIT_NS},
    [BEGIN] = {"begin_ns", "from", FX_UNIT_MOMENT},
    [WAITED] = {"waited_ns", "waited", FX_UNIT_NS},
    [MOST] = {"waited_most_for", "most for", FX_UNIT_TEXT},
    [THREADS] = {"threads", "threads", FX_UNIT_COUNT},
    [CALLS] = {"calls", "calls", FX_UNIT_COUNT},
    [END] = {"end", "end", FX_UNIT_TEXT},
    [PID] = {"pid", "pid", FX_UNIT_NUMBER},
    [COMMAND] = {"command", "command", FX_UNIT_TEXT},
};

static void processes_set_waits(struct fx_table *table, const struct fx_life *process)
{
	enum fx_wait_kind most = FX_WAIT_NONE;
	uint64_t total = 0;

	for (int kind = FX_WAIT_NONE + 1; kind < FX_WAIT_KIND_COUNT; kind++) {
		total += process->waited[kind];
		if (process->waited[kind] > process->waited[most])
			most = (enum fx_wait_kind)kind;
	}
	fx_table_number(table, WAITED, (int64_t)total);
	if (most != FX_WAIT_NONE)
		fx_table_string(table, MOST, fx_wait_kind_text(most));
}

static void processes_row(const struct processes *all, struct fx_table *table, size_t number,
			  unsigned depth)
{
	const struct fx_life *process = &all->lives.items.items[number];
	char end[32];

	fx_table_row(table);
	fx_table_indent(table, depth);
	fx_table_number(table, LIFETIME, (int64_t)(process->end - process->begin));
	fx_table_number(table, BEGIN,
			(int64_t)(process->begin - fx_report_begin(all->lives.report)));
	processes_set_waits(table, process);
	fx_table_number(table, THREADS, (int64_t)process->threads);
	fx_table_number(table, CALLS, (int64_t)process->calls);
	if (process->signal[0])
		fx_table_string(table, END, process->signal);
	else if (process->has_exited) {
		snprintf(end, sizeof(end), "status %lld", (long long)process->exited);
		fx_table_string(table, END, end);
	}
	fx_table_number(table, PID, (int64_t)fx_lives_process(&all->lives, number)->pid);
	processes_set_name(all, table, COMMAND, number);
}

static void processes_add_tree(struct processes *all, size_t roots)
{
	struct fx_table *table = fx_table_new("processes", "Processes", process_columns,
					      sizeof(process_columns) / sizeof(process_columns[0]));
	FX_VECTOR(size_t) path = {0}; /* the siblings that are still to come, of each level */

	if (!table || fx_vector_reserve(&path, 1) < 0) {
		fx_table_free(table);
		fx_report_fail(all->lives.report, -ENOMEM);
		return;
	}
	fx_table_make_tree(table);
	path.items[path.count++] = roots;
	while (path.count > 0) {
		size_t at = path.items[path.count - 1];

		if (at == 0) {
			path.count--;
			continue;
		}
		processes_row(all, table, at - 1, (unsigned)path.count - 1);
		path.items[path.count - 1] = all->lives.items.items[at - 1].next;
		if (fx_vector_reserve(&path, 1) < 0) {
			fx_report_fail(all->lives.report, -ENOMEM);
			break;
		}
		path.items[path.count++] = all->lives.items.items[at - 1].first;
	}
	fx_vector_free(&path);
	if (fx_table_row_count(table) > 0)
		fx_table_note(table, "waited is the sum of all threads");
	fx_report_add(all->lives.report, table);
}

enum { CHAIN_TIME, CHAIN_SHARE, CHAIN_FROM, CHAIN_PID, CHAIN_COMMAND };

static const struct fx_column chain_columns[] = {
    [CHAIN_TIME] = {"time_ns", "time", FX_UNIT_NS},
    [CHAIN_SHARE] = {"share", "", FX_UNIT_SHARE},
    [CHAIN_FROM] = {"from_ns", "from", FX_UNIT_MOMENT},
    [CHAIN_PID] = {"pid", "pid", FX_UNIT_NUMBER},
    [CHAIN_COMMAND] = {"command", "command", FX_UNIT_TEXT},
};

static void processes_fill_chain(const struct processes *all, const struct fx_chain *chain,
				 struct fx_table *table)
{
	for (size_t i = chain->stretches.count; i-- > 0;) {
		const struct fx_stretch *stretch = &chain->stretches.items[i];
		uint64_t time = stretch->to - stretch->from;

		fx_table_row(table);
		fx_table_number(table, CHAIN_TIME, (int64_t)time);
		fx_table_real(table, CHAIN_SHARE, (double)time / (double)chain->total);
		fx_table_number(table, CHAIN_FROM,
				(int64_t)(stretch->from - fx_report_begin(all->lives.report)));
		fx_table_number(table, CHAIN_PID,
				(int64_t)fx_lives_process(&all->lives, stretch->number)->pid);
		processes_set_name(all, table, CHAIN_COMMAND, stretch->number);
	}
	fx_table_note(table, "an estimate: a process counts as waited for by what its parent began "
			     "after its end, and by its parent's end");
}

static void processes_add_chain(struct processes *all, const struct fx_life *roots)
{
	struct fx_chain chain = {0};
	struct fx_table *table;
	int r = fx_chain_find(&chain, &all->lives, roots);

	if (r == 0 && chain.stretches.count > 0) {
		table =
		    fx_table_new("chain", "~The longest chain of processes, one after another",
				 chain_columns, sizeof(chain_columns) / sizeof(chain_columns[0]));
		if (table)
			processes_fill_chain(all, &chain, table);
		r = table ? 0 : -ENOMEM;
		fx_report_add(all->lives.report, table);
	}
	if (r < 0)
		fx_report_fail(all->lives.report, r);
	fx_chain_free(&chain);
}

static void processes_tables(void *section)
{
	struct processes *all = section;
	struct fx_life roots = {0};

	if (fx_lives_tie(&all->lives, &roots) < 0) {
		fx_report_fail(all->lives.report, -ENOMEM);
		return;
	}
	processes_add_tree(all, roots.first);
	processes_add_chain(all, &roots);
}

const struct fx_section fx_section_processes = {
    .create = processes_create,
    .enter = processes_enter,
    .leave = processes_leave,
    .instant = processes_instant,
    .tables = processes_tables,
    .destroy = processes_destroy,
};

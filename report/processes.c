/* SPDX-License-Identifier: MIT */
/*
 * Processes: a tree with their commands, lifetimes, ends, and what they waited for; and the longest chain of processes
 * that had to run one after another.
 *
 * The chain is found from its end. The process that ended last was not done before its last child, that one not before
 * its own, and so on; what came before such a child had begun is looked for in the same way:
 *
 *     make    |---------------------------------------|
 *       cc1   |------------|     :                       not on the chain: cc2 ran longer, both in parallel
 *       cc2   |---------------|  :                       on the chain, before ld
 *       ld    .               |----------------------|   ended last: on the chain
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/section.h"
#include "report/waiting.h"

struct process {
	uint64_t begin, end; /* its first and last moment in the archive */
	uint64_t threads, calls;
	uint64_t waited[FX_WAIT_KIND_COUNT]; /* ns, of all its threads */
	char *command;			     /* NULL: not known */
	uint64_t parent;		     /* pid; 0: not known */
	size_t first, next; /* child, sibling: numbers + 1, in order of beginning; 0: none */
	size_t last_done, done_before; /* the same, the one that ended last first */
	int64_t exited;		       /* status, if has_exited */
	char signal[16];	       /* the signal that ended it; "": none */
	bool has_exited;
	bool has_execed;
};

struct processes {
	struct fx_report *report;
	struct fx_waiting waiting;
	FX_VECTOR(struct process) items; /* by number */
	const struct fx_thread *thread;	 /* of the last call */
	uint32_t waits;			 /* open calls that wait */
};

/* --- What is seen ----------------------------------------------------------------------------- */

static void *processes_create(struct fx_report *report)
{
	struct processes *all = calloc(1, sizeof(*all));

	if (all)
		all->report = report;
	return all;
}

static void processes_destroy(void *section)
{
	struct processes *all = section;

	for (size_t i = 0; i < all->items.count; i++)
		free(all->items.items[i].command);
	fx_vector_free(&all->items);
	fx_waiting_free(&all->waiting);
	free(all);
}

/* NULL: no memory. */
static struct process *processes_get(struct processes *all, uint32_t number)
{
	size_t count = all->items.count;

	if (number >= count) {
		size_t more = number + 1 - count;

		if (fx_vector_reserve(&all->items, more) < 0) {
			fx_report_fail(all->report, -ENOMEM);
			return NULL;
		}
		memset(all->items.items + count, 0, more * sizeof(struct process));
		for (size_t i = count; i <= number; i++)
			all->items.items[i].begin = UINT64_MAX;
		all->items.count += more;
	}
	return &all->items.items[number];
}

static struct process *processes_note(struct processes *all, const struct fx_thread *thread,
				      uint64_t begin, uint64_t end)
{
	struct process *process = processes_get(all, thread->process->number);

	if (!process)
		return NULL;
	if (thread != all->thread) {
		all->thread = thread;
		all->waits = 0;
		process->threads++;
	}
	if (begin < process->begin)
		process->begin = begin;
	if (end > process->end)
		process->end = end;
	return process;
}

/* Its number; false: no process of the archive has this id. */
static bool processes_find(const struct processes *all, uint64_t pid, uint32_t *ret)
{
	const struct fx_timeline *timeline = fx_report_timeline(all->report);
	struct fx_process *process;

	HASH_FIND(hh, timeline->process_table, &pid, sizeof(pid), process);
	if (process)
		*ret = process->number;
	return process != NULL;
}

static struct process *processes_of_pid(struct processes *all, uint64_t pid)
{
	uint32_t number;

	return processes_find(all, pid, &number) ? processes_get(all, number) : NULL;
}

static void processes_set_command(struct process *process, const struct fx_event *event)
{
	const struct fxt_arg *argv = fx_event_arg(event, "argv");

	if (!argv || argv->type != FXT_ARG_STRING || argv->string.length == 0)
		argv = fx_event_arg(event, "path");
	if (!argv || argv->type != FXT_ARG_STRING)
		return;
	free(process->command);
	process->command = strndup(argv->string.data, argv->string.length);
}

/* An exec that goes on has replaced the program; the child of a spawn is named by its parent. */
static void processes_look_at_command(struct processes *all, struct process *process,
				      const struct fx_open_call *call, const struct fx_event *event)
{
	const char *name = fx_report_text(all->report, call->name)->data;
	struct process *child;
	int64_t ret;

	if (strncmp(name, "exec", 4) == 0 || strncmp(name, "fexec", 5) == 0) {
		if (fx_event_arg(event, "ret"))
			return; /* it has failed */
		processes_set_command(process, event);
		process->has_execed = true;
	} else if (fx_event_integer(event, "ret", &ret) && ret > 0) {
		child = processes_of_pid(all, (uint64_t)ret);
		if (child && !child->has_execed)
			processes_set_command(child, event);
	} else if (fx_event_integer(event, "pid", &ret) && ret > 0 && name[0] == 'p') {
		child = processes_of_pid(all, (uint64_t)ret); /* posix_spawn */
		if (child && !child->has_execed)
			processes_set_command(child, event);
	}
}

static void processes_enter(void *section, const struct fx_open_call *call,
			    const struct fx_event *event)
{
	struct processes *all = section;
	struct process *process = processes_note(all, call->thread, call->ts, call->end);
	enum fx_wait_kind kind;

	if (!process)
		return;
	process->calls++;
	kind = fx_waiting_may(call) ? fx_waiting_of(&all->waiting, all->report, call, event)
				    : FX_WAIT_NONE;
	if (kind != FX_WAIT_NONE && all->waits == 0)
		process->waited[kind] += call->end - call->ts;
	all->waits += kind != FX_WAIT_NONE || all->waits > 0;
	if (call->kind == FX_CALL_PROCESS && call->name)
		processes_look_at_command(all, process, call, event);
}

static void processes_leave(void *section, const struct fx_open_call *call)
{
	struct processes *all = section;

	(void)call;
	if (all->waits > 0)
		all->waits--;
}

static void processes_look_at_end(struct process *process, const struct fx_event *event)
{
	const struct fxt_arg *signal = fx_event_arg(event, "signal");

	process->has_exited = fx_event_integer(event, "exited", &process->exited);
	if (signal && signal->type == FXT_ARG_STRING) {
		size_t length = signal->string.length < sizeof(process->signal) - 1
				    ? signal->string.length
				    : sizeof(process->signal) - 1;

		memcpy(process->signal, signal->string.data, length);
		process->signal[length] = 0;
	}
	process->end = event->ts;
}

static void processes_instant(void *section, const struct fx_event *event)
{
	struct processes *all = section;
	struct process *process = processes_note(all, event->thread, event->ts, event->ts);
	int64_t parent;

	if (!process || !fxt_string_equals(event->category, "process"))
		return;
	if (fxt_string_equals(event->name, "process starts")) {
		process->begin = event->ts;
		if (fx_event_integer(event, "parent", &parent))
			process->parent = (uint64_t)parent;
	} else if (fxt_string_equals(event->name, "process exits")) {
		processes_look_at_end(process, event);
	}
}

/* --- The tree --------------------------------------------------------------------------------- */

struct moment {
	uint64_t ts;
	size_t number;
};

static int processes_compare_moments(const void *a, const void *b)
{
	const struct moment *left = a, *right = b;

	if (left->ts != right->ts)
		return left->ts > right->ts ? 1 : -1;
	return (left->number > right->number) - (left->number < right->number);
}

/* Whether it was seen at all. */
static bool processes_is_shown(const struct process *process)
{
	return process->begin != UINT64_MAX;
}

/* The number + 1 of its parent; 0: it is a root. An id that was used again is nobody's parent. */
static size_t processes_parent(const struct processes *all, const struct process *process)
{
	uint32_t number;

	if (!process->parent || !processes_find(all, process->parent, &number) ||
	    number >= all->items.count || all->items.items[number].begin >= process->begin)
		return 0;
	return number + 1;
}

/* Ties each to its parent; roots are the children of `roots'. Returns 0 or -ENOMEM. */
static int processes_tie(struct processes *all, struct process *roots)
{
	size_t count = all->items.count;
	struct moment *order = calloc(count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = (struct moment){all->items.items[i].begin, i};
	qsort(order, count, sizeof(*order), processes_compare_moments);
	for (size_t i = count; i-- > 0;) {
		struct process *process = &all->items.items[order[i].number];
		size_t parent = processes_parent(all, process);
		struct process *to = parent ? &all->items.items[parent - 1] : roots;

		if (!processes_is_shown(process))
			continue;
		process->next = to->first;
		to->first = order[i].number + 1;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (struct moment){all->items.items[i].end, i};
	qsort(order, count, sizeof(*order), processes_compare_moments);
	for (size_t i = 0; i < count; i++) {
		struct process *process = &all->items.items[order[i].number];
		size_t parent = processes_parent(all, process);
		struct process *to = parent ? &all->items.items[parent - 1] : roots;

		if (!processes_is_shown(process))
			continue;
		process->done_before = to->last_done;
		to->last_done = order[i].number + 1;
	}
	free(order);
	return 0;
}

static const struct fx_process *processes_known(const struct processes *all, size_t number)
{
	return fx_report_timeline(all->report)->processes.items[number];
}

static void processes_set_name(const struct processes *all, struct fx_table *table, size_t column,
			       size_t number)
{
	const struct process *process = &all->items.items[number];
	const struct fx_process *known = processes_known(all, number);
	const struct fx_text *command = known->about[FX_ABOUT_COMMAND], *name = known->name;

	if (process->command)
		fx_table_string(table, column, process->command);
	else if (command)
		fx_table_string(table, column, command->data);
	else if (name)
		fx_table_string(table, column, name->data);
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

static void processes_set_waits(struct fx_table *table, const struct process *process)
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
	const struct process *process = &all->items.items[number];
	char end[32];

	fx_table_row(table);
	fx_table_indent(table, depth);
	fx_table_number(table, LIFETIME, (int64_t)(process->end - process->begin));
	fx_table_number(table, BEGIN, (int64_t)(process->begin - fx_report_begin(all->report)));
	processes_set_waits(table, process);
	fx_table_number(table, THREADS, (int64_t)process->threads);
	fx_table_number(table, CALLS, (int64_t)process->calls);
	if (process->signal[0])
		fx_table_string(table, END, process->signal);
	else if (process->has_exited) {
		snprintf(end, sizeof(end), "status %lld", (long long)process->exited);
		fx_table_string(table, END, end);
	}
	fx_table_number(table, PID, (int64_t)processes_known(all, number)->pid);
	processes_set_name(all, table, COMMAND, number);
}

static void processes_add_tree(struct processes *all, size_t roots)
{
	struct fx_table *table = fx_table_new("processes", "Processes", process_columns,
					      sizeof(process_columns) / sizeof(process_columns[0]));
	FX_VECTOR(size_t) path = {0}; /* the siblings that are still to come, of each level */

	if (!table || fx_vector_reserve(&path, 1) < 0) {
		fx_table_free(table);
		fx_report_fail(all->report, -ENOMEM);
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
		path.items[path.count - 1] = all->items.items[at - 1].next;
		if (fx_vector_reserve(&path, 1) < 0) {
			fx_report_fail(all->report, -ENOMEM);
			break;
		}
		path.items[path.count++] = all->items.items[at - 1].first;
	}
	fx_vector_free(&path);
	fx_table_note(table, "waited is the sum of all threads");
	fx_report_add(all->report, table);
}

/* --- The chain -------------------------------------------------------------------------------- */

/* A process on the chain, which is being followed back in time. */
struct link {
	size_t number;
	uint64_t until;
	size_t child; /* the next one to be looked at: number + 1 */
};

/* From when to when a process of the chain was at it itself. */
struct stretch {
	size_t number;
	uint64_t from, to;
};

struct chain {
	struct processes *all;
	FX_VECTOR(struct link) links;
	FX_VECTOR(struct stretch) stretches; /* the last one first */
};

static bool chain_add_stretch(struct chain *chain, size_t number, uint64_t from, uint64_t to)
{
	if (from >= to)
		return true;
	if (fx_vector_reserve(&chain->stretches, 1) < 0)
		return false;
	chain->stretches.items[chain->stretches.count++] = (struct stretch){number, from, to};
	return true;
}

static bool chain_enter(struct chain *chain, size_t number, uint64_t until)
{
	if (fx_vector_reserve(&chain->links, 1) < 0)
		return false;
	chain->links.items[chain->links.count++] =
	    (struct link){number, until, chain->all->items.items[number].last_done};
	return true;
}

/* One step back in time. False: no memory. */
static bool chain_step(struct chain *chain)
{
	struct process *items = chain->all->items.items;
	struct link *link = &chain->links.items[chain->links.count - 1];
	const struct process *child;
	size_t at;

	while (link->child && items[link->child - 1].end > link->until)
		link->child = items[link->child - 1].done_before;
	at = link->child;
	if (!at) {
		size_t number = link->number;
		uint64_t until = link->until;

		chain->links.count--;
		return chain_add_stretch(chain, number, items[number].begin, until);
	}
	child = &items[at - 1];
	if (!chain_add_stretch(chain, link->number, child->end, link->until))
		return false;
	link->until = child->begin;
	link->child = child->done_before;
	return chain_enter(chain, at - 1, child->end);
}

enum { CHAIN_TIME, CHAIN_SHARE, CHAIN_FROM, CHAIN_PID, CHAIN_COMMAND };

static const struct fx_column chain_columns[] = {
    [CHAIN_TIME] = {"time_ns", "time", FX_UNIT_NS},
    [CHAIN_SHARE] = {"share", "", FX_UNIT_SHARE},
    [CHAIN_FROM] = {"from_ns", "from", FX_UNIT_MOMENT},
    [CHAIN_PID] = {"pid", "pid", FX_UNIT_NUMBER},
    [CHAIN_COMMAND] = {"command", "command", FX_UNIT_TEXT},
};

static void chain_fill(const struct chain *chain, struct fx_table *table)
{
	const struct processes *all = chain->all;
	uint64_t total = 0;

	for (size_t i = 0; i < chain->stretches.count; i++)
		total += chain->stretches.items[i].to - chain->stretches.items[i].from;
	for (size_t i = chain->stretches.count; i-- > 0;) {
		const struct stretch *stretch = &chain->stretches.items[i];

		fx_table_row(table);
		fx_table_number(table, CHAIN_TIME, (int64_t)(stretch->to - stretch->from));
		fx_table_real(table, CHAIN_SHARE,
			      (double)(stretch->to - stretch->from) / (double)total);
		fx_table_number(table, CHAIN_FROM,
				(int64_t)(stretch->from - fx_report_begin(all->report)));
		fx_table_number(table, CHAIN_PID,
				(int64_t)processes_known(all, stretch->number)->pid);
		processes_set_name(all, table, CHAIN_COMMAND, stretch->number);
	}
	fx_table_note(table, "an estimate: a process counts as waited for by what its parent began "
			     "after its end, and by its parent's end");
}

static void processes_add_chain(struct processes *all, const struct process *roots)
{
	struct chain chain = {.all = all};
	struct fx_table *table =
	    fx_table_new("chain", "~The longest chain of processes, one after another",
			 chain_columns, sizeof(chain_columns) / sizeof(chain_columns[0]));
	bool ok = table && chain_enter(&chain, roots->last_done - 1,
				       all->items.items[roots->last_done - 1].end);

	while (ok && chain.links.count > 0)
		ok = chain_step(&chain);
	if (ok) {
		chain_fill(&chain, table);
		fx_report_add(all->report, table);
	} else {
		fx_table_free(table);
		fx_report_fail(all->report, -ENOMEM);
	}
	fx_vector_free(&chain.links);
	fx_vector_free(&chain.stretches);
}

static void processes_tables(void *section)
{
	struct processes *all = section;
	struct process roots = {0};

	if (processes_tie(all, &roots) < 0) {
		fx_report_fail(all->report, -ENOMEM);
		return;
	}
	processes_add_tree(all, roots.first);
	/* Of one process there is no chain. */
	if (roots.first &&
	    (all->items.items[roots.first - 1].next || all->items.items[roots.first - 1].first))
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

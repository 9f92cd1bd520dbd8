/* SPDX-License-Identifier: MIT */
/*
 * System calls: by name, the slowest single ones, errors, and which files were not found. What libc does by system calls
 * of its own (streams, folders, libraries) stands apart, since those do not pass through the functions that are
 * recorded.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/ask.h"
#include "report/keys.h"
#include "report/report.h"
#include "report/section.h"
#include "report/show.h"
#include "report/spread.h"
#include "report/units.h"
#include "report/waiting.h"

enum { SLOWEST_MAX = 20, KEYS_MAX = 200000 };

enum group { GROUP_SYSCALL, GROUP_LIBRARY, GROUP_COUNT };

struct syscall_name {
	struct fx_spread times;
	uint64_t errors;
	uint64_t unfinished;
};

/* Calls of one name that failed in one way with one path. */
struct failure {
	uint64_t count;
	uint64_t first; /* when */
	uint64_t pid;	/* whose was the first */
};

struct failures {
	struct fx_keys keys;
	FX_VECTOR(struct failure) items; /* by number of the key */
};

struct slow {
	uint64_t ts, time;
	const struct fx_thread *thread;
	uint8_t waits_for; /* enum fx_wait_kind */
	char text[FX_SHOW_MAX];
};

/* The slowest, in no order. */
struct slowest {
	struct slow items[SLOWEST_MAX];
	size_t count;
	size_t fastest; /* of them, once they are SLOWEST_MAX */
};

struct syscalls {
	struct fx_report *report;
	FX_VECTOR(struct syscall_name) names[GROUP_COUNT]; /* by the number of the name */
	uint64_t total[GROUP_COUNT];			   /* ns of all */
	struct failures errors;				   /* by name, errno, path */
	struct failures missing;			   /* by path, name of the process, name */
	struct fx_waiting waiting;
	struct slowest slowest[2]; /* of all; of those that wait for nothing */
};

static void *syscalls_create(struct fx_report *report)
{
	struct syscalls *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->report = report;
	all->errors.keys.limit = KEYS_MAX;
	all->missing.keys.limit = KEYS_MAX;
	return all;
}

static void failures_free(struct failures *failures)
{
	fx_keys_free(&failures->keys);
	fx_vector_free(&failures->items);
}

static void syscalls_destroy(void *section)
{
	struct syscalls *all = section;

	for (int group = 0; group < GROUP_COUNT; group++) {
		for (size_t i = 0; i < all->names[group].count; i++)
			fx_spread_free(&all->names[group].items[i].times);
		fx_vector_free(&all->names[group]);
	}
	failures_free(&all->errors);
	failures_free(&all->missing);
	fx_waiting_free(&all->waiting);
	free(all);
}

/* --- What is seen ----------------------------------------------------------------------------- */

/* GROUP_COUNT: it is no call of this section. */
static enum group syscalls_group(const struct fx_open_call *call)
{
	switch (call->kind) {
	case FX_CALL_SYSCALL:
	case FX_CALL_PROCESS:
		return GROUP_SYSCALL;
	case FX_CALL_STDIO:
	case FX_CALL_LIBC:
	case FX_CALL_DL:
		return GROUP_LIBRARY;
	default:
		return GROUP_COUNT;
	}
}

/* NULL: no memory. */
static struct syscall_name *syscalls_name(struct syscalls *all, enum group group, uint32_t name)
{
	size_t count = all->names[group].count;

	if (name >= count) {
		size_t more = name + 1 - count;

		if (fx_vector_reserve(&all->names[group], more) < 0) {
			fx_report_fail(all->report, -ENOMEM);
			return NULL;
		}
		memset(all->names[group].items + count, 0, more * sizeof(struct syscall_name));
		all->names[group].count += more;
	}
	return &all->names[group].items[name];
}

static void slowest_add(struct slowest *slowest, const struct fx_open_call *call,
			const struct fx_event *event, enum fx_wait_kind waits_for)
{
	uint64_t time = call->end - call->ts;
	bool is_full = slowest->count == SLOWEST_MAX;
	struct slow *slow = &slowest->items[is_full ? slowest->fastest : slowest->count];

	if (is_full && time <= slow->time)
		return;
	slowest->count += !is_full;
	slow->ts = call->ts;
	slow->time = time;
	slow->thread = call->thread;
	slow->waits_for = (uint8_t)waits_for;
	fx_show_call(event, slow->text);
	for (size_t i = 0; i < slowest->count; i++) {
		if (slowest->items[i].time < slowest->items[slowest->fastest].time)
			slowest->fastest = i;
	}
}

/* What has no room is counted in the keys. */
static void failures_add(struct failures *failures, struct fx_report *report,
			 const struct fx_open_call *call, struct fx_key key)
{
	size_t number = fx_keys_number(&failures->keys, key);
	struct failure *failure;

	if (number == FX_KEY_NONE)
		return;
	if (number == failures->items.count) {
		if (fx_vector_reserve(&failures->items, 1) < 0) {
			fx_report_fail(report, -ENOMEM);
			return;
		}
		failures->items.items[failures->items.count++] =
		    (struct failure){0, call->ts, call->thread->key.pid};
	}
	/* After memory has run out there may be a key without its item. */
	if (number >= failures->items.count)
		return;
	failure = &failures->items.items[number];
	failure->count++;
	if (call->ts < failure->first) {
		failure->first = call->ts;
		failure->pid = call->thread->key.pid;
	}
}

static void syscalls_add_error(struct syscalls *all, const struct fx_open_call *call,
			       const struct fx_event *event, const struct fxt_arg *error,
			       uint32_t name)
{
	const struct fxt_string *file = fx_event_string(event, "file");
	uint32_t path = fx_show_path(all->report, event), what = path;
	const struct fx_text *process = call->thread->process->name;
	bool is_missing = fxt_string_equals(&error->string, "ENOENT") ||
			  fxt_string_equals(&error->string, "ENOTDIR");

	if (!what && file)
		what = fx_report_intern_some(all->report, file->data, file->length);
	failures_add(
	    &all->errors, all->report, call,
	    (struct fx_key){.numbers = {name,
					fx_report_intern_some(all->report, error->string.data,
							      error->string.length),
					what}});
	if (is_missing && path)
		failures_add(&all->missing, all->report, call,
			     (struct fx_key){.numbers = {path, process ? process->id : 0, name}});
}

static void syscalls_enter(void *section, const struct fx_open_call *call,
			   const struct fx_event *event)
{
	struct syscalls *all = section;
	enum group group = syscalls_group(call);
	const struct fxt_arg *error;
	struct syscall_name *item;
	enum fx_wait_kind waits_for;
	uint32_t name;

	if (group == GROUP_COUNT)
		return;
	name = fx_show_name(all->report, event);
	item = syscalls_name(all, group, name);
	if (!item)
		return;
	fx_spread_add(&item->times, call->end - call->ts);
	all->total[group] += call->end - call->ts;
	item->unfinished += call->is_unfinished;
	error = fx_event_arg(event, "errno");
	if (error && error->type == FXT_ARG_STRING) {
		item->errors++;
		syscalls_add_error(all, call, event, error, name);
	}
	if (group != GROUP_SYSCALL)
		return;
	waits_for = fx_waiting_of(&all->waiting, fx_report_texts(all->report), call, event);
	slowest_add(&all->slowest[0], call, event, waits_for);
	if (waits_for == FX_WAIT_NONE)
		slowest_add(&all->slowest[1], call, event, waits_for);
}

/* --- The same from a server ------------------------------------------------------------------- */

static uint32_t syscalls_text(struct syscalls *all, const char *text)
{
	return fx_report_intern_some(all->report, text, strlen(text));
}

static void syscalls_take_names(void *section, char **fields)
{
	struct syscalls *all = section;
	enum group group = fields[1][0] == '1' ? GROUP_SYSCALL : GROUP_LIBRARY;
	struct syscall_name *item = syscalls_name(all, group, syscalls_text(all, fields[0]));

	if (!item)
		return;
	item->errors = strtoull(fields[2], NULL, 10);
	item->unfinished = strtoull(fields[3], NULL, 10);
	fx_spread_take(&item->times, fields + 4);
	all->total[group] += item->times.total;
}

/* As failures_add(), of many calls. */
static void failures_take(struct failures *failures, struct fx_report *report, struct fx_key key,
			  const struct failure *failure)
{
	size_t number = fx_keys_number(&failures->keys, key);

	if (number == FX_KEY_NONE) {
		failures->keys.beyond += failure->count - 1;
		return;
	}
	if (fx_vector_reserve(&failures->items, 1) < 0) {
		fx_report_fail(report, -ENOMEM);
		return;
	}
	if (number == failures->items.count)
		failures->items.items[failures->items.count++] = *failure;
}

static void syscalls_take_errors(void *section, char **fields)
{
	struct syscalls *all = section;
	struct failure failure = {.count = strtoull(fields[3], NULL, 10)};

	failures_take(&all->errors, all->report,
		      (struct fx_key){.numbers = {syscalls_text(all, fields[0]),
						  syscalls_text(all, fields[1]),
						  syscalls_text(all, fields[2])}},
		      &failure);
}

static void syscalls_take_missing(void *section, char **fields)
{
	struct syscalls *all = section;
	struct failure failure = {strtoull(fields[3], NULL, 10),
				  fx_report_begin(all->report) + strtoull(fields[4], NULL, 10),
				  strtoull(fields[5], NULL, 10)};

	failures_take(&all->missing, all->report,
		      (struct fx_key){.numbers = {syscalls_text(all, fields[0]),
						  syscalls_text(all, fields[1]),
						  syscalls_text(all, fields[2])}},
		      &failure);
}

/* The kinds are those of syscalls_group(). */
#define SYSCALLS_SHOWN "if(call = '', name, call) AS shown"
#define SYSCALLS_KINDS "form = 'call' AND kind IN ('syscall', 'process', 'stdio', 'libc', 'dl')"

static const struct fx_ask syscalls_asks[] = {
    {SYSCALLS_SHOWN ", kind IN ('syscall', 'process') AS is_syscall, countIf(error != ''), "
		    "sum(unfinished), " FX_SPREAD_SELECT,
     SYSCALLS_KINDS " GROUP BY shown, is_syscall", 4 + FX_SPREAD_FIELDS, syscalls_take_names},
    {SYSCALLS_SHOWN ", error, if(path = '', file, path) AS what, count()",
     SYSCALLS_KINDS " AND error != '' GROUP BY shown, error, what ORDER BY min(id)", 4,
     syscalls_take_errors},
    {"path, process, " SYSCALLS_SHOWN ", count(), min(since_start), argMin(pid, since_start)",
     SYSCALLS_KINDS
     " AND error IN ('ENOENT', 'ENOTDIR') AND path != '' GROUP BY path, process, shown",
     6, syscalls_take_missing},
    {0},
};

/* --- By name ---------------------------------------------------------------------------------- */

enum { TOTAL, SHARE, CALLS, ERRORS, MIN, MEAN, P50, P99, MAX, NAME };

static const struct fx_column syscall_columns[] = {
    [TOTAL] = {"total_ns", "total", FX_UNIT_NS}, [SHARE] = {"share", "", FX_UNIT_SHARE},
    [CALLS] = {"calls", "calls", FX_UNIT_COUNT}, [ERRORS] = {"errors", "errors", FX_UNIT_COUNT},
    [MIN] = {"min_ns", "min", FX_UNIT_NS},	 [MEAN] = {"mean_ns", "mean", FX_UNIT_NS},
    [P50] = {"p50_ns", "~p50", FX_UNIT_NS},	 [P99] = {"p99_ns", "~p99", FX_UNIT_NS},
    [MAX] = {"max_ns", "max", FX_UNIT_NS},	 [NAME] = {"name", "call", FX_UNIT_TEXT},
};

#define COLUMNS(columns) (columns), sizeof(columns) / sizeof((columns)[0])

static void syscalls_set_text(const struct syscalls *all, struct fx_table *table, size_t column,
			      uint32_t number)
{
	const struct fx_text *text;

	if (!number)
		return;
	text = fx_report_text(all->report, number);
	fx_table_text(table, column, text->data, text->length);
}

static void syscalls_row(const struct syscalls *all, struct fx_table *table, enum group group,
			 uint32_t name)
{
	const struct syscall_name *item = &all->names[group].items[name];
	const struct fx_spread *times = &item->times;

	fx_table_row(table);
	fx_table_number(table, TOTAL, (int64_t)times->total);
	if (all->total[group] > 0)
		fx_table_real(table, SHARE, (double)times->total / (double)all->total[group]);
	fx_table_number(table, CALLS, (int64_t)times->count);
	fx_table_number(table, ERRORS, (int64_t)item->errors);
	fx_table_number(table, MIN, (int64_t)times->min);
	fx_table_number(table, MEAN, (int64_t)(times->total / times->count));
	fx_table_number(table, P50, (int64_t)fx_spread_percentile(times, 0.5));
	fx_table_number(table, P99, (int64_t)fx_spread_percentile(times, 0.99));
	fx_table_number(table, MAX, (int64_t)times->max);
	syscalls_set_text(all, table, NAME, name);
}

static void syscalls_add_names(struct syscalls *all, enum group group)
{
	static const char *const names[] = {"syscalls", "library_calls"};
	static const char *const titles[] = {"System calls",
					     "Calls of libc that may make system calls"};
	struct fx_table *table =
	    fx_table_new(names[group], titles[group], COLUMNS(syscall_columns));
	uint64_t unfinished = 0;

	if (!table) {
		fx_report_fail(all->report, -ENOMEM);
		return;
	}
	for (uint32_t name = 0; name < all->names[group].count; name++) {
		if (all->names[group].items[name].times.count == 0)
			continue;
		syscalls_row(all, table, group, name);
		unfinished += all->names[group].items[name].unfinished;
	}
	if (group == GROUP_SYSCALL && fx_table_row_count(table) > 0)
		fx_table_note(table, "names are those of libc's functions; total includes waiting; "
				     "~p50 and ~p99 are estimates, at most 1/16 too high");
	if (unfinished > 0)
		fx_table_note(table, "%s call%s had not ended; counted until the archive's end",
			      FX_COUNT(unfinished), unfinished == 1 ? "" : "s");
	fx_report_add(all->report, table);
}

/* --- The slowest ------------------------------------------------------------------------------ */

enum { SLOW_TIME, SLOW_AT, SLOW_WAITS, SLOW_TID, SLOW_THREAD, SLOW_CALL };

static const struct fx_column slow_columns[] = {
    [SLOW_TIME] = {"time_ns", "time", FX_UNIT_NS},
    [SLOW_AT] = {"at_ns", "at", FX_UNIT_MOMENT},
    [SLOW_WAITS] = {"waits_for", "waits for", FX_UNIT_TEXT},
    [SLOW_TID] = {"tid", "tid", FX_UNIT_NUMBER},
    [SLOW_THREAD] = {"thread", "thread", FX_UNIT_TEXT},
    [SLOW_CALL] = {"call", "call", FX_UNIT_TEXT},
};

static void syscalls_add_slowest(struct syscalls *all, const struct slowest *slowest,
				 const char *name, const char *title)
{
	struct fx_table *table = fx_table_new(name, title, COLUMNS(slow_columns));
	char thread[FX_SHOW_MAX];

	if (!table) {
		fx_report_fail(all->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < slowest->count; i++) {
		const struct slow *slow = &slowest->items[i];

		fx_table_row(table);
		fx_table_number(table, SLOW_TIME, (int64_t)slow->time);
		fx_table_number(table, SLOW_AT, (int64_t)(slow->ts - fx_report_begin(all->report)));
		if (slow->waits_for != FX_WAIT_NONE)
			fx_table_string(table, SLOW_WAITS,
					fx_wait_kind_text((enum fx_wait_kind)slow->waits_for));
		fx_table_number(table, SLOW_TID, (int64_t)slow->thread->key.tid);
		fx_show_thread(slow->thread, thread);
		fx_table_string(table, SLOW_THREAD, thread);
		fx_table_string(table, SLOW_CALL, slow->text);
	}
	fx_report_add(all->report, table);
}

/* --- Errors ----------------------------------------------------------------------------------- */

enum { ERROR_COUNT, ERROR_ERRNO, ERROR_CALL, ERROR_PATH };

static const struct fx_column error_columns[] = {
    [ERROR_COUNT] = {"count", "count", FX_UNIT_COUNT},
    [ERROR_ERRNO] = {"errno", "error", FX_UNIT_TEXT},
    [ERROR_CALL] = {"call", "call", FX_UNIT_TEXT},
    [ERROR_PATH] = {"path", "path, or what the descriptor is", FX_UNIT_TEXT},
};

static void syscalls_note_beyond(struct fx_table *table, const struct fx_keys *keys)
{
	if (keys->beyond > 0)
		fx_table_note(table, "there were more: of %s calls the path was one too many",
			      FX_COUNT(keys->beyond));
}

static void syscalls_add_errors(struct syscalls *all)
{
	struct fx_table *table = fx_table_new("errors", "Errors", COLUMNS(error_columns));

	if (!table) {
		fx_report_fail(all->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < all->errors.items.count; i++) {
		const uint32_t *numbers = all->errors.keys.keys.items[i].numbers;

		fx_table_row(table);
		fx_table_number(table, ERROR_COUNT, (int64_t)all->errors.items.items[i].count);
		syscalls_set_text(all, table, ERROR_CALL, numbers[0]);
		syscalls_set_text(all, table, ERROR_ERRNO, numbers[1]);
		syscalls_set_text(all, table, ERROR_PATH, numbers[2]);
	}
	syscalls_note_beyond(table, &all->errors.keys);
	fx_report_add(all->report, table);
}

enum { MISSING_COUNT, MISSING_FIRST, MISSING_CALL, MISSING_PID, MISSING_PROCESS, MISSING_PATH };

static const struct fx_column missing_columns[] = {
    [MISSING_COUNT] = {"count", "count", FX_UNIT_COUNT},
    [MISSING_FIRST] = {"first_ns", "first at", FX_UNIT_MOMENT},
    [MISSING_CALL] = {"call", "call", FX_UNIT_TEXT},
    [MISSING_PID] = {"pid", "first pid", FX_UNIT_NUMBER},
    [MISSING_PROCESS] = {"process", "by", FX_UNIT_TEXT},
    [MISSING_PATH] = {"path", "path", FX_UNIT_TEXT},
};

static void syscalls_add_missing(struct syscalls *all)
{
	struct fx_table *table =
	    fx_table_new("not_found", "Files not found", COLUMNS(missing_columns));
	char process[FX_SHOW_MAX];

	if (!table) {
		fx_report_fail(all->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < all->missing.items.count; i++) {
		const struct failure *failure = &all->missing.items.items[i];
		const uint32_t *numbers = all->missing.keys.keys.items[i].numbers;

		fx_table_row(table);
		fx_table_number(table, MISSING_COUNT, (int64_t)failure->count);
		fx_table_number(table, MISSING_FIRST,
				(int64_t)(failure->first - fx_report_begin(all->report)));
		syscalls_set_text(all, table, MISSING_CALL, numbers[2]);
		fx_table_number(table, MISSING_PID, (int64_t)failure->pid);
		fx_show_named(numbers[1] ? fx_report_text(all->report, numbers[1]) : NULL,
			      "process", failure->pid, process);
		fx_table_string(table, MISSING_PROCESS, process);
		syscalls_set_text(all, table, MISSING_PATH, numbers[0]);
	}
	fx_table_earliest_first(table, MISSING_FIRST);
	syscalls_note_beyond(table, &all->missing.keys);
	fx_report_add(all->report, table);
}

static void syscalls_tables(void *section)
{
	struct syscalls *all = section;

	syscalls_add_names(all, GROUP_SYSCALL);
	if (all->total[GROUP_LIBRARY] > 0)
		syscalls_add_names(all, GROUP_LIBRARY);
	/* A server does not tell them. */
	if (!fx_report_order(all->report)->is_asked) {
		syscalls_add_slowest(all, &all->slowest[0], "slowest", "The slowest system calls");
		syscalls_add_slowest(all, &all->slowest[1], "slowest_busy",
				     "The slowest system calls that wait for nobody");
	}
	syscalls_add_errors(all);
	syscalls_add_missing(all);
}

const struct fx_section fx_section_syscalls = {
    .kinds = FX_KIND(SYSCALL) | FX_KIND(PROCESS) | FX_KIND(STDIO) | FX_KIND(LIBC) | FX_KIND(DL),
    .create = syscalls_create,
    .enter = syscalls_enter,
    .tables = syscalls_tables,
    .destroy = syscalls_destroy,
    .asks = syscalls_asks,
};

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "report/findings.h"
#include "report/report.h"
#include "report/units.h"

enum {
	SHOWN = 3,
	/* What is below is nothing to speak of. */
	SMALL_SHARE = 50, /* a fiftieth of the time that the archive spans */
	TINY_CALLS = 1000,
	TINY_BYTES = 64,
};

/* Of all calls of one name. */
struct of_name {
	uint64_t self; /* ns; functions */
	uint64_t calls;
	uint64_t time, errors; /* ns that were no wait; calls that failed; of system calls */
	uint64_t missing, missing_time; /* ENOENT */
	uint64_t transfers, bytes;	/* calls that moved bytes */
};

struct lock_key {
	uint64_t address;
	uint64_t process;
};

/* What threads waited for at one lock. */
struct lock {
	struct lock_key key;
	uint64_t waits, time, longest;
	uint32_t name; /* of a call that waited */
	UT_hash_handle hh;
};

struct fx_findings {
	struct fx_report *report;
	FX_VECTOR(struct of_name) names; /* by number */
	struct lock *locks;
	uint64_t functions; /* own time of all functions */
	uint64_t waited[FX_WAIT_KIND_COUNT], waits[FX_WAIT_KIND_COUNT];
	uint32_t processes;
};

struct fx_findings *fx_findings_new(struct fx_report *report)
{
	struct fx_findings *findings = calloc(1, sizeof(*findings));

	if (findings)
		findings->report = report;
	return findings;
}

void fx_findings_free(struct fx_findings *findings)
{
	struct lock *lock, *next;

	if (!findings)
		return;
	HASH_ITER (hh, findings->locks, lock, next) {
		HASH_DEL(findings->locks, lock);
		free(lock);
	}
	fx_vector_free(&findings->names);
	free(findings);
}

/* --- What is seen ----------------------------------------------------------------------------- */

static struct of_name *findings_add_name(struct fx_findings *findings, uint32_t name)
{
	size_t count = findings->names.count, more = name + 1 - count;

	if (fx_vector_reserve(&findings->names, more) < 0) {
		fx_report_fail(findings->report, -ENOMEM);
		return NULL;
	}
	memset(findings->names.items + count, 0, more * sizeof(struct of_name));
	findings->names.count += more;
	return &findings->names.items[name];
}

/* NULL: no memory. */
static struct of_name *findings_name(struct fx_findings *findings, uint32_t name)
{
	return name < findings->names.count ? &findings->names.items[name]
					    : findings_add_name(findings, name);
}

static void findings_note_lock(struct fx_findings *findings, const struct fx_open_call *call,
			       const struct fx_event *event)
{
	static const char *const args[] = {"mutex", "rwlock", "spin", "lock"};
	struct lock_key key = {.process = call->thread->process->pid};
	struct lock *lock = NULL;
	int64_t address = 0;

	for (size_t i = 0; i < sizeof(args) / sizeof(*args) && !address; i++)
		fx_event_integer(event, args[i], &address);
	if (!address)
		return;
	key.address = (uint64_t)address;
	HASH_FIND(hh, findings->locks, &key, sizeof(key), lock);
	if (!lock) {
		lock = calloc(1, sizeof(*lock));
		if (!lock) {
			fx_report_fail(findings->report, -ENOMEM);
			return;
		}
		lock->key = key;
		lock->name = call->name;
		HASH_ADD(hh, findings->locks, key, sizeof(lock->key), lock);
	}
	lock->waits++;
	lock->time += call->end - call->ts;
	if (call->end - call->ts > lock->longest)
		lock->longest = call->end - call->ts;
}

static void findings_note_call(struct of_name *of_name, const struct fx_open_call *call,
			       const struct fx_event *event, bool waits)
{
	const struct fxt_arg *error = fx_event_arg(event, "errno");
	int64_t ret;

	if (!waits)
		of_name->time += call->end - call->ts;
	if (error && error->type == FXT_ARG_STRING) {
		of_name->errors++;
		if (fxt_string_equals(&error->string, "ENOENT")) {
			of_name->missing++;
			of_name->missing_time += call->end - call->ts;
		}
	}
	if ((fx_event_arg(event, "count") || fx_event_arg(event, "len")) &&
	    fx_event_integer(event, "ret", &ret) && ret > 0) {
		of_name->transfers++;
		of_name->bytes += (uint64_t)ret;
	}
}

void fx_findings_enter(struct fx_findings *findings, const struct fx_open_call *call,
		       const struct fx_event *event, enum fx_wait_kind wait)
{
	struct of_name *of_name = findings_name(findings, call->name);

	if (!of_name)
		return;
	of_name->calls++;
	if (wait != FX_WAIT_NONE) {
		findings->waited[wait] += call->end - call->ts;
		findings->waits[wait]++;
	}
	if (wait == FX_WAIT_LOCK)
		findings_note_lock(findings, call, event);
	if (call->kind == FX_CALL_SYSCALL)
		findings_note_call(of_name, call, event, wait != FX_WAIT_NONE);
}

void fx_findings_leave(struct fx_findings *findings, const struct fx_open_call *call)
{
	uint64_t time = call->end - call->ts;
	uint64_t self = call->inside < time ? time - call->inside : 0;
	struct of_name *of_name;

	if (call->kind != FX_CALL_FUNCTION)
		return;
	of_name = findings_name(findings, call->name);
	if (of_name)
		of_name->self += self;
	findings->functions += self;
}

/* --- What is found ---------------------------------------------------------------------------- */

enum { TIME, FINDING, MORE };

static const struct fx_column finding_columns[] = {
    [TIME] = {"time_ns", "time", FX_UNIT_NS},
    [FINDING] = {"finding", "finding", FX_UNIT_TEXT},
    [MORE] = {"more", "shows more", FX_UNIT_TEXT},
};

static bool findings_is_small(const struct fx_findings *findings, uint64_t time)
{
	uint64_t span = fx_report_end(findings->report) - fx_report_begin(findings->report);

	return time < span / SMALL_SHARE;
}

static void findings_put(const struct fx_findings *findings, struct fx_table *table, uint64_t time,
			 const char *more, const char *text)
{
	if (findings_is_small(findings, time))
		return;
	fx_table_row(table);
	fx_table_number(table, TIME, (int64_t)time);
	fx_table_string(table, FINDING, text);
	fx_table_string(table, MORE, more);
}

static const char *findings_text(const struct fx_findings *findings, size_t name)
{
	return name ? fx_report_text(findings->report, (uint32_t)name)->data : "";
}

/* The function that has the most time of its own. */
static void findings_of_functions(const struct fx_findings *findings, struct fx_table *table)
{
	char text[400], calls[FX_UNIT_TEXT_MAX];
	size_t most = 0;

	for (size_t i = 1; i < findings->names.count; i++) {
		if (findings->names.items[i].self > findings->names.items[most].self)
			most = i;
	}
	if (!most)
		return;
	fx_unit_number(FX_UNIT_COUNT, (int64_t)findings->names.items[most].calls, calls);
	snprintf(text, sizeof(text),
		 "the function %.200s has %.0f %% of the time of all functions, in %s calls",
		 findings_text(findings, most),
		 100.0 * (double)findings->names.items[most].self / (double)findings->functions,
		 calls);
	findings_put(findings, table, findings->names.items[most].self,
		     "fxtrace report --functions", text);
}

/* The lock that was waited for longest. */
static void findings_of_locks(const struct fx_findings *findings, struct fx_table *table)
{
	const struct lock *most = NULL;
	char text[300], longest[FX_UNIT_TEXT_MAX], waits[FX_UNIT_TEXT_MAX];

	for (const struct lock *lock = findings->locks; lock; lock = lock->hh.next) {
		if (!most || lock->time > most->time)
			most = lock;
	}
	if (!most)
		return;
	fx_unit_number(FX_UNIT_NS, (int64_t)most->longest, longest);
	fx_unit_number(FX_UNIT_COUNT, (int64_t)most->waits, waits);
	snprintf(text, sizeof(text),
		 "threads of process %llu waited %s times for the lock 0x%llx, at most %s",
		 (unsigned long long)most->key.process, waits,
		 (unsigned long long)most->key.address, longest);
	findings_put(findings, table, most->time, "fxtrace report --waits", text);
}

/* The system call that worked longest, and did not wait. */
static void findings_of_calls(const struct fx_findings *findings, struct fx_table *table)
{
	char text[300], calls[FX_UNIT_TEXT_MAX];
	size_t most = 0;

	for (size_t i = 1; i < findings->names.count; i++) {
		if (findings->names.items[i].time > findings->names.items[most].time)
			most = i;
	}
	if (!most)
		return;
	fx_unit_number(FX_UNIT_COUNT, (int64_t)findings->names.items[most].calls, calls);
	snprintf(text, sizeof(text),
		 "%s calls of %.100s took this time without waiting for anybody", calls,
		 findings_text(findings, most));
	findings_put(findings, table, findings->names.items[most].time, "fxtrace report --syscalls",
		     text);
}

static void findings_of_missing_files(const struct fx_findings *findings, struct fx_table *table)
{
	uint64_t calls = 0, time = 0;
	char text[200], count[FX_UNIT_TEXT_MAX];

	for (size_t i = 0; i < findings->names.count; i++) {
		calls += findings->names.items[i].missing;
		time += findings->names.items[i].missing_time;
	}
	if (!calls)
		return;
	fx_unit_number(FX_UNIT_COUNT, (int64_t)calls, count);
	snprintf(text, sizeof(text), "%s calls were for files that do not exist", count);
	findings_put(findings, table, time, "fxtrace report --syscalls", text);
}

/* Reads and writes of a few bytes each. */
static void findings_of_tiny_transfers(const struct fx_findings *findings, struct fx_table *table)
{
	char text[300], count[FX_UNIT_TEXT_MAX];

	for (size_t i = 1; i < findings->names.count; i++) {
		const struct of_name *of_name = &findings->names.items[i];

		if (of_name->transfers < TINY_CALLS ||
		    of_name->bytes / of_name->transfers >= TINY_BYTES)
			continue;
		fx_unit_number(FX_UNIT_COUNT, (int64_t)of_name->transfers, count);
		snprintf(text, sizeof(text), "%s calls of %.100s moved %.1f bytes each", count,
			 findings_text(findings, i),
			 (double)of_name->bytes / (double)of_name->transfers);
		findings_put(findings, table, of_name->time, "fxtrace report --files", text);
	}
}

static void findings_of_waits(const struct fx_findings *findings, struct fx_table *table)
{
	char text[200], count[FX_UNIT_TEXT_MAX];

	for (int kind = FX_WAIT_NONE + 1; kind < FX_WAIT_KIND_COUNT; kind++) {
		/* Locks have a finding of their own. */
		if (kind == FX_WAIT_LOCK || findings->waits[kind] == 0)
			continue;
		fx_unit_number(FX_UNIT_COUNT, (int64_t)findings->waits[kind], count);
		snprintf(text, sizeof(text), "all threads together waited for %s, in %s calls",
			 fx_wait_kind_text((enum fx_wait_kind)kind), count);
		findings_put(findings, table, findings->waited[kind], "fxtrace report --waits",
			     text);
	}
}

void fx_findings_tables(struct fx_findings *findings)
{
	struct fx_table *table = fx_table_new("findings", "What matters most", finding_columns,
					      sizeof(finding_columns) / sizeof(finding_columns[0]));

	if (!table) {
		fx_report_fail(findings->report, -ENOMEM);
		return;
	}
	findings_of_functions(findings, table);
	findings_of_locks(findings, table);
	findings_of_calls(findings, table);
	findings_of_missing_files(findings, table);
	findings_of_tiny_transfers(findings, table);
	findings_of_waits(findings, table);
	if (fx_table_row_count(table) == 0)
		fx_table_note(table, "nothing stands out");
	fx_table_arrange(table, NULL, fx_report_order(findings->report)->top ? SHOWN : 0);
	fx_report_add(findings->report, table);
}

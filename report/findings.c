/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/sample.h"
#include "lists/hashes.h"
#include "report/circles.h"
#include "report/findings.h"
#include "report/lives.h"
#include "report/report.h"
#include "report/shares.h"
#include "report/show.h"
#include "report/units.h"

enum {
	SHOWN = 3,
	/* What is below is nothing to speak of. */
	SMALL_SHARE = 50, /* a fiftieth of the time that the archive spans */
	TINY_CALLS = 1000,
	TINY_BYTES = 64,
	HOLDERS_MAX = 100000, /* of all locks */
	FINDING_MAX = 700,
};

/* Of all calls of one name. */
struct of_name {
	uint64_t self; /* ns; functions */
	uint64_t calls;
	uint64_t time, errors; /* ns that were no wait; calls that failed; of system calls */
	uint64_t missing, missing_time; /* ENOENT */
	uint64_t transfers, bytes;	/* calls that moved bytes */
	uint64_t samples, sampled; /* samples that found it innermost; the ns that they stand for */
};

struct lock_key {
	uint64_t address;
	uint64_t process;
};

/* What threads waited for at one lock. */
struct lock {
	struct lock_key key;
	uint64_t waits, time, longest;
	struct fx_object object;
	size_t number; /* counting from 0 */
	UT_hash_handle hh;
};

/* What is found. */
struct finding {
	uint64_t time;
	bool is_first; /* whatever its time */
	bool is_idle;  /* what was waited for is somebody else's finding: these come last */
	const char *more;
	char text[FINDING_MAX];
};

struct fx_findings {
	struct fx_report *report;
	FX_VECTOR(struct of_name) names; /* by number */
	struct lock *locks;
	struct fx_shares holders; /* of locks: tids */
	struct fx_circles circles;
	struct fx_lives lives;
	uint64_t functions;	   /* own time of all functions */
	uint64_t samples, sampled; /* all that were taken; the ns that they stand for */
	uint64_t waited[FX_WAIT_KIND_COUNT], waits[FX_WAIT_KIND_COUNT];
	FX_VECTOR(struct finding) found;
};

struct fx_findings *fx_findings_new(struct fx_report *report)
{
	struct fx_findings *findings = calloc(1, sizeof(*findings));

	if (!findings)
		return NULL;
	findings->report = findings->lives.report = report;
	findings->holders.keys.limit = HOLDERS_MAX;
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
	fx_vector_free(&findings->found);
	fx_shares_free(&findings->holders);
	fx_circles_free(&findings->circles);
	fx_lives_free(&findings->lives);
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

/* NULL: no memory. */
static struct lock *findings_lock(struct fx_findings *findings, struct lock_key key)
{
	struct lock *lock;

	HASH_FIND(hh, findings->locks, &key, sizeof(key), lock);
	if (lock)
		return lock;
	lock = calloc(1, sizeof(*lock));
	if (!lock) {
		fx_report_fail(findings->report, -ENOMEM);
		return NULL;
	}
	lock->key = key;
	lock->number = HASH_COUNT(findings->locks);
	HASH_ADD(hh, findings->locks, key, sizeof(lock->key), lock);
	return lock;
}

static void findings_note_lock(struct fx_findings *findings, const struct fx_open_call *call,
			       const struct fx_event *event)
{
	struct fx_object object = fx_show_object(findings->report, event);
	uint64_t time = call->end - call->ts;
	struct lock *lock;
	int64_t holder;

	if (!object.address)
		return;
	lock =
	    findings_lock(findings, (struct lock_key){object.address, call->thread->process->pid});
	if (!lock)
		return;
	if (!lock->object.name)
		lock->object = object;
	lock->waits++;
	lock->time += time;
	if (time > lock->longest)
		lock->longest = time;
	if (fx_event_integer(event, "holder", &holder) &&
	    (fx_shares_add(&findings->holders, lock->number, (uint32_t)holder, time) < 0 ||
	     fx_circles_add(&findings->circles, call, event, &object) < 0))
		fx_report_fail(findings->report, -ENOMEM);
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

	fx_lives_enter(&findings->lives, call, event, wait);
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

static void findings_note_sample(struct fx_findings *findings, const struct fx_event *event,
				 const struct fxt_string *stack)
{
	const char *newline = memchr(stack->data, '\n', stack->length);
	char name[FX_SAMPLE_NAME_MAX];
	size_t length = fx_sample_function(
	    stack->data, newline ? (size_t)(newline - stack->data) : stack->length, name,
	    sizeof(name));
	uint32_t number = fx_report_intern(findings->report, name, length);
	struct of_name *of_name = number ? findings_name(findings, number) : NULL;

	findings->samples++;
	findings->sampled += fx_sample_period(event);
	if (of_name)
		of_name->sampled += fx_sample_period(event);
}

void fx_findings_instant(struct fx_findings *findings, const struct fx_event *event)
{
	const struct fxt_string *stack = fx_sample_stack(event);

	if (stack)
		findings_note_sample(findings, event, stack);
	else
		fx_lives_instant(&findings->lives, event);
}

void fx_findings_leave(struct fx_findings *findings, const struct fx_open_call *call)
{
	uint64_t time = call->end - call->ts;
	uint64_t self = call->inside < time ? time - call->inside : 0;
	struct of_name *of_name;

	fx_lives_leave(&findings->lives);
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

/* NULL: no memory. */
static struct finding *findings_new_finding(struct fx_findings *findings, uint64_t time,
					    const char *more)
{
	struct finding *finding;

	if (fx_vector_reserve(&findings->found, 1) < 0) {
		fx_report_fail(findings->report, -ENOMEM);
		return NULL;
	}
	finding = &findings->found.items[findings->found.count++];
	*finding = (struct finding){.time = time, .more = more};
	return finding;
}

static void findings_put(struct fx_findings *findings, uint64_t time, const char *more,
			 const char *format, ...) __attribute__((format(printf, 4, 5)));

static void findings_put(struct fx_findings *findings, uint64_t time, const char *more,
			 const char *format, ...)
{
	struct finding *finding = NULL;
	va_list args;

	if (!findings_is_small(findings, time))
		finding = findings_new_finding(findings, time, more);
	if (!finding)
		return;
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

/* "1 call", "2,000 calls" */
static const char *findings_calls(uint64_t count, const char *one, const char *many,
				  char text[FX_UNIT_TEXT_MAX + 16])
{
	fx_unit_number(FX_UNIT_COUNT, (int64_t)count, text);
	snprintf(text + strlen(text), 16, " %s", count == 1 ? one : many);
	return text;
}

static const char *findings_text(const struct fx_findings *findings, size_t name)
{
	return name ? fx_report_text(findings->report, (uint32_t)name)->data : "";
}

/* The function that has the most time of its own. */
static void findings_of_functions(struct fx_findings *findings)
{
	char calls[FX_UNIT_TEXT_MAX + 16];
	size_t most = 0;

	for (size_t i = 1; i < findings->names.count; i++) {
		if (findings->names.items[i].self > findings->names.items[most].self)
			most = i;
	}
	if (!most)
		return;
	findings_put(findings, findings->names.items[most].self, "fxtrace report --functions",
		     "the function %.200s has %.0f %% of the time of all functions, in %s",
		     findings_text(findings, most),
		     100.0 * (double)findings->names.items[most].self / (double)findings->functions,
		     findings_calls(findings->names.items[most].calls, "call", "calls", calls));
}

/* The function in which threads were found most that had a processor. */
static void findings_of_samples(struct fx_findings *findings)
{
	char samples[FX_UNIT_TEXT_MAX + 16];
	const char *name;
	size_t most = 0;

	for (size_t i = 1; i < findings->names.count; i++) {
		if (findings->names.items[i].sampled > findings->names.items[most].sampled)
			most = i;
	}
	if (!most)
		return;
	name = findings_text(findings, most); /* "[liblzma.so.5]": it has no symbol */
	findings_put(findings, findings->names.items[most].sampled, "fxtrace report --samples",
		     "%s %.200s has ~%.0f %% of the time on processors, by %s",
		     name[0] == '[' ? "code of" : "the function", name,
		     100.0 * (double)findings->names.items[most].sampled /
			 (double)findings->sampled,
		     findings_calls(findings->samples, "sample", "samples", samples));
}

/* The thread that held a lock longest of the time that it was waited for: ", held by NAME (tid N) 27 % of that time"; "": not known. */
static void findings_show_holder(struct fx_findings *findings, const struct lock *lock,
				 char text[FX_SHOW_MAX + 64])
{
	struct fx_share *all = fx_shares_sorted(&findings->holders);
	const struct fx_share *holder = all;
	const struct fx_thread *thread;
	char name[FX_SHOW_MAX] = "thread";

	text[0] = 0;
	if (all && fx_shares_of(&holder, lock->number) > 0) {
		thread = fx_timeline_find_thread(fx_report_timeline(findings->report),
						 lock->key.process, holder->sharer);
		if (thread)
			fx_show_thread(thread, name);
		snprintf(text, FX_SHOW_MAX + 64, ", held by %s (tid %llu) %.0f %% of that time",
			 name, (unsigned long long)holder->sharer,
			 100.0 * (double)holder->time / (double)lock->time);
	}
	free(all);
}

/* The lock that was waited for longest. */
static void findings_of_locks(struct fx_findings *findings)
{
	const struct lock *most = NULL;
	char name[FX_SHOW_MAX], holder[FX_SHOW_MAX + 64], longest[FX_UNIT_TEXT_MAX],
	    waits[FX_UNIT_TEXT_MAX + 16];

	for (const struct lock *lock = findings->locks; lock; lock = lock->hh.next) {
		if (!most || lock->time > most->time)
			most = lock;
	}
	if (!most)
		return;
	fx_unit_number(FX_UNIT_NS, (int64_t)most->longest, longest);
	fx_show_object_text(findings->report, &most->object, name);
	findings_show_holder(findings, most, holder);
	findings_put(findings, most->time, "fxtrace report --waits",
		     "threads of process %llu waited %s for %s%s, at most %s",
		     (unsigned long long)most->key.process,
		     findings_calls(most->waits, "time", "times", waits), name, holder, longest);
}

/* Threads that wait for one another, whatever else there is. */
static void findings_of_circles(struct fx_findings *findings)
{
	char text[FINDING_MAX - 40];
	uint64_t since = fx_circles_find(&findings->circles, findings->report, text, sizeof(text));
	struct finding *finding;

	if (!since)
		return;
	finding = findings_new_finding(findings, fx_report_end(findings->report) - since,
				       "fxtrace report --waits");
	if (!finding)
		return;
	finding->is_first = true;
	snprintf(finding->text, sizeof(finding->text), "a deadlock, it seems: %s", text);
}

/* The system call that worked longest, and did not wait. */
static void findings_of_calls(struct fx_findings *findings)
{
	char calls[FX_UNIT_TEXT_MAX + 16];
	size_t most = 0;

	for (size_t i = 1; i < findings->names.count; i++) {
		if (findings->names.items[i].time > findings->names.items[most].time)
			most = i;
	}
	if (most)
		findings_put(
		    findings, findings->names.items[most].time, "fxtrace report --syscalls",
		    "%s of %.100s took this time without waiting for anybody",
		    findings_calls(findings->names.items[most].calls, "call", "calls", calls),
		    findings_text(findings, most));
}

static void findings_of_missing_files(struct fx_findings *findings)
{
	uint64_t calls = 0, time = 0;
	char count[FX_UNIT_TEXT_MAX + 16];

	for (size_t i = 0; i < findings->names.count; i++) {
		calls += findings->names.items[i].missing;
		time += findings->names.items[i].missing_time;
	}
	if (calls)
		findings_put(findings, time, "fxtrace report --syscalls",
			     "%s for files that do not exist",
			     findings_calls(calls, "call was", "calls were", count));
}

/* Reads and writes of a few bytes each. */
static void findings_of_tiny_transfers(struct fx_findings *findings)
{
	char calls[FX_UNIT_TEXT_MAX + 16];

	for (size_t i = 1; i < findings->names.count; i++) {
		const struct of_name *of_name = &findings->names.items[i];

		if (of_name->transfers < TINY_CALLS ||
		    of_name->bytes / of_name->transfers >= TINY_BYTES)
			continue;
		findings_put(findings, of_name->time, "fxtrace report --files",
			     "%s of %.100s moved %.1f bytes each",
			     findings_calls(of_name->transfers, "call", "calls", calls),
			     findings_text(findings, i),
			     (double)of_name->bytes / (double)of_name->transfers);
	}
}

static void findings_of_waits(struct fx_findings *findings)
{
	char calls[FX_UNIT_TEXT_MAX + 16];

	for (int kind = FX_WAIT_NONE + 1; kind < FX_WAIT_KIND_COUNT; kind++) {
		size_t before = findings->found.count;

		/* Locks have a finding of their own. */
		if (kind == FX_WAIT_LOCK || findings->waits[kind] == 0)
			continue;
		findings_put(findings, findings->waited[kind], "fxtrace report --waits",
			     "all threads together waited for %s, in %s",
			     fx_wait_kind_text((enum fx_wait_kind)kind),
			     findings_calls(findings->waits[kind], "call", "calls", calls));
		if (findings->found.count > before)
			findings->found.items[before].is_idle =
			    kind == FX_WAIT_CHILD || kind == FX_WAIT_THREAD;
	}
}

/* The process that has the most time of the longest chain. */
static void findings_of_chain(struct fx_findings *findings)
{
	struct fx_lives *lives = &findings->lives;
	struct fx_chain chain = {0};
	struct fx_life roots = {0};
	uint64_t *times = calloc(lives->items.count + 1, sizeof(*times));
	size_t most = 0;

	if (!times || fx_lives_tie(lives, &roots) < 0 || fx_chain_find(&chain, lives, &roots) < 0)
		fx_report_fail(findings->report, -ENOMEM);
	for (size_t i = 0; times && i < chain.stretches.count; i++) {
		const struct fx_stretch *stretch = &chain.stretches.items[i];

		times[stretch->number] += stretch->to - stretch->from;
		if (times[stretch->number] > times[most])
			most = stretch->number;
	}
	if (chain.total > 0)
		findings_put(findings, times[most], "fxtrace report --processes",
			     "~%.0f %% of the longest chain of processes, one after another, is "
			     "process %llu: %.160s",
			     100.0 * (double)times[most] / (double)chain.total,
			     (unsigned long long)fx_lives_process(lives, most)->pid,
			     fx_lives_command(lives, most));
	free(times);
	fx_chain_free(&chain);
}

static int findings_compare(const void *a, const void *b)
{
	const struct finding *left = a, *right = b;

	if (left->is_first != right->is_first)
		return left->is_first ? -1 : 1;
	if (left->is_idle != right->is_idle)
		return left->is_idle ? 1 : -1;
	return left->time < right->time ? 1 : left->time > right->time ? -1 : 0;
}

void fx_findings_tables(struct fx_findings *findings)
{
	struct fx_table *table = fx_table_new("findings", "What matters most", finding_columns,
					      sizeof(finding_columns) / sizeof(finding_columns[0]));

	if (!table) {
		fx_report_fail(findings->report, -ENOMEM);
		return;
	}
	findings_of_chain(findings);
	findings_of_functions(findings);
	findings_of_samples(findings);
	findings_of_circles(findings);
	findings_of_locks(findings);
	findings_of_calls(findings);
	findings_of_missing_files(findings);
	findings_of_tiny_transfers(findings);
	findings_of_waits(findings);
	if (findings->found.count > 0)
		qsort(findings->found.items, findings->found.count, sizeof(*findings->found.items),
		      findings_compare);
	for (size_t i = 0; i < findings->found.count; i++) {
		fx_table_row(table);
		fx_table_number(table, TIME, (int64_t)findings->found.items[i].time);
		fx_table_string(table, FINDING, findings->found.items[i].text);
		fx_table_string(table, MORE, findings->found.items[i].more);
	}
	if (findings->found.count == 0)
		fx_table_note(table, "nothing stands out");
	fx_table_keep_order(table);
	fx_table_arrange(table, NULL, fx_report_order(findings->report)->top ? SHOWN : 0);
	fx_report_add(findings->report, table);
}

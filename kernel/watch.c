/* SPDX-License-Identifier: MIT */
#include "kernel/watch.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/calls.h"
#include "kernel/probe-record.h"
#include "kernel/records.h"
#include "kernel/scheduling.h"
#include "kernel/space.h"
#include "kernel/stack-text.h"
#include "symbols/store.h"
#include "symbols/symbols.h"

struct fx_watch {
	struct fx_symbol_cache *names;
	struct fx_spaces *spaces;
	uint32_t period;		     /* ns that a sample stands for */
	const struct fx_tracepoints *points; /* borrowed; NULL: there are none */
	const struct fx_probe_list *probes;  /* borrowed; NULL: there are none */
	struct fx_stack_text *stack;
	struct fx_calls *calls;
	uint64_t newest;    /* ns; of the newest record */
	uint32_t preparing; /* the process that has yet to become the program; 0: it is */
	uint32_t alone;	    /* the process that is of interest; 0: all are */
};

int fx_watch_create(const struct fx_kernel_wish *wish, const struct fx_tracepoints *points,
		    bool alone, struct fx_watch **ret)
{
	struct fx_watch *watch = calloc(1, sizeof(*watch));
	char folder[FX_STORE_PATH_MAX];

	if (!watch)
		return -ENOMEM;
	if (fx_symbol_cache_create(NULL, &watch->names) < 0 ||
	    fx_spaces_create(watch->names, &watch->spaces) < 0) {
		fx_watch_destroy(watch);
		return -ENOMEM;
	}
	if (fx_store_folder(NULL, folder))
		fx_symbol_cache_keep(watch->names, folder);
	watch->points = points;
	watch->preparing = (uint32_t)wish->pid;
	watch->alone = alone ? (uint32_t)wish->pid : 0;
	watch->stack = fx_stack_text_create();
	watch->calls = fx_calls_create();
	if (!watch->stack || !watch->calls) {
		fx_watch_destroy(watch);
		return -ENOMEM;
	}
	watch->period = wish->hz ? UINT32_C(1000000000) / wish->hz : 0;
	fx_space_read(watch->spaces, (uint32_t)wish->pid);
	*ret = watch;
	return 0;
}

void fx_watch_let_probes(struct fx_watch *watch, const struct fx_probe_list *probes)
{
	watch->probes = probes;
}

void fx_watch_destroy(struct fx_watch *watch)
{
	if (!watch)
		return;
	if (watch->spaces)
		fx_spaces_destroy(watch->spaces);
	fx_symbol_cache_destroy(watch->names);
	fx_stack_text_destroy(watch->stack);
	fx_calls_destroy(watch->calls);
	free(watch);
}

/* Nothing is of interest of what the process does that has yet to become the program. */
static void watch_sample(struct fx_watch *watch, const struct fx_ring_record *record)
{
	struct fx_space *space = fx_space_of(watch->spaces, record->pid);
	struct fx_symspace *names = space ? fx_space_names(watch->spaces, space) : NULL;
	struct fx_sample sample;
	const char *text;
	size_t length;

	if (!names || record->pid == watch->preparing || !fx_ring_sample(record, &sample))
		return;
	text = fx_stack_text_write(watch->stack, space, names, &sample, &length);
	fx_kernel_sample((struct fx_task){record->pid, record->tid}, record->ns, watch->period,
			 text, length);
}

/* --- Processes ---------------------------------------------------------------------------------- */

/* The text at the end of a record; NULL: it has no end. */
static const char *record_text(const struct fx_ring_record *record, size_t at)
{
	const char *text = (const char *)record->body + at;

	return record->size > at && memchr(text, 0, record->size - at) ? text : NULL;
}

/* PERF_RECORD_MMAP2: pid and tid, then this, then the file's name. */
struct map_body {
	uint64_t start, size, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
};

static void watch_map(struct fx_watch *watch, const struct fx_ring_record *record)
{
	const char *path = record_text(record, 8 + sizeof(struct map_body));
	bool has_id = record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	struct map_body body;
	const struct fx_space *space;

	if (!path)
		return;
	memcpy(&body, record->body + 1, sizeof(body));
	fx_space_map(watch->spaces, record->pid, body.start, body.size, body.offset,
		     has_id ? 0 : body.inode, path);
	space = fx_space_of(watch->spaces, record->pid);
	if (space && space->is_preloaded)
		fx_calls_forget(watch->calls, record->pid);
}

static void watch_name(struct fx_watch *watch, const struct fx_ring_record *record)
{
	const char *name = record_text(record, 8);
	bool is_exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	struct fx_space *space;

	if (is_exec)
		fx_space_exec(watch->spaces, record->pid);
	if (is_exec && record->pid == watch->preparing)
		watch->preparing = 0;
	space = fx_space_of(watch->spaces, record->pid);
	if (name && record->pid == record->tid && space)
		snprintf(space->name, sizeof(space->name), "%s", name);
	if (name)
		fx_kernel_name((struct fx_task){record->pid, record->tid}, name, is_exec);
}

/* PERF_RECORD_FORK and PERF_RECORD_EXIT: who it is, and whose child. */
struct life_body {
	uint32_t pid, parent, tid, parent_tid;
};

/* A thread is called as its process until it has a name. Where libfxtrace.so is, it gives the names. */
static void watch_thread(struct fx_watch *watch, struct fx_task task)
{
	const struct fx_space *space = fx_space_of(watch->spaces, task.pid);

	if (space && !space->is_preloaded && space->name[0])
		fx_kernel_name(task, space->name, task.pid == task.tid);
}

/* What it had open ends, and it is on a processor for the last time: of that no tracepoint tells. */
static void watch_thread_ends(struct fx_watch *watch, const struct fx_ring_record *record,
			      uint32_t tid)
{
	fx_calls_thread_ends(watch->calls, tid, record->ns);
	if (watch->points)
		fx_kernel_switch((struct fx_task){record->pid, tid}, record->ns, record->cpu,
				 FX_SWITCH_ENDS);
}

static void watch_life(struct fx_watch *watch, const struct fx_ring_record *record)
{
	struct life_body body;

	if (record->size < sizeof(body))
		return;
	memcpy(&body, record->body, sizeof(body));
	if (record->type == PERF_RECORD_EXIT)
		watch_thread_ends(watch, record, body.tid);
	if (record->type == PERF_RECORD_FORK && body.pid == body.tid)
		fx_space_fork(watch->spaces, body.parent, body.pid);
	if (record->type == PERF_RECORD_FORK)
		watch_thread(watch, (struct fx_task){body.pid, body.tid});
	else if (body.pid == body.tid)
		fx_space_end(watch->spaces, body.pid);
}

/* --- Tracepoints -------------------------------------------------------------------------------- */

/* What the program's process does before it is the program is none of its calls; but how it becomes it is. */
static bool is_preparing(const struct fx_watch *watch, const struct fx_ring_record *record,
			 bool begins, const struct fx_tracepoint_event *event)
{
	return record->pid == watch->preparing && begins &&
	       fx_tracepoint_value(event, FX_FIELD_ENTER_NUMBER, 0) != __NR_execve;
}

static void watch_call(struct fx_watch *watch, const struct fx_tracepoint_event *event,
		       const struct fx_ring_record *record, bool begins)
{
	struct fx_space *space = fx_space_of(watch->spaces, record->pid);
	struct fx_task task = {record->pid, record->tid};
	uint64_t args[FX_CALL_ARGS];

	if (!space || space->is_preloaded || is_preparing(watch, record, begins, event))
		return;
	for (unsigned i = 0; begins && i < FX_CALL_ARGS; i++)
		args[i] = (uint64_t)fx_tracepoint_value(event, FX_FIELD_ENTER_ARGS, i);
	if (begins)
		fx_calls_begin(watch->calls, task, record->ns,
			       fx_tracepoint_value(event, FX_FIELD_ENTER_NUMBER, 0), args);
	else
		fx_calls_end(watch->calls, task, record->ns,
			     fx_tracepoint_value(event, FX_FIELD_EXIT_NUMBER, 0),
			     fx_tracepoint_value(event, FX_FIELD_EXIT_RESULT, 0));
}

static void watch_tracepoint(struct fx_watch *watch, const struct fx_ring_record *record)
{
	struct fx_tracepoint_event event;
	const uint8_t *bytes;
	size_t size;

	if (watch->probes && record->pid != watch->preparing &&
	    fx_probe_record(watch->probes, record))
		return;
	bytes = fx_ring_tracepoint(record, &size);
	if (!bytes || !watch->points || !fx_tracepoint_read(watch->points, bytes, size, &event))
		return;
	if (event.tracepoint == FX_TRACEPOINT_ENTER || event.tracepoint == FX_TRACEPOINT_EXIT)
		watch_call(watch, &event, record, event.tracepoint == FX_TRACEPOINT_ENTER);
	else
		fx_scheduling_tracepoint(&event, record);
}

void fx_watch_finish(struct fx_watch *watch)
{
	fx_calls_finish(watch->calls, watch->newest);
}

void fx_watch_take(struct fx_watch *watch, const struct fx_ring_record *record)
{
	if (watch->alone && record->pid != watch->alone)
		return;
	watch->newest = record->ns;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		if (record->is_tracepoint)
			watch_tracepoint(watch, record);
		else
			watch_sample(watch, record);
		break;
	case PERF_RECORD_MMAP2:
		watch_map(watch, record);
		break;
	case PERF_RECORD_COMM:
		watch_name(watch, record);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		watch_life(watch, record);
		break;
	case PERF_RECORD_SWITCH:
		fx_scheduling_switch(record, watch->points != NULL);
		break;
	default:
		break;
	}
}

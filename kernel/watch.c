/* SPDX-License-Identifier: MIT */
#include "kernel/watch.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/calls.h"
#include "kernel/kallsyms.h"
#include "kernel/records.h"
#include "kernel/space.h"
#include "kernel/unwind.h"
#include "symbols/store.h"
#include "symbols/symbols.h"

/* A line of a stack for what the kernel does on a thread's behalf; and how those of its functions end, as flame graphs have it. */
#define KERNEL_LINE   "[kernel]"
#define KERNEL_SUFFIX "_[k]"

#define STACK_TEXT_MAX 16000u

struct fx_watch {
	struct fx_symbol_cache *names;
	struct fx_kallsyms *kernel; /* NULL: not read yet, or not shown */
	bool kernel_tried;
	struct fx_spaces *spaces;
	uint32_t period;		     /* ns that a sample stands for */
	const struct fx_tracepoints *points; /* borrowed; NULL: there are none */
	struct fx_calls *calls;
	uint64_t newest;    /* ns; of the newest record */
	uint32_t preparing; /* the process that has yet to become the program; 0: it is */
	uint32_t alone;	    /* the process that is of interest; 0: all are */
	size_t length;	    /* of the text */
	char text[STACK_TEXT_MAX + FX_SYMBOL_TEXT_MAX + sizeof(KERNEL_SUFFIX) + 1];
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
	watch->calls = fx_calls_create();
	if (!watch->calls) {
		fx_watch_destroy(watch);
		return -ENOMEM;
	}
	watch->period = wish->hz ? UINT32_C(1000000000) / wish->hz : 0;
	fx_space_read(watch->spaces, (uint32_t)wish->pid);
	*ret = watch;
	return 0;
}

void fx_watch_destroy(struct fx_watch *watch)
{
	if (!watch)
		return;
	if (watch->spaces)
		fx_spaces_destroy(watch->spaces);
	fx_symbol_cache_destroy(watch->names);
	fx_kallsyms_free(watch->kernel);
	fx_calls_destroy(watch->calls);
	free(watch);
}

/* --- Samples ------------------------------------------------------------------------------------ */

/* Where the next line goes; there is room for any. */
static char *line_begin(struct fx_watch *watch)
{
	if (watch->length)
		watch->text[watch->length++] = '\n';
	return watch->text + watch->length;
}

static void line_add(struct fx_watch *watch, const char *line)
{
	watch->length += strlen(strcpy(line_begin(watch), line));
}

static void frame_add(struct fx_watch *watch, const struct fx_space *space,
		      struct fx_symspace *names, uint64_t address)
{
	const struct fx_mapping *mapping = fx_space_find(space, address);
	struct fx_symbol symbol;

	if (!mapping || !mapping->image)
		fx_symspace_want_made(names, address);
	fx_symspace_resolve(names, address, &symbol);
	if (mapping && mapping->image && fx_image_facts(mapping->image)->is_vdso)
		symbol.module = "[vdso]";
	if (symbol.kind == FX_SYMBOL_NAMED)
		line_add(watch, symbol.name);
	else
		watch->length += fx_symbol_format(&symbol, line_begin(watch), FX_SYMBOL_TEXT_MAX);
}

static const char *kernel_name(struct fx_watch *watch, uint64_t address)
{
	if (!watch->kernel_tried)
		watch->kernel = fx_kallsyms_read(NULL);
	watch->kernel_tried = true;
	return watch->kernel ? fx_kallsyms_find(watch->kernel, address) : NULL;
}

/* The kernel's functions; what has no name, or may not be seen, is one line for all. */
static void kernel_add(struct fx_watch *watch, const struct fx_sample *sample)
{
	for (uint64_t i = 0; i < sample->kernel_count && watch->length < STACK_TEXT_MAX; i++) {
		const char *name = sample->kernel[i] < FX_KERNEL_MARK
				       ? kernel_name(watch, sample->kernel[i])
				       : NULL;

		if (!name)
			continue;
		line_add(watch, name);
		watch->length += strlen(strcpy(watch->text + watch->length, KERNEL_SUFFIX));
	}
	if (watch->length == 0)
		line_add(watch, KERNEL_LINE);
}

static void watch_sample(struct fx_watch *watch, const struct fx_ring_record *record)
{
	struct fx_space *space = fx_space_of(watch->spaces, record->pid);
	struct fx_symspace *names = space ? fx_space_names(watch->spaces, space) : NULL;
	uint64_t frames[FX_UNWIND_MAX];
	struct fx_sample sample;
	unsigned count;
	bool whole;

	if (!names || record->pid == watch->preparing || !fx_ring_sample(record, &sample))
		return;
	watch->length = 0;
	if (sample.in_kernel)
		kernel_add(watch, &sample);
	if (!sample.in_kernel || sample.registers) {
		count = fx_unwind(space, &sample, frames, &whole);
		for (unsigned i = 0; i < count && watch->length < STACK_TEXT_MAX; i++)
			frame_add(watch, space, names, frames[i]);
	}
	fx_kernel_sample((struct fx_task){record->pid, record->tid}, record->ns, watch->period,
			 watch->text, watch->length);
}

/* --- All else ----------------------------------------------------------------------------------- */

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

/* How a thread lost its processor the tracepoint says better, where there is one. */
static void watch_switch(const struct fx_watch *watch, const struct fx_ring_record *record)
{
	enum fx_kernel_switch what = FX_SWITCH_IN;

	if (watch->points && record->misc & PERF_RECORD_MISC_SWITCH_OUT)
		return;

	if (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		what = FX_SWITCH_PREEMPTED;
	else if (record->misc & PERF_RECORD_MISC_SWITCH_OUT)
		what = FX_SWITCH_WAITS;
	if (record->tid)
		fx_kernel_switch((struct fx_task){record->pid, record->tid}, record->ns,
				 record->cpu, what);
}

/* --- Tracepoints -------------------------------------------------------------------------------- */

struct watch_point {
	const struct fx_tracepoints *points;
	const uint8_t *bytes;
	size_t size;
};

static int64_t point_value(const struct watch_point *point, enum fx_tracepoint_field field,
			   unsigned index)
{
	return fx_tracepoint_value(point->points, field, index, point->bytes, point->size);
}

/* TASK_* of the kernel's, as sched_switch has them: 0 runnable, and bits; what is above them says that it was taken away. */
enum { TASK_STOPPED = 0x4 | 0x8, TASK_ENDS = 0x10 | 0x20, TASK_WAITS = 0xff };

static enum fx_kernel_switch switch_of(int64_t state)
{
	if (!(state & TASK_WAITS))
		return FX_SWITCH_PREEMPTED;
	if (state & TASK_ENDS)
		return FX_SWITCH_ENDS;
	return state & TASK_STOPPED ? FX_SWITCH_STOPPED : FX_SWITCH_WAITS;
}

/* A thread that has ended is in no process when it is switched away. */
static void point_switch(const struct watch_point *point, const struct fx_ring_record *record)
{
	struct fx_task task = {record->pid, (uint32_t)point_value(point, FX_FIELD_SWITCH_TID, 0)};

	if (task.tid)
		fx_kernel_switch(task, record->ns, record->cpu,
				 switch_of(point_value(point, FX_FIELD_SWITCH_STATE, 0)));
}

/* Flags of every tracepoint, of which the kernel's trace_flag_type has the bits: it came in an interrupt. */
enum { POINT_FLAGS = 2, POINT_INTERRUPTED = 0x08 | 0x10 | 0x40 };

/* In an interrupt the thread whose processor that took has woken nobody. */
static void point_waking(const struct watch_point *point, const struct fx_ring_record *record)
{
	int64_t tid = point_value(point, FX_FIELD_WAKING_TID, 0);
	bool is_own = point->size > POINT_FLAGS && !(point->bytes[POINT_FLAGS] & POINT_INTERRUPTED);

	if (tid > 0)
		fx_kernel_wakeup((uint32_t)tid, record->ns,
				 (uint32_t)point_value(point, FX_FIELD_WAKING_CPU, 0),
				 is_own ? record->tid : 0);
}

/* What the program's process does before it is the program is none of its calls; but how it becomes it is. */
static bool is_preparing(const struct fx_watch *watch, const struct fx_ring_record *record,
			 bool begins, const struct watch_point *point)
{
	return record->pid == watch->preparing && begins &&
	       point_value(point, FX_FIELD_ENTER_NUMBER, 0) != __NR_execve;
}

static void point_call(struct fx_watch *watch, const struct watch_point *point,
		       const struct fx_ring_record *record, bool begins)
{
	struct fx_space *space = fx_space_of(watch->spaces, record->pid);
	struct fx_task task = {record->pid, record->tid};
	uint64_t args[FX_CALL_ARGS];

	if (!space || space->is_preloaded || is_preparing(watch, record, begins, point))
		return;
	for (unsigned i = 0; begins && i < FX_CALL_ARGS; i++)
		args[i] = (uint64_t)point_value(point, FX_FIELD_ENTER_ARGS, i);
	if (begins)
		fx_calls_begin(watch->calls, task, record->ns,
			       point_value(point, FX_FIELD_ENTER_NUMBER, 0), args);
	else
		fx_calls_end(watch->calls, task, record->ns,
			     point_value(point, FX_FIELD_EXIT_NUMBER, 0),
			     point_value(point, FX_FIELD_EXIT_RESULT, 0));
}

static void watch_point(struct fx_watch *watch, const struct fx_ring_record *record)
{
	struct watch_point point = {.points = watch->points};
	uint16_t number;

	point.bytes = fx_ring_tracepoint(record, &point.size);
	if (!point.bytes || !point.points)
		return;
	memcpy(&number, point.bytes, sizeof(number));
	if (number == watch->points->numbers[FX_TRACEPOINT_ENTER])
		point_call(watch, &point, record, true);
	else if (number == watch->points->numbers[FX_TRACEPOINT_EXIT])
		point_call(watch, &point, record, false);
	else if (number == watch->points->numbers[FX_TRACEPOINT_SWITCH])
		point_switch(&point, record);
	else if (number == watch->points->numbers[FX_TRACEPOINT_WAKING])
		point_waking(&point, record);
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
			watch_point(watch, record);
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
		watch_switch(watch, record);
		break;
	default:
		break;
	}
}

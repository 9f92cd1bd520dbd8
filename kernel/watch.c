/* SPDX-License-Identifier: MIT */
#include "kernel/watch.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "kernel/calls.h"
#include "kernel/events.h"
#include "kernel/files.h"
#include "kernel/interest.h"
#include "kernel/probe-late.h"
#include "kernel/probe-record.h"
#include "kernel/records.h"
#include "kernel/scheduling.h"
#include "kernel/space.h"
#include "kernel/stack-text.h"
#include "kernel/tasks.h"
#include "symbols/store.h"
#include "symbols/symbols.h"

struct fx_watch {
	struct fx_symbol_cache *names;
	struct fx_spaces *spaces;
	uint32_t period;		       /* ns that a sample stands for */
	const struct fx_wanted_points *points; /* borrowed; NULL: there are none */
	const struct fx_probe_list *probes;    /* borrowed; NULL: there are none */
	struct fx_late_probes *late;	       /* the same */
	struct fx_stack_text *stack;
	struct fx_calls *calls;
	struct fx_events *events;
	struct fx_files *files; /* NULL: page faults are of no interest */
	struct fx_tasks *tasks;
	struct fx_scheduling *scheduling;
	bool has_switches; /* a tracepoint tells of them */
	struct fx_interest interest;
	uint64_t newest;    /* ns; of the newest record */
	uint32_t preparing; /* the process that has yet to become the program; 0: it is */
};

static int watch_prepare(struct fx_watch *watch, const struct fx_kernel_wish *wish,
			 const char *folder)
{
	static const struct fx_points none = {.count = 0};

	watch->stack = fx_stack_text_create(folder);
	watch->calls = fx_calls_create();
	watch->events = fx_events_create(watch->points ? &watch->points->named : &none);
	watch->tasks = fx_tasks_create();
	watch->scheduling = fx_scheduling_create();
	/* It may have ended before the threads that there are are looked through. */
	if (watch->tasks && wish->pid)
		fx_tasks_know(watch->tasks,
			      (struct fx_task){(uint32_t)wish->pid, (uint32_t)wish->pid});
	if (wish->faults)
		watch->files = fx_files_create();
	return watch->stack && watch->calls && watch->events && watch->tasks && watch->scheduling &&
		       !watch->files == !wish->faults
		   ? 0
		   : -ENOMEM;
}

/* What a process that runs already has mapped. */
static void watch_know(struct fx_watch *watch, uint32_t pid)
{
	fx_space_read(watch->spaces, pid);
	if (watch->files)
		fx_files_read(watch->files, pid);
}

/* What of a process's files may have static probes; it is one of the program's. */
static void watch_see_file(const struct fx_watch *watch, const struct fx_mapping *mapping)
{
	if (mapping && mapping->image)
		fx_late_probes_see(watch->late, fx_image_facts(mapping->image)->path,
				   fx_image_file(mapping->image));
}

static void watch_see_files(void *opaque, uint32_t pid)
{
	const struct fx_watch *watch = opaque;
	const struct fx_space *space = watch->late ? fx_space_known(watch->spaces, pid) : NULL;

	for (size_t i = 0; space && i < space->count; i++)
		watch_see_file(watch, &space->mappings[i]);
}

int fx_watch_create(const struct fx_kernel_wish *wish, const struct fx_wanted_points *points,
		    bool alone, struct fx_watch **ret)
{
	struct fx_watch *watch = calloc(1, sizeof(*watch));
	char folder[FX_STORE_PATH_MAX];
	bool keeps = fx_store_folder(NULL, folder);

	if (!watch)
		return -ENOMEM;
	if (fx_symbol_cache_create(NULL, &watch->names) < 0 ||
	    fx_spaces_create(watch->names, &watch->spaces) < 0) {
		fx_watch_destroy(watch);
		return -ENOMEM;
	}
	if (keeps)
		fx_symbol_cache_keep(watch->names, folder);
	watch->points = points;
	watch->preparing = (uint32_t)wish->pid;
	watch->interest = (struct fx_interest){
	    .spaces = watch->spaces,
	    .manager = wish->manager,
	    .machine = wish->machine,
	    .everyone = wish->everyone,
	    .alone = alone ? (uint32_t)wish->pid : 0,
	    .see = watch_see_files,
	    .opaque = watch,
	};
	watch->has_switches = points && points->tracepoints.sets & FX_KERNEL_WAKEUPS;
	if (watch_prepare(watch, wish, keeps ? folder : NULL) < 0) {
		fx_watch_destroy(watch);
		return -ENOMEM;
	}
	watch->period = wish->hz ? UINT32_C(1000000000) / wish->hz : 0;
	if (wish->pid)
		watch_know(watch, (uint32_t)wish->pid);
	if (wish->pid)
		fx_interest_begin(&watch->interest, (uint32_t)wish->pid);
	*ret = watch;
	return 0;
}

void fx_watch_let_probes(struct fx_watch *watch, const struct fx_probe_list *probes,
			 struct fx_late_probes *late)
{
	watch->probes = probes;
	watch->late = late;
}

void fx_watch_let_follow(struct fx_watch *watch, struct fx_follow *follow)
{
	watch->interest.follow = follow;
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
	fx_events_destroy(watch->events);
	fx_files_destroy(watch->files);
	fx_tasks_destroy(watch->tasks);
	fx_scheduling_destroy(watch->scheduling);
	free(watch);
}

/* Nothing is of interest of what the process does that has yet to become the program. */
static void watch_sample(struct fx_watch *watch, const struct fx_ring_record *record)
{
	struct fx_space *space = fx_space_of(watch->spaces, record->pid);
	struct fx_symspace *names = space ? fx_space_names(watch->spaces, space) : NULL;
	struct fx_caught sample;
	const char *text;
	size_t length;

	if (!names || record->pid == watch->preparing || record->tid > INT32_MAX ||
	    !fx_ring_sample(record, &sample))
		return;

	text = fx_stack_text_write(watch->stack, space, names, &sample, &length);
	fx_kernel_sample((struct fx_task){record->pid, record->tid}, record->ns, watch->period,
			 text, length);
}

/* False: it is a sample of something else. */
static bool watch_fault(const struct fx_watch *watch, const struct fx_ring_record *record)
{
	uint64_t ip, address, offset = 0;
	const char *file;

	if (!watch->files || !fx_ring_fault(record, &ip, &address))
		return false;
	if (record->pid == watch->preparing)
		return true;
	file = fx_files_at(watch->files, record->pid, address, &offset);
	fx_events_fault(record, ip, address, file, offset);
	return true;
}

/* --- Static probes -------------------------------------------------------------------------------- */

/* What comes of all threads is of interest of the program's alone. */
static bool watch_probe(const struct fx_watch *watch, const struct fx_ring_record *record)
{
	const struct fx_space *space = fx_space_known(watch->spaces, record->pid);
	bool is_own = space && space->is_own && fx_interest_has(&watch->interest, record->pid);

	if (record->pid == watch->preparing)
		return false;
	if (watch->probes && (is_own || !watch->interest.everyone) &&
	    fx_probe_record(watch->probes, record))
		return true;
	return watch->late && is_own && fx_late_probes_record(watch->late, record);
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
	if (watch->files)
		fx_files_map(watch->files, record->pid, body.start, body.size, body.offset, path);
	if (record->misc & PERF_RECORD_MISC_MMAP_DATA)
		return;
	fx_space_map(watch->spaces, record->pid, body.start, body.size, body.offset,
		     has_id ? 0 : makedev(body.major, body.minor), has_id ? 0 : body.inode, path);
	space = fx_space_of(watch->spaces, record->pid);
	if (space && space->is_own && watch->late && record->pid != watch->preparing)
		watch_see_file(watch, fx_space_find(space, body.start));
	if (!space || !space->is_preloaded)
		return;
	fx_calls_forget(watch->calls, record->pid);
	fx_interest_await(&watch->interest, record->pid);
}

static void watch_name(struct fx_watch *watch, const struct fx_ring_record *record)
{
	const char *name = record_text(record, 8);
	bool is_exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	struct fx_space *space;

	if (is_exec)
		fx_space_exec(watch->spaces, record->pid);
	if (is_exec && watch->files)
		fx_files_clear(watch->files, record->pid);
	if (is_exec && record->pid == watch->preparing)
		watch->preparing = 0;
	space = fx_space_of(watch->spaces, record->pid);
	if (name && record->pid == record->tid && space)
		snprintf(space->name, sizeof(space->name), "%s", name);
	if (name && fx_interest_has_switches(&watch->interest, record->pid))
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

	if (space && !space->is_preloaded && space->name[0] &&
	    fx_interest_has_switches(&watch->interest, task.pid))
		fx_kernel_name(task, space->name, task.pid == task.tid);
}

/* What it had open ends, and it is on a processor for the last time: of that no tracepoint of its own tells. */
static void watch_thread_ends(struct fx_watch *watch, const struct fx_ring_record *record,
			      uint32_t tid)
{
	fx_calls_thread_ends(watch->calls, tid, record->ns);
	fx_tasks_forget(watch->tasks, tid);
	if (watch->has_switches && !watch->interest.machine &&
	    fx_interest_has(&watch->interest, record->pid))
		fx_kernel_switch((struct fx_task){record->pid, tid}, record->ns, record->cpu,
				 FX_SWITCH_ENDS);
}

static void watch_process_begins(struct fx_watch *watch, uint32_t parent, uint32_t pid, uint64_t ns)
{
	fx_space_fork(watch->spaces, parent, pid);
	fx_interest_fork(&watch->interest, pid, ns);
	if (watch->files)
		fx_files_fork(watch->files, parent, pid);
}

static void watch_process_ends(struct fx_watch *watch, uint32_t pid)
{
	if (watch->files)
		fx_files_clear(watch->files, pid);
}

static void watch_life(struct fx_watch *watch, const struct fx_ring_record *record)
{
	struct life_body body;

	if (record->size < sizeof(body))
		return;
	memcpy(&body, record->body, sizeof(body));
	if (record->type == PERF_RECORD_EXIT)
		watch_thread_ends(watch, record, body.tid);
	else if (watch->interest.machine || watch->interest.everyone)
		fx_tasks_know(watch->tasks, (struct fx_task){body.pid, body.tid});
	if (record->type == PERF_RECORD_FORK && body.pid == body.tid)
		watch_process_begins(watch, body.parent, body.pid, record->ns);
	else if (record->type == PERF_RECORD_FORK)
		fx_space_thread(watch->spaces, body.pid, record->ns);
	if (record->type == PERF_RECORD_FORK)
		watch_thread(watch, (struct fx_task){body.pid, body.tid});
	else if (fx_space_end(watch->spaces, body.pid, body.pid == body.tid, record->ns))
		watch_process_ends(watch, body.pid);
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

static void watch_text(struct fx_watch *watch, const struct fx_ring_record *record,
		       const struct fx_text_found *text)
{
	const struct fx_space *space = fx_space_of(watch->spaces, record->pid);

	if (space && !space->is_preloaded && fx_interest_has(&watch->interest, record->pid))
		fx_calls_text(watch->calls, (struct fx_task){record->pid, record->tid}, text);
}

/* A wakeup concerns two. What comes for all threads since it ends what others have begun is sorted where it is taken. */
static bool point_concerns(const struct fx_watch *watch, const struct fx_ring_record *record,
			   const struct fx_tracepoint_event *event)
{
	const struct fx_space *space;
	uint32_t woken;

	switch (event->tracepoint) {
	case FX_TRACEPOINT_WAKING:
		woken = (uint32_t)fx_tracepoint_value(event, FX_FIELD_WAKING_TID, 0);
		return fx_interest_has_switches(&watch->interest, record->pid) ||
		       fx_interest_has(&watch->interest, fx_tasks_process(watch->tasks, woken));
	case FX_TRACEPOINT_SWITCH: /* the end has a record of its own: watch_thread_ends() */
		return watch->interest.machine || (fx_interest_has(&watch->interest, record->pid) &&
						   !fx_scheduling_is_end(event));
	case FX_TRACEPOINT_IRQ_ENTRY: /* programs of BPF would miss those that come in the middle of another */
	case FX_TRACEPOINT_IRQ_EXIT:
	case FX_TRACEPOINT_SOFTIRQ_ENTRY:
	case FX_TRACEPOINT_SOFTIRQ_EXIT:
		space = fx_space_known(watch->spaces, record->pid);
		return space && space->is_own && fx_interest_has(&watch->interest, record->pid);
	case FX_TRACEPOINT_MIGRATE:
	case FX_TRACEPOINT_REQUEST_DONE:
	case FX_TRACEPOINT_RETRANSMIT:
	case FX_TRACEPOINT_DROP:
		return true;
	default:
		return fx_interest_has(&watch->interest, record->pid);
	}
}

static void watch_known_point(struct fx_watch *watch, const struct fx_ring_record *record,
			      const struct fx_tracepoint_event *event)
{
	bool begins = event->tracepoint == FX_TRACEPOINT_ENTER;

	if (!point_concerns(watch, record, event))
		return;
	if (begins || event->tracepoint == FX_TRACEPOINT_EXIT) {
		watch_call(watch, event, record, begins);
		return;
	}
	fx_scheduling_tracepoint(watch->scheduling, event, record, watch->tasks);
	fx_events_take(watch->events, event, record);
}

static void watch_tracepoint(struct fx_watch *watch, const struct fx_ring_record *record)
{
	struct fx_tracepoint_event event;
	struct fx_text_found text;
	const struct fx_space *space = fx_space_known(watch->spaces, record->pid);
	const uint8_t *bytes;
	size_t size;

	if (watch_probe(watch, record))
		return;
	bytes = fx_ring_tracepoint(record, &size);
	if (!bytes || !watch->points)
		return;
	if (fx_text_is_arrival(bytes, size)) {
		fx_interest_arrive(&watch->interest, record->pid);
		return;
	}
	if (fx_text_read(bytes, size, &text)) {
		watch_text(watch, record, &text);
		return;
	}
	if (fx_tracepoint_read(&watch->points->tracepoints, bytes, size, &event)) {
		bool is_followed = fx_tracepoint_is_followed(&event);

		if (is_followed || !(watch->points->followed & 1u << event.tracepoint))
			watch_known_point(watch, record, &event);
		if (is_followed)
			return;
	}
	/* One of ours may come for all threads. */
	if (record->pid != watch->preparing &&
	    (watch->interest.machine ||
	     (space && space->is_own && fx_interest_has(&watch->interest, record->pid))))
		fx_events_named(watch->events, record, bytes, size);
}

static void watch_mapped(void *opaque, struct fx_task task, const char *name)
{
	(void)name;
	if (task.pid == task.tid)
		watch_know(opaque, task.pid);
}

/* All threads that there are have names. */
static void watch_running(void *opaque, struct fx_task task, const char *name)
{
	struct fx_watch *watch = opaque;
	struct fx_space *space = fx_space_of(watch->spaces, task.pid);

	fx_tasks_know(watch->tasks, task);
	if (task.pid == task.tid && space && !space->name[0])
		snprintf(space->name, sizeof(space->name), "%.15s", name);
	if (fx_interest_has_switches(&watch->interest, task.pid))
		fx_kernel_name(task, name, task.pid == task.tid);
}

void fx_watch_meet(struct fx_watch *watch)
{
	if (!watch->interest.everyone)
		return;
	fx_tasks_each_running(watch_mapped, watch);
	fx_interest_ask(&watch->interest);
}

void fx_watch_begin(struct fx_watch *watch)
{
	if (watch->interest.machine || watch->interest.everyone)
		fx_tasks_each_running(watch_running, watch);
}

/* The program may have begun, and have mapped what has names. */
void fx_watch_lost(struct fx_watch *watch)
{
	if (watch->preparing) {
		watch_know(watch, watch->preparing);
		watch_see_files(watch, watch->preparing);
	}
	watch->preparing = 0;
	if (!watch->interest.everyone)
		return;
	fx_watch_meet(watch);
	fx_watch_begin(watch);
}

void fx_watch_finish(struct fx_watch *watch)
{
	fx_calls_finish(watch->calls, watch->newest);
	fx_events_finish(watch->events);
}

/* Records of lives are of interest of all: who is one of the program's they tell. */
void fx_watch_take(struct fx_watch *watch, const struct fx_ring_record *record)
{
	watch->newest = record->ns;
	fx_interest_ask_in_time(&watch->interest);
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		if (record->is_tracepoint)
			watch_tracepoint(watch, record);
		else if (fx_interest_has(&watch->interest, record->pid) &&
			 !watch_fault(watch, record))
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
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (fx_interest_has_switches(&watch->interest, record->pid))
			fx_scheduling_switch(watch->scheduling, record);
		break;
	default:
		break;
	}
}

/* SPDX-License-Identifier: MIT */
#include "kernel/watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kallsyms.h"
#include "kernel/provider.h"
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
	uint32_t period; /* ns that a sample stands for */
	uint32_t alone;	 /* the process that is of interest; 0: all are */
	size_t length;	 /* of the text */
	char text[STACK_TEXT_MAX + FX_SYMBOL_TEXT_MAX + sizeof(KERNEL_SUFFIX) + 1];
};

int fx_watch_create(const struct fx_rings_wish *wish, bool alone, struct fx_watch **ret)
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
	watch->alone = alone ? (uint32_t)wish->pid : 0;
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

	if (!names || !fx_ring_sample(record, &sample))
		return;
	watch->length = 0;
	if (sample.in_kernel)
		kernel_add(watch, &sample);
	if (!sample.in_kernel || sample.registers) {
		count = fx_unwind(space, &sample, frames);
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

	if (!path)
		return;
	memcpy(&body, record->body + 1, sizeof(body));
	fx_space_map(watch->spaces, record->pid, body.start, body.size, body.offset,
		     has_id ? 0 : body.inode, path);
}

static void watch_name(struct fx_watch *watch, const struct fx_ring_record *record)
{
	const char *name = record_text(record, 8);
	bool is_exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;

	if (is_exec)
		fx_space_exec(watch->spaces, record->pid);
	if (name)
		fx_kernel_name((struct fx_task){record->pid, record->tid}, name, is_exec);
}

/* PERF_RECORD_FORK and PERF_RECORD_EXIT: who it is, and whose child. */
struct life_body {
	uint32_t pid, parent, tid, parent_tid;
};

static void watch_life(struct fx_watch *watch, const struct fx_ring_record *record)
{
	struct life_body body;

	if (record->size < sizeof(body))
		return;
	memcpy(&body, record->body, sizeof(body));
	if (body.pid != body.tid)
		return;
	if (record->type == PERF_RECORD_FORK)
		fx_space_fork(watch->spaces, body.parent, body.pid);
	else
		fx_space_end(watch->spaces, body.pid);
}

static void watch_switch(const struct fx_ring_record *record)
{
	enum fx_kernel_switch what = FX_SWITCH_IN;

	if (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		what = FX_SWITCH_PREEMPTED;
	else if (record->misc & PERF_RECORD_MISC_SWITCH_OUT)
		what = FX_SWITCH_WAITS;
	if (record->tid)
		fx_kernel_switch((struct fx_task){record->pid, record->tid}, record->ns,
				 record->cpu, what);
}

void fx_watch_take(struct fx_watch *watch, const struct fx_ring_record *record)
{
	if (watch->alone && record->pid != watch->alone)
		return;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
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
		watch_switch(record);
		break;
	default:
		break;
	}
}

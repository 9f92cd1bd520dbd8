/* SPDX-License-Identifier: MIT */
/* Memory: heaps as their counter shows them, and, where allocations were recorded, the functions whose blocks were not freed. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "convert/heap.h"
#include "report/report.h"
#include "report/section.h"
#include "report/units.h"

enum { COURSE_PARTS = 32 };

/* What a process had in use: as its counter `heap' says, or as its calls of malloc do. */
struct in_use {
	int64_t bytes, blocks, peak; /* the first two at the end */
	uint64_t last_ts, peak_ts;
	/* The most in each part of the time, and 1; 0: nothing changed there. */
	int64_t course[COURSE_PARTS];
	bool is_known;
};

struct heap {
	struct in_use counted; /* with what malloc adds to what was asked for */
	struct in_use called;
	uint64_t allocations, bytes, temporary;
};

/* What a place in the program allocated. */
struct site {
	uint64_t calls, bytes, temporary;
	uint64_t live_blocks, live_bytes; /* at the end */
};

struct memory {
	struct fx_report *report;
	struct fx_heap *changes;
	FX_VECTOR(struct heap) heaps; /* by number of the process */
	struct site *sites;	      /* by number of the text; made at the end */
	uint64_t calls, stacks;	      /* calls of malloc; those that have their stack */
	uint64_t unknown;	      /* blocks freed whose allocation is not in the archive */
	uint64_t not_followed;	      /* allocations */
	bool is_rounded;	      /* some heap is shown as its counter says */
};

static void *memory_section_create(struct fx_report *report)
{
	struct memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->report = report;
	memory->changes = fx_heap_new();
	if (memory->changes)
		return memory;
	free(memory);
	return NULL;
}

static void memory_section_destroy(void *section)
{
	struct memory *memory = section;

	fx_heap_free(memory->changes);
	fx_vector_free(&memory->heaps);
	free(memory->sites);
	free(memory);
}

/* --- What is seen ----------------------------------------------------------------------------- */

/* The stack of a call, else the innermost function around it, else the call itself. */
static uint32_t memory_site(struct memory *memory, const struct fx_open_call *call,
			    const struct fx_event *event)
{
	const struct fxt_arg *stack = fx_event_arg(event, "stack");
	const struct fx_open_call *calls;
	size_t count;

	if (stack && stack->type == FXT_ARG_STRING && stack->string.length > 0) {
		memory->stacks++;
		return fx_report_intern(memory->report, stack->string.data, stack->string.length);
	}
	calls = fx_report_stack(memory->report, &count);
	for (size_t i = count; i-- > 0;) {
		if (calls[i].kind == FX_CALL_FUNCTION)
			return calls[i].name;
	}
	return call->name;
}

static void memory_enter(void *section, const struct fx_open_call *call,
			 const struct fx_event *event)
{
	struct memory *memory = section;
	uint32_t site = 0;

	if (call->is_unfinished && call->kind == FX_CALL_MALLOC)
		return;
	if (call->kind == FX_CALL_MALLOC) {
		memory->calls++;
		site = memory_site(memory, call, event);
	}
	if (fx_heap_call(memory->changes, event, site) < 0)
		fx_report_fail(memory->report, -ENOMEM);
}

static void memory_instant(void *section, const struct fx_event *event)
{
	struct memory *memory = section;

	if (fx_heap_instant(memory->changes, event) < 0)
		fx_report_fail(memory->report, -ENOMEM);
}

/* NULL: no memory. */
static struct heap *memory_heap(struct memory *memory, uint32_t process)
{
	size_t count = memory->heaps.count;

	if (process >= count) {
		size_t more = process + 1 - count;

		if (fx_vector_reserve(&memory->heaps, more) < 0) {
			fx_report_fail(memory->report, -ENOMEM);
			return NULL;
		}
		memset(memory->heaps.items + count, 0, more * sizeof(struct heap));
		memory->heaps.count += more;
	}
	return &memory->heaps.items[process];
}

/* What is in use has become so much. */
static void memory_set(const struct memory *memory, struct in_use *in_use, uint64_t ts,
		       int64_t bytes)
{
	uint64_t begin = fx_report_begin(memory->report), end = fx_report_end(memory->report);
	double share;
	int part;

	ts = ts < begin ? begin : ts > end ? end : ts;
	share = end > begin ? (double)(ts - begin) / (double)(end - begin) : 0;
	part = share < 1 ? (int)(share * COURSE_PARTS) : COURSE_PARTS - 1;
	if (!in_use->is_known || bytes > in_use->peak) {
		in_use->peak = bytes;
		in_use->peak_ts = ts;
	}
	if (bytes >= in_use->course[part])
		in_use->course[part] = bytes + 1;
	in_use->is_known = true;
}

static void memory_counter(void *section, const struct fx_event *event, uint64_t id)
{
	struct memory *memory = section;
	struct in_use *counted;
	struct heap *heap;
	int64_t bytes;

	(void)id;
	if (!fxt_string_equals(event->category, "heap") ||
	    !fx_event_integer(event, "bytes", &bytes))
		return;
	heap = memory_heap(memory, event->thread->process->number);
	if (!heap)
		return;
	counted = &heap->counted;
	if (!counted->is_known || event->ts >= counted->last_ts) {
		counted->last_ts = event->ts;
		counted->bytes = bytes;
		fx_event_integer(event, "blocks", &counted->blocks);
	}
	memory_set(memory, counted, event->ts, bytes);
}

/* --- What becomes of blocks ------------------------------------------------------------------- */

static void memory_allocated(struct memory *memory, struct heap *heap, struct site *site,
			     const struct fx_heap_step *step)
{
	heap->allocations++;
	heap->bytes += step->size;
	site->calls++;
	site->bytes += step->size;
	memory->not_followed += !step->is_followed;
	if (!step->is_followed)
		return;
	heap->called.blocks++;
	heap->called.bytes += (int64_t)step->size;
	memory_set(memory, &heap->called, step->ts, heap->called.bytes);
	site->live_blocks++;
	site->live_bytes += step->size;
}

static void memory_freed(const struct memory *memory, struct heap *heap, struct site *site,
			 const struct fx_heap_step *step)
{
	heap->called.blocks--;
	heap->called.bytes -= (int64_t)step->size;
	memory_set(memory, &heap->called, step->ts, heap->called.bytes);
	heap->temporary += step->is_temporary;
	site->temporary += step->is_temporary;
	site->live_blocks--;
	site->live_bytes -= step->size;
}

static void memory_step(void *opaque, const struct fx_heap_step *step)
{
	struct memory *memory = opaque;
	struct heap *heap = memory_heap(memory, step->process);

	if (!heap)
		return;
	if (step->kind == FX_HEAP_ALLOCATED)
		memory_allocated(memory, heap, &memory->sites[step->place], step);
	else if (step->kind == FX_HEAP_FREED)
		memory_freed(memory, heap, &memory->sites[step->place], step);
	else
		memory->unknown++;
}

/* --- Tables ----------------------------------------------------------------------------------- */

/* ▁▂▃▄▅▆▇█, and a space as long as nothing was seen. */
static void memory_spark(const int64_t course[COURSE_PARTS], int64_t peak, char *text)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

	int64_t bytes = 0;

	text[0] = 0;
	for (int i = 0; i < COURSE_PARTS; i++) {
		double share;

		/* Where nothing changed, it is what it was. */
		bytes = course[i] > 0 ? course[i] - 1 : bytes;
		share = peak > 0 ? (double)bytes / (double)peak : 0;
		strcat(text, bytes > 0 ? bars[share >= 1 ? 7 : (int)(share * 8)] : " ");
	}
}

enum { PEAK, PEAK_AT, LIVE, BLOCKS, ALLOCATIONS, BYTES, TEMPORARY, COURSE, PID, PROCESS };

static const struct fx_column memory_columns[] = {
    [PEAK] = {"peak_bytes", "peak", FX_UNIT_BYTES},
    [PEAK_AT] = {"peak_at_ns", "at", FX_UNIT_MOMENT},
    [LIVE] = {"live_bytes", "at the end", FX_UNIT_BYTES},
    [BLOCKS] = {"live_blocks", "blocks", FX_UNIT_COUNT},
    [ALLOCATIONS] = {"allocations", "allocations", FX_UNIT_COUNT},
    [BYTES] = {"allocated_bytes", "allocated", FX_UNIT_BYTES},
    [TEMPORARY] = {"temporary", "temporary", FX_UNIT_COUNT},
    [COURSE] = {"course", "course of bytes in use", FX_UNIT_TEXT},
    [PID] = {"pid", "pid", FX_UNIT_NUMBER},
    [PROCESS] = {"process", "process", FX_UNIT_TEXT},
};

/*
 * The counter has what was allocated before tracing began, too. Where it has no blocks but those whose calls were recorded,
 * these say what was asked for, to the byte.
 */
static const struct in_use *memory_in_use(struct memory *memory, const struct heap *heap)
{
	if (!heap->counted.is_known || (heap->allocations > 0 && memory->not_followed == 0 &&
					heap->counted.blocks == heap->called.blocks))
		return &heap->called;
	memory->is_rounded = true;
	return &heap->counted;
}

/*
 * The counter is told of a thread's share when that has changed by 16 KiB, so it can pass over a short peak that the calls show;
 * these know nothing of what was there before. So much was in use for certain: the larger.
 */
static const struct in_use *memory_peak(const struct heap *heap, const struct in_use *in_use)
{
	return heap->called.peak > in_use->peak ? &heap->called : in_use;
}

static void memory_row(struct memory *memory, struct fx_table *table, size_t number)
{
	const struct fx_process *process =
	    fx_report_timeline(memory->report)->processes.items[number];
	const struct heap *heap = &memory->heaps.items[number];
	const struct in_use *in_use, *peak;
	char course[COURSE_PARTS * 3 + 1];

	if (!heap->counted.is_known && heap->allocations == 0)
		return;
	in_use = memory_in_use(memory, heap);
	peak = memory_peak(heap, in_use);
	fx_table_row(table);
	fx_table_number(table, PEAK, peak->peak);
	fx_table_number(table, PEAK_AT, (int64_t)(peak->peak_ts - fx_report_begin(memory->report)));
	fx_table_number(table, LIVE, in_use->bytes);
	fx_table_number(table, BLOCKS, in_use->blocks);
	if (memory->calls > 0) {
		fx_table_number(table, ALLOCATIONS, (int64_t)heap->allocations);
		fx_table_number(table, BYTES, (int64_t)heap->bytes);
		fx_table_number(table, TEMPORARY, (int64_t)heap->temporary);
	}
	memory_spark(in_use->course, in_use->peak, course);
	fx_table_string(table, COURSE, course);
	fx_table_number(table, PID, (int64_t)process->pid);
	if (process->name)
		fx_table_string(table, PROCESS, process->name->data);
}

static void memory_add_heaps(struct memory *memory)
{
	struct fx_table *table = fx_table_new("memory", "Memory", memory_columns,
					      sizeof(memory_columns) / sizeof(memory_columns[0]));

	if (!table) {
		fx_report_fail(memory->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < memory->heaps.count; i++)
		memory_row(memory, table, i);
	if (memory->calls == 0 && fx_table_row_count(table) > 0)
		fx_table_note(table, "who allocated is known where it is recorded: fxtrace run "
				     "-c '#default,malloc' --stacks malloc");
	if (memory->is_rounded)
		fx_table_note(table, "in use counts what malloc gives out, which may be more than "
				     "is asked for; allocated is what was asked for");
	if (memory->not_followed > 0)
		fx_table_note(table,
			      "%s allocations were not followed, beyond %s blocks in use at one "
			      "time: what was not freed is too low",
			      FX_COUNT(memory->not_followed), FX_COUNT(FX_HEAP_BLOCKS_MAX));
	else if (memory->unknown > 0)
		fx_table_note(table, "%s blocks were freed whose allocation is not in the archive",
			      FX_COUNT(memory->unknown));
	fx_report_add(memory->report, table);
}

enum { SITE_BYTES, SITE_BLOCKS, SITE_SHARE, SITE_TEMPORARY, SITE_MEAN, SITE_NAME };

static const struct fx_column site_columns[] = {
    [SITE_BYTES] = {"bytes", "bytes", FX_UNIT_BYTES},
    [SITE_BLOCKS] = {"blocks", "blocks", FX_UNIT_COUNT},
    [SITE_SHARE] = {"share", "", FX_UNIT_SHARE},
    [SITE_TEMPORARY] = {"temporary", "temporary", FX_UNIT_COUNT},
    [SITE_MEAN] = {"mean_bytes", "mean", FX_UNIT_BYTES},
    [SITE_NAME] = {"site", "allocated by", FX_UNIT_TEXT},
};

/* The lines of a stack, the innermost first, on one: main < _start. */
static void memory_set_stack(const struct memory *memory, struct fx_table *table, uint32_t site)
{
	const struct fx_text *text = site ? fx_report_text(memory->report, site) : NULL;
	char line[1024];
	size_t put = 0;

	for (size_t i = 0; text && i < text->length && put + 4 < sizeof(line); i++) {
		if (text->data[i] == '\n') {
			memcpy(line + put, " < ", 3);
			put += 3;
		} else {
			line[put++] = text->data[i];
		}
	}
	/* Not in the middle of a character. */
	while (text && put + 4 >= sizeof(line) && put > 0 && (line[put - 1] & 0x80))
		put--;
	fx_table_text(table, SITE_NAME, line, put);
}

/* What sites have in use at the end (is_live), or what they allocated in all. */
static void memory_add_sites(struct memory *memory, const char *name, const char *title,
			     size_t count, bool is_live)
{
	struct fx_table *table =
	    fx_table_new(name, title, site_columns, sizeof(site_columns) / sizeof(site_columns[0]));
	const struct site *sites = memory->sites;
	uint64_t total = 0;

	if (!table) {
		fx_report_fail(memory->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < count; i++)
		total += is_live ? sites[i].live_bytes : sites[i].bytes;
	for (size_t i = 0; i < count; i++) {
		uint64_t blocks = is_live ? sites[i].live_blocks : sites[i].calls;
		uint64_t bytes = is_live ? sites[i].live_bytes : sites[i].bytes;

		if (blocks == 0)
			continue;
		fx_table_row(table);
		fx_table_number(table, SITE_BYTES, (int64_t)bytes);
		fx_table_number(table, SITE_BLOCKS, (int64_t)blocks);
		if (total > 0)
			fx_table_real(table, SITE_SHARE, (double)bytes / (double)total);
		if (!is_live)
			fx_table_number(table, SITE_TEMPORARY, (int64_t)sites[i].temporary);
		fx_table_number(table, SITE_MEAN, (int64_t)(bytes / blocks));
		memory_set_stack(memory, table, (uint32_t)i);
	}
	if (memory->stacks < memory->calls && memory->stacks == 0)
		fx_table_note(table, "with --stacks malloc, fxtrace run records who called");
	fx_report_add(memory->report, table);
}

static void memory_tables(void *section)
{
	struct memory *memory = section;
	size_t site_count = (size_t)fx_report_text_count(memory->report) + 1;
	int r = -ENOMEM;

	memory->sites = calloc(site_count, sizeof(*memory->sites));
	if (memory->sites)
		r = fx_heap_run(memory->changes, memory_step, memory);
	if (r < 0) {
		fx_report_fail(memory->report, r);
		return;
	}
	memory_add_heaps(memory);
	if (memory->calls == 0)
		return;
	memory_add_sites(memory, "leaks", "Not freed when the archive ended", site_count, true);
	memory_add_sites(memory, "allocations", "Allocations", site_count, false);
}

const struct fx_section fx_section_memory = {
    .kinds = FX_KIND(MALLOC) | FX_KIND(PROCESS),
    .looks_around = true,
    .create = memory_section_create,
    .enter = memory_enter,
    .instant = memory_instant,
    .counter = memory_counter,
    .tables = memory_tables,
    .destroy = memory_section_destroy,
};

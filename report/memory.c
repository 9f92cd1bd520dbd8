/* SPDX-License-Identifier: MIT */
/* Memory: heaps as their counter shows them, and, where allocations were recorded, who allocated and did not free. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/heap.h"
#include "report/report.h"
#include "report/section.h"

/* What the counter `heap' says of a process. */
struct counted {
	uint64_t last_ts;
	int64_t last, peak, blocks;
	uint64_t peak_ts;
	int64_t course[FX_HEAP_COURSE];
	bool is_known;
};

struct memory {
	struct fx_report *report;
	struct fx_heap_changes changes;
	FX_VECTOR(struct counted) counted; /* by number of the process */
	uint64_t calls, stacks;		   /* calls of malloc; those that have their stack */
};

static void *memory_section_create(struct fx_report *report)
{
	struct memory *memory = calloc(1, sizeof(*memory));

	if (memory)
		memory->report = report;
	return memory;
}

static void memory_section_destroy(void *section)
{
	struct memory *memory = section;

	fx_vector_free(&memory->changes.changes);
	fx_vector_free(&memory->counted);
	free(memory);
}

/* --- What is seen ----------------------------------------------------------------------------- */

static void memory_add(struct memory *memory, struct fx_heap_change change,
		       const struct fx_thread *thread)
{
	if (fx_vector_reserve(&memory->changes.changes, 1) < 0) {
		fx_report_fail(memory->report, -ENOMEM);
		return;
	}
	change.process = thread->process->number;
	change.thread = thread->number;
	memory->changes.changes.items[memory->changes.changes.count++] = change;
}

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
	int64_t old = 0, result = 0, size = 0, count;

	if (call->kind != FX_CALL_MALLOC || call->is_unfinished)
		return;
	memory->calls++;
	fx_event_integer(event, "size", &size);
	if (fx_event_integer(event, "count", &count))
		size *= count;
	fx_event_integer(event, "ptr", &old);
	/* posix_memalign() returns the block through its argument. */
	if (fxt_string_equals(event->name, "posix_memalign")) {
		result = old;
		old = 0;
	} else if (!fx_event_integer(event, "ret", &result) && size > 0) {
		return;
	}
	/* realloc() that fails leaves the block as it was. */
	if (old && (result || size == 0))
		memory_add(memory,
			   (struct fx_heap_change){
			       .ts = call->ts, .address = (uint64_t)old, .kind = FX_HEAP_FREE},
			   call->thread);
	if (result)
		memory_add(memory,
			   (struct fx_heap_change){.ts = call->end,
						   .address = (uint64_t)result,
						   .size = (uint64_t)size,
						   .site = memory_site(memory, call, event),
						   .kind = FX_HEAP_ALLOCATION},
			   call->thread);
}

/* free() takes no time to speak of, and is an instant where it was recorded so. */
static void memory_instant(void *section, const struct fx_event *event)
{
	struct memory *memory = section;
	int64_t address;

	if (fxt_string_equals(event->category, "malloc") &&
	    fx_event_integer(event, "ptr", &address) && address)
		memory_add(memory,
			   (struct fx_heap_change){
			       .ts = event->ts, .address = (uint64_t)address, .kind = FX_HEAP_FREE},
			   event->thread);
	else if (fxt_string_equals(event->category, "process") &&
		 fxt_string_equals(event->name, "program starts"))
		memory_add(memory,
			   (struct fx_heap_change){.ts = event->ts, .kind = FX_HEAP_RESTART},
			   event->thread);
}

static struct counted *memory_counted(struct memory *memory, uint32_t process)
{
	size_t count = memory->counted.count;

	if (process >= count) {
		size_t more = process + 1 - count;

		if (fx_vector_reserve(&memory->counted, more) < 0) {
			fx_report_fail(memory->report, -ENOMEM);
			return NULL;
		}
		memset(memory->counted.items + count, 0, more * sizeof(struct counted));
		memory->counted.count += more;
	}
	return &memory->counted.items[process];
}

static void memory_counter(void *section, const struct fx_event *event, uint64_t id)
{
	struct memory *memory = section;
	struct counted *counted;
	unsigned part;
	int64_t bytes;

	(void)id;
	if (!fxt_string_equals(event->category, "heap") ||
	    !fx_event_integer(event, "bytes", &bytes))
		return;
	counted = memory_counted(memory, event->thread->process->number);
	if (!counted)
		return;
	if (!counted->is_known || event->ts >= counted->last_ts) {
		counted->last_ts = event->ts;
		counted->last = bytes;
		fx_event_integer(event, "blocks", &counted->blocks);
	}
	if (!counted->is_known || bytes > counted->peak) {
		counted->peak = bytes;
		counted->peak_ts = event->ts;
	}
	part = fx_heap_course_part(fx_report_begin(memory->report), fx_report_end(memory->report),
				   event->ts);
	if (bytes > counted->course[part])
		counted->course[part] = bytes;
	counted->is_known = true;
}

/* --- Tables ----------------------------------------------------------------------------------- */

/* ▁▂▃▄▅▆▇█, and a space as long as nothing was seen. */
static void memory_spark(const int64_t course[FX_HEAP_COURSE], int64_t peak, char *text)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

	int64_t bytes = 0;

	text[0] = 0;
	for (int i = 0; i < FX_HEAP_COURSE; i++) {
		double share;

		/* Where nothing changed, it is what it was. */
		bytes = course[i] > 0 ? course[i] : bytes;
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

static void memory_row(const struct memory *memory, struct fx_table *table, size_t number,
		       const struct fx_heap *heap)
{
	const struct fx_process *process =
	    fx_report_timeline(memory->report)->processes.items[number];
	struct counted counted = {0};
	char course[FX_HEAP_COURSE * 3 + 1];

	if (number < memory->counted.count)
		counted = memory->counted.items[number];
	if (!counted.is_known && heap->allocations == 0)
		return;
	fx_table_row(table);
	/* The counter has what was allocated before tracing began, too. */
	if (!counted.is_known) {
		counted.peak = (int64_t)heap->peak;
		counted.peak_ts = heap->peak_ts;
		counted.last = (int64_t)heap->live;
		memcpy(counted.course, heap->course, sizeof(counted.course));
	} else {
		fx_table_number(table, BLOCKS, counted.blocks);
		/* It is recorded now and then; allocations are, each. */
		if (heap->peak > (uint64_t)counted.peak) {
			counted.peak = (int64_t)heap->peak;
			counted.peak_ts = heap->peak_ts;
		}
	}
	fx_table_number(table, PEAK, counted.peak);
	fx_table_number(table, PEAK_AT,
			(int64_t)(counted.peak_ts - fx_report_begin(memory->report)));
	fx_table_number(table, LIVE, counted.last);
	if (memory->calls > 0) {
		fx_table_number(table, ALLOCATIONS, (int64_t)heap->allocations);
		fx_table_number(table, BYTES, (int64_t)heap->bytes);
		fx_table_number(table, TEMPORARY, (int64_t)heap->temporary);
	}
	memory_spark(counted.course, counted.peak, course);
	fx_table_string(table, COURSE, course);
	fx_table_number(table, PID, (int64_t)process->pid);
	if (process->name)
		fx_table_string(table, PROCESS, process->name->data);
}

static void memory_add_heaps(struct memory *memory, const struct fx_heap *heaps, size_t count)
{
	struct fx_table *table = fx_table_new("memory", "Memory", memory_columns,
					      sizeof(memory_columns) / sizeof(memory_columns[0]));
	uint64_t unknown = 0;

	if (!table) {
		fx_report_fail(memory->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		memory_row(memory, table, i, &heaps[i]);
		unknown += heaps[i].unknown;
	}
	if (memory->calls == 0)
		fx_table_note(table, "who allocated is known where it is recorded: fxtrace run "
				     "-c '#default,malloc' --stacks malloc");
	if (unknown > 0)
		fx_table_note(table,
			      "%llu blocks were freed whose allocation is not in the archive",
			      (unsigned long long)unknown);
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
			     const struct fx_heap_site *sites, size_t count, bool is_live)
{
	struct fx_table *table =
	    fx_table_new(name, title, site_columns, sizeof(site_columns) / sizeof(site_columns[0]));
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
	size_t process_count = fx_report_timeline(memory->report)->processes.count;
	size_t site_count = (size_t)fx_report_text_count(memory->report) + 1;
	struct fx_heap *heaps = calloc(process_count + 1, sizeof(*heaps));
	struct fx_heap_site *sites = calloc(site_count, sizeof(*sites));

	if (!heaps || !sites ||
	    fx_heap_run(&memory->changes, fx_report_begin(memory->report),
			fx_report_end(memory->report), heaps, process_count, sites, site_count) < 0)
		fx_report_fail(memory->report, -ENOMEM);
	else {
		memory_add_heaps(memory, heaps, process_count);
		if (memory->calls > 0) {
			memory_add_sites(memory, "leaks", "Not freed when the archive ended", sites,
					 site_count, true);
			memory_add_sites(memory, "allocations", "Allocations", sites, site_count,
					 false);
		}
	}
	free(heaps);
	free(sites);
}

const struct fx_section fx_section_memory = {
    .create = memory_section_create,
    .enter = memory_enter,
    .instant = memory_instant,
    .counter = memory_counter,
    .tables = memory_tables,
    .destroy = memory_section_destroy,
};

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/pictures/causes.h"
#include "convert/pictures/picture.h"
#include "convert/sample.h"

/* Frames of a stack that an event carries, at most; the tracer records no more. */
enum { STACK_FRAMES = 256, NOTES = 8 };

static struct fx_picture *picture_of(struct fx_exporter *exporter)
{
	return (struct fx_picture *)exporter;
}

static void picture_fail(struct fx_picture *picture)
{
	picture->exporter.error = -ENOMEM;
}

bool fx_picture_is_good(const struct fx_picture *picture)
{
	return picture->exporter.error == 0;
}

static uint32_t picture_text(struct fx_picture *picture, const char *data, size_t length)
{
	uint32_t id = fx_texts_add(picture->exporter.timeline->strings, data, length);

	if (!id)
		picture_fail(picture);
	return id;
}

static const struct fx_text *picture_text_of(const struct fx_picture *picture, uint32_t id)
{
	static const struct fx_text none = {.data = ""};

	return id ? fx_texts_get(picture->exporter.timeline->strings, id) : &none;
}

const struct fx_text *fx_picture_name(const struct fx_picture *picture, uint32_t path)
{
	return picture_text_of(picture, picture->paths.list.items[path].name);
}

const struct fx_text *fx_picture_category(const struct fx_picture *picture, uint32_t path)
{
	return picture_text_of(picture, picture->paths.list.items[path].category);
}

/* A path below @parent; where there is no memory for it, the parent itself. */
static uint32_t picture_child(struct fx_picture *picture, uint32_t parent, uint32_t name,
			      uint32_t category)
{
	uint32_t path = fx_paths_child(&picture->paths, parent, name, category);

	if (path != FX_PATH_NONE)
		return path;
	picture_fail(picture);
	return parent;
}

/* --- Measures --------------------------------------------------------------------------------- */

bool fx_picture_has(const struct fx_picture *picture, enum fx_measure measure)
{
	const char *category = fx_measure_infos[measure].category;

	if (!category)
		return true;
	if (strcmp(category, "sample") == 0)
		return picture->has_samples;
	return strcmp(category, "malloc") == 0 ? picture->has_heap : picture->processor != NULL;
}

static bool picture_wants(const struct fx_picture *picture, enum fx_measure measure)
{
	return picture->format->all_measures || picture->options.weight == measure;
}

static uint32_t picture_top(const struct fx_picture *picture)
{
	return picture->depth > 0 ? picture->open[picture->depth - 1].path : picture->root;
}

static void picture_add(struct fx_picture *picture, uint32_t path, enum fx_measure measure,
			uint64_t value)
{
	picture->paths.list.items[path].self[measure] += value;
}

/* What a call waits for; 0: it does not. */
static uint32_t picture_cause(struct fx_picture *picture, uint32_t path)
{
	uint32_t cause = picture->paths.list.items[path].cause;
	const char *text;

	if (cause != FX_PATH_NONE)
		return cause;
	text = fx_cause_of(fx_picture_category(picture, path)->data,
			   fx_picture_name(picture, path)->data);
	cause = text ? picture_text(picture, text, strlen(text)) : 0;
	picture->paths.list.items[path].cause = cause;
	return cause;
}

static void picture_add_wait(struct fx_picture *picture, uint32_t cause, uint64_t length)
{
	if (cause)
		picture_add(picture, picture_child(picture, picture_top(picture), cause, 0),
			    FX_MEASURE_OFF_CPU, length);
}

/* What a thread that has no processor waits for, where its calls do not tell. */
static uint32_t picture_other_cause(struct fx_picture *picture, enum fx_running running)
{
	const char *text = running == FX_PREEMPTED ? "[preempted]" : "[blocked]";
	uint32_t cause = running == FX_BLOCKED ? picture_cause(picture, picture_top(picture)) : 0;

	return cause ? cause : picture_text(picture, text, strlen(text));
}

static void picture_add_processor(struct fx_picture *picture, uint64_t from, uint64_t to)
{
	uint64_t until;

	for (; from < to; from = until) {
		enum fx_running running = fx_processor_time_at(picture->processor, from, &until);

		if (until > to)
			until = to;
		if (running == FX_RUNNING)
			picture_add(picture, picture_top(picture), FX_MEASURE_ON_CPU, until - from);
		else if (running != FX_RUNNING_UNKNOWN &&
			 picture_wants(picture, FX_MEASURE_OFF_CPU))
			picture_add_wait(picture, picture_other_cause(picture, running),
					 until - from);
	}
}

/* The thread did until @ts what it has been doing since picture->at. */
static void picture_advance(struct fx_picture *picture, uint64_t ts)
{
	uint64_t at = picture->at == UINT64_MAX ? ts : picture->at;
	uint64_t from = at > picture->from ? at : picture->from;
	uint64_t to = ts < picture->to ? ts : picture->to;

	picture->at = ts > at ? ts : at;
	if (from >= to)
		return;
	if (picture->knows_processor)
		picture_add_processor(picture, from, to);
	if (picture->depth == 0)
		return;
	picture_add(picture, picture_top(picture), FX_MEASURE_WALL, to - from);
	if (!picture->knows_processor && picture_wants(picture, FX_MEASURE_OFF_CPU))
		picture_add_wait(picture, picture_cause(picture, picture_top(picture)), to - from);
}

/* --- Threads ---------------------------------------------------------------------------------- */

static uint32_t picture_process_name(struct fx_picture *picture, const struct fx_process *process,
				     bool one)
{
	const struct fx_text *name = process->name;
	char number[40], text[512];
	int length = snprintf(number, sizeof(number), "%s%llu", name ? " " : "process ",
			      (unsigned long long)process->pid);

	if (name && one)
		return name->id;
	if (!name)
		return picture_text(picture, number, (size_t)length);
	length = snprintf(text, sizeof(text), "%.400s%s", name->data, number);
	return picture_text(picture, text, (size_t)length);
}

static uint32_t picture_thread_name(struct fx_picture *picture, const struct fx_thread *thread)
{
	char text[512];
	int length = snprintf(text, sizeof(text), "%.400s %llu",
			      thread->name ? thread->name->data : "thread",
			      (unsigned long long)thread->key.tid);

	return picture_text(picture, text, (size_t)length);
}

const struct fx_text *fx_picture_thread_title(struct fx_picture *picture)
{
	uint32_t process = picture_process_name(picture, picture->thread->process, false);
	uint32_t thread = picture_thread_name(picture, picture->thread);
	char text[1100];
	int length = snprintf(text, sizeof(text), "%s, %s", picture_text_of(picture, process)->data,
			      picture_text_of(picture, thread)->data);

	return picture_text_of(picture, picture_text(picture, text, (size_t)length));
}

static uint32_t picture_root(struct fx_picture *picture, const struct fx_thread *thread)
{
	bool one = picture->options.grouping == FX_GROUP_BY_NAME;
	uint32_t root =
	    picture_child(picture, 0, picture_process_name(picture, thread->process, one), 0);

	if (picture->options.grouping == FX_GROUP_BY_THREAD)
		root = picture_child(picture, root, picture_thread_name(picture, thread), 0);
	return root;
}

static void picture_end_call(struct fx_picture *picture, uint64_t ts)
{
	const struct fx_picture_call *call = &picture->open[picture->depth - 1];

	picture_advance(picture, ts);
	if (call->shown && picture->format->call_end)
		picture->format->call_end(picture, ts < picture->to ? ts : picture->to);
	picture->depth--;
}

/* What did not finish lasts until the end. */
static void picture_leave_thread(struct fx_picture *picture)
{
	if (!picture->thread)
		return;
	while (picture->depth > 0)
		picture_end_call(picture, picture->exporter.timeline->last_ts);
	if (picture->format->leave_thread)
		picture->format->leave_thread(picture);
	picture->thread = NULL;
}

static void picture_enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	struct fx_picture *picture = picture_of(exporter);

	picture_leave_thread(picture);
	if (!fx_picture_is_good(picture))
		return;
	picture->thread = thread;
	picture->root = picture_root(picture, thread);
	picture->at = UINT64_MAX;
	picture->knows_processor = fx_processor_time_enter(picture->processor, thread->key.tid);
	if (picture->format->enter_thread)
		picture->format->enter_thread(picture);
}

/* --- Calls ------------------------------------------------------------------------------------ */

static const struct fxt_string *picture_stack_in(const struct fxt_arg *args, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (args[i].type == FXT_ARG_STRING && args[i].string.length > 0 &&
		    fxt_string_equals(&args[i].name, "stack"))
			return &args[i].string;
	}
	return NULL;
}

/* The stack that an event carries, lines of names, the innermost first; NULL: none. */
static const struct fxt_string *picture_stack(const struct fx_event *event)
{
	const struct fxt_string *stack = picture_stack_in(event->args, event->nargs);

	return stack ? stack : picture_stack_in(event->end_args, event->end_nargs);
}

/* The path of the callers, by a stack. */
static uint32_t picture_callers(struct fx_picture *picture, const struct fxt_string *stack)
{
	const char *start = stack->data, *end = start + stack->length;
	uint32_t path = picture->root;

	for (int i = 0; end > start && i < STACK_FRAMES; i++) {
		const char *newline = memrchr(start, '\n', (size_t)(end - start));
		const char *line = newline ? newline + 1 : start;

		if (end > line)
			path = picture_child(picture, path,
					     picture_text(picture, line, (size_t)(end - line)),
					     picture->functions);
		end = newline ? newline : start;
	}
	return path;
}

/* A call outside of any other that carries its stack stands below that. */
static uint32_t picture_path(struct fx_picture *picture, const struct fx_event *event)
{
	const struct fxt_string *stack = picture->depth == 0 ? picture_stack(event) : NULL;
	uint32_t parent = stack ? picture_callers(picture, stack) : picture_top(picture);

	return picture_child(picture, parent, event->name->serial, event->category->serial);
}

static void picture_look_at_heap(struct fx_picture *picture, const struct fx_event *event,
				 uint32_t path)
{
	if (fx_heap_call(picture->heap, event, path) < 0)
		picture_fail(picture);
}

/* Of allocations, the stack tells more than the calls around them. */
static void picture_take_heap(struct fx_picture *picture, const struct fx_event *event,
			      uint32_t path)
{
	const struct fxt_string *stack = picture->depth > 0 ? picture_stack(event) : NULL;

	picture->has_heap = true;
	if (stack)
		path = picture_child(picture, picture_callers(picture, stack), event->name->serial,
				     event->category->serial);
	picture_look_at_heap(picture, event, path);
}

static void picture_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct fx_picture *picture = picture_of(exporter);
	uint64_t end = event->end == UINT64_MAX ? exporter->timeline->last_ts : event->end;
	bool shown = event->ts < picture->to && (end > picture->from || event->ts >= picture->from);
	uint32_t path = picture_top(picture);

	if (!fx_picture_is_good(picture) || picture->depth == FX_MAX_DEPTH)
		return;
	picture->has_calls = true;
	picture_advance(picture, event->ts);
	if (shown) {
		path = picture_path(picture, event);
		picture_add(picture, path, FX_MEASURE_CALLS, 1);
		exporter->timeline->misfits[FX_MISFIT_PATH] +=
		    picture->paths.list.items[path].is_rest;
	}
	if (shown && fx_heap_is_call(event))
		picture_take_heap(picture, event, path);
	else if (!fx_heap_is_call(event))
		picture_look_at_heap(picture, event, path);
	picture->open[picture->depth++] = (struct fx_picture_call){path, shown};
	if (shown && picture->format->call_begin)
		picture->format->call_begin(picture, event,
					    event->ts > picture->from ? event->ts : picture->from);
}

static void picture_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			      uint64_t ts)
{
	struct fx_picture *picture = picture_of(exporter);

	(void)thread;
	if (fx_picture_is_good(picture) && picture->depth > 0)
		picture_end_call(picture, ts);
}

/* --- All else --------------------------------------------------------------------------------- */

static void picture_set_range(struct fx_picture *picture)
{
	const struct fx_timeline *timeline = picture->exporter.timeline;
	uint64_t first = timeline->first_ts == UINT64_MAX ? 0 : timeline->first_ts;
	const struct fx_picture_options *options = &picture->options;

	picture->from = options->from > UINT64_MAX - first ? UINT64_MAX : first + options->from;
	picture->to = options->to > UINT64_MAX - first ? UINT64_MAX : first + options->to;
}

static void picture_begin(struct fx_exporter *exporter)
{
	static const char rest[] = "[more paths]", function[] = "function";
	struct fx_picture *picture = picture_of(exporter);

	picture->options = exporter->picture ? *exporter->picture : fx_picture_defaults;
	picture_set_range(picture);
	picture->functions = picture_text(picture, function, strlen(function));
	picture->heap = fx_heap_new();
	if (!picture->heap)
		picture_fail(picture);
	if (fx_paths_init(&picture->paths, picture->options.paths,
			  picture_text(picture, rest, strlen(rest))) < 0 ||
	    fx_processor_time_read(exporter->timeline, &picture->processor) < 0)
		picture_fail(picture);
	if (picture->format->begin && fx_picture_is_good(picture))
		picture->format->begin(picture);
}

static void picture_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	(void)exporter;
	(void)process;
}

static void picture_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	(void)exporter;
	(void)thread;
}

/* The path of a sample: its stack is whole, whatever calls are open. */
static uint32_t picture_sampled(struct fx_picture *picture, const struct fxt_string *stack)
{
	const char *start = stack->data, *end = start + stack->length;
	char name[FX_SAMPLE_NAME_MAX];
	uint32_t path = picture->root;

	while (end > start) {
		const char *newline = memrchr(start, '\n', (size_t)(end - start));
		const char *line = newline ? newline + 1 : start;
		size_t length = fx_sample_function(line, (size_t)(end - line), name, sizeof(name));

		if (length)
			path = picture_child(picture, path, picture_text(picture, name, length),
					     picture->functions);
		end = newline ? newline : start;
	}
	return path;
}

/* False: it is none. */
static bool picture_take_sample(struct fx_picture *picture, const struct fx_event *event)
{
	const struct fxt_string *stack = fx_sample_stack(event);

	if (!stack)
		return false;
	picture->has_samples = true;
	if (event->ts >= picture->from && event->ts < picture->to)
		picture_add(picture, picture_sampled(picture, stack), FX_MEASURE_SAMPLES, 1);
	return true;
}

static void picture_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct fx_picture *picture = picture_of(exporter);

	if (!fx_picture_is_good(picture) || picture_take_sample(picture, event))
		return;
	if (event->ts >= picture->from && event->ts < picture->to &&
	    fx_heap_instant(picture->heap, event) < 0)
		picture_fail(picture);
	if (picture->format->instant)
		picture->format->instant(picture, event);
}

static void picture_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	(void)exporter;
	(void)event;
	(void)id;
}

static void picture_log(struct fx_exporter *exporter, const struct fx_event *event,
			const struct fxt_string *message)
{
	(void)exporter;
	(void)event;
	(void)message;
}

static void picture_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	struct fx_picture *picture = picture_of(exporter);

	if (picture->notes.count == NOTES)
		return;
	if (fx_vector_reserve(&picture->notes, 1) < 0)
		picture_fail(picture);
	else
		picture->notes.items[picture->notes.count++] = note->text;
}

/* The switches were read at the beginning. */
static void picture_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	(void)exporter;
	(void)sched;
}

static void picture_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	(void)exporter;
	(void)wakeup;
}

static void picture_explain(struct fx_picture *picture, const uint64_t *totals)
{
	enum fx_measure weight = picture->options.weight;

	if (!fx_picture_has(picture, weight))
		picture->exporter.remark =
		    weight == FX_MEASURE_ON_CPU
			? "nothing to weigh: there are no context switches in the archive"
		    : weight == FX_MEASURE_SAMPLES
			? "nothing to weigh: there are no samples in the archive (--sample)"
			: "nothing to weigh: no allocations were recorded (category malloc)";
	else if (totals && totals[0] == 0)
		picture->exporter.remark = "nothing to weigh: no call has any of that";
}

uint64_t *fx_picture_totals(struct fx_picture *picture)
{
	uint64_t *totals = NULL;

	/* Where nothing but samples was recorded they are what is meant. */
	if (picture->has_samples && !picture->has_calls &&
	    picture->options.weight == FX_MEASURE_WALL)
		picture->options.weight = FX_MEASURE_SAMPLES;
	if (fx_picture_is_good(picture)) {
		totals = fx_paths_totals(&picture->paths, picture->options.weight);
		if (!totals)
			picture_fail(picture);
	}
	picture_explain(picture, totals);
	return totals;
}

static void picture_take_step(void *opaque, const struct fx_heap_step *step)
{
	struct fx_picture *picture = opaque;
	uint64_t *self = picture->paths.list.items[step->place].self;

	if (step->kind == FX_HEAP_ALLOCATED) {
		self[FX_MEASURE_ALLOC_OBJECTS]++;
		self[FX_MEASURE_ALLOC_SPACE] += step->size;
		self[FX_MEASURE_INUSE_OBJECTS] += step->is_followed;
		self[FX_MEASURE_INUSE_SPACE] += step->is_followed ? step->size : 0;
		if (!step->is_followed)
			picture->exporter.remark =
			    "bytes in use are too low: too many blocks were in use at one time";
	} else if (step->kind == FX_HEAP_FREED) {
		self[FX_MEASURE_INUSE_OBJECTS]--;
		self[FX_MEASURE_INUSE_SPACE] -= step->size;
	}
}

static void picture_measure_heap(struct fx_picture *picture)
{
	int r = 0;

	if (fx_picture_is_good(picture))
		r = fx_heap_run(picture->heap, picture_take_step, picture);
	if (r < 0)
		picture->exporter.error = r;
}

static void picture_finish(struct fx_exporter *exporter)
{
	struct fx_picture *picture = picture_of(exporter);

	picture_leave_thread(picture);
	picture_measure_heap(picture);
	picture->format->write(picture);
}

static const struct fx_exporter_ops picture_ops = {
    .begin = picture_begin,
    .process = picture_process,
    .thread = picture_thread,
    .enter_thread = picture_enter_thread,
    .slice_begin = picture_slice_begin,
    .slice_end = picture_slice_end,
    .instant = picture_instant,
    .counter = picture_counter,
    .log = picture_log,
    .note = picture_note,
    .sched_switch = picture_switch,
    .sched_wakeup = picture_wakeup,
    .finish = picture_finish,
};

struct fx_exporter *fx_picture_make(size_t size, const struct fx_picture_format *format,
				    struct fx_timeline *timeline, struct fx_sink *sink)
{
	struct fx_picture *picture = calloc(1, size);

	if (!picture)
		return NULL;
	picture->exporter.ops = &picture_ops;
	picture->exporter.sink = sink;
	picture->exporter.timeline = timeline;
	picture->format = format;
	return &picture->exporter;
}

void fx_picture_free(struct fx_exporter *exporter)
{
	struct fx_picture *picture = picture_of(exporter);

	if (!picture)
		return;
	fx_paths_destroy(&picture->paths);
	fx_heap_free(picture->heap);
	fx_processor_time_free(picture->processor);
	fx_vector_free(&picture->notes);
	free(picture);
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "convert/convert.h"
#include "measure/collect.h"
#include "measure/condition.h"
#include "measure/operations.h"
#include "report/section.h"

enum { KEY_MAX = 1024 };

struct collector {
	struct fx_exporter exporter; /* first: the walk hands it to us */
	const struct fx_spec *spec;
	const struct fx_filter *filter;
	struct fx_measurements *result;
	struct fx_name_verdicts *from, *to; /* of each measurement */
	bool thread_passes;
	struct fx_operations operations;
};

static struct collector *collector_of(struct fx_exporter *exporter)
{
	return (struct collector *)exporter;
}

static void collector_fail(struct collector *collector, int error)
{
	if (error < 0)
		collector->exporter.error = error;
}

/* --- Which events ------------------------------------------------------------------------------ */

static bool collector_text_passes(const struct collector *collector,
				  const struct fx_patterns *patterns, uint32_t serial)
{
	const struct fx_texts *texts = collector->exporter.timeline->strings;

	return patterns->count == 0 ||
	       fx_patterns_match(patterns, serial ? fx_texts_get(texts, serial)->data : "");
}

static bool collector_passes(const struct collector *collector, const struct fx_event *event)
{
	const struct fx_filter *filter = collector->filter;
	uint64_t at = event->ts - collector->exporter.timeline->first_ts;

	return collector->thread_passes && at >= filter->from && at <= filter->to &&
	       collector_text_passes(collector, &filter->categories, event->category->serial) &&
	       collector_text_passes(collector, &filter->names, event->name->serial);
}

static struct fx_witness collector_witness(const struct collector *collector,
					   const struct fx_event *event)
{
	return (struct fx_witness){
	    .event = event,
	    .texts = collector->exporter.timeline->strings,
	    .first_ts = collector->exporter.timeline->first_ts,
	};
}

/* Whether an event is one of the selector's. */
static bool collector_selects(struct collector *collector, const struct fx_selector *selector,
			      struct fx_name_verdicts *verdicts, const struct fx_witness *witness)
{
	int matches = fx_selector_matches_name(selector, verdicts, witness);

	collector_fail(collector, matches);
	return matches > 0 &&
	       fx_selector_holds(selector, fx_selector_leaves(selector, witness, false) |
					       fx_selector_leaves(selector, witness, true));
}

/* --- Values ------------------------------------------------------------------------------------ */

static void collector_add(struct collector *collector, size_t number, double value)
{
	collector_fail(collector, fx_values_add(&collector->result->items[number].values, value));
}

/* Events, each once. `is_slice': it lasts, however long. */
static void collector_take(struct collector *collector, size_t number,
			   const struct fx_witness *witness, bool is_slice)
{
	const struct fx_measurement *measurement = &collector->spec->items.items[number];
	struct fx_measured *measured = &collector->result->items[number];
	long double value;

	if (measurement->kind == FX_MEASURE_DURATION && !is_slice)
		return;
	if (!collector_selects(collector, &measurement->from, &collector->from[number], witness))
		return;
	measured->matched++;
	if (measurement->kind == FX_MEASURE_COUNT) {
		collector_add(collector, number, 1);
	} else if (measurement->kind == FX_MEASURE_DURATION) {
		if (witness->has_duration)
			collector_add(collector, number, (double)witness->duration);
		else
			measured->unfinished++;
	} else if (fx_witness_number(witness, measurement->argument, &value) && value == value) {
		collector_add(collector, number, (double)value);
	} else {
		measured->without_value++;
	}
}

/* --- Moments ----------------------------------------------------------------------------------- */

/* What two events have in common to be a pair, one key behind the other; 0: this one does not have it. */
static size_t collector_key(const struct fx_measurement *measurement,
			    const struct fx_witness *witness, char key[KEY_MAX])
{
	size_t put = 0;

	for (size_t i = 0; i < measurement->keys.count; i++) {
		size_t room = (KEY_MAX - put) / (measurement->keys.count - i);
		size_t length = fx_witness_key(witness, &measurement->keys.items[i], key + put,
					       room > 1 ? room - 1 : 1);

		if (length == 0)
			return 0;
		put += length;
		key[put++] = '\n';
	}
	return put;
}

static void collector_add_moment(struct collector *collector, size_t number,
				 const struct fx_witness *witness, uint64_t ts,
				 enum fx_moment_role role)
{
	const struct fx_measurement *measurement = &collector->spec->items.items[number];
	struct fx_measured *measured = &collector->result->items[number];
	char key[KEY_MAX];
	size_t length = collector_key(measurement, witness, key);

	if (length == 0 && measurement->keys.count > 0)
		measured->pairs.keyless++;
	else
		collector_fail(collector, fx_pairs_add(&measured->pairs, ts, role, key, length));
}

/* When a selector's moment is; false: the event has not finished. */
static bool collector_moment_of(const struct fx_selector *selector,
				const struct fx_witness *witness, bool is_slice, uint64_t *ret)
{
	*ret = witness->event->ts;
	if (!selector->at_end || !is_slice)
		return true;
	*ret += witness->duration;
	return witness->has_duration;
}

static void collector_take_moments(struct collector *collector, size_t number,
				   const struct fx_witness *witness, bool is_slice)
{
	const struct fx_measurement *measurement = &collector->spec->items.items[number];
	struct fx_measured *measured = &collector->result->items[number];
	bool begins =
	    collector_selects(collector, &measurement->from, &collector->from[number], witness);
	bool ends = collector_selects(collector, &measurement->to, &collector->to[number], witness);
	uint64_t from, to;

	measured->matched += begins || ends;
	if (begins && !collector_moment_of(&measurement->from, witness, is_slice, &from)) {
		measured->unfinished++;
		begins = false;
	}
	if (ends && !collector_moment_of(&measurement->to, witness, is_slice, &to)) {
		measured->unfinished++;
		ends = false;
	}
	if (begins && ends && from == to && measurement->from.at_end == measurement->to.at_end) {
		collector_add_moment(collector, number, witness, from, FX_MOMENT_BOTH);
		return;
	}
	if (begins)
		collector_add_moment(collector, number, witness, from, FX_MOMENT_BEGIN);
	if (ends)
		collector_add_moment(collector, number, witness, to, FX_MOMENT_END);
}

static void collector_see(struct collector *collector, const struct fx_witness *witness,
			  bool is_slice)
{
	for (size_t i = 0; i < collector->spec->items.count; i++) {
		if (collector->spec->items.items[i].kind == FX_MEASURE_BETWEEN)
			collector_take_moments(collector, i, witness, is_slice);
		else
			collector_take(collector, i, witness, is_slice);
	}
}

/* --- The walk: struct fx_exporter_ops ---------------------------------------------------------- */

static void collector_nothing(struct fx_exporter *exporter)
{
	(void)exporter;
}

static void collector_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	(void)exporter;
	(void)process;
}

static void collector_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	(void)exporter;
	(void)thread;
}

static void collector_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	(void)exporter;
	(void)note;
}

static void collector_log(struct fx_exporter *exporter, const struct fx_event *event,
			  const struct fxt_string *message)
{
	(void)exporter;
	(void)event;
	(void)message;
}

static void collector_enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	struct collector *collector = collector_of(exporter);

	collector->thread_passes = fx_filter_thread(collector->filter, thread);
}

/* The manager ends what was open at a death or a stop, and says so. */
static bool collector_is_unfinished(const struct fx_event *event)
{
	const struct fxt_arg *arg = fx_event_arg(event, "unfinished");

	return event->end == UINT64_MAX || (event->flags & FX_ENTRY_UNFINISHED) ||
	       (arg && arg->type == FXT_ARG_BOOL && arg->boolean);
}

static void collector_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct collector *collector = collector_of(exporter);
	struct fx_witness witness = collector_witness(collector, event);

	if (!collector_passes(collector, event))
		return;
	witness.has_duration = !collector_is_unfinished(event);
	witness.duration = witness.has_duration ? event->end - event->ts : 0;
	collector_see(collector, &witness, true);
}

static void collector_look_at_loss(struct collector *collector, const struct fx_event *event)
{
	int64_t count;

	if (fxt_string_equals(event->category, "fxtrace") &&
	    fxt_string_equals(event->name, "records dropped") &&
	    fx_event_integer(event, "count", &count) && count > 0)
		collector->result->lost += (uint64_t)count;
}

static void collector_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct collector *collector = collector_of(exporter);
	struct fx_witness witness = collector_witness(collector, event);

	collector_look_at_loss(collector, event);
	if (collector_passes(collector, event))
		collector_see(collector, &witness, false);
}

static void collector_counter(struct fx_exporter *exporter, const struct fx_event *event,
			      uint64_t id)
{
	(void)id;
	collector_instant(exporter, event);
}

/* --- Asynchronous operations: a slice, once they have ended ------------------------------------- */

static void collector_async_begin(struct fx_exporter *exporter, const struct fx_async_track *track,
				  uint64_t id, const struct fx_event *event)
{
	struct collector *collector = collector_of(exporter);

	(void)id;
	collector_fail(collector, fx_operations_open(&collector->operations, track, event));
}

static void collector_see_operation(struct collector *collector, struct fx_operation *operation,
				    const struct fx_event *end)
{
	const struct fx_event *event = fx_operation_event(operation, end);

	collector->thread_passes = fx_filter_thread(collector->filter, event->thread);
	collector_slice_begin(&collector->exporter, event);
	fx_operation_free(operation);
}

static void collector_async_end(struct fx_exporter *exporter, const struct fx_async_track *track,
				uint64_t id, const struct fx_event *event)
{
	struct collector *collector = collector_of(exporter);
	struct fx_operation *operation = fx_operations_close(&collector->operations, track);

	(void)id;
	if (operation)
		collector_see_operation(collector, operation, event);
}

static void collector_async_instant(struct fx_exporter *exporter,
				    const struct fx_async_track *track, uint64_t id,
				    const struct fx_event *event)
{
	struct collector *collector = collector_of(exporter);
	struct fx_thread thread = fx_operation_thread(track);
	struct fx_event instant = *event;

	(void)id;
	instant.thread = &thread;
	collector->thread_passes = fx_filter_thread(collector->filter, &thread);
	collector_instant(exporter, &instant);
}

static void collector_finish(struct fx_exporter *exporter)
{
	struct collector *collector = collector_of(exporter);
	struct fx_operation *operation;

	while ((operation = fx_operations_take(&collector->operations)))
		collector_see_operation(collector, operation, NULL);
}

static const struct fx_exporter_ops collector_ops = {
    .begin = collector_nothing,
    .process = collector_process,
    .thread = collector_thread,
    .enter_thread = collector_enter_thread,
    .slice_begin = collector_slice_begin,
    .instant = collector_instant,
    .counter = collector_counter,
    .log = collector_log,
    .async_begin = collector_async_begin,
    .async_end = collector_async_end,
    .async_instant = collector_async_instant,
    .note = collector_note,
    .finish = collector_finish,
};

/* --- The whole --------------------------------------------------------------------------------- */

static int collector_run(struct collector *collector)
{
	int r = fx_convert(&collector->exporter, NULL, NULL);

	for (size_t i = 0; r == 0 && i < collector->spec->items.count; i++) {
		struct fx_measured *measured = &collector->result->items[i];

		if (collector->spec->items.items[i].kind == FX_MEASURE_BETWEEN)
			r = fx_pairs_finish(&measured->pairs, &measured->values);
	}
	return r < 0 ? r : collector->exporter.error;
}

int fx_measure(struct fx_timeline *timeline, const struct fx_spec *spec,
	       const struct fx_filter *filter, struct fx_measurements *ret)
{
	struct collector collector = {
	    .exporter = {.ops = &collector_ops, .timeline = timeline},
	    .spec = spec,
	    .filter = filter,
	    .result = ret,
	    .from = calloc(spec->items.count, sizeof(struct fx_name_verdicts)),
	    .to = calloc(spec->items.count, sizeof(struct fx_name_verdicts)),
	};
	int r = -ENOMEM;

	*ret = (struct fx_measurements){.count = spec->items.count};
	ret->items = calloc(ret->count, sizeof(*ret->items));
	if (ret->items && collector.from && collector.to)
		r = collector_run(&collector);
	for (size_t i = 0; collector.from && collector.to && i < spec->items.count; i++) {
		fx_vector_free(&collector.from[i].items);
		fx_vector_free(&collector.to[i].items);
	}
	fx_operations_free(&collector.operations);
	free(collector.from);
	free(collector.to);
	return r;
}

void fx_measurements_free(struct fx_measurements *measurements)
{
	for (size_t i = 0; measurements->items && i < measurements->count; i++) {
		fx_values_free(&measurements->items[i].values);
		fx_pairs_free(&measurements->items[i].pairs);
	}
	free(measurements->items);
}

/* SPDX-License-Identifier: MIT */
/*
 * Calls and instants become records. Three answers are gone through side by side: slices by their ids, which are the order of the
 * walk that made them; their arguments; and the ends of arrows. As providers do, a call's record is written when it is over,
 * behind those of the calls inside, and that of one that did not end, where it begins.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "load/fetch-state.h"
#include "load/fetch.h"
#include "report/kinds.h"

/* Rows are put in order on the server's disk beyond so much memory. */
#define FETCH_SETTINGS " SETTINGS max_bytes_before_external_sort = 300000000 FORMAT TabSeparated"

/* An end of an arrow, at the slice that is made. */
struct fetch_end {
	uint64_t chain;
	uint8_t type; /* enum fxt_event_type */
	struct fxt_string category, name;
};

/* A call or an instant. */
struct fetch_event {
	struct fxt_record record;
	uint64_t depth;
	bool has_name; /* of the argument `unfinished' */
	bool is_open;  /* its end was not recorded */
	FX_VECTOR(char *) texts;
	FX_VECTOR(struct fetch_end) ends;
};

struct fetch_slices {
	struct fx_fetch *fetch;
	struct fx_answer *slices, *args, *arrows;
	char **arg, **arrow; /* the next ones; NULL: there are no more */
	const struct fx_fetch_thread *thread;
	FX_VECTOR(struct fetch_event *) calls; /* of which the first `depth' are open */
	size_t depth;
	struct fetch_event instant;
};

/* --- Asking ----------------------------------------------------------------------------------- */

/* Of which calls: a condition; "": all. To be freed; NULL: no memory. */
static char *fetch_condition(const struct fx_fetch *fetch)
{
	char kinds[8 * FX_CALL_KIND_COUNT] = "", *condition;
	size_t length = 0;

	if (fetch->order->kinds == 0)
		return strdup("");
	for (unsigned kind = 0; kind < FX_CALL_KIND_COUNT; kind++) {
		if (fetch->order->kinds >> kind & 1)
			length += (size_t)snprintf(kinds + length, sizeof(kinds) - length, "%s%u",
						   length ? ", " : "", kind);
	}
	if (asprintf(&condition,
		     " AND (form = 'instant' OR toInt8(kind) IN (%s) OR id GLOBAL IN (SELECT "
		     "slice_out FROM "
		     "flow WHERE archive = %" PRIu64 ") OR id GLOBAL IN (SELECT slice_in FROM flow "
		     "WHERE archive = %" PRIu64 "))",
		     kinds, fetch->archive, fetch->archive) < 0)
		return NULL;
	return condition;
}

static int fetch_ask_args(struct fetch_slices *slices, const char *condition)
{
	const char *columns = "arg_set_id, key, value_type, ifNull(int_value, 0), "
			      "ifNull(string_value, ''), ifNull(real_value, 0)";
	uint64_t archive = slices->fetch->archive;

	if (!*condition)
		return fx_answer_open(slices->fetch->server, &slices->args,
				      "SELECT %s FROM args WHERE archive = %" PRIu64
				      " ORDER BY arg_set_id, id" FETCH_SETTINGS,
				      columns, archive);
	return fx_answer_open(slices->fetch->server, &slices->args,
			      "SELECT %s FROM args WHERE archive = %" PRIu64
			      " AND arg_set_id GLOBAL IN (SELECT assumeNotNull(arg_set_id) FROM "
			      "slice WHERE archive = %" PRIu64
			      " AND isNotNull(arg_set_id) AND form IN ('call', 'instant')%s) ORDER "
			      "BY arg_set_id, id" FETCH_SETTINGS,
			      columns, archive, archive, condition);
}

static int fetch_ask(struct fetch_slices *slices)
{
	uint64_t archive = slices->fetch->archive;
	char *condition = fetch_condition(slices->fetch);
	int r;

	if (!condition)
		return -ENOMEM;
	r = fx_answer_open(
	    slices->fetch->server, &slices->slices,
	    "SELECT id, ts, dur, utid, depth, form = 'call', unfinished, "
	    "ifNull(arg_set_id, 0), category, name FROM slice WHERE archive = %" PRIu64
	    " AND form IN ('call', 'instant')%s ORDER BY id" FETCH_SETTINGS,
	    archive, condition);
	if (r == 0)
		r = fetch_ask_args(slices, condition);
	free(condition);
	if (r < 0)
		return r;
	return fx_answer_open(
	    slices->fetch->server, &slices->arrows,
	    "SELECT slice, trace_id, max(is_out), max(is_in), any(arrow_category), any(arrow_name) "
	    "FROM "
	    "(SELECT "
	    "slice_out AS slice, trace_id, 1 AS is_out, 0 AS is_in, arrow_category, arrow_name "
	    "FROM flow WHERE "
	    "archive = %" PRIu64
	    " UNION ALL SELECT slice_in AS slice, trace_id, 0 AS is_out, 1 AS is_in, "
	    "arrow_category, arrow_name FROM flow WHERE archive = %" PRIu64
	    ") GROUP BY slice, trace_id ORDER BY slice, trace_id" FETCH_SETTINGS,
	    archive, archive);
}

/* --- Making an event -------------------------------------------------------------------------- */

static struct fxt_string fetch_text(struct fetch_event *event, const char *text)
{
	char *copy = *text ? strdup(text) : NULL;

	if (copy && fx_vector_reserve(&event->texts, 1) < 0) {
		free(copy);
		copy = NULL;
	}
	if (copy)
		event->texts.items[event->texts.count++] = copy;
	return fxt_text(copy);
}

static void fetch_clear(struct fetch_event *event)
{
	for (size_t i = 0; i < event->texts.count; i++)
		free(event->texts.items[i]);
	event->texts.count = event->ends.count = 0;
	event->record.nargs = 0;
}

static void fetch_event_free(struct fetch_event *event)
{
	fetch_clear(event);
	fx_vector_free(&event->texts);
	fx_vector_free(&event->ends);
}

static void fetch_add_int(struct fxt_record *record, struct fxt_arg **arg, const char *name,
			  int64_t value)
{
	bool is_short = value >= INT32_MIN && value <= INT32_MAX;

	*arg = fxt_record_add_arg(record, name, is_short ? FXT_ARG_INT32 : FXT_ARG_INT64);
	if (!*arg)
		return;
	if (is_short)
		(*arg)->int32 = (int32_t)value;
	else
		(*arg)->int64 = value;
}

/* What our own conversion remarks is found anew. More arguments than a record has are those of a begin and an end, of which the later
 * are left out. */
static void fetch_add_arg(struct fetch_event *event, char **fields)
{
	const char *name = fields[1], *type = fields[2];
	struct fxt_record *record = &event->record;
	struct fxt_arg *arg = NULL;

	if (strcmp(name, "fxtrace") == 0 &&
	    (strcmp(fields[4], "did not finish") == 0 || strncmp(fields[4], "cut off at", 10) == 0))
		return;
	if (strcmp(type, "int") == 0) {
		fetch_add_int(record, &arg, name, (int64_t)fx_fetch_number(fields[3]));
	} else if (strcmp(type, "string") == 0) {
		arg = fxt_record_add_arg(record, name, FXT_ARG_STRING);
		if (arg)
			arg->string = fetch_text(event, fields[4]);
		/* What descriptors are is asked for by the number of the text: it goes into the table. */
		if (arg && strcmp(name, "file") == 0)
			arg->string.ref = 1;
	} else if (strcmp(type, "real") == 0) {
		arg = fxt_record_add_arg(record, name, FXT_ARG_DOUBLE);
		if (arg)
			arg->real = strtod(fields[5], NULL);
	} else if (strcmp(type, "bool") == 0) {
		arg = fxt_record_add_arg(record, name, FXT_ARG_BOOL);
		if (arg)
			arg->boolean = fields[3][0] != '0';
		event->has_name |= strcmp(name, "unfinished") == 0;
	} else {
		arg = fxt_record_add_arg(
		    record, name, strcmp(type, "pointer") == 0 ? FXT_ARG_POINTER : FXT_ARG_UINT64);
		if (arg)
			arg->uint64 = fx_fetch_number(fields[3]);
	}
	if (arg)
		arg->name = fetch_text(event, name);
}

static void fetch_add_args(struct fetch_slices *slices, struct fetch_event *event, uint64_t set)
{
	while (slices->arg && fx_fetch_number(slices->arg[0]) <= set) {
		if (fx_fetch_number(slices->arg[0]) == set)
			fetch_add_arg(event, slices->arg);
		slices->arg = fx_answer_next(slices->args);
	}
}

static int fetch_add_ends(struct fetch_slices *slices, struct fetch_event *event, uint64_t id)
{
	while (slices->arrow && fx_fetch_number(slices->arrow[0]) <= id) {
		bool is_out = slices->arrow[2][0] == '1', is_in = slices->arrow[3][0] == '1';

		if (fx_fetch_number(slices->arrow[0]) == id) {
			if (fx_vector_reserve(&event->ends, 1) < 0)
				return -ENOMEM;
			event->ends.items[event->ends.count++] = (struct fetch_end){
			    fx_fetch_number(slices->arrow[1]) | slices->fetch->number << 40,
			    is_out && is_in ? FXT_EVENT_FLOW_STEP
			    : is_out	    ? FXT_EVENT_FLOW_BEGIN
					    : FXT_EVENT_FLOW_END,
			    fetch_text(event, slices->arrow[4]),
			    fetch_text(event, slices->arrow[5])};
		}
		slices->arrow = fx_answer_next(slices->arrows);
	}
	return 0;
}

/* --- Writing it ------------------------------------------------------------------------------- */

/* The arrows stand behind the record at whose begin they are. */
static int fetch_write(struct fetch_slices *slices, struct fetch_event *event)
{
	struct fxt_record arrow = {.kind = FXT_KIND_EVENT};
	struct fxt_writer *writer = slices->fetch->writer;
	int r = fxt_writer_write(writer, &event->record);

	arrow.event.thread = event->record.event.thread;
	arrow.event.timestamp = event->record.event.timestamp;
	for (size_t i = 0; i < event->ends.count && r == 0; i++) {
		arrow.event.type = event->ends.items[i].type;
		arrow.event.id = event->ends.items[i].chain;
		arrow.event.category = event->ends.items[i].category;
		arrow.event.name = event->ends.items[i].name;
		r = fxt_writer_write(writer, &arrow);
	}
	return r;
}

/* Ends the calls from a depth on. */
static int fetch_leave(struct fetch_slices *slices, uint64_t depth)
{
	int r = 0;

	while (r == 0 && slices->depth > 0 &&
	       slices->calls.items[slices->depth - 1]->depth >= depth) {
		struct fetch_event *call = slices->calls.items[--slices->depth];

		if (!call->is_open)
			r = fetch_write(slices, call);
		fetch_clear(call);
	}
	return r;
}

/* A place for one more call; NULL: no memory. */
static struct fetch_event *fetch_enter(struct fetch_slices *slices)
{
	if (slices->depth == slices->calls.count) {
		struct fetch_event *made;

		if (fx_vector_reserve(&slices->calls, 1) < 0)
			return NULL;
		made = calloc(1, sizeof(*made));
		if (!made)
			return NULL;
		slices->calls.items[slices->calls.count++] = made;
	}
	return slices->calls.items[slices->depth++];
}

enum { ID, TS, DUR, UTID, DEPTH, IS_CALL, UNFINISHED, SET, CATEGORY, NAME };

static void fetch_set(struct fetch_slices *slices, struct fetch_event *event, char **fields)
{
	struct fxt_event *made = &event->record.event;
	int64_t dur = (int64_t)fx_fetch_number(fields[DUR]);

	event->record.kind = FXT_KIND_EVENT;
	event->depth = fx_fetch_number(fields[DEPTH]);
	event->has_name = false;
	event->is_open = dur < 0;
	memset(made, 0, sizeof(*made));
	made->type = fields[IS_CALL][0] != '1' ? FXT_EVENT_INSTANT
		     : dur < 0		       ? FXT_EVENT_DURATION_BEGIN
					       : FXT_EVENT_DURATION_COMPLETE;
	made->thread = fxt_thread_of(slices->thread->pid, slices->thread->tid);
	made->timestamp = fx_fetch_time(slices->fetch, fields[TS]);
	if (made->type == FXT_EVENT_DURATION_COMPLETE)
		made->end_time = made->timestamp + (uint64_t)dur;
	if (made->type == FXT_EVENT_INSTANT)
		made->scope = FXT_SCOPE_THREAD;
	made->category = fetch_text(event, fields[CATEGORY]);
	made->name = fetch_text(event, fields[NAME]);
}

static int fetch_slice(struct fetch_slices *slices, char **fields)
{
	const struct fx_fetch_thread *thread = fx_fetch_thread(slices->fetch, fields[UTID]);
	bool is_call = fields[IS_CALL][0] == '1';
	struct fetch_event *event;
	struct fxt_arg *arg;
	int r;

	if (!thread)
		return 0;
	r = fetch_leave(slices, thread == slices->thread ? fx_fetch_number(fields[DEPTH]) : 0);
	if (r < 0)
		return r;
	slices->thread = thread;
	event = is_call ? fetch_enter(slices) : &slices->instant;
	if (!event)
		return -ENOMEM;
	fetch_clear(event);
	fetch_set(slices, event, fields);
	fetch_add_args(slices, event, fx_fetch_number(fields[SET]));
	if (is_call && fields[UNFINISHED][0] == '1' && !event->is_open && !event->has_name) {
		arg = fxt_record_add_arg(&event->record, "unfinished", FXT_ARG_BOOL);
		if (arg)
			arg->boolean = true;
	}
	r = fetch_add_ends(slices, event, fx_fetch_number(fields[ID]));
	return r < 0 || (is_call && !event->is_open) ? r : fetch_write(slices, event);
}

int fx_fetch_slices(struct fx_fetch *fetch)
{
	struct fetch_slices slices = {.fetch = fetch};
	char **fields;
	int r = fetch_ask(&slices);

	if (r == 0) {
		slices.arg = fx_answer_next(slices.args);
		slices.arrow = fx_answer_next(slices.arrows);
	}
	while (r == 0 && (fields = fx_answer_next(slices.slices)))
		r = fetch_slice(&slices, fields);
	if (r == 0)
		r = fetch_leave(&slices, 0);
	if (r == 0)
		r = fx_answer_error(slices.slices);
	if (r == 0)
		r = fx_answer_error(slices.args);
	if (r == 0)
		r = fx_answer_error(slices.arrows);
	for (size_t i = 0; i < slices.calls.count; i++) {
		fetch_event_free(slices.calls.items[i]);
		free(slices.calls.items[i]);
	}
	fx_vector_free(&slices.calls);
	fetch_event_free(&slices.instant);
	fx_answer_close(slices.slices);
	fx_answer_close(slices.args);
	fx_answer_close(slices.arrows);
	return r;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/stepper.h"
#include "convert/utf8.h"
#include "report/section.h"
#include "report/show.h"
#include "why/past.h"

/* Waits that are remembered. */
enum { WAITS_MAX = 4000000 };

/* Where an arrow begins. */
struct beginning {
	uint64_t chain;
	uint64_t ts;
	uint64_t thread;
};

/* What an arrow ends in: a wait, or the life of a thread. */
struct ending {
	uint64_t chain;
	struct fx_why_origin *origin;
};

struct past_call {
	uint32_t name;
	uint8_t kind; /* enum fx_call_kind */
};

struct collector {
	struct fx_exporter exporter; /* first: the walk hands it to us */
	struct fx_why_past *past;
	const char *slice;
	struct fx_waiting waiting;
	struct fx_runs beginnings;
	/* Of the thread at hand: */
	struct fx_why_life *life;
	const struct fx_thread *thread;
	FX_VECTOR(struct past_call) open;
	struct fx_why_wait wait; /* the last one, not in the list yet */
	bool has_wait;
	uint32_t
	    file; /* that it has found, if it is a poll, or reads: the number of a text; 0: not one alone */
	uint32_t found;		  /* that of the wait before, if that is a poll, and in the list */
	FX_VECTOR(uint8_t) kinds; /* of categories: 1 + enum fx_call_kind */
};

static int compare_beginnings(const void *a, const void *b)
{
	const struct beginning *left = a, *right = b;

	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

static const struct fx_runs_kind beginnings_kind = {
    .size = sizeof(struct beginning),
    .compare = compare_beginnings,
};

static int compare_slices(const void *a, const void *b)
{
	const struct fx_why_slice *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->end > right->end ? -1 : left->end < right->end;
}

static const struct fx_runs_kind slices_kind = {
    .size = sizeof(struct fx_why_slice),
    .compare = compare_slices,
};

static struct collector *past_collector_of(struct fx_exporter *exporter)
{
	return (struct collector *)exporter;
}

/* --- The list of waits ------------------------------------------------------------------------ */

/* Forgets the shorter waits, of all threads, until half of them are gone. */
static void past_forget(struct fx_why_past *past)
{
	size_t threads = past->timeline->threads.count;

	while (past->waits.count > WAITS_MAX / 2) {
		size_t kept = 0;

		past->shortest = past->shortest ? past->shortest * 2 : 1000;
		for (size_t t = 0; t < threads; t++) {
			struct fx_why_life *life = &past->lives[t];
			size_t first = life->first, last = first + life->count;

			if (life->count == 0)
				continue;
			life->first = kept;
			for (size_t i = first; i < last; i++) {
				const struct fx_why_wait *wait = &past->waits.items[i];

				if (wait->end - wait->begin >= past->shortest)
					past->waits.items[kept++] = *wait;
			}
			life->count = kept - life->first;
		}
		past->forgotten += past->waits.count - kept;
		past->waits.count = kept;
	}
}

static void past_keep_wait(struct collector *collector)
{
	struct fx_why_past *past = collector->past;
	const struct fx_why_wait *wait = &collector->wait;

	collector->found = 0;
	if (!collector->has_wait)
		return;
	collector->has_wait = false;
	if (wait->end - wait->begin < past->shortest) {
		past->forgotten++;
		return;
	}
	if (past->waits.count == WAITS_MAX)
		past_forget(past);
	if (fx_vector_reserve(&past->waits, 1) < 0) {
		collector->exporter.error = -ENOMEM;
		return;
	}
	if (collector->life->count++ == 0)
		collector->life->first = past->waits.count;
	past->waits.items[past->waits.count++] = *wait;
	if (wait->kind == FX_WAIT_POLL)
		collector->found = collector->file;
}

/* --- What is seen ----------------------------------------------------------------------------- */

static void past_live(struct collector *collector, uint64_t ts)
{
	struct fx_why_life *life = collector->life;

	if (ts < life->begin)
		life->begin = ts;
	if (ts > life->end)
		life->end = ts;
}

/* When what did not finish is taken to end. */
static uint64_t past_end_of(const struct fx_thread *thread, const struct fx_timeline *timeline,
			    uint64_t begin)
{
	uint64_t end = thread->process->end_ts;

	if (end < begin || end > timeline->last_ts)
		end = timeline->last_ts;
	return end < begin ? begin : end;
}

static uint8_t past_kind(struct collector *collector, const struct fxt_string *category)
{
	uint32_t number = category->serial;
	size_t count = collector->kinds.count;

	if (number >= count) {
		size_t more = number + 1 - count;

		if (fx_vector_reserve(&collector->kinds, more) < 0) {
			collector->exporter.error = -ENOMEM;
			return FX_CALL_OTHER;
		}
		memset(collector->kinds.items + count, 0, more);
		collector->kinds.count += more;
	}
	if (collector->kinds.items[number] == 0)
		collector->kinds.items[number] = (uint8_t)(1 + fx_call_kind_of(category->data));
	return (uint8_t)(collector->kinds.items[number] - 1);
}

/* A call that has waited for something until its time was up. */
static bool past_timed_out(const struct fx_event *event, enum fx_wait_kind kind)
{
	const struct fxt_string *error = fx_event_string(event, "errno");
	int64_t ret;

	if (!error)
		error = fx_event_string(event, "ret");
	if (error && fxt_string_equals(error, "ETIMEDOUT"))
		return true;
	if (kind == FX_WAIT_SIGNAL)
		return error && fxt_string_equals(error, "EAGAIN");
	if (!fx_event_integer(event, "ret", &ret))
		return false;
	return kind == FX_WAIT_POLL ? ret == 0 : ret == ETIMEDOUT && kind != FX_WAIT_PEER;
}

/* The manager ends what was open at a death or a stop, and says so. */
static bool past_is_unfinished(const struct fx_event *event)
{
	const struct fxt_arg *arg = fx_event_arg(event, "unfinished");

	return event->end == UINT64_MAX || (event->flags & FX_ENTRY_UNFINISHED) ||
	       (arg && arg->type == FXT_ARG_BOOL && arg->boolean);
}

/* The function around the calls that are open. */
static uint32_t past_caller(const struct collector *collector)
{
	for (size_t i = collector->open.count; i-- > 0;) {
		uint8_t kind = collector->open.items[i].kind;

		if (kind == FX_CALL_FUNCTION || kind == FX_CALL_OTHER)
			return collector->open.items[i].name;
	}
	return 0;
}

/* No thread has let go on one that waits still: it is for the thread that had the lock as the wait began. */
static uint32_t past_holder(const struct collector *collector, const struct fx_event *event)
{
	const struct fx_thread *thread;
	int64_t tid;

	if (!past_is_unfinished(event) || !fx_event_integer(event, "holder", &tid))
		return FX_WHY_NOBODY;
	thread = fx_timeline_find_thread(collector->exporter.timeline,
					 collector->thread->process->pid, (uint64_t)tid);
	return thread ? thread->number : FX_WHY_NOBODY;
}

/* The one descriptor that a poll has found, or that a call is about. */
static uint32_t past_file(const struct fx_event *event, enum fx_wait_kind kind)
{
	const struct fxt_string *file = fx_event_string(event, "file");
	int64_t count;

	if (!file ||
	    (kind == FX_WAIT_POLL && (!fx_event_integer(event, "ret", &count) || count != 1)))
		return 0;
	return file->serial;
}

static void past_begin_wait(struct collector *collector, const struct fx_event *event, uint64_t end,
			    enum fx_wait_kind kind)
{
	bool timed_out = past_timed_out(event, kind);

	past_keep_wait(collector);
	if ((kind == FX_WAIT_LOCK || kind == FX_WAIT_CONDITION) && !past_is_unfinished(event) &&
	    fx_why_takes_see(&collector->past->takes, event, end) < 0)
		collector->exporter.error = -ENOMEM;
	collector->past->unfinished += past_is_unfinished(event);
	collector->has_wait = true;
	collector->file = past_file(event, kind);
	collector->wait = (struct fx_why_wait){
	    .begin = event->ts,
	    .end = end,
	    .word = event->word & FX_MAX_WORD,
	    .provider = event->provider & FX_MAX_PROVIDERS,
	    .kind = (uint8_t)(timed_out ? FX_WAIT_SLEEP : kind),
	    .timed_out = timed_out,
	    .from.thread = FX_WHY_NOBODY,
	    .caller = past_caller(collector),
	    .holder = past_holder(collector, event),
	};
}

static void past_add_slice(struct collector *collector, uint64_t begin, uint64_t end)
{
	struct fx_why_slice *slice = fx_runs_add(&collector->past->slices);

	if (slice)
		*slice = (struct fx_why_slice){begin, end, collector->thread->number};
	else
		collector->exporter.error = -ENOMEM;
}

static void past_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			   uint64_t ts)
{
	struct collector *collector = past_collector_of(exporter);

	(void)thread;
	(void)ts;
	/* Empty only where memory has run out. */
	if (collector->open.count > 0)
		collector->open.count--;
}

static void past_arrow_begins(struct collector *collector, const struct fx_event *event,
			      uint64_t chain)
{
	struct beginning *beginning = fx_runs_add(&collector->beginnings);

	if (beginning)
		*beginning = (struct beginning){chain, event->ts, event->thread->number};
	else
		collector->exporter.error = -ENOMEM;
}

/*
 * A signal that a read of a signalfd got, and that the poll just before had waited for:
 *
 *	[ epoll_wait: signalfd ][ read: signalfd ]
 *	            kill  ------------------>
 *
 * Whether it was sent during the poll shows once the arrow's other end is known. (Of bytes, the manager has drawn arrows to polls.)
 */
static void past_read_found(struct collector *collector, uint64_t chain)
{
	struct fx_why_past *past = collector->past;
	struct fx_why_wait *poll;

	if (!collector->found || collector->found != collector->file || collector->life->count == 0)
		return;
	poll = &past->waits.items[past->waits.count - 1];
	if (poll->from.thread != FX_WHY_NOBODY)
		return;
	poll->from = (struct fx_why_origin){chain, 0};
	poll->by_read = 1;
}

/* Numbers of chains stand where the times will be. */
static void past_arrow_ends(struct collector *collector, const struct fx_event *event,
			    uint64_t chain)
{
	struct fx_why_life *life = collector->life;
	struct fx_why_wait *wait = &collector->wait;

	if (collector->has_wait && event->ts > wait->begin && event->ts <= wait->end) {
		wait->from = (struct fx_why_origin){chain, 0};
		past_read_found(collector, chain);
	} else if (life->maker.thread == FX_WHY_NOBODY &&
		   (fxt_string_equals(event->name, "thread starts") ||
		    fxt_string_equals(event->name, "process starts"))) {
		life->maker = (struct fx_why_origin){chain, 0};
	}
}

/* Arrows from who wrote to who read, which the manager has drawn; others of the program's own end no wait. */
static bool past_is_message(const struct collector *collector, const struct fx_flow_link *link)
{
	return link->category &&
	       strcmp(fx_texts_get(collector->exporter.timeline->strings, link->category)->data,
		      "message") == 0;
}

/* The ends of those that stand at calls: the one that reads had not waited long for what had been written. */
static void past_messages(struct collector *collector, const struct fx_event *event)
{
	struct fx_why_wait *wait = &collector->wait;

	for (size_t i = 0; i < event->link_count; i++) {
		const struct fx_flow_link *link = &event->links[i];

		if (!past_is_message(collector, link))
			continue;
		if (link->role == FX_FLOW_FIRST)
			past_arrow_begins(collector, event, link->chain);
		else if (collector->has_wait && event->ts == wait->begin)
			wait->from = (struct fx_why_origin){link->chain, 0};
	}
}

static void past_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct collector *collector = past_collector_of(exporter);
	struct fx_open_call call = {
	    .thread = event->thread,
	    .name = event->name->serial,
	    .kind = past_kind(collector, event->category),
	};
	uint64_t end = event->end == UINT64_MAX
			   ? past_end_of(event->thread, exporter->timeline, event->ts)
			   : event->end;
	enum fx_wait_kind kind;

	collector->past->kinds |= 1u << call.kind;
	past_live(collector, event->ts);
	past_live(collector, end);
	if (collector->slice && fxt_string_equals(event->name, collector->slice))
		past_add_slice(collector, event->ts, end);
	if (!(collector->has_wait && event->ts < collector->wait.end)) {
		kind =
		    fx_waiting_of(&collector->waiting, exporter->timeline->strings, &call, event);
		if (kind != FX_WAIT_NONE && end > event->ts)
			past_begin_wait(collector, event, end, kind);
	}
	past_messages(collector, event);
	if ((call.kind == FX_CALL_SYSCALL || call.kind == FX_CALL_STDIO) &&
	    fx_why_parties_see(&collector->past->parties, event) < 0)
		exporter->error = -ENOMEM;
	if (fx_vector_reserve(&collector->open, 1) < 0)
		exporter->error = -ENOMEM;
	else
		collector->open.items[collector->open.count++] =
		    (struct past_call){call.name, call.kind};
}

static void past_look_at_loss(struct fx_why_past *past, const struct fx_event *event)
{
	const struct fxt_string *cure = fx_event_string(event, "cure");
	int64_t count;

	if (!fxt_string_equals(event->name, "records dropped") ||
	    !fx_event_integer(event, "count", &count) || count < 0)
		return;
	past->lost += (uint64_t)count;
	if (cure && cure->length < sizeof(past->cure) &&
	    fx_utf8_is_clean(cure->data, cure->length)) {
		memcpy(past->cure, cure->data, cure->length);
		past->cure[cure->length] = 0;
	}
}

static void past_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct collector *collector = past_collector_of(exporter);
	uint8_t kind = past_kind(collector, event->category);

	/* Of a loss the thread knows nothing. */
	if (fxt_string_equals(event->category, "fxtrace")) {
		past_look_at_loss(collector->past, event);
		return;
	}
	past_live(collector, event->ts);
	/* The manager tells of deaths, whatever is recorded. */
	if (!fxt_string_equals(event->name, "process exits"))
		collector->past->kinds |= 1u << kind;
	if (kind == FX_CALL_OTHER && !fxt_string_equals(event->category, "message"))
		return;
	if (kind == FX_CALL_PTHREAD && fxt_string_equals(event->name, "thread exits"))
		collector->life->exits = event->ts;
	for (size_t i = 0; i < event->link_count; i++) {
		if (event->links[i].role == FX_FLOW_FIRST)
			past_arrow_begins(collector, event, event->links[i].chain);
		else
			past_arrow_ends(collector, event, event->links[i].chain);
	}
}

static void past_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	(void)exporter;
	(void)event;
	(void)id;
}

static void past_log(struct fx_exporter *exporter, const struct fx_event *event,
		     const struct fxt_string *message)
{
	(void)message;
	past_live(past_collector_of(exporter), event->ts);
}

static const struct fx_exporter_ops past_ops = {
    .slice_begin = past_slice_begin,
    .slice_end = past_slice_end,
    .instant = past_instant,
    .counter = past_counter,
    .log = past_log,
};

/* --- The walk --------------------------------------------------------------------------------- */

static int past_see_thread(struct collector *collector, struct fx_stepper *stepper,
			   struct fx_thread *thread)
{
	int r = fx_stepper_begin(stepper, thread, NULL);

	collector->thread = thread;
	collector->life = &collector->past->lives[thread->number];
	collector->open.count = 0;
	while (r >= 0 && (r = fx_stepper_next(stepper)) > 0 && collector->exporter.error == 0)
		;
	fx_stepper_end_slices(stepper);
	fx_stepper_end(stepper);
	past_keep_wait(collector);
	return r < 0 ? r : collector->exporter.error;
}

static int past_see_threads(struct collector *collector, struct fx_flows *flows)
{
	struct fx_timeline *timeline = collector->exporter.timeline;
	struct fx_stepper *stepper = malloc(sizeof(*stepper));
	int r = 0;

	if (!stepper)
		return -ENOMEM;
	memset(stepper, 0, sizeof(*stepper));
	stepper->exporter = &collector->exporter;
	stepper->flows = flows;
	for (size_t i = 0; i < timeline->threads.count && r == 0; i++) {
		if (timeline->threads.items[i]->count > 0)
			r = past_see_thread(collector, stepper, timeline->threads.items[i]);
	}
	free(stepper);
	return r < 0 ? r : fx_flows_error(flows);
}

/* --- Arrows ----------------------------------------------------------------------------------- */

static int compare_endings(const void *a, const void *b)
{
	const struct ending *left = a, *right = b;

	return left->chain < right->chain ? -1 : left->chain > right->chain;
}

/* What arrows end in, by chain. */
static struct ending *past_endings(const struct fx_why_past *past, size_t *ret_count)
{
	size_t threads = past->timeline->threads.count, count = 0;
	struct ending *endings = malloc((past->waits.count + threads + 1) * sizeof(*endings));

	if (!endings)
		return NULL;
	for (size_t i = 0; i < past->waits.count; i++) {
		struct fx_why_origin *from = &past->waits.items[i].from;

		if (from->thread != FX_WHY_NOBODY)
			endings[count++] = (struct ending){from->at, from};
	}
	for (size_t i = 0; i < threads; i++) {
		struct fx_why_origin *maker = &past->lives[i].maker;

		if (maker->thread != FX_WHY_NOBODY)
			endings[count++] = (struct ending){maker->at, maker};
	}
	qsort(endings, count, sizeof(*endings), compare_endings);
	*ret_count = count;
	return endings;
}

/* Gives the endings the times at which their arrows begin; those whose begin is not there have none. */
static int past_join(struct collector *collector, struct ending *endings, size_t count)
{
	const struct beginning *beginning;
	struct fx_merge merge;
	int r = fx_merge_begin(&merge, &collector->beginnings);

	if (r < 0)
		return r;
	beginning = fx_merge_first(&merge);
	for (size_t i = 0; i < count; i++) {
		while (beginning && beginning->chain < endings[i].chain)
			beginning = fx_merge_next(&merge);
		if (beginning && beginning->chain == endings[i].chain) {
			*endings[i].origin =
			    (struct fx_why_origin){beginning->ts, (uint32_t)beginning->thread};
			collector->past->arrows++;
		} else {
			endings[i].origin->thread = FX_WHY_NOBODY;
		}
	}
	r = merge.error;
	fx_merge_end(&merge);
	return r;
}

static int past_resolve(struct collector *collector)
{
	size_t count;
	struct ending *endings = past_endings(collector->past, &count);
	int r = endings ? past_join(collector, endings, count) : -ENOMEM;

	free(endings);
	for (size_t i = 0; i < collector->past->waits.count; i++) {
		struct fx_why_wait *wait = &collector->past->waits.items[i];

		if (wait->holder != FX_WHY_NOBODY)
			wait->from = (struct fx_why_origin){wait->end, wait->holder};
		if (wait->by_read && (wait->from.at <= wait->begin || wait->from.at > wait->end))
			wait->from.thread = FX_WHY_NOBODY;
	}
	return r;
}

/* --- The whole -------------------------------------------------------------------------------- */

int fx_why_past_collect(struct fx_why_past *past, struct fx_timeline *timeline,
			struct fx_flows *flows, const char *slice)
{
	struct collector collector = {
	    .exporter = {.ops = &past_ops, .timeline = timeline},
	    .past = past,
	    .slice = slice,
	};
	int r;

	*past = (struct fx_why_past){.timeline = timeline};
	fx_runs_init(&past->slices, &timeline->pool, &slices_kind);
	past->lives = calloc(timeline->threads.count + 1, sizeof(*past->lives));
	if (!past->lives)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->threads.count; i++) {
		past->lives[i].begin = UINT64_MAX;
		past->lives[i].maker.thread = FX_WHY_NOBODY;
	}
	fx_runs_init(&collector.beginnings, &timeline->pool, &beginnings_kind);
	r = past_see_threads(&collector, flows);
	if (r == 0)
		r = past_resolve(&collector);
	fx_why_takes_arrange(&past->takes);
	fx_runs_release(&collector.beginnings);
	fx_waiting_free(&collector.waiting);
	fx_vector_free(&collector.open);
	fx_vector_free(&collector.kinds);
	return r;
}

void fx_why_past_free(struct fx_why_past *past)
{
	fx_vector_free(&past->waits);
	free(past->lives);
	fx_runs_release(&past->slices);
	fx_why_parties_free(&past->parties);
	fx_why_takes_free(&past->takes);
}

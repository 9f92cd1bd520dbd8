/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/arrange.h"
#include "convert/names.h"
#include "report/callprint.h"
#include "report/replay.h"

enum lane_action { LANE_ENTER, LANE_LEAVE };

/* A thread in the merge: what it does next, of what is shown. */
struct lane {
	struct fx_walk walk;
	struct fx_thread *thread;
	struct fx_callwho who;
	enum lane_action action;
	uint64_t ts;
	struct fx_placed at;
	bool has_entry; /* the walk stands at an entry that is not placed */
	bool over;	/* there are none left */
	unsigned depth; /* shown calls that are open */
	bool shown[FX_MAX_DEPTH];
};

/* When a lane does it. */
struct turn {
	uint64_t ts;
	struct lane *lane;
};

/* What the filter says of a text, asked once for each. */
enum { REPLAY_NAME_PASSES = 1, REPLAY_CATEGORY_PASSES = 2, REPLAY_KNOWN = 4 };

struct replay {
	struct fx_timeline *timeline;
	const struct fx_replay_order *order;
	struct fx_callprint print;
	uint64_t begin, end;
	uint32_t loss;		     /* number of the name of what tells of a loss */
	FX_VECTOR(uint8_t) verdicts; /* by number of a text */
	FX_VECTOR(struct turn) heap;
	struct fx_thread **threads; /* that pass, by their first event */
	size_t thread_count, started;
	struct fxt_record record, end_record;
};

/* --- The filter ------------------------------------------------------------------------------- */

static unsigned replay_verdict(struct replay *replay, const struct fxt_string *string)
{
	const struct fx_filter *filter = &replay->order->filter;
	size_t count = replay->verdicts.count, more = string->serial + 1 - count;
	unsigned verdict;

	if (string->serial >= count) {
		if (fx_vector_reserve(&replay->verdicts, more) < 0)
			return 0;
		memset(replay->verdicts.items + count, 0, more);
		replay->verdicts.count += more;
	}
	verdict = replay->verdicts.items[string->serial];
	if (!(verdict & REPLAY_KNOWN)) {
		const char *text = string->serial ? string->data : "";

		verdict =
		    REPLAY_KNOWN |
		    (fx_patterns_match(&filter->names, text) ? REPLAY_NAME_PASSES : 0) |
		    (fx_patterns_match(&filter->categories, text) ? REPLAY_CATEGORY_PASSES : 0);
		replay->verdicts.items[string->serial] = (uint8_t)verdict;
	}
	return verdict;
}

/* Whether names and categories pass; logs have none. */
static bool replay_texts_pass(struct replay *replay, const struct fx_entry *entry)
{
	const struct fx_filter *filter = &replay->order->filter;
	struct fxt_record *record = &replay->record;

	if (filter->names.count == 0 && filter->categories.count == 0)
		return true;
	if (entry->kind == FX_ENTRY_LOG ||
	    fx_timeline_decode(replay->timeline, entry->provider, entry->word, record) < 0)
		return false;
	if (entry->kind == FX_ENTRY_BLOB)
		return (replay_verdict(replay, &record->large_blob.name) & REPLAY_NAME_PASSES) &&
		       (replay_verdict(replay, &record->large_blob.category) &
			REPLAY_CATEGORY_PASSES);
	return (replay_verdict(replay, &record->event.name) & REPLAY_NAME_PASSES) &&
	       (replay_verdict(replay, &record->event.category) & REPLAY_CATEGORY_PASSES);
}

/* Whether it says that records are missing here, which is shown whatever else is. */
static bool replay_is_loss(struct replay *replay, const struct fx_entry *entry)
{
	return entry->kind == FX_ENTRY_INSTANT &&
	       fx_timeline_event_name(replay->timeline, entry) == replay->loss &&
	       fx_timeline_decode(replay->timeline, entry->provider, entry->word,
				  &replay->record) == 0 &&
	       fx_callprint_is_loss(&replay->record.event);
}

static bool replay_shows(struct replay *replay, const struct fx_entry *entry)
{
	uint64_t end = fx_entry_is_slice(entry) ? entry->end : entry->ts;

	if (end < replay->begin || entry->ts > replay->end)
		return false;
	if (replay_is_loss(replay, entry))
		return true;
	if (!fx_entry_is_slice(entry) && !(fx_entry_is_instant(entry) && replay->order->instants) &&
	    !(entry->kind == FX_ENTRY_COUNTER && replay->order->counters))
		return false;
	return replay_texts_pass(replay, entry);
}

/* --- Lanes ------------------------------------------------------------------------------------ */

static int lane_fetch(struct lane *lane)
{
	const struct fx_entry *ahead;
	int r;

	if (lane->has_entry || lane->over)
		return 0;
	r = fx_walk_next(&lane->walk);
	ahead = fx_walk_ahead(&lane->walk);
	if (ahead)
		fx_records_prefetch(lane->walk.timeline->records, ahead->word);
	lane->has_entry = r > 0;
	lane->over = r == 0;
	return r < 0 ? r : 0;
}

/* Takes a call that is over. False: none is; *ret_shown: whether it is of interest. */
static bool lane_pop(struct lane *lane, bool *ret_shown)
{
	const struct fx_placed *ended =
	    lane->over ? fx_walk_pop_any(&lane->walk) : fx_walk_pop(&lane->walk);

	if (!ended)
		return false;
	*ret_shown = lane->shown[lane->walk.depth];
	if (!*ret_shown)
		return true;
	lane->action = LANE_LEAVE;
	lane->at = *ended;
	lane->ts = ended->entry.end;
	return true;
}

/* Places the entry that waits; whether it is of interest. */
static bool lane_place(struct replay *replay, struct lane *lane)
{
	const struct fx_placed *placed = fx_walk_place(&lane->walk);
	bool shown;

	lane->has_entry = false;
	if (placed->entry.flags & FX_ENTRY_LEFT_OUT)
		return false;
	shown = replay_shows(replay, &placed->entry);
	if (fx_entry_is_slice(&placed->entry))
		lane->shown[lane->walk.depth - 1] = shown;
	lane->action = LANE_ENTER;
	lane->at = *placed;
	lane->ts = placed->entry.ts;
	return shown;
}

/* Finds what the thread does next. Returns 1, 0 if there is nothing left, or -errno. */
static int lane_next(struct replay *replay, struct lane *lane)
{
	for (;;) {
		bool shown;
		int r = lane_fetch(lane);

		if (r < 0)
			return r;
		if (lane_pop(lane, &shown)) {
			if (shown)
				return 1;
		} else if (lane->over) {
			return 0;
		} else if (lane_place(replay, lane)) {
			return 1;
		}
	}
}

static void lane_free(struct lane *lane)
{
	fx_walk_end(&lane->walk);
	fx_thread_release(lane->thread);
	free(lane);
}

/* --- The merge: a heap of lanes, the earliest first ------------------------------------------- */

static bool turn_is_before(const struct turn *a, const struct turn *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->lane->thread->number < b->lane->thread->number;
}

/* The first turn has changed: it sinks to its place. */
static void heap_sink(struct replay *replay)
{
	struct turn *items = replay->heap.items, moved = items[0];
	size_t at = 0, child, count = replay->heap.count;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && turn_is_before(&items[child + 1], &items[child]))
			child++;
		if (!turn_is_before(&items[child], &moved))
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = moved;
}

static int heap_push(struct replay *replay, struct lane *lane)
{
	struct turn turn = {lane->ts, lane}, *items;
	size_t at = replay->heap.count;

	if (fx_vector_reserve(&replay->heap, 1) < 0)
		return -ENOMEM;
	items = replay->heap.items;
	replay->heap.count++;
	for (; at > 0 && turn_is_before(&turn, &items[(at - 1) / 2]); at = (at - 1) / 2)
		items[at] = items[(at - 1) / 2];
	items[at] = turn;
	return 0;
}

static int lane_start(struct replay *replay, struct fx_thread *thread)
{
	struct lane *lane = calloc(1, sizeof(*lane));
	int r;

	if (!lane)
		return -ENOMEM;
	lane->thread = thread;
	fx_callprint_who(&replay->print, thread, &lane->who);
	r = fx_walk_begin(&lane->walk, replay->timeline, thread);
	if (r == 0)
		r = lane_next(replay, lane);
	if (r > 0)
		r = heap_push(replay, lane) < 0 ? -ENOMEM : 1;
	if (r <= 0)
		lane_free(lane);
	return r < 0 ? r : 0;
}

/* Threads that begin before the earliest of the others does something. */
static int start_lanes(struct replay *replay)
{
	while (replay->started < replay->thread_count) {
		struct fx_thread *thread = replay->threads[replay->started];
		int r;

		if (replay->heap.count > 0 && replay->heap.items[0].ts < thread->first_ts)
			return 0;
		r = lane_start(replay, thread);
		if (r < 0)
			return r;
		replay->started++;
	}
	return 0;
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* Decodes the records of what the lane is at; NULL: it has no end record. */
static int replay_decode(struct replay *replay, const struct fx_placed *at,
			 const struct fxt_record **ret_end)
{
	int r = fx_timeline_decode(replay->timeline, at->entry.provider, at->entry.word,
				   &replay->record);

	*ret_end = NULL;
	if (r == 0 && at->entry.kind == FX_ENTRY_BEGIN && at->end_word != FX_NO_WORD &&
	    fx_timeline_decode(replay->timeline, at->entry.provider, at->end_word,
			       &replay->end_record) == 0)
		*ret_end = &replay->end_record;
	return r;
}

static uint64_t replay_duration(const struct fx_entry *entry)
{
	return (entry->flags & FX_ENTRY_UNFINISHED) || entry->end == UINT64_MAX
		   ? UINT64_MAX
		   : entry->end - entry->ts;
}

/* The name of a call, and no more than that: most have neither arguments nor a result. NULL: there is more. */
static const struct fxt_string *replay_name_alone(struct replay *replay,
						  const struct fx_entry *call)
{
	struct fx_timeline *timeline = replay->timeline;
	struct fx_names names;

	if (call->kind != FX_ENTRY_COMPLETE ||
	    !fx_names_of(timeline->records, timeline->providers.items[call->provider], call->word,
			 &names))
		return NULL;
	return names.name;
}

/* A call with its arguments; a leaf with its result. */
static int print_call(struct replay *replay, const struct fx_placed *call, bool leaf)
{
	const struct fxt_string *name = replay_name_alone(replay, &call->entry);
	struct fx_callprint *print = &replay->print;
	const struct fxt_record *end = NULL;

	if (!name && replay_decode(replay, call, &end) < 0)
		return -EBADMSG;
	fx_callprint_call(print, name ? name : &replay->record.event.name,
			  name ? NULL : &replay->record, end);
	fx_line_string(&print->line, leaf ? "" : " {");
	if (leaf && name)
		fx_callprint_duration(print, replay_duration(&call->entry));
	else if (leaf)
		fx_callprint_result(print, &replay->record, end, replay_duration(&call->entry));
	fx_line_end(&print->line);
	return 0;
}

static int print_enter(struct replay *replay, struct lane *lane)
{
	struct fx_placed call = lane->at;
	bool leaf;
	int more;

	fx_callprint_line(&replay->print, call.entry.ts, &lane->who, lane->depth);
	more = lane_next(replay, lane);
	leaf = more > 0 && lane->action == LANE_LEAVE && lane->at.index == call.index;
	if (more < 0)
		return more;
	if (print_call(replay, &call, leaf) < 0)
		return -EBADMSG;
	if (leaf)
		return lane_next(replay, lane);
	lane->depth++;
	return more;
}

static int print_leave(struct replay *replay, struct lane *lane)
{
	const struct fxt_string *name = replay_name_alone(replay, &lane->at.entry);
	uint64_t last = replay->timeline->last_ts, ns = replay_duration(&lane->at.entry);
	struct fx_callprint *print = &replay->print;
	const struct fxt_record *end;

	fx_callprint_line(print, lane->ts < last ? lane->ts : last, &lane->who, --lane->depth);
	fx_line_char(&print->line, '}');
	if (name) {
		fx_callprint_duration(print, ns);
	} else {
		if (replay_decode(replay, &lane->at, &end) < 0)
			return -EBADMSG;
		name = &replay->record.event.name;
		fx_callprint_result(print, &replay->record, end, ns);
	}
	fx_line_string(&print->line, " /* ");
	fx_callprint_name(print, name);
	fx_line_string(&print->line, " */");
	fx_line_end(&print->line);
	return lane_next(replay, lane);
}

static int print_point(struct replay *replay, struct lane *lane)
{
	const struct fxt_record *record = &replay->record, *end;

	fx_callprint_line(&replay->print, lane->ts, &lane->who, lane->depth);
	if (replay_decode(replay, &lane->at, &end) < 0)
		return -EBADMSG;
	fx_line_string(&replay->print.line, lane->at.entry.kind == FX_ENTRY_COUNTER ? "# " : "* ");
	if (record->kind == FXT_KIND_LOG) {
		fx_callprint_text(&replay->print, &record->log.message);
	} else {
		fx_callprint_call(&replay->print,
				  record->kind == FXT_KIND_LARGE_EVENT ? &record->large_blob.name
								       : &record->event.name,
				  record, NULL);
	}
	fx_line_end(&replay->print.line);
	return lane_next(replay, lane);
}

static int print_next(struct replay *replay)
{
	struct lane *lane = replay->heap.items[0].lane;
	int r;

	if (lane->action == LANE_LEAVE)
		r = print_leave(replay, lane);
	else if (fx_entry_is_slice(&lane->at.entry))
		r = print_enter(replay, lane);
	else
		r = print_point(replay, lane);
	replay->heap.items[0].ts = lane->ts;
	if (r == 0) {
		lane_free(lane);
		replay->heap.items[0] = replay->heap.items[--replay->heap.count];
	}
	if (replay->heap.count > 0)
		heap_sink(replay);
	return r < 0 ? r : 0;
}

/* --- The whole -------------------------------------------------------------------------------- */

static int by_first_event(const void *a, const void *b)
{
	const struct fx_thread *one = *(struct fx_thread *const *)a;
	const struct fx_thread *other = *(struct fx_thread *const *)b;

	if (one->first_ts != other->first_ts)
		return one->first_ts < other->first_ts ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

static int choose_threads(struct replay *replay)
{
	struct fx_timeline *timeline = replay->timeline;
	int r = 0;

	replay->threads = malloc((timeline->threads.count + 1) * sizeof(struct fx_thread *));
	if (!replay->threads)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->threads.count && r == 0; i++) {
		struct fx_thread *thread = timeline->threads.items[i];

		if (thread->count == 0 || !fx_filter_thread(&replay->order->filter, thread))
			continue;
		r = fx_thread_arrange(timeline, thread);
		replay->threads[replay->thread_count++] = thread;
	}
	qsort(replay->threads, replay->thread_count, sizeof(struct fx_thread *), by_first_event);
	return r;
}

static int replay_all(struct replay *replay)
{
	int r = choose_threads(replay), any = 0;

	replay->loss = fx_texts_add(replay->timeline->strings, FX_CALLPRINT_LOSS,
				    sizeof(FX_CALLPRINT_LOSS) - 1);
	if (r == 0)
		r = replay->loss ? start_lanes(replay) : -ENOMEM;
	any = replay->heap.count > 0;
	while (r == 0 && replay->heap.count > 0 && !ferror(replay->order->out)) {
		r = print_next(replay);
		if (r == 0 && replay->started < replay->thread_count)
			r = start_lanes(replay);
	}
	return r < 0 ? r : any;
}

int fx_replay(struct fx_timeline *timeline, const struct fx_replay_order *order)
{
	uint64_t first = timeline->first_ts == UINT64_MAX ? 0 : timeline->first_ts;
	const struct fx_filter *filter = &order->filter;
	struct replay replay = {
	    .timeline = timeline,
	    .order = order,
	    .print = {.color = order->color,
		      .deltas = order->deltas,
		      .first = first,
		      .last = first},
	    .begin = filter->from < UINT64_MAX - first ? first + filter->from : UINT64_MAX,
	    .end = filter->to < UINT64_MAX - first ? first + filter->to : UINT64_MAX,
	};
	int r;

	replay.print.line.out = order->out;
	r = replay_all(&replay);
	fx_line_flush(&replay.print.line);
	for (size_t i = 0; i < replay.heap.count; i++)
		lane_free(replay.heap.items[i].lane);
	fx_vector_free(&replay.heap);
	fx_vector_free(&replay.verdicts);
	free(replay.threads);
	return r;
}

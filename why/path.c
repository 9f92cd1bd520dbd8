/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "why/path.h"
#include "why/words.h"

enum { DEPTH_MAX = 200, PIECES_MAX = 8000000 };

#define STEPS_MAX UINT64_C(50000000)

#define RELOCK_LEAST_NS UINT64_C(1000000)

/* A thread on the way, and what is left of the time in which it is looked at. */
struct place {
	uint32_t thread;
	uint32_t node;
	uint32_t
	    call; /* that it waits in, while another one is looked at: the number of its name */
	uint64_t from, to;
	/* What was waited for last, where another thread let this one go on: the node of these waits, and 1 + the thread. */
	struct fx_why_what set;
	uint32_t ender, ender_node;
	bool is_timed; /* the wait in which another one is looked at ended by its time: */
	struct fx_why_what timed;
	bool is_rest; /* the end of the wait at hand has been explained */
	/* Of a thread that waits for any of its children: 1 + the one that it has waited for in the end, and the node
	 * of these waits. */
	uint32_t child, child_node;
};

struct finder {
	struct fx_why_path *path;
	struct fx_why_past *past;
	const struct fx_why_ready *ready;
	size_t *waits; /* of each thread: those that may lie before what is left */
	size_t depth;
	struct place places[DEPTH_MAX];
	uint64_t steps;
	int error;
};

/* --- Pieces of time --------------------------------------------------------------------------- */

/* The thread did something itself. */
static void path_did(struct finder *finder, const struct place *place, uint64_t begin, uint64_t end)
{
	struct fx_why_path *path = finder->path;
	struct fx_why_piece *piece;

	if (begin >= end)
		return;
	if (path->pieces.count >= PIECES_MAX) {
		path->is_too_long = true;
		fx_why_tree_add(&path->tree, place->node, end - begin);
		return;
	}
	if (fx_vector_reserve(&path->pieces, 1) < 0) {
		finder->error = -ENOMEM;
		return;
	}
	piece = &path->pieces.items[path->pieces.count++];
	*piece = (struct fx_why_piece){begin, end, place->node, path->first[place->thread]};
	path->first[place->thread] = (uint32_t)path->pieces.count;
}

/* Something else had the time. */
static void path_had(struct finder *finder, uint32_t node, const struct fx_why_what *what,
		     uint64_t begin, uint64_t end)
{
	struct fx_why_tree *tree = &finder->path->tree;

	if (begin < end)
		fx_why_tree_add(tree, fx_why_tree_child(tree, node, what), end - begin);
}

/* --- From thread to thread -------------------------------------------------------------------- */

/* The place of a thread that is waiting while the one at hand is looked at; NULL: it is not. */
static const struct place *path_waiting(const struct finder *finder, uint32_t thread)
{
	for (size_t i = finder->depth; i-- > 0;) {
		if (finder->places[i].thread == thread)
			return &finder->places[i];
	}
	return NULL;
}

/* Goes to another thread: what it did until `to', as the explanation of `node'. */
static void path_go_to(struct finder *finder, uint32_t node, struct fx_why_what what, uint64_t from,
		       uint64_t to)
{
	const uint32_t thread = what.thread;
	const struct place *waiting = path_waiting(finder, thread);

	if (from >= to)
		return;
	if (waiting) {
		/* It did nothing but wait for what the one that waits did when its time was up. */
		if (waiting->is_timed) {
			path_had(finder, waiting->node, &waiting->timed, from, to);
			return;
		}
		what.kind = FX_WHY_CIRCLE;
		what.name = waiting->call;
		path_had(finder, node, &what, from, to);
		return;
	}
	if (finder->depth == DEPTH_MAX) {
		finder->path->is_too_deep = true;
		path_had(finder, node, &(struct fx_why_what){.kind = FX_WHY_UNKNOWN}, from, to);
		return;
	}
	node = fx_why_tree_child(&finder->path->tree, node, &what);
	finder->places[finder->depth++] =
	    (struct place){.thread = thread, .node = node, .from = from, .to = to};
}

static void path_go(struct finder *finder, uint32_t node, uint32_t thread, uint64_t from,
		    uint64_t to)
{
	const struct fx_why_what what = {.kind = FX_WHY_THREAD, .thread = thread};

	path_go_to(finder, node, what, from, to);
}

/*
 * A wait for any child that another one has ended, while the one was there already that is waited for in the end: it was for that one,
 * too, and would have gone on but for that.
 *
 *	make    [ wait: e ][ wait: b     ]---ld
 *	e        ---------|
 *	b        ------------------------|       both waits are for b
 */
static bool path_is_for_child(const struct finder *finder, const struct place *place,
			      const struct fx_why_wait *wait)
{
	const struct fx_why_life *child;

	if (!place->child)
		return false;
	child = &finder->past->lives[place->child - 1];
	return wait->kind == FX_WAIT_CHILD && wait->from.thread != FX_WHY_NOBODY &&
	       (child->maker.thread == FX_WHY_NOBODY ? child->begin : child->maker.at) <
		   wait->begin &&
	       fx_why_words_is_any_child(finder->past->timeline, wait);
}

/* The child that ended a wait for any of them, and the wait's node. */
static void path_note_child(const struct finder *finder, struct place *place,
			    const struct fx_why_wait *wait, uint32_t node)
{
	if (wait->kind != FX_WAIT_CHILD || wait->from.thread == FX_WHY_NOBODY ||
	    wait->from.thread == place->thread ||
	    !fx_why_words_is_any_child(finder->past->timeline, wait))
		return;
	place->child = 1 + wait->from.thread;
	place->child_node = node;
}

static void path_count_unknown(struct fx_why_path *path, const struct fx_why_wait *wait,
			       uint64_t ns)
{
	if (wait->kind == FX_WAIT_SLEEP)
		return;
	path->no_arrow++;
	path->no_arrow_ns += ns;
}

/* Whether a thread was there, or another one is known that made it. */
static bool path_is_known(const struct finder *finder, uint32_t thread, uint64_t at)
{
	const struct fx_why_life *life = &finder->past->lives[thread];

	return life->maker.thread != FX_WHY_NOBODY || life->begin <= at;
}

/* A wait without an arrow: perhaps for the only one that is known to have the other end. False: nobody is. */
static bool path_follow_pipe(struct finder *finder, uint32_t node, const struct fx_why_wait *wait,
			     uint64_t begin, uint64_t end)
{
	const uint32_t thread = finder->places[finder->depth - 1].thread;
	struct fx_why_what what = {
	    .kind = FX_WHY_THREAD,
	    .is_perhaps = true,
	    .thread = fx_why_words_other_end(finder->past, wait, thread),
	};

	if (what.thread == FX_WHY_NOBODY || path_waiting(finder, what.thread) ||
	    !path_is_known(finder, what.thread, wait->begin))
		return false;
	finder->path->perhaps++;
	finder->path->perhaps_ns += end - begin;
	path_go_to(finder, node, what, begin, end);
	return true;
}

/*
 * A wait that ended by its time, for what the thread has then waited for again: it would have gone on, had the one that let it go on
 * in the end done so earlier.
 *
 *	redis    [ epoll_wait: 100 ms ]-cron-[ epoll_wait ]---
 *	client   -------------------------------- write /
 */
static bool path_is_for_ender(const struct finder *finder, const struct place *place,
			      const struct fx_why_wait *wait)
{
	struct fx_why_what set;

	if (!wait->timed_out || !place->ender ||
	    !path_is_known(finder, place->ender - 1, wait->begin))
		return false;
	set = fx_why_words_set(finder->past->timeline, wait);
	return set.object && set.object == place->set.object && set.name == place->set.name;
}

/* The thread that let this one go on, which it may have waited for before. */
static void path_note_ender(const struct finder *finder, struct place *place,
			    const struct fx_why_wait *wait, uint32_t node)
{
	if (wait->kind != FX_WAIT_POLL && wait->kind != FX_WAIT_CONDITION &&
	    wait->kind != FX_WAIT_SEMAPHORE)
		return;
	place->ender = 0;
	if (wait->from.thread == FX_WHY_NOBODY || wait->from.thread == place->thread)
		return;
	place->set = fx_why_words_set(finder->past->timeline, wait);
	place->ender = place->set.object ? 1 + wait->from.thread : 0;
	place->ender_node = node;
}

/*
 * The end of a wait for a condition: who took the mutex before this thread had it again. What is not longer than it may take a thread to
 * get a processor is left. False: there is nobody.
 */
static bool path_follow_mutex(struct finder *finder, uint32_t node, const struct fx_why_wait *wait,
			      uint64_t released, uint64_t end)
{
	struct place *place = &finder->places[finder->depth - 1];
	struct fx_why_what what = {.kind = FX_WHY_THREAD, .is_perhaps = true};
	const struct fx_why_take *take;
	uint64_t took;

	if (released + RELOCK_LEAST_NS > end)
		return false;
	/* The first of several that were let go on may have it before the one that let them go on says so. */
	take = fx_why_words_last_take(finder->past, wait, place->thread, released - RELOCK_LEAST_NS,
				      end);
	if (!take || path_waiting(finder, take->thread))
		return false;
	took = take->end;
	if (took < released)
		took = released;
	place->to = took;
	place->is_rest = true;
	what.thread = take->thread;
	finder->path->perhaps++;
	finder->path->perhaps_ns += end - took;
	path_go_to(finder, node, what, took, end);
	return true;
}

/* The stretch of a wait that lies in what is left; the time before is looked at next. */
static void path_explain(struct finder *finder, const struct fx_why_wait *wait, uint64_t begin,
			 uint64_t end)
{
	struct fx_why_path *path = finder->path;
	struct place *place = &finder->places[finder->depth - 1];
	struct fx_why_what what = fx_why_words_wait(finder->past->timeline, wait);
	uint32_t node;
	uint64_t released = wait->from.at;

	place->to = begin;
	if (path_is_for_child(finder, place, wait)) {
		place->call = what.name;
		place->is_timed = false;
		fx_why_tree_count(&path->tree, place->child_node, begin, end - begin);
		path_go(finder, place->child_node, place->child - 1, begin, end);
		return;
	}
	if (path_is_for_ender(finder, place, wait)) {
		place->call = what.name;
		place->is_timed = true;
		place->timed = what;
		fx_why_tree_count(&path->tree, place->ender_node, begin, end - begin);
		path_go(finder, place->ender_node, place->ender - 1, begin, end);
		return;
	}
	node = fx_why_tree_child(&path->tree, place->node, &what);
	path_note_child(finder, place, wait, node);
	path_note_ender(finder, place, wait, node);
	place->call = what.name;
	place->is_timed = false;
	if (!place->is_rest)
		fx_why_tree_count(&path->tree, node, begin, end - begin);
	place->is_rest = false;
	if (wait->holder == place->thread && wait->from.thread == place->thread) {
		what.kind = FX_WHY_CIRCLE;
		path_had(finder, node, &what, begin, end);
		return;
	}
	if (wait->from.thread == FX_WHY_NOBODY && path_follow_pipe(finder, node, wait, begin, end))
		return;
	if (wait->from.thread == FX_WHY_NOBODY || wait->from.thread == place->thread) {
		path_count_unknown(path, wait, end - begin);
		fx_why_tree_add(&path->tree, node, end - begin);
		return;
	}
	if (released > end)
		released = end;
	if (released < begin)
		released = begin;
	if (path_follow_mutex(finder, node, wait, released, end))
		return;
	what = (struct fx_why_what){.kind = FX_WHY_GOING_ON, .thread = place->thread};
	fx_why_ready_add(finder->ready, &path->tree, node, &what, place->thread, released, end);
	path_go(finder, node, wait->from.thread, begin, released);
}

/* What is left lies before the thread began. */
static void path_leave(struct finder *finder)
{
	struct place place = finder->places[finder->depth - 1];
	const struct fx_why_life *life = &finder->past->lives[place.thread];
	struct fx_why_what what = {.kind = FX_WHY_STARTING, .thread = place.thread};
	uint64_t made = life->maker.at;

	if (life->maker.thread == FX_WHY_NOBODY || life->maker.thread == place.thread) {
		what.kind = FX_WHY_UNKNOWN;
		path_had(finder, place.node, &what, place.from, place.to);
		finder->path->unknown_begin += place.to - place.from;
		finder->depth--;
		return;
	}
	if (made > place.to)
		made = place.to;
	if (made < place.from)
		made = place.from;
	path_had(finder, place.node, &what, made, place.to);
	finder->depth--;
	path_go(finder, place.node, life->maker.thread, place.from, made);
}

/* What is left lies behind `end', where the thread did nothing any more. */
static void path_go_back(struct finder *finder, uint8_t kind, uint64_t end)
{
	struct place *place = &finder->places[finder->depth - 1];
	const struct fx_why_what what = {.kind = kind, .thread = place->thread};

	if (end < place->from)
		end = place->from;
	path_had(finder, place->node, &what, end, place->to);
	place->to = end;
}

/* --- One step --------------------------------------------------------------------------------- */

/* The last wait that begins before what is left ends; NULL: none that lies in it. */
static const struct fx_why_wait *path_last_wait(struct finder *finder, const struct place *place)
{
	const struct fx_why_life *life = &finder->past->lives[place->thread];
	const struct fx_why_wait *waits;
	size_t *left = &finder->waits[place->thread];

	/* An archive without waits has no items at all. */
	if (*left == 0)
		return NULL;
	waits = finder->past->waits.items + life->first;
	while (*left > 0 && waits[*left - 1].begin >= place->to)
		--*left;
	if (*left == 0 || waits[*left - 1].end <= place->from)
		return NULL;
	return &waits[*left - 1];
}

static void path_step(struct finder *finder)
{
	struct place *place = &finder->places[finder->depth - 1];
	const struct fx_why_life *life = &finder->past->lives[place->thread];
	uint64_t begin = life->begin;
	const struct fx_why_wait *wait;

	if (place->from >= place->to) {
		finder->depth--;
		return;
	}
	if (life->over && place->to > life->over) {
		path_go_back(finder, FX_WHY_ENDING, life->over);
		return;
	}
	if (place->to > life->end && life->begin != UINT64_MAX) {
		path_go_back(finder, FX_WHY_UNKNOWN, life->end);
		return;
	}
	if (place->to <= begin) {
		path_leave(finder);
		return;
	}
	wait = path_last_wait(finder, place);
	if (wait && wait->end < place->to) {
		path_did(finder, place, wait->end, place->to);
		place->to = wait->end;
	} else if (wait) {
		path_explain(finder, wait, wait->begin > place->from ? wait->begin : place->from,
			     place->to);
	} else {
		if (begin < place->from)
			begin = place->from;
		path_did(finder, place, begin, place->to);
		place->to = begin;
	}
}

/* What is left when it has become too much: each thread's own, from the innermost on. */
static void path_give_up(struct finder *finder)
{
	finder->path->is_too_long = true;
	while (finder->depth > 0) {
		const struct place *place = &finder->places[--finder->depth];

		if (place->to > place->from)
			fx_why_tree_add(&finder->path->tree, place->node, place->to - place->from);
	}
}

int fx_why_path_find(struct fx_why_path *path, struct fx_why_past *past,
		     const struct fx_why_ready *ready, uint32_t thread, uint64_t from, uint64_t to)
{
	size_t threads = past->timeline->threads.count;
	struct finder *finder = calloc(1, sizeof(*finder));
	int r;

	*path = (struct fx_why_path){0};
	r = fx_why_tree_begin(&path->tree, thread);
	path->first = calloc(threads + 1, sizeof(*path->first));
	if (finder)
		finder->waits = calloc(threads + 1, sizeof(*finder->waits));
	if (r == 0 && path->first && finder && finder->waits) {
		finder->path = path;
		finder->past = past;
		finder->ready = ready;
		for (size_t i = 0; i < threads; i++)
			finder->waits[i] = past->lives[i].count;
		finder->places[finder->depth++] =
		    (struct place){.thread = thread, .node = FX_WHY_ROOT, .from = from, .to = to};
		while (finder->depth > 0 && finder->error == 0 && finder->steps++ < STEPS_MAX)
			path_step(finder);
		if (finder->depth > 0)
			path_give_up(finder);
		r = finder->error;
	} else {
		r = -ENOMEM;
	}
	if (finder)
		free(finder->waits);
	free(finder);
	return r;
}

void fx_why_path_free(struct fx_why_path *path)
{
	fx_why_tree_free(&path->tree);
	fx_vector_free(&path->pieces);
	free(path->first);
}

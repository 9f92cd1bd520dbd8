/* SPDX-License-Identifier: MIT */
#include "where/circles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "where/pipes.h"
#include "where/sockets.h"
#include "where/waits.h"

/* How often threads that have run between two looks are looked at again, and after what time: one that was stopped to have its
 * stack copied takes its call up again. */
#define LOOKS	5
#define LOOK_NS 1000000

static bool waits_at_pipe(const struct fx_where_thread *thread)
{
	return thread->wishes.count > 0;
}

/* --- Pipes and sockets -------------------------------------------------------------------------- */

/* Whether that end is one which could fulfil a wish. */
static bool end_helps(const struct fx_pipe_end *end, const struct fx_wish *wish)
{
	return fx_pipe_is(&end->pipe, &wish->helps) &&
	       (wish->kind == FX_WISH_BYTES ? end->writes : end->reads);
}

/* Whether a process is looked at, and all its threads are `lost`: in the order of where->threads. */
static bool process_is_lost(const struct fx_where *where, const bool *lost, pid_t pid)
{
	bool is_there = false;

	for (size_t i = 0; i < where->threads.count; i++) {
		if (where->threads.items[i].pid != pid)
			continue;
		if (!lost[i])
			return false;
		is_there = true;
	}
	return is_there;
}

/* Whether that end is of what a thread waits at itself, if that is a socket: shutdown() there lets it go on, too. */
static bool end_shuts(const struct fx_pipe_end *end, const struct fx_wish *wish)
{
	return wish->channel.is_socket && fx_pipe_is(&end->pipe, &wish->channel);
}

/* Whether all that could fulfil a wish are known, and are lost. */
static bool wish_is_lost(const struct fx_where *where, const struct fx_pipe_ends *ends,
			 const bool *lost, const struct fx_wish *wish)
{
	bool is_held = false;

	for (size_t i = 0; i < ends->items.count; i++) {
		const struct fx_pipe_end *end = &ends->items.items[i];
		bool helps = end_helps(end, wish);

		if (!helps && !end_shuts(end, wish))
			continue;
		if (!process_is_lost(where, lost, end->pid) ||
		    fx_pipe_ends_hidden_of(ends, end->pid))
			return false;
		is_held |= helps;
	}
	return is_held;
}

/* Whether all that could help a thread are lost. */
static bool thread_is_lost(const struct fx_where *where, const struct fx_pipe_ends *ends,
			   const bool *lost, const struct fx_where_thread *thread)
{
	const struct fx_where_thread *holder = fx_where_thread_of(where, thread->holder);

	if (!waits_at_pipe(thread))
		return holder && lost[holder - where->threads.items];
	for (size_t i = 0; i < thread->wishes.count; i++) {
		if (!wish_is_lost(where, ends, lost, &thread->wishes.items[i]))
			return false;
	}
	/* Other threads could add something to an epoll's set. */
	if (thread->wait == FX_WAITS_ANY && !process_is_lost(where, lost, thread->pid))
		return false;
	return !fx_pipe_ends_hidden_of(ends, thread->pid);
}

static bool end_helps_thread(const struct fx_pipe_end *end, const struct fx_where_thread *thread)
{
	for (size_t i = 0; i < thread->wishes.count; i++) {
		if (end_helps(end, &thread->wishes.items[i]))
			return true;
	}
	return false;
}

/* One of those that could help: of another process, if there is one. */
static pid_t pipe_holder(const struct fx_where *where, const struct fx_pipe_ends *ends,
			 const struct fx_where_thread *thread)
{
	pid_t holder = 0;

	for (size_t i = 0; i < ends->items.count; i++) {
		const struct fx_pipe_end *end = &ends->items.items[i];

		if (!end_helps_thread(end, thread))
			continue;
		for (size_t j = 0; j < where->threads.count; j++) {
			const struct fx_where_thread *other = &where->threads.items[j];

			if (other->pid == end->pid && (!holder || other->pid != thread->pid))
				holder = other->tid;
		}
	}
	return holder;
}

/* Starts with all that may be lost, and takes out those that somebody can help, until there are no more such. */
static void pipes_find_lost(struct fx_where *where, const struct fx_pipe_ends *ends, bool *lost)
{
	bool changed = true;

	for (size_t i = 0; i < where->threads.count; i++) {
		const struct fx_where_thread *thread = &where->threads.items[i];

		lost[i] = thread->holder || (waits_at_pipe(thread) && !thread->may_go_on);
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < where->threads.count; i++) {
			if (!lost[i] || thread_is_lost(where, ends, lost, &where->threads.items[i]))
				continue;
			lost[i] = false;
			changed = true;
		}
	}
}

/* The process that has the other ends; 0: several have, or nobody is known to. */
static pid_t pipe_other(const struct fx_pipe_ends *ends, const struct fx_where_thread *thread)
{
	pid_t other = 0;

	for (size_t i = 0; i < ends->items.count; i++) {
		const struct fx_pipe_end *end = &ends->items.items[i];

		if (!end_helps_thread(end, thread) || end->pid == other)
			continue;
		if (other)
			return 0;
		other = end->pid;
	}
	return other;
}

/* Who could fulfil it: whoever has the pipe, or the socket at the other end. */
static void wish_find_helps(struct fx_sockets *sockets, const struct fx_where_thread *thread,
			    struct fx_wish *wish)
{
	uint64_t inode = wish->channel.inode;

	wish->helps = wish->channel;
	if (!wish->channel.is_socket)
		return;
	if (wish->kind == FX_WISH_ACCEPTED)
		wish->helps.inode = fx_sockets_acceptor(sockets, thread->pid, inode,
							thread->args[1], thread->args[2]);
	else if (wish->kind == FX_WISH_CALLER)
		wish->helps.inode = 0; /* anybody */
	else
		wish->helps.inode = fx_sockets_peer(sockets, thread->pid, inode);
}

static void wishes_find_helps(struct fx_where *where)
{
	struct fx_sockets sockets;

	fx_sockets_init(&sockets);
	for (size_t i = 0; i < where->threads.count; i++) {
		struct fx_where_thread *thread = &where->threads.items[i];

		for (size_t j = 0; j < thread->wishes.count; j++)
			wish_find_helps(&sockets, thread, &thread->wishes.items[j]);
	}
	fx_sockets_free(&sockets);
}

/* Gives those that wait at pipes and sockets a holder, where all that could help them wait as well. 0 or -errno. */
static int circles_follow_pipes(struct fx_where *where)
{
	struct fx_pipe_ends ends;
	bool *lost, is_needed = false;
	int r;

	for (size_t i = 0; i < where->threads.count; i++)
		is_needed |= waits_at_pipe(&where->threads.items[i]);
	if (!is_needed)
		return 0;
	wishes_find_helps(where);
	r = fx_pipe_ends_find(&ends);
	lost = calloc(where->threads.count, sizeof(*lost));
	if (!lost)
		r = -ENOMEM;
	if (r == 0)
		pipes_find_lost(where, &ends, lost);
	for (size_t i = 0; r == 0 && i < where->threads.count; i++) {
		struct fx_where_thread *thread = &where->threads.items[i];

		if (!waits_at_pipe(thread))
			continue;
		thread->other = pipe_other(&ends, thread);
		if (lost[i])
			thread->holder = pipe_holder(where, &ends, thread);
	}
	free(lost);
	fx_pipe_ends_free(&ends);
	return r;
}

/* --- Circles ------------------------------------------------------------------------------------ */

/* Whether it waits as it did, for the same. */
static bool waits_still(const struct fx_where_thread *thread)
{
	struct fx_where_thread now = *thread;

	if (!fx_where_is_in_call(thread))
		return false;
	if (waits_at_pipe(thread))
		return true;
	fx_where_find_wait(&now);
	return now.holder == thread->holder && now.address == thread->address;
}

/*
 * Looks at all of a circle; `again`: no thread may have run since the look before. The switches are read first then and last now,
 * for one that goes on is counted only when it stops:
 *
 *	first look	switches, call, holder
 *	again				call, holder, switches
 *	the thread		|---- waits: the same switches ----|
 */
static bool circle_look(const struct fx_where *where, struct fx_where_thread *start, bool again)
{
	struct fx_where_thread *at = start;
	uint64_t switches;

	do {
		if (!again && !fx_where_switches(at, &at->switches))
			return false;
		if (!waits_still(at))
			return false;
		if (again && (!fx_where_switches(at, &switches) || switches != at->switches))
			return false;
		at = fx_where_thread_of(where, at->holder);
	} while (at != start);
	return true;
}

static bool circle_holds(const struct fx_where *where, struct fx_where_thread *start)
{
	const struct timespec nap = {.tv_nsec = LOOK_NS};

	for (int i = 0; i < LOOKS; i++) {
		if (circle_look(where, start, false) && circle_look(where, start, true))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

/* Each waits for one at most: a way of more steps than there are threads goes round. */
static bool goes_round(const struct fx_where *where, const struct fx_where_thread *start)
{
	const struct fx_where_thread *at = start;

	for (size_t steps = 0; at && steps <= where->threads.count; steps++) {
		at = fx_where_thread_of(where, at->holder);
		if (at == start)
			return true;
	}
	return false;
}

int fx_where_find_circles(struct fx_where *where)
{
	int r = circles_follow_pipes(where);

	if (r < 0)
		return r;
	for (size_t i = 0; i < where->threads.count; i++) {
		struct fx_where_thread *start = &where->threads.items[i], *at = start;

		if (start->circle || !goes_round(where, start) || !circle_holds(where, start))
			continue;
		where->circles++;
		do {
			at->circle = where->circles;
			at = fx_where_thread_of(where, at->holder);
		} while (at != start);
	}
	return 0;
}

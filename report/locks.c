/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/locks.h"
#include "report/report.h"
#include "report/show.h"

enum { HOLDERS_SHOWN = 3 };

void fx_locks_begin(struct fx_locks *locks, struct fx_report *report, size_t limit)
{
	*locks = (struct fx_locks){.report = report};
	locks->holders.keys.limit = limit;
	locks->places.keys.limit = limit;
	locks->taken.keys.limit = limit;
}

void fx_locks_free(struct fx_locks *locks)
{
	fx_shares_free(&locks->holders);
	fx_shares_free(&locks->places);
	fx_shares_free(&locks->taken);
	fx_convoys_free(&locks->convoys);
	fx_holds_free(&locks->holds);
	free(locks->all_holders);
	free(locks->all_places);
	free(locks->all_taken);
	free(locks->most);
}

/* --- What is seen ----------------------------------------------------------------------------- */

/* The calls that led to it, or the function that it was made in: the number of a text, 0 if neither is known. */
static uint32_t locks_place(struct fx_locks *locks, const struct fx_event *event)
{
	const struct fxt_string *place = fx_event_string(event, "stack");

	locks->has_stacks |= place != NULL;
	if (!place)
		place = fx_event_string(event, "at_name");
	return place ? fx_report_intern_some(locks->report, place->data, place->length) : 0;
}

/* Where the one that is waited for had taken the lock: the number of a text, 0 if it is not known. */
static uint32_t locks_taken(struct fx_locks *locks, const struct fx_event *event)
{
	const struct fxt_string *name = fx_event_string(event, "taken_name");
	char text[32];
	int64_t at;

	if (name)
		return fx_report_intern_some(locks->report, name->data, name->length);
	if (!fx_event_integer(event, "taken", &at))
		return 0;
	snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)at);
	return fx_report_intern_some(locks->report, text, strlen(text));
}

void fx_locks_enter(struct fx_locks *locks, const struct fx_open_call *call,
		    const struct fx_event *event)
{
	if (fx_holds_enter(&locks->holds, locks->report, call, event, locks_place(locks, event)) <
	    0)
		fx_report_fail(locks->report, -ENOMEM);
}

void fx_locks_add(struct fx_locks *locks, size_t lock, const struct fx_open_call *call,
		  const struct fx_event *event)
{
	uint32_t place = locks_place(locks, event), taken = locks_taken(locks, event);
	uint64_t time = call->end - call->ts;
	int64_t holder;
	int r = fx_convoys_add(&locks->convoys, lock, call->ts, call->end);

	if (r == 0 && fx_event_integer(event, "holder", &holder))
		r = fx_shares_add(&locks->holders, lock, (uint32_t)holder, time);
	if (r == 0 && place)
		r = fx_shares_add(&locks->places, lock, place, time);
	if (r == 0 && taken)
		r = fx_shares_add(&locks->taken, lock, taken, time);
	if (r < 0)
		fx_report_fail(locks->report, r);
}

/* --- The table -------------------------------------------------------------------------------- */

static const struct fx_column locks_columns[] = {
    [FX_LOCK_TOTAL] = {"total_ns", "total", FX_UNIT_NS},
    [FX_LOCK_COUNT] = {"waits", "waits", FX_UNIT_COUNT},
    [FX_LOCK_LONGEST] = {"longest_ns", "longest", FX_UNIT_NS},
    [FX_LOCK_AT] = {"longest_at_ns", "at", FX_UNIT_MOMENT},
    [FX_LOCK_LONGEST_THREAD] = {"longest_thread", "of", FX_UNIT_TEXT},
    [FX_LOCK_CONVOY] = {"convoy", "at once", FX_UNIT_COUNT},
    [FX_LOCK_PID] = {"pid", "pid", FX_UNIT_NUMBER},
    [FX_LOCK_OBJECT] = {"lock", "lock", FX_UNIT_TEXT},
    [FX_LOCK_HOLDERS] = {"holders", "held by", FX_UNIT_TEXT},
    [FX_LOCK_PLACE] = {"place", "waited at", FX_UNIT_TEXT},
    /* The rest where it is known. */
    [FX_LOCK_TAKEN] = {"taken_at", "taken at", FX_UNIT_TEXT},
    [FX_LOCK_HELD] = {"held_ns", "held", FX_UNIT_NS},
};

static bool locks_know_taken(const struct fx_locks *locks)
{
	return locks->taken.times.count > 0;
}

struct fx_table *fx_locks_table(struct fx_locks *locks, size_t count)
{
	size_t last = locks_know_taken(locks) ? FX_LOCK_TAKEN : FX_LOCK_PLACE;

	if (fx_holds_finish(&locks->holds, locks->report) < 0)
		return NULL;
	if (fx_holds_any(&locks->holds))
		last = FX_LOCK_HELD;
	locks->next_holder = locks->all_holders = fx_shares_sorted(&locks->holders);
	locks->next_place = locks->all_places = fx_shares_sorted(&locks->places);
	locks->next_taken = locks->all_taken = fx_shares_sorted(&locks->taken);
	locks->most = calloc(count + 1, sizeof(*locks->most));
	if (!locks->all_holders || !locks->all_places || !locks->all_taken || !locks->most ||
	    fx_convoys_count(&locks->convoys, locks->most, count) < 0)
		return NULL;
	return fx_table_new("locks", "Locks that were waited for", locks_columns, last + 1);
}

/* "writer 75 %, main 20 %, …": shares of the time that it was waited for. */
static void locks_set_holders(struct fx_locks *locks, struct fx_table *table, size_t lock,
			      uint32_t process, uint64_t total)
{
	const struct fx_timeline *timeline = fx_report_timeline(locks->report);
	size_t count = fx_shares_of(&locks->next_holder, lock), put = 0;
	char text[HOLDERS_SHOWN * (FX_SHOW_MAX + 32)], name[FX_SHOW_MAX];
	uint64_t pid = timeline->processes.items[process]->pid, tid;
	const struct fx_share *held = locks->next_holder;
	struct fx_thread *thread;

	for (size_t i = 0; i < count && i < HOLDERS_SHOWN; i++) {
		tid = held[i].sharer;
		thread = fx_timeline_find_thread(timeline, pid, tid);
		if (thread)
			fx_show_thread(thread, name);
		put += (size_t)snprintf(
		    text + put, sizeof(text) - put, "%s%s (tid %" PRIu64 ") %.0f %%",
		    i > 0 ? ", " : "", thread ? name : "thread", tid,
		    total > 0 ? 100.0 * (double)held[i].time / (double)total : 100.0);
	}
	if (count > HOLDERS_SHOWN)
		snprintf(text + put, sizeof(text) - put, ", …");
	if (count > 0)
		fx_table_string(table, FX_LOCK_HOLDERS, text);
}

/* How long it was held, and where it had been taken then; or else where by the threads that were waited for. */
static void locks_set_held(struct fx_locks *locks, struct fx_table *table, size_t lock,
			   struct fx_key key)
{
	const struct fx_held *held = fx_holds_of(&locks->holds, key.address, key.numbers[0]);
	uint32_t taken = fx_shares_of(&locks->next_taken, lock) > 0 ? locks->next_taken->sharer : 0;

	if (held)
		fx_table_number(table, FX_LOCK_HELD, (int64_t)held->time);
	if (held && held->place)
		taken = held->place;
	if (taken)
		fx_show_stack(locks->report, taken, table, FX_LOCK_TAKEN);
}

void fx_locks_tell(struct fx_locks *locks, struct fx_table *table, size_t lock, struct fx_key key,
		   uint64_t total)
{
	fx_table_number(table, FX_LOCK_CONVOY, locks->most[lock]);
	locks_set_holders(locks, table, lock, key.numbers[0], total);
	if (fx_shares_of(&locks->next_place, lock) > 0 && locks->next_place->sharer)
		fx_show_stack(locks->report, locks->next_place->sharer, table, FX_LOCK_PLACE);
	locks_set_held(locks, table, lock, key);
}

void fx_locks_note(const struct fx_locks *locks, struct fx_table *table)
{
	bool is_held_known = fx_holds_any(&locks->holds);

	if (fx_table_row_count(table) == 0)
		return;
	fx_table_note(table,
		      "held by: who held it as the wait began, with the share of the time; "
		      "at once: the most threads that waited at one time%s",
		      locks->convoys.is_cut ? ", or more: there were too many waits to count all"
					    : "");
	if (locks->holders.times.count == 0)
		fx_table_note(
		    table,
		    "who held them is not known: spin locks, what is run once, and calls that have "
		    "not ended, do not say");
	if (is_held_known)
		fx_table_note(table, "held: how long, by all threads; taken at: where it was taken "
				     "that this was longest, or else where those had taken it who "
				     "were waited for longest");
	else if (locks_know_taken(locks))
		fx_table_note(table,
			      "taken at: where those had taken it who were waited for longest");
	if (!locks->has_stacks)
		fx_table_note(table,
			      "with --stacks pthread, fxtrace run records the calls that led "
			      "to where they were waited for");
	if (!is_held_known)
		fx_table_note(table,
			      "with -c '#default,pthread:all', it also records how long they were "
			      "held%s",
			      locks_know_taken(locks) ? "" : ", and where they had been taken");
	if (locks->holders.keys.beyond + locks->places.keys.beyond + locks->taken.keys.beyond > 0)
		fx_table_note(table, "there were more holders and places than are kept");
}

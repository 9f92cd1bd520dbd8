/* SPDX-License-Identifier: MIT */
/* The history of objects: --lock, --fd, --file, --peer. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "report/history-fds.h"
#include "report/history-files.h"
#include "report/history-locks.h"
#include "report/history-objects.h"
#include "report/history-state.h"
#include "report/history-tables.h"
#include "report/report.h"

enum { OBJECTS_MAX = 200000, OPENED_MAX = 1 << 16 };

static void *history_create(struct fx_report *report)
{
	const struct fx_report_order *order = fx_report_order(report);
	struct fx_history *history = calloc(1, sizeof(*history));
	const struct fx_wanted *wanted = order->objects.items;
	size_t count = order->objects.count;

	if (!history)
		return NULL;
	history->report = report;
	history->wanted = wanted;
	history->wanted_count = count;
	history->lowest = UINT64_MAX;
	history->wants_locks = fx_wanted_any(wanted, count, FX_WANTED_LOCK);
	history->wants_fds = fx_wanted_any(wanted, count, FX_WANTED_FD);
	history->wants_files = fx_wanted_any(wanted, count, FX_WANTED_FILE);
	history->wants_peers = fx_wanted_any(wanted, count, FX_WANTED_PEER);
	history->keys.limit = OBJECTS_MAX;
	history->open_keys.limit = OPENED_MAX;
	fx_uses_init(&history->uses, fx_report_pool(report));
	return history;
}

static void history_destroy(void *section)
{
	struct fx_history *history = section;

	fx_waiting_free(&history->waiting);
	fx_deeds_free(&history->deeds);
	fx_keys_free(&history->keys);
	fx_vector_free(&history->objects);
	fx_vector_free(&history->verdicts[FX_HISTORY_AS_PATH]);
	fx_vector_free(&history->verdicts[FX_HISTORY_AS_PEER]);
	fx_keys_free(&history->open_keys);
	fx_vector_free(&history->opened);
	fx_vector_free(&history->recent);
	fx_uses_free(&history->uses);
	free(history);
}

/* --- What is seen ----------------------------------------------------------------------------- */

enum {
	KINDS =
	    FX_KIND(PTHREAD) | FX_KIND(SYSCALL) | FX_KIND(STDIO) | FX_KIND(PROCESS) | FX_KIND(DL)
};

static void history_enter(void *section, const struct fx_open_call *call,
			  const struct fx_event *event)
{
	struct fx_history *history = section;

	if (!(KINDS >> call->kind & 1))
		return;
	fx_history_see_thread(history, call->thread);
	if (call->kind == FX_CALL_PTHREAD) {
		if (history->wants_locks)
			fx_history_see_locks(history, call, event);
		return;
	}
	if (history->wants_locks && call->kind == FX_CALL_SYSCALL) {
		if (fxt_string_equals(event->name, "sem_open"))
			fx_history_see_name(history, call, event);
		else
			fx_history_see_file_lock(history, call, event);
	}
	if (history->wants_fds)
		fx_history_see_fds(history, call, event);
	if (history->wants_files || history->wants_peers)
		fx_history_see_files(history, call, event);
}

static void history_instant(void *section, const struct fx_event *event)
{
	fx_history_see_release(section, event, FX_USE_SHOWN);
}

static void history_hidden_instant(void *section, const struct fx_event *event)
{
	fx_history_see_release(section, event, 0);
}

/* It may end in the call itself, or in a moment of it. */
static void history_arrow_ends(struct fx_history *history, const struct fx_event *event,
			       uint64_t chain)
{
	uint64_t ts = event->ts + (event->end > event->ts);

	for (size_t i = 0; i < history->recent.count; i++) {
		const struct fx_history_recent *recent = &history->recent.items[i];

		if (recent->begin < ts && ts <= recent->end &&
		    fx_uses_arrow_ends(&history->uses, chain, recent->at, recent->number) < 0)
			fx_report_fail(history->report, -ENOMEM);
	}
}

static void history_link(void *section, const struct fx_event *event)
{
	struct fx_history *history = section;

	for (size_t i = 0; i < event->link_count; i++) {
		uint64_t chain = event->links[i].chain;

		if (event->links[i].role != FX_FLOW_FIRST) {
			if (history->thread == event->thread)
				history_arrow_ends(history, event, chain);
		} else if (fx_uses_arrow_begins(&history->uses, chain, event->thread->number) < 0) {
			fx_report_fail(history->report, -ENOMEM);
		}
	}
}

static void history_tables(void *section)
{
	struct fx_history *history = section;

	for (size_t i = 0; i < history->opened.count; i++)
		fx_history_settle(history, &history->opened.items[i], NULL);
	fx_history_tell(history);
}

const struct fx_section fx_section_history = {
    .kinds = KINDS,
    .create = history_create,
    .enter = history_enter,
    .instant = history_instant,
    .hidden_enter = history_enter,
    .hidden_instant = history_hidden_instant,
    .link = history_link,
    .tables = history_tables,
    .destroy = history_destroy,
};

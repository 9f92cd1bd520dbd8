/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>

#include "report/history-missing.h"
#include "report/report.h"
#include "report/show.h"

/* How far a lock is from what is wanted: by its address, or by its name. */
static uint64_t tell_distance(const struct fx_history *history, const struct fx_wanted *wanted,
			      const struct fx_history_object *object)
{
	if (wanted->pattern)
		return UINT64_MAX -
		       fx_wanted_alike(wanted, fx_report_text(history->report, object->text)->data);
	return object->number > wanted->number ? object->number - wanted->number
					       : wanted->number - object->number;
}

/* The lock that comes nearest. NULL: there is none. */
static const struct fx_history_object *tell_nearest(const struct fx_history *history,
						    const struct fx_wanted *wanted)
{
	const struct fx_history_object *found = NULL;

	for (size_t i = 0; i < history->objects.count; i++) {
		const struct fx_history_object *object = &history->objects.items[i];

		if (object->kind != FX_WANTED_LOCK ||
		    !(wanted->pattern ? object->text : object->number))
			continue;
		if (!found ||
		    tell_distance(history, wanted, object) < tell_distance(history, wanted, found))
			found = object;
	}
	return found;
}

static void tell_no_lock(const struct fx_history *history, const struct fx_wanted *wanted)
{
	const struct fx_history_object *object = tell_nearest(history, wanted);
	struct fx_object lock;
	char text[FX_SHOW_MAX];

	if (!object) {
		fx_report_miss(history->report,
			       "--lock %s: no call has used such a lock; fxtrace report --waits "
			       "shows what was waited for",
			       wanted->text);
		return;
	}
	lock = (struct fx_object){object->number, object->what, object->text};
	fx_show_object_text(history->report, &lock, text);
	fx_report_miss(history->report,
		       "--lock %s: no call has used it; there is %s, and fxtrace report --waits "
		       "shows all that were waited for",
		       wanted->text, text);
}

static void tell_no_fd(const struct fx_history *history, const struct fx_wanted *wanted)
{
	if (history->lowest > history->highest)
		fx_report_miss(history->report, "--fd %s: no call has used a descriptor",
			       wanted->text);
	else
		fx_report_miss(history->report,
			       "--fd %s: no call has used it; those that were used are between "
			       "%" PRIu64 " and %" PRIu64 "%s",
			       wanted->text, history->lowest, history->highest,
			       wanted->pid ? ", and fxtrace report --processes shows ids" : "");
}

static void tell_no_name(const struct fx_history *history, size_t number)
{
	const struct fx_wanted *wanted = &history->wanted[number];
	const char *option = wanted->kind == FX_WANTED_FILE ? "file" : "peer";
	uint32_t near = history->near[number].text;

	if (near)
		fx_report_miss(history->report,
			       "--%s %s: no call has used it; there is %s, and fxtrace report "
			       "--files shows all",
			       option, wanted->text, fx_report_text(history->report, near)->data);
	else
		fx_report_miss(history->report,
			       "--%s %s: no call has used it; fxtrace report --files shows all",
			       option, wanted->text);
}

void fx_history_tell_missing(const struct fx_history *history)
{
	for (size_t i = 0; i < history->wanted_count; i++) {
		if (history->is_found[i])
			continue;
		if (history->wanted[i].kind == FX_WANTED_LOCK)
			tell_no_lock(history, &history->wanted[i]);
		else if (history->wanted[i].kind == FX_WANTED_FD)
			tell_no_fd(history, &history->wanted[i]);
		else
			tell_no_name(history, i);
	}
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>

#include "report/history-files.h"
#include "report/history-objects.h"
#include "report/report.h"
#include "report/show.h"

/* The file of a descriptor that was opened is known once it is used; else it is what its path says. */
void fx_history_settle(struct fx_history *history, struct fx_history_opened *opened,
		       const struct fx_history_object *object)
{
	struct fx_use use = opened->use;

	if (!opened->is_set)
		return;
	opened->is_set = false;
	if (!object && opened->path)
		object = fx_history_named(history, opened->path, FX_HISTORY_AS_PATH);
	if (object)
		fx_history_keep(history, object, &use);
}

/* By its descriptor, or by its stream. NULL: none is kept. */
static struct fx_history_opened *history_opened(struct fx_history *history,
						const struct fx_open_call *call, int64_t descriptor)
{
	struct fx_key key = {.address = (uint64_t)descriptor,
			     .numbers = {call->thread->number, call->kind == FX_CALL_STDIO}};
	size_t number;

	if (fx_vector_reserve(&history->opened, 1) < 0) {
		fx_report_fail(history->report, -ENOMEM);
		return NULL;
	}
	number = fx_keys_number(&history->open_keys, key);
	if (number == FX_KEY_NONE)
		return NULL;
	if (number == history->opened.count)
		history->opened.items[history->opened.count++] =
		    (struct fx_history_opened){.is_set = false};
	return &history->opened.items[number];
}

/* Opened, and not used yet. */
static void history_see_open(struct fx_history *history, const struct fx_open_call *call,
			     const struct fx_event *event, struct fx_use use)
{
	struct fx_history_opened now = {.use = fx_history_opening(&use), .is_set = true};
	struct fx_history_opened *opened = NULL;
	int64_t descriptor;

	now.path = history->wants_files ? fx_show_path(history->report, event) : 0;
	if (fx_event_arg(event, "errno")) {
		now.use.flags &= ~FX_USE_OPENS;
	} else if (fx_event_integer(event, "ret", &descriptor)) {
		opened = history_opened(history, call, descriptor);
		if (opened)
			fx_history_settle(history, opened, NULL);
	}
	if (opened)
		*opened = now;
	else
		fx_history_settle(history, &now, NULL);
}

/* A call that was given a path, or two. */
static void history_see_paths(struct fx_history *history, const struct fx_event *event,
			      const struct fx_use *of)
{
	uint32_t paths[2] = {fx_show_path(history->report, event),
			     fx_history_intern(history, fx_event_string(event, "to"))};

	for (size_t i = 0; i < 2; i++) {
		const struct fx_history_object *object =
		    paths[i] ? fx_history_named(history, paths[i], FX_HISTORY_AS_PATH) : NULL;
		struct fx_use use = *of;

		if (object)
			fx_history_keep(history, object, &use);
	}
}

/* A descriptor of a call says what it is. */
static void history_see_file(struct fx_history *history, const struct fx_open_call *call,
			     const struct fx_event *event, const struct fx_use *of,
			     const char *file, const char *fd, enum fx_bytes_way way)
{
	uint32_t text = fx_history_intern(history, fx_event_string(event, file));
	const struct fx_history_object *object = text ? fx_history_of_text(history, text) : NULL;
	struct fx_history_opened *opened = NULL;
	struct fx_use use = *of;
	int64_t descriptor;

	if (text &&
	    fx_event_integer(event, call->kind == FX_CALL_STDIO ? "stream" : fd, &descriptor))
		opened = history_opened(history, call, descriptor);
	if (opened && object)
		fx_history_settle(history, opened, object);
	if (opened)
		opened->is_set = false;
	if (!object)
		return;
	if (use.deed == FX_DEED_CLOSE)
		use.flags |= FX_USE_CLOSES;
	history->streams += call->kind == FX_CALL_STDIO && object->is_wanted;
	fx_history_add_bytes(&use, way, event);
	use.text = text;
	fx_history_keep(history, object, &use);
}

void fx_history_see_files(struct fx_history *history, const struct fx_open_call *call,
			  const struct fx_event *event)
{
	struct fx_use use = fx_history_use_of(history, call, event);

	history_see_file(history, call, event, &use, "file", "fd",
			 fx_bytes_of_name(event->name->data));
	history_see_file(history, call, event, &use, "file_2", "", FX_BYTES_NONE);
	history_see_file(history, call, event, &use, "file_3", "", FX_BYTES_NONE);
	history_see_file(history, call, event, &use, "file_4", "", FX_BYTES_NONE);
	history_see_file(history, call, event, &use, "in_file", "in_fd", FX_BYTES_READ);
	history_see_file(history, call, event, &use, "out_file", "out_fd", FX_BYTES_WRITTEN);
	if (use.deed == FX_DEED_OPEN)
		history_see_open(history, call, event, use);
	else if (history->wants_files)
		history_see_paths(history, event, &use);
}

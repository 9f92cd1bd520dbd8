/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>

#include "report/history-locks.h"
#include "report/history-objects.h"
#include "report/report.h"
#include "report/show.h"

static bool history_is_lock(const struct fxt_arg *arg)
{
	static const char *const names[] = {"mutex", "rwlock", "spin",	  "cond",
					    "sem",   "once",   "barrier", "lock"};

	if (arg->type != FXT_ARG_POINTER || arg->uint64 == 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (fxt_string_equals(&arg->name, names[i]))
			return true;
	}
	return false;
}

/* The name of what an argument has the address of: "accounts" of "mutex_name"; 0: it has none. */
static uint32_t history_name_of(struct fx_history *history, const struct fx_event *event,
				const struct fxt_arg *arg)
{
	const struct fxt_string *name;
	char text[32];

	snprintf(text, sizeof(text), "%.*s_name", (int)arg->name.length, arg->name.data);
	name = fx_event_string(event, text);
	return name ? fx_report_intern_some(history->report, name->data, name->length) : 0;
}

/* NULL: there is no room. */
static struct fx_history_object *history_lock(struct fx_history *history,
					      const struct fx_process *process, uint64_t address,
					      uint32_t what, uint32_t name)
{
	struct fx_history_object first = {
	    .kind = FX_WANTED_LOCK, .process = process->number, .number = address, .what = what};
	struct fx_key key = {.address = address, .numbers = {1 + process->number, FX_WANTED_LOCK}};
	struct fx_history_object *object = fx_history_object_get(history, key, &first);

	if (!object)
		return NULL;
	if (name)
		object->text = name;
	for (size_t i = 0; i < history->wanted_count; i++) {
		if (fx_wanted_lock(&history->wanted[i], process->pid, address,
				   fx_history_text(history, object->what),
				   object->text ? fx_history_text(history, object->text) : NULL))
			history->is_found[i] = object->is_wanted = true;
	}
	return object;
}

/* What the use of a lock is beside a call; a wait for a condition takes its mutex, and does not wait for it. */
static void history_add_lock(struct fx_history *history, const struct fx_event *event,
			     const struct fx_thread *thread, const struct fx_use *of,
			     const struct fxt_arg *arg, bool has_taken)
{
	struct fx_history_object *object =
	    history_lock(history, thread->process, arg->uint64, arg->name.serial,
			 history_name_of(history, event, arg));
	bool is_mutex_of_wait = of->deed == FX_DEED_WAIT && fxt_string_equals(&arg->name, "mutex");
	struct fx_use use = *of;
	uint32_t number;

	if (!object || !object->is_wanted)
		return;
	number = 1 + (uint32_t)(object - history->objects.items);
	/* The moment in which a lock was let go, and the call that did so. */
	if (history->let_go == number && history->let_go_name == event->name->serial &&
	    !(use.flags & FX_USE_INSTANT)) {
		history->let_go = 0;
		return;
	}
	history->let_go = use.flags & FX_USE_INSTANT ? number : 0;
	history->let_go_name = event->name->serial;
	if (is_mutex_of_wait)
		use.wait = FX_WAIT_NONE;
	else if (use.deed == FX_DEED_WAIT)
		use.deed = FX_DEED_NONE;
	if (fx_event_arg(event, "at") || fx_event_arg(event, "holder"))
		use.flags |= FX_USE_WAITED;
	if (use.deed == FX_DEED_WAIT || (use.deed == FX_DEED_TAKE && has_taken))
		use.flags |= FX_USE_TAKES;
	if (!is_mutex_of_wait)
		use.holder = fx_history_holder(history, thread, event);
	fx_history_keep(history, object, &use);
}

void fx_history_see_locks(struct fx_history *history, const struct fx_open_call *call,
			  const struct fx_event *event)
{
	struct fx_use use = fx_history_use_of(history, call, event);
	bool has_taken = fx_deeds_has_taken(event, call->is_unfinished);

	history->has_releases |= use.deed == FX_DEED_RELEASE;
	for (uint32_t i = 0; i < event->nargs; i++) {
		if (history_is_lock(&event->args[i]))
			history_add_lock(history, event, call->thread, &use, &event->args[i],
					 has_taken);
	}
}

/* A named semaphore: its calls tell its address alone. */
void fx_history_see_name(struct fx_history *history, const struct fx_open_call *call,
			 const struct fx_event *event)
{
	const struct fxt_string *name = fx_event_string(event, "name");
	const struct fxt_arg *ret = fx_event_arg(event, "ret");
	struct fx_history_object *object;
	struct fx_use use;

	if (!name || !ret || ret->type != FXT_ARG_POINTER || ret->uint64 == 0)
		return;
	object = history_lock(history, call->thread->process, ret->uint64,
			      fx_report_intern_some(history->report, "sem", 3),
			      fx_report_intern_some(history->report, name->data, name->length));
	if (!object || !object->is_wanted)
		return;
	use = fx_history_use_of(history, call, event);
	use.flags |= FX_USE_OPENS;
	fx_history_keep(history, object, &use);
}

/* Locks of files: flock() and lockf(). They have no address, but the file's name. */
void fx_history_see_file_lock(struct fx_history *history, const struct fx_open_call *call,
			      const struct fx_event *event)
{
	const struct fxt_string *file = fx_event_string(event, "file");
	struct fx_history_object first = {.kind = FX_WANTED_LOCK, .process = FX_HISTORY_NO_PROCESS};
	struct fx_use use = fx_history_use_of(history, call, event);
	struct fx_history_object *object;
	struct fx_key key;

	if (use.wait != FX_WAIT_LOCK || !file)
		return;
	first.text = fx_report_intern_some(history->report, file->data, file->length);
	first.what = fx_report_intern_some(history->report, "lock of", 7);
	if (!first.text)
		return;
	for (size_t i = 0; i < history->wanted_count; i++) {
		if (fx_wanted_lock(&history->wanted[i], 0, 0, "lock of",
				   fx_history_text(history, first.text)))
			history->is_found[i] = first.is_wanted = true;
	}
	key = (struct fx_key){.numbers = {0, FX_WANTED_LOCK, first.text}};
	object = fx_history_object_get(history, key, &first);
	if (object && object->is_wanted)
		fx_history_keep(history, object, &use);
}

/* Whether it is a moment of a call of its name, which is recorded. */
static bool history_is_inside(const struct fx_history *history, const struct fx_event *event)
{
	const struct fx_open_call *stack;
	size_t count;

	stack = fx_report_stack(history->report, &count);
	return count > 0 && stack[count - 1].name == event->name->serial;
}

/* The moment in which a lock was let go for somebody who waits. */
void fx_history_see_release(struct fx_history *history, const struct fx_event *event,
			    uint16_t flags)
{
	struct fx_use use = {
	    .begin = event->ts,
	    .end = event->ts,
	    .word = event->word,
	    .provider = event->provider,
	    .thread = event->thread->number,
	    .flags = FX_USE_INSTANT | flags,
	};

	if (!history->wants_locks || fx_call_kind_of(event->category->data) != FX_CALL_PTHREAD ||
	    history_is_inside(history, event))
		return;
	fx_history_see_thread(history, event->thread);
	use.deed = (uint8_t)fx_deeds_of(&history->deeds, fx_report_texts(history->report),
					event->name->serial);
	for (uint32_t i = 0; i < event->nargs; i++) {
		if (history_is_lock(&event->args[i]))
			history_add_lock(history, event, event->thread, &use, &event->args[i],
					 false);
	}
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "report/history-objects.h"
#include "report/report.h"
#include "report/show.h"

enum { UNKNOWN, NOT_WANTED, WANTED };

/* NULL: there is no room. */
struct fx_history_object *fx_history_object_get(struct fx_history *history, struct fx_key key,
						const struct fx_history_object *first)
{
	size_t number;

	if (fx_vector_reserve(&history->objects, 1) < 0) {
		fx_report_fail(history->report, -ENOMEM);
		return NULL;
	}
	number = fx_keys_number(&history->keys, key);
	if (number == FX_KEY_NONE)
		return NULL;
	if (number == history->objects.count)
		history->objects.items[history->objects.count++] = *first;
	return &history->objects.items[number];
}

const char *fx_history_text(const struct fx_history *history, uint32_t text)
{
	return text ? fx_report_text(history->report, text)->data : "";
}

static bool history_is_peer(const char *text)
{
	return text[0] != '/';
}

static bool history_compare(struct fx_history *history, uint32_t text, enum fx_history_way as)
{
	enum fx_wanted_kind kind = as == FX_HISTORY_AS_PATH ? FX_WANTED_FILE : FX_WANTED_PEER;
	const char *name = fx_history_text(history, text);
	bool is_wanted = false;

	for (size_t i = 0; i < history->wanted_count; i++) {
		const struct fx_wanted *wanted = &history->wanted[i];
		size_t alike;

		if (wanted->kind != kind)
			continue;
		if (as == FX_HISTORY_AS_PATH ? fx_wanted_path(wanted, name)
					     : fx_wanted_peer(wanted, name)) {
			history->is_found[i] = is_wanted = true;
			continue;
		}
		alike = fx_wanted_alike(wanted, name);
		if (alike > history->near[i].alike)
			history->near[i] = (struct fx_history_near){text, alike};
	}
	return is_wanted;
}

static bool history_wants(struct fx_history *history, uint32_t text, enum fx_history_way as)
{
	size_t count = history->verdicts[as].count;

	if (text >= count) {
		size_t more = text + 1 - count;

		if (fx_vector_reserve(&history->verdicts[as], more) < 0) {
			fx_report_fail(history->report, -ENOMEM);
			return false;
		}
		memset(history->verdicts[as].items + count, UNKNOWN, more);
		history->verdicts[as].count += more;
	}
	if (history->verdicts[as].items[text] == UNKNOWN)
		history->verdicts[as].items[text] =
		    history_compare(history, text, as) ? WANTED : NOT_WANTED;
	return history->verdicts[as].items[text] == WANTED;
}

/* A socket is the same one whatever it is bound or connected to: by its inode. */
static uint32_t history_inode(struct fx_history *history, uint32_t text)
{
	const char *name = fx_history_text(history, text), *end;

	if (strncmp(name, "socket:[", 8) != 0)
		return text;
	end = strchr(name, ']');
	return end && end[1]
		   ? fx_report_intern_some(history->report, name, (size_t)(end - name) + 1)
		   : text;
}

/* The file or peer of this name. Of peers all are kept: what is not wanted may get a name by which it is, later. NULL: it
 * is not wanted, or there is no room. */
struct fx_history_object *fx_history_named(struct fx_history *history, uint32_t text,
					   enum fx_history_way as)
{
	struct fx_history_object first = {
	    .kind = as == FX_HISTORY_AS_PATH ? FX_WANTED_FILE : FX_WANTED_PEER,
	    .process = FX_HISTORY_NO_PROCESS,
	    .text = text,
	};
	struct fx_history_object *object;
	struct fx_key key = {.numbers = {0, first.kind, text}};
	bool is_wanted;

	if (!text || !(as == FX_HISTORY_AS_PATH ? history->wants_files : history->wants_peers))
		return NULL;
	is_wanted = history_wants(history, text, as);
	if (as == FX_HISTORY_AS_PATH && !is_wanted)
		return NULL;
	if (as == FX_HISTORY_AS_PEER)
		key.numbers[2] = history_inode(history, text);
	object = fx_history_object_get(history, key, &first);
	if (!object)
		return NULL;
	object->is_wanted |= is_wanted;
	if (strlen(fx_history_text(history, text)) > strlen(fx_history_text(history, object->text)))
		object->text = text;
	return object;
}

struct fx_history_object *fx_history_of_text(struct fx_history *history, uint32_t text)
{
	return fx_history_named(history, text,
				history_is_peer(fx_history_text(history, text))
				    ? FX_HISTORY_AS_PEER
				    : FX_HISTORY_AS_PATH);
}

/* --- Uses ------------------------------------------------------------------------------------- */

uint32_t fx_history_intern(struct fx_history *history, const struct fxt_string *text)
{
	return text ? fx_report_intern_some(history->report, text->data, text->length) : 0;
}

void fx_history_see_thread(struct fx_history *history, const struct fx_thread *thread)
{
	if (thread == history->thread)
		return;
	history->thread = thread;
	history->recent.count = 0;
	history->let_go = 0;
}

void fx_history_keep(struct fx_history *history, const struct fx_history_object *object,
		     struct fx_use *use)
{
	size_t kept = 0;

	use->object = (uint32_t)(object - history->objects.items);
	use->at = use->flags & FX_USE_OPENS ? use->end : use->begin;
	use->number = fx_uses_add(&history->uses, use);
	if (use->wait == FX_WAIT_NONE && use->number != UINT64_MAX)
		return;
	if (use->number == UINT64_MAX || fx_vector_reserve(&history->recent, 1) < 0) {
		fx_report_fail(history->report, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < history->recent.count; i++) {
		if (history->recent.items[i].end >= use->begin)
			history->recent.items[kept++] = history->recent.items[i];
	}
	history->recent.count = kept;
	history->recent.items[history->recent.count++] =
	    (struct fx_history_recent){use->at, use->number, use->begin, use->end};
}

uint32_t fx_history_holder(const struct fx_history *history, const struct fx_thread *waiter,
			   const struct fx_event *event)
{
	const struct fx_thread *thread;
	int64_t tid;

	if (!fx_event_integer(event, "holder", &tid))
		return 0;
	thread = fx_timeline_find_thread(fx_report_timeline(history->report), waiter->process->pid,
					 (uint64_t)tid);
	return thread ? 1 + thread->number : 0;
}

/* Times are not cut: who had a lock before --from has it then. */
static uint64_t history_end(const struct fx_history *history, const struct fx_open_call *call,
			    const struct fx_event *event)
{
	uint64_t end = event->end;

	if (call->is_unfinished && end == UINT64_MAX)
		end = fx_report_timeline(history->report)->last_ts;
	return end > event->ts ? end : event->ts;
}

struct fx_use fx_history_use_of(struct fx_history *history, const struct fx_open_call *call,
				const struct fx_event *event)
{
	return (struct fx_use){
	    .begin = event->ts,
	    .end = history_end(history, call, event),
	    .word = event->word,
	    .provider = event->provider,
	    .thread = call->thread->number,
	    .deed =
		(uint8_t)fx_deeds_of(&history->deeds, fx_report_texts(history->report), call->name),
	    .wait = (uint8_t)fx_waiting_of(&history->waiting, fx_report_texts(history->report),
					   call, event),
	    .flags = call->is_shown ? FX_USE_SHOWN : 0,
	};
}

/* What opens an object. What that was waited for, as a connection is, it did not wait for itself. */
struct fx_use fx_history_opening(const struct fx_use *of)
{
	struct fx_use use = *of;

	if (use.wait != FX_WAIT_NONE)
		use.begin = use.end;
	use.wait = FX_WAIT_NONE;
	use.flags |= FX_USE_OPENS;
	use.read = use.written = 0;
	return use;
}

void fx_history_add_bytes(struct fx_use *use, enum fx_bytes_way way, const struct fx_event *event)
{
	if (way == FX_BYTES_READ)
		use->read = fx_bytes_of_event(event, way);
	else if (way == FX_BYTES_WRITTEN)
		use->written = fx_bytes_of_event(event, way);
}

/* SPDX-License-Identifier: MIT */
/* The history of objects: --lock, --fd, --file, --peer. What is seen on the walk. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/bytes.h"
#include "report/history.h"
#include "report/report.h"
#include "report/show.h"

enum { OBJECTS_MAX = 200000, OPENED_MAX = 1 << 16 };

enum { UNKNOWN, NOT_WANTED, WANTED };

/* Texts that name something as a path, and as a peer. */
enum { AS_PATH, AS_PEER };

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
	fx_vector_free(&history->verdicts[AS_PATH]);
	fx_vector_free(&history->verdicts[AS_PEER]);
	fx_keys_free(&history->open_keys);
	fx_vector_free(&history->opened);
	fx_vector_free(&history->recent);
	fx_uses_free(&history->uses);
	free(history);
}

/* --- Objects ---------------------------------------------------------------------------------- */

/* NULL: there is no room. */
static struct fx_history_object *history_object(struct fx_history *history, struct fx_key key,
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

static const char *history_text(const struct fx_history *history, uint32_t text)
{
	return text ? fx_report_text(history->report, text)->data : "";
}

static bool history_is_peer(const char *text)
{
	return text[0] != '/';
}

static bool history_compare(struct fx_history *history, uint32_t text, int as)
{
	enum fx_wanted_kind kind = as == AS_PATH ? FX_WANTED_FILE : FX_WANTED_PEER;
	const char *name = history_text(history, text);
	bool is_wanted = false;

	for (size_t i = 0; i < history->wanted_count; i++) {
		const struct fx_wanted *wanted = &history->wanted[i];
		size_t alike;

		if (wanted->kind != kind)
			continue;
		if (as == AS_PATH ? fx_wanted_path(wanted, name) : fx_wanted_peer(wanted, name)) {
			history->is_found[i] = is_wanted = true;
			continue;
		}
		alike = fx_wanted_alike(wanted, name);
		if (alike > history->near[i].alike)
			history->near[i] = (struct fx_history_near){text, alike};
	}
	return is_wanted;
}

static bool history_wants(struct fx_history *history, uint32_t text, int as)
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
	const char *name = history_text(history, text), *end;

	if (strncmp(name, "socket:[", 8) != 0)
		return text;
	end = strchr(name, ']');
	return end && end[1]
		   ? fx_report_intern_some(history->report, name, (size_t)(end - name) + 1)
		   : text;
}

/* The file or peer of this name. Of peers all are kept: what is not wanted may get a name by which it is, later. NULL: it
 * is not wanted, or there is no room. */
static struct fx_history_object *history_named(struct fx_history *history, uint32_t text, int as)
{
	struct fx_history_object first = {
	    .kind = as == AS_PATH ? FX_WANTED_FILE : FX_WANTED_PEER,
	    .process = FX_HISTORY_NO_PROCESS,
	    .text = text,
	};
	struct fx_history_object *object;
	struct fx_key key = {.numbers = {0, first.kind, text}};
	bool is_wanted;

	if (!text || !(as == AS_PATH ? history->wants_files : history->wants_peers))
		return NULL;
	is_wanted = history_wants(history, text, as);
	if (as == AS_PATH && !is_wanted)
		return NULL;
	if (as == AS_PEER)
		key.numbers[2] = history_inode(history, text);
	object = history_object(history, key, &first);
	if (!object)
		return NULL;
	object->is_wanted |= is_wanted;
	if (strlen(history_text(history, text)) > strlen(history_text(history, object->text)))
		object->text = text;
	return object;
}

static struct fx_history_object *history_of_text(struct fx_history *history, uint32_t text)
{
	return history_named(history, text,
			     history_is_peer(history_text(history, text)) ? AS_PEER : AS_PATH);
}

/* --- Uses ------------------------------------------------------------------------------------- */

static void history_see_thread(struct fx_history *history, const struct fx_thread *thread)
{
	if (thread == history->thread)
		return;
	history->thread = thread;
	history->recent.count = 0;
	history->let_go = 0;
}

static void history_keep(struct fx_history *history, const struct fx_history_object *object,
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

static uint32_t history_holder(const struct fx_history *history, const struct fx_thread *waiter,
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

static struct fx_use history_use(struct fx_history *history, const struct fx_open_call *call,
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
static struct fx_use history_opening(const struct fx_use *of)
{
	struct fx_use use = *of;

	if (use.wait != FX_WAIT_NONE)
		use.begin = use.end;
	use.wait = FX_WAIT_NONE;
	use.flags |= FX_USE_OPENS;
	use.read = use.written = 0;
	return use;
}

/* --- Locks and their like --------------------------------------------------------------------- */

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
	struct fx_history_object *object = history_object(history, key, &first);

	if (!object)
		return NULL;
	if (name)
		object->text = name;
	for (size_t i = 0; i < history->wanted_count; i++) {
		if (fx_wanted_lock(&history->wanted[i], process->pid, address,
				   history_text(history, object->what),
				   object->text ? history_text(history, object->text) : NULL))
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
		use.holder = history_holder(history, thread, event);
	history_keep(history, object, &use);
}

static void history_see_locks(struct fx_history *history, const struct fx_open_call *call,
			      const struct fx_event *event)
{
	struct fx_use use = history_use(history, call, event);
	bool has_taken = fx_deeds_has_taken(event, call->is_unfinished);

	history->has_releases |= use.deed == FX_DEED_RELEASE;
	for (uint32_t i = 0; i < event->nargs; i++) {
		if (history_is_lock(&event->args[i]))
			history_add_lock(history, event, call->thread, &use, &event->args[i],
					 has_taken);
	}
}

/* A named semaphore: its calls tell its address alone. */
static void history_see_name(struct fx_history *history, const struct fx_open_call *call,
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
	use = history_use(history, call, event);
	use.flags |= FX_USE_OPENS;
	history_keep(history, object, &use);
}

/* Locks of files: flock() and lockf(). They have no address, but the file's name. */
static void history_see_file_lock(struct fx_history *history, const struct fx_open_call *call,
				  const struct fx_event *event)
{
	const struct fxt_string *file = fx_event_string(event, "file");
	struct fx_history_object first = {.kind = FX_WANTED_LOCK, .process = FX_HISTORY_NO_PROCESS};
	struct fx_use use = history_use(history, call, event);
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
				   history_text(history, first.text)))
			history->is_found[i] = first.is_wanted = true;
	}
	key = (struct fx_key){.numbers = {0, FX_WANTED_LOCK, first.text}};
	object = history_object(history, key, &first);
	if (object && object->is_wanted)
		history_keep(history, object, &use);
}

/* --- Descriptors ------------------------------------------------------------------------------ */

static void history_add_bytes(struct fx_use *use, enum fx_bytes_way way,
			      const struct fx_event *event)
{
	int64_t bytes;

	if (way == FX_BYTES_NONE || !fx_event_integer(event, "ret", &bytes) || bytes < 0)
		return;
	if (way == FX_BYTES_READ)
		use->read = (uint64_t)bytes;
	else
		use->written = (uint64_t)bytes;
}

static uint32_t history_intern(struct fx_history *history, const struct fxt_string *text)
{
	return text ? fx_report_intern_some(history->report, text->data, text->length) : 0;
}

static void history_add_fd(struct fx_history *history, const struct fx_process *process,
			   uint64_t fd, const struct fx_use *of, const struct fxt_string *file)
{
	struct fx_history_object first = {
	    .kind = FX_WANTED_FD, .process = process->number, .number = fd};
	struct fx_key key = {.address = fd, .numbers = {1 + process->number, FX_WANTED_FD}};
	struct fx_history_object *object;
	struct fx_use use = *of;

	if (fd > INT32_MAX)
		return;
	history->lowest = fd < history->lowest ? fd : history->lowest;
	history->highest = fd > history->highest ? fd : history->highest;
	for (size_t i = 0; i < history->wanted_count; i++) {
		if (fx_wanted_fd(&history->wanted[i], process->pid, fd))
			history->is_found[i] = first.is_wanted = true;
	}
	object = first.is_wanted ? history_object(history, key, &first) : NULL;
	if (!object)
		return;
	use.text = history_intern(history, file);
	history_keep(history, object, &use);
}

/* Numbers in a text: "5 6", "4:POLLIN 5:POLLIN", "SCM_RIGHTS 9 10". */
static void history_add_list(struct fx_history *history, const struct fx_open_call *call,
			     const struct fxt_string *list, const struct fx_use *use)
{
	uint64_t fd = 0;
	bool is_number = false, is_word = false;

	for (uint32_t i = 0; list && i <= list->length; i++) {
		char c = i < list->length ? list->data[i] : ' ';

		if (c >= '0' && c <= '9' && !is_word && fd <= INT32_MAX) {
			fd = fd * 10 + (uint64_t)(c - '0');
			is_number = true;
			continue;
		}
		if (is_number)
			history_add_fd(history, call->thread->process, fd, use, NULL);
		is_number = false;
		is_word = c != ' ';
		fd = 0;
	}
}

/* What a call polls; of epoll, what was ready. */
static void history_see_polled(struct fx_history *history, const struct fx_open_call *call,
			       const struct fx_event *event, const struct fx_use *use)
{
	static const char *const names[] = {"fds", "readfds", "writefds", "exceptfds"};
	bool any = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		any |= fx_event_arg(event, names[i]) != NULL;
		history_add_list(history, call, fx_event_string(event, names[i]), use);
	}
	if (!any)
		history_add_list(history, call, fx_event_string(event, "ready"), use);
}

static void history_see_opened_fds(struct fx_history *history, const struct fx_open_call *call,
				   const struct fx_event *event, struct fx_use use)
{
	const struct fxt_string *control = fx_event_string(event, "control");
	int64_t fd;

	use = history_opening(&use);
	if (fx_event_arg(event, "errno"))
		return;
	if (call->kind == FX_CALL_SYSCALL &&
	    (use.deed == FX_DEED_OPEN ||
	     (fxt_string_equals(event->name, "fcntl") && fx_event_string(event, "command") &&
	      strncmp(fx_event_string(event, "command")->data, "F_DUPFD", 7) == 0))) {
		if (fx_event_integer(event, "ret", &fd) && fd >= 0)
			history_add_fd(history, call->thread->process, (uint64_t)fd, &use, NULL);
	} else if (use.deed == FX_DEED_OPEN_TWO) {
		history_add_list(history, call, fx_event_string(event, "fds"), &use);
	} else if (use.deed == FX_DEED_OPEN_AT) {
		if (fx_event_integer(event, "newfd", &fd) && fd >= 0)
			history_add_fd(history, call->thread->process, (uint64_t)fd, &use,
				       fx_event_string(event, "file"));
	} else if (control && fxt_string_equals(event->name, "recvmsg")) {
		history_add_list(history, call, control, &use);
	}
}

static void history_see_fds(struct fx_history *history, const struct fx_open_call *call,
			    const struct fx_event *event)
{
	static const struct {
		const char *fd, *file;
	} args[] = {{"fd", "file"}, {"in_fd", "in_file"}, {"out_fd", "out_file"},
		    {"epfd", NULL}, {"oldfd", NULL},	  {"dirfd", NULL}};
	struct fx_use use = history_use(history, call, event), one;
	enum fx_bytes_way way = fx_bytes_of_name(event->name->data);
	int64_t fd;

	for (size_t i = 0; i < sizeof(args) / sizeof(*args); i++) {
		if (!fx_event_integer(event, args[i].fd, &fd) || fd < 0)
			continue;
		one = use;
		if (use.deed == FX_DEED_CLOSE)
			one.flags |= FX_USE_CLOSES;
		if (i > 0)
			way = i == 1 ? FX_BYTES_READ : i == 2 ? FX_BYTES_WRITTEN : FX_BYTES_NONE;
		history_add_bytes(&one, way, event);
		history_add_fd(history, call->thread->process, (uint64_t)fd, &one,
			       args[i].file ? fx_event_string(event, args[i].file) : NULL);
	}
	if (use.wait == FX_WAIT_POLL)
		history_see_polled(history, call, event, &use);
	history_see_opened_fds(history, call, event, use);
}

/* --- Files and peers -------------------------------------------------------------------------- */

/* The file of a descriptor that was opened is known once it is used; else it is what its path says. */
static void history_settle(struct fx_history *history, struct fx_history_opened *opened,
			   const struct fx_history_object *object)
{
	struct fx_use use = opened->use;

	if (!opened->is_set)
		return;
	opened->is_set = false;
	if (!object && opened->path)
		object = history_named(history, opened->path, AS_PATH);
	if (object)
		history_keep(history, object, &use);
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
	struct fx_history_opened now = {.use = history_opening(&use), .is_set = true};
	struct fx_history_opened *opened = NULL;
	int64_t descriptor;

	now.path = history->wants_files ? fx_show_path(history->report, event) : 0;
	if (fx_event_arg(event, "errno")) {
		now.use.flags &= ~FX_USE_OPENS;
	} else if (fx_event_integer(event, "ret", &descriptor)) {
		opened = history_opened(history, call, descriptor);
		if (opened)
			history_settle(history, opened, NULL);
	}
	if (opened)
		*opened = now;
	else
		history_settle(history, &now, NULL);
}

/* A call that was given a path, or two. */
static void history_see_paths(struct fx_history *history, const struct fx_event *event,
			      const struct fx_use *of)
{
	uint32_t paths[2] = {fx_show_path(history->report, event),
			     history_intern(history, fx_event_string(event, "to"))};

	for (size_t i = 0; i < 2; i++) {
		const struct fx_history_object *object =
		    paths[i] ? history_named(history, paths[i], AS_PATH) : NULL;
		struct fx_use use = *of;

		if (object)
			history_keep(history, object, &use);
	}
}

/* A descriptor of a call says what it is. */
static void history_see_file(struct fx_history *history, const struct fx_open_call *call,
			     const struct fx_event *event, const struct fx_use *of,
			     const char *file, const char *fd, enum fx_bytes_way way)
{
	uint32_t text = history_intern(history, fx_event_string(event, file));
	const struct fx_history_object *object = text ? history_of_text(history, text) : NULL;
	struct fx_history_opened *opened = NULL;
	struct fx_use use = *of;
	int64_t descriptor;

	if (text &&
	    fx_event_integer(event, call->kind == FX_CALL_STDIO ? "stream" : fd, &descriptor))
		opened = history_opened(history, call, descriptor);
	if (opened && object)
		history_settle(history, opened, object);
	if (opened)
		opened->is_set = false;
	if (!object)
		return;
	if (use.deed == FX_DEED_CLOSE)
		use.flags |= FX_USE_CLOSES;
	history->streams += call->kind == FX_CALL_STDIO && object->is_wanted;
	history_add_bytes(&use, way, event);
	use.text = text;
	history_keep(history, object, &use);
}

static void history_see_files(struct fx_history *history, const struct fx_open_call *call,
			      const struct fx_event *event)
{
	struct fx_use use = history_use(history, call, event);

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

/* --- The section ------------------------------------------------------------------------------ */

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
	history_see_thread(history, call->thread);
	if (call->kind == FX_CALL_PTHREAD) {
		if (history->wants_locks)
			history_see_locks(history, call, event);
		return;
	}
	if (history->wants_locks && call->kind == FX_CALL_SYSCALL) {
		if (fxt_string_equals(event->name, "sem_open"))
			history_see_name(history, call, event);
		else
			history_see_file_lock(history, call, event);
	}
	if (history->wants_fds)
		history_see_fds(history, call, event);
	if (history->wants_files || history->wants_peers)
		history_see_files(history, call, event);
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
static void history_see_instant(struct fx_history *history, const struct fx_event *event,
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
	history_see_thread(history, event->thread);
	use.deed = (uint8_t)fx_deeds_of(&history->deeds, fx_report_texts(history->report),
					event->name->serial);
	for (uint32_t i = 0; i < event->nargs; i++) {
		if (history_is_lock(&event->args[i]))
			history_add_lock(history, event, event->thread, &use, &event->args[i],
					 false);
	}
}

static void history_instant(void *section, const struct fx_event *event)
{
	history_see_instant(section, event, FX_USE_SHOWN);
}

static void history_hidden_instant(void *section, const struct fx_event *event)
{
	history_see_instant(section, event, 0);
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
		history_settle(history, &history->opened.items[i], NULL);
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

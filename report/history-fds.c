/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "report/bytes.h"
#include "report/history-fds.h"
#include "report/history-objects.h"
#include "report/show.h"

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
	object = first.is_wanted ? fx_history_object_get(history, key, &first) : NULL;
	if (!object)
		return;
	use.text = fx_history_intern(history, file);
	fx_history_keep(history, object, &use);
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

	use = fx_history_opening(&use);
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

void fx_history_see_fds(struct fx_history *history, const struct fx_open_call *call,
			const struct fx_event *event)
{
	static const struct {
		const char *fd, *file;
	} args[] = {{"fd", "file"}, {"in_fd", "in_file"}, {"out_fd", "out_file"},
		    {"epfd", NULL}, {"oldfd", NULL},	  {"dirfd", NULL}};
	struct fx_use use = fx_history_use_of(history, call, event), one;
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
		fx_history_add_bytes(&one, way, event);
		history_add_fd(history, call->thread->process, (uint64_t)fd, &one,
			       args[i].file ? fx_event_string(event, args[i].file) : NULL);
	}
	if (use.wait == FX_WAIT_POLL)
		history_see_polled(history, call, event, &use);
	history_see_opened_fds(history, call, event, use);
}

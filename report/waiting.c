/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fnmatch.h>
#include <string.h>

#include "report/show.h"
#include "report/waiting.h"

/* Of devices, somebody sits at a terminal; /dev/null and its like let nobody wait. */
static bool waiting_is_terminal(const struct fxt_string *file)
{
	static const char *const names[] = {"/dev/tty", "/dev/pts/", "/dev/ptmx", "/dev/console"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (file->length >= strlen(names[i]) &&
		    memcmp(file->data, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

struct pattern {
	const char *name;
	uint8_t kind;
};

static const struct pattern waiting_patterns[] = {
#define FX_WAIT(name, kind) {name, FX_WAIT_##kind},
#include "report/waiting.def"
#undef FX_WAIT
};

enum fx_wait_kind fx_waiting_of_name(const char *name)
{
	for (size_t i = 0; i < sizeof(waiting_patterns) / sizeof(*waiting_patterns); i++) {
		if (fnmatch(waiting_patterns[i].name, name, 0) == 0)
			return waiting_patterns[i].kind;
	}
	return FX_WAIT_NONE;
}

/* Whether one of a call's descriptors leads to somebody else: its name is no path, or a terminal's. What streams are,
 * and where, is not always known: of those, it must be. */
static bool waiting_has_peer(const struct fx_open_call *call, const struct fx_event *event)
{
	static const char *const names[] = {"file", "in_file", "out_file"};
	bool any = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct fxt_arg *file = fx_event_arg(event, names[i]);

		if (!file || file->type != FXT_ARG_STRING || file->string.length == 0)
			continue;
		any = true;
		if (file->string.data[0] != '/' || waiting_is_terminal(&file->string))
			return true;
	}
	return !any && call->kind != FX_CALL_STDIO;
}

/* Whether what the call is told to do may wait: F_LOCK, F_SETLKW, F_OFD_SETLKW. */
static bool waiting_is_told_to(const struct fx_event *event)
{
	const struct fxt_string *command = fx_event_string(event, "command");

	return !command || fxt_string_equals(command, "F_LOCK") ||
	       (command->length > 3 && memcmp(command->data + command->length - 3, "LKW", 3) == 0);
}

enum fx_wait_kind fx_waiting_of(struct fx_waiting *waiting, const struct fx_texts *texts,
				const struct fx_open_call *call, const struct fx_event *event)
{
	size_t count = waiting->kinds.count;
	enum fx_wait_kind kind;

	if (!fx_waiting_may(call) || !call->name)
		return FX_WAIT_NONE;
	if (call->name >= count) {
		size_t more = call->name + 1 - count;

		if (fx_vector_reserve(&waiting->kinds, more) < 0)
			return fx_waiting_of_name(fx_texts_get(texts, call->name)->data);
		memset(waiting->kinds.items + count, 0, more);
		waiting->kinds.count += more;
	}
	if (waiting->kinds.items[call->name] == 0)
		waiting->kinds.items[call->name] =
		    (uint8_t)(1 + fx_waiting_of_name(fx_texts_get(texts, call->name)->data));
	kind = (enum fx_wait_kind)(waiting->kinds.items[call->name] - 1);
	if ((kind == FX_WAIT_PEER && !waiting_has_peer(call, event)) ||
	    (kind == FX_WAIT_LOCK && (fx_event_arg(event, "ran") || !waiting_is_told_to(event))))
		return FX_WAIT_NONE;
	return kind;
}

void fx_waiting_free(struct fx_waiting *waiting)
{
	fx_vector_free(&waiting->kinds);
}

const char *fx_wait_kind_text(enum fx_wait_kind kind)
{
	static const char *const texts[] = {[FX_WAIT_NONE] = "nothing",
#define FX_WAIT_KIND_TEXT_(name, text) [FX_WAIT_##name] = (text),
					    FX_WAIT_KINDS(FX_WAIT_KIND_TEXT_)
#undef FX_WAIT_KIND_TEXT_
	};

	return texts[kind];
}

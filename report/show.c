/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "convert/utf8.h"
#include "report/show.h"

enum { CALL_MAX = 200, VALUE_MAX = 80, STACK_MAX = 1024 };

/* A text that is being written, before it is cleaned. */
struct shown {
	char text[CALL_MAX];
	size_t length;
	bool is_cut;
};

/* --- Arguments -------------------------------------------------------------------------------- */

const struct fxt_string *fx_event_string(const struct fx_event *event, const char *name)
{
	const struct fxt_arg *arg = fx_event_arg(event, name);

	return arg && arg->type == FXT_ARG_STRING && arg->string.length > 0 ? &arg->string : NULL;
}

struct fxt_string fx_show_name_of(const struct fx_event *event, char scratch[FX_SHOW_NAME_MAX])
{
	const struct fxt_string *number;
	int64_t value;

	if (!fxt_string_equals(event->name, "syscall"))
		return *event->name;
	number = fx_event_string(event, "number");
	if (number)
		return *number;
	if (!fx_event_integer(event, "number", &value))
		return *event->name;
	snprintf(scratch, FX_SHOW_NAME_MAX, "syscall %" PRId64, value);
	return (struct fxt_string){.data = scratch, .length = (uint32_t)strlen(scratch)};
}

uint32_t fx_show_name(struct fx_report *report, const struct fx_event *event)
{
	char scratch[FX_SHOW_NAME_MAX];
	struct fxt_string name = fx_show_name_of(event, scratch);

	return name.data == event->name->data
		   ? event->name->serial
		   : fx_report_intern_some(report, name.data, name.length);
}

static void show_bytes(struct shown *shown, const char *data, size_t length)
{
	size_t room = sizeof(shown->text) - shown->length;

	if (length > room) {
		length = room;
		shown->is_cut = true;
	}
	if (length > 0)
		memcpy(shown->text + shown->length, data, length);
	shown->length += length;
}

static void show_string(struct shown *shown, const char *text)
{
	show_bytes(shown, text, strlen(text));
}

/* Not in the middle of a character. */
static size_t show_cut(const char *data, size_t length)
{
	while (length > 0 && ((unsigned char)data[length] & 0xc0) == 0x80)
		length--;
	return length;
}

static void show_value(struct shown *shown, const struct fxt_arg *arg)
{
	char text[40] = "";

	switch (arg->type) {
	case FXT_ARG_STRING:
		if (arg->string.length <= VALUE_MAX) {
			show_bytes(shown, arg->string.data, arg->string.length);
		} else {
			show_bytes(shown, arg->string.data, show_cut(arg->string.data, VALUE_MAX));
			show_string(shown, "…");
		}
		return;
	case FXT_ARG_INT32:
		snprintf(text, sizeof(text), "%" PRId32, arg->int32);
		break;
	case FXT_ARG_UINT32:
		snprintf(text, sizeof(text), "%" PRIu32, arg->uint32);
		break;
	case FXT_ARG_INT64:
		snprintf(text, sizeof(text), "%" PRId64, arg->int64);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		snprintf(text, sizeof(text), "%" PRIu64, arg->uint64);
		break;
	case FXT_ARG_POINTER:
		snprintf(text, sizeof(text), "0x%" PRIx64, arg->uint64);
		break;
	case FXT_ARG_DOUBLE:
		snprintf(text, sizeof(text), "%g", arg->real);
		break;
	case FXT_ARG_BOOL:
		snprintf(text, sizeof(text), "%s", arg->boolean ? "true" : "false");
		break;
	case FXT_ARG_NULL:
		snprintf(text, sizeof(text), "NULL");
		break;
	default:
		break;
	}
	show_string(shown, text);
}

/* What is shown in another place, or is too long to be. */
static bool show_leaves_out(const struct fxt_arg *arg)
{
	static const char *const names[] = {"ret",  "errno",	  "number",	  "stack",
					    "args", "total_read", "total_written"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (fxt_string_equals(&arg->name, names[i]))
			return true;
	}
	return false;
}

static void show_args(struct shown *shown, const struct fxt_arg *args, uint32_t count, bool *any)
{
	for (uint32_t i = 0; i < count; i++) {
		if (show_leaves_out(&args[i]))
			continue;
		show_string(shown, *any ? ", " : "");
		show_bytes(shown, args[i].name.data, args[i].name.length);
		show_string(shown, "=");
		show_value(shown, &args[i]);
		*any = true;
	}
}

static void show_finish(struct shown *shown, char text[FX_SHOW_MAX])
{
	size_t length = shown->length;

	/* Three bytes for each, the ellipsis, and the end: FX_SHOW_MAX has room. */
	_Static_assert(FX_UTF8_CLEAN_MAX(CALL_MAX) + sizeof("…") <= FX_SHOW_MAX, "no room");
	if (shown->is_cut && length == sizeof(shown->text))
		length = show_cut(shown->text, length - 1);
	length = fx_utf8_clean(shown->text, length, text);
	strcpy(text + length, shown->is_cut ? "…" : "");
}

void fx_show_call(const struct fx_event *event, char text[FX_SHOW_MAX])
{
	struct shown shown = {.length = 0}, result = {.length = 0};
	const struct fxt_arg *ret = fx_event_arg(event, "ret"),
			     *error = fx_event_arg(event, "errno");
	const struct fxt_arg *number = fx_event_arg(event, "number");
	bool any = false;

	if (number && fxt_string_equals(event->name, "syscall"))
		show_value(&shown, number);
	else
		show_bytes(&shown, event->name->data, event->name->length);
	show_string(&shown, "(");
	show_args(&shown, event->args, event->nargs, &any);
	show_args(&shown, event->end_args, event->end_nargs, &any);
	show_string(&result, ")");
	if (ret || error)
		show_string(&result, " = ");
	if (ret)
		show_value(&result, ret);
	if (ret && error)
		show_string(&result, " ");
	if (error)
		show_value(&result, error);
	/* The result is seen whatever came before it. */
	if (shown.length + result.length > sizeof(shown.text) - 4) {
		shown.length = show_cut(shown.text, sizeof(shown.text) - result.length - 4);
		shown.is_cut = false;
		show_string(&shown, "…");
	}
	show_bytes(&shown, result.text, result.length);
	show_finish(&shown, text);
}

struct fxt_string fx_show_path_of(const struct fx_event *event, char joined[FX_SHOW_PATH_MAX])
{
	static const char *const names[][2] = {
	    {"path", "dir"}, {"from", "from_dir"}, {"arg0", NULL}, {"arg1", NULL}};
	const struct fxt_string *path = NULL, *folder = NULL;
	size_t length;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !path; i++) {
		path = fx_event_string(event, names[i][0]);
		/* What syscall() was given is a path if it looks so. */
		if (path && !names[i][1] && path->data[0] != '/')
			path = NULL;
		if (path && names[i][1])
			folder = fx_event_string(event, names[i][1]);
	}
	if (!path)
		return (struct fxt_string){0};
	if (path->data[0] == '/' || !folder || folder->data[0] != '/')
		return *path;
	length = folder->length;
	while (length > 0 && folder->data[length - 1] == '/')
		length--;
	if (length + 1 + path->length > FX_SHOW_PATH_MAX)
		return *path;
	memcpy(joined, folder->data, length);
	joined[length] = '/';
	memcpy(joined + length + 1, path->data, path->length);
	return (struct fxt_string){.data = joined, .length = (uint32_t)(length + 1 + path->length)};
}

uint32_t fx_show_path(struct fx_report *report, const struct fx_event *event)
{
	char joined[FX_SHOW_PATH_MAX];
	struct fxt_string path = fx_show_path_of(event, joined);

	return path.length > 0 ? fx_report_intern_some(report, path.data, path.length) : 0;
}

void fx_show_named(const struct fx_text *name, const char *what, uint64_t id,
		   char text[FX_SHOW_MAX])
{
	struct shown shown = {.length = 0};

	if (name && name->length > 0) {
		show_bytes(&shown, name->data, name->length);
		show_finish(&shown, text);
	} else {
		snprintf(text, FX_SHOW_MAX, "%s %" PRIu64, what, id);
	}
}

void fx_show_thread(const struct fx_thread *thread, char text[FX_SHOW_MAX])
{
	fx_show_named(thread->name, "thread", thread->key.tid, text);
}

void fx_show_process(const struct fx_process *process, char text[FX_SHOW_MAX])
{
	fx_show_named(process->name, "process", process->pid, text);
}

/* Whether the argument is the name of what the other one has the address of: "mutex_name" of "mutex". */
static bool show_is_name_of(const struct fxt_arg *arg, const struct fxt_arg *object)
{
	static const char suffix[] = "_name";
	size_t length = object->name.length;

	return arg->type == FXT_ARG_STRING && arg->string.length > 0 &&
	       arg->name.length == length + strlen(suffix) &&
	       memcmp(arg->name.data, object->name.data, length) == 0 &&
	       memcmp(arg->name.data + length, suffix, strlen(suffix)) == 0;
}

struct fx_object_args fx_show_object_args(const struct fx_event *event)
{
	const struct fxt_arg *args = event->args;
	struct fx_object_args found = {NULL, NULL};
	uint32_t at = 0;

	while (at < event->nargs && args[at].type != FXT_ARG_POINTER)
		at++;
	if (at == event->nargs || args[at].uint64 == 0)
		return found;
	found.object = &args[at];
	for (uint32_t i = at + 1; i < event->nargs; i++) {
		if (show_is_name_of(&args[i], &args[at]))
			found.name = &args[i];
	}
	return found;
}

struct fx_object fx_show_object(struct fx_report *report, const struct fx_event *event)
{
	struct fx_object_args args = fx_show_object_args(event);
	struct fx_object object = {0};

	if (!args.object)
		return object;
	object.address = args.object->uint64;
	object.what = args.object->name.serial;
	if (args.name)
		object.name =
		    fx_report_intern_some(report, args.name->string.data, args.name->string.length);
	return object;
}

void fx_show_object_text(const struct fx_report *report, const struct fx_object *object,
			 char text[FX_SHOW_MAX])
{
	const char *what = object->what ? fx_report_text(report, object->what)->data : "";

	if (object->name)
		snprintf(text, FX_SHOW_MAX, "%.100s %.400s (0x%" PRIx64 ")", what,
			 fx_report_text(report, object->name)->data, object->address);
	else
		snprintf(text, FX_SHOW_MAX, "%.100s 0x%" PRIx64, what, object->address);
}

void fx_show_stack(const struct fx_report *report, uint32_t stack, struct fx_table *table,
		   size_t column)
{
	const struct fx_text *text = fx_report_text(report, stack);
	char line[STACK_MAX];
	size_t put = 0;

	for (size_t i = 0; i < text->length && put + 4 < sizeof(line); i++) {
		if (text->data[i] == '\n') {
			memcpy(line + put, " < ", 3);
			put += 3;
		} else {
			line[put++] = text->data[i];
		}
	}
	/* Not in the middle of a character. */
	while (put + 4 >= sizeof(line) && put > 0 && (line[put - 1] & 0x80))
		put--;
	fx_table_text(table, column, line, put);
}

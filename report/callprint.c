/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "report/callprint.h"
#include "report/units.h"

enum {
	WHO_WIDTH = 24,	  /* columns of the thread */
	BYTES_SHOWN = 32, /* of a blob */
	TIME_MAX = 32,	  /* bytes of a line's time */
	COLORS = 6,
};

#define NS_PER_S UINT64_C(1000000000)

static const struct fx_text *callprint_name_of(const struct fx_thread *thread)
{
	return thread->name ? thread->name : thread->process->name;
}

/* The columns that a thread's number leaves for its name. */
static size_t callprint_name_room(const struct fx_thread *thread)
{
	size_t width = 2; /* of the number, and the space before it */

	for (uint64_t tid = thread->key.tid; tid >= 10; tid /= 10)
		width++;
	return WHO_WIDTH - width;
}

/* The thread in its columns: name and number. */
static void callprint_thread(struct fx_line *line, const struct fx_thread *thread, bool color)
{
	const struct fx_text *name = callprint_name_of(thread);
	size_t columns = 0, room = callprint_name_room(thread);

	if (color) {
		fx_line_string(line, "\033[3");
		fx_line_number(line, 1 + thread->number % COLORS, 0, ' ');
		fx_line_char(line, 'm');
	}
	if (name) {
		fx_line_shown(line, name->data, name->length, room);
		for (uint32_t i = 0; i < name->length; i++)
			columns += (name->data[i] & 0xc0) != 0x80;
		columns = columns < room ? columns : room;
	}
	fx_line_char(line, ' ');
	fx_line_number(line, thread->key.tid, 0, ' ');
	fx_line_repeat(line, ' ', room - columns);
	fx_line_string(line, color ? "\033[0m | " : " | ");
}

void fx_callprint_who(const struct fx_callprint *print, const struct fx_thread *thread,
		      struct fx_callwho *ret)
{
	const struct fx_text *name = callprint_name_of(thread);
	struct fx_line line;

	ret->thread = thread;
	ret->length = 0;
	/* What a terminal would obey, and what is cut, is made by what writes to the FILE. */
	if (name && (name->length > callprint_name_room(thread) ||
		     !fx_line_is_plain(name->data, name->length)))
		return;
	line.used = 0;
	callprint_thread(&line, thread, print->color);
	if (line.used > sizeof(ret->text))
		return;
	memcpy(ret->text, line.text, line.used);
	ret->length = line.used;
}

/* The time of a line, seconds in four columns. */
static char *callprint_time(char *at, uint64_t ns)
{
	uint64_t seconds = ns / NS_PER_S;
	unsigned columns = 4;

	for (uint64_t rest = seconds; rest >= 10000; rest /= 10)
		columns++;
	memset(at, ' ', 4);
	for (unsigned i = columns; i-- > 0 && (seconds > 0 || i == columns - 1); seconds /= 10)
		at[i] = (char)('0' + seconds % 10);
	at[columns] = '.';
	at = fx_line_nine_digits(at + columns + 1, (uint32_t)(ns % NS_PER_S));
	*at = ' ';
	return at + 1;
}

void fx_callprint_line(struct fx_callprint *print, uint64_t ts, const struct fx_callwho *who,
		       unsigned depth)
{
	uint64_t since = print->deltas ? print->last : print->first;
	struct fx_line *line = &print->line;
	size_t indent = 2 * (size_t)depth;
	char *at = fx_line_room(line, TIME_MAX + sizeof(who->text) + indent);

	print->last = ts;
	at = callprint_time(at, ts > since ? ts - since : 0);
	memcpy(at, who->text, sizeof(who->text));
	at += who->length;
	if (who->length == 0) {
		fx_line_end_room(line, at);
		callprint_thread(line, who->thread, print->color);
		at = fx_line_room(line, indent);
	}
	memset(at, ' ', indent);
	fx_line_end_room(line, at + indent);
}

/* --- Values ----------------------------------------------------------------------------------- */

static const char callprint_digits[] = "0123456789abcdef";

static void callprint_byte(struct fx_line *line, unsigned char byte)
{
	static const char capitals[] = "0123456789ABCDEF";

	fx_line_put(line, (const char[]){'\\', 'x', capitals[byte >> 4], capitals[byte & 15]}, 4);
}

/* As a string of C: what a terminal would obey, and what is no UTF-8, by its number. */
static void callprint_quoted(struct fx_line *line, const char *text, size_t length)
{
	fx_line_char(line, '"');
	while (length > 0) {
		unsigned char byte = (unsigned char)text[0];
		size_t n = fx_utf8_sequence(text, length);

		if (byte == '"' || byte == '\\')
			fx_line_put(line, (const char[]){'\\', text[0]}, 2);
		else if (byte == '\n')
			fx_line_string(line, "\\n");
		else if (n == 0 || byte < 0x20 || byte == 0x7f)
			callprint_byte(line, byte);
		else if (byte == 0xc2 && (unsigned char)text[1] < 0xa0)
			callprint_byte(line, byte), callprint_byte(line, (unsigned char)text[1]);
		else
			fx_line_put(line, text, n);
		n = n ? n : 1;
		text += n;
		length -= n;
	}
	fx_line_char(line, '"');
}

static void callprint_blob(struct fx_line *line, const struct fxt_bytes *blob)
{
	const uint8_t *data = blob->data;

	fx_line_string(line, "0x");
	for (uint64_t i = 0; i < blob->size && i < BYTES_SHOWN; i++)
		fx_line_put(
		    line,
		    (const char[]){callprint_digits[data[i] >> 4], callprint_digits[data[i] & 15]},
		    2);
	fx_line_string(line, blob->size > BYTES_SHOWN ? "..." : "");
}

static void callprint_value(struct fx_line *line, const struct fxt_arg *arg)
{
	char text[32];

	switch (arg->type) {
	case FXT_ARG_INT32:
		fx_line_signed(line, arg->int32);
		return;
	case FXT_ARG_UINT32:
		fx_line_number(line, arg->uint32, 0, ' ');
		return;
	case FXT_ARG_INT64:
		fx_line_signed(line, arg->int64);
		return;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		fx_line_number(line, arg->uint64, 0, ' ');
		return;
	case FXT_ARG_DOUBLE:
		snprintf(text, sizeof(text), "%.9g", arg->real);
		fx_line_string(line, text);
		return;
	case FXT_ARG_STRING:
		callprint_quoted(line, arg->string.data, arg->string.length);
		return;
	case FXT_ARG_POINTER:
		fx_line_string(line, "0x");
		fx_line_hex(line, arg->pointer);
		return;
	case FXT_ARG_BOOL:
		fx_line_string(line, arg->boolean ? "true" : "false");
		return;
	case FXT_ARG_BLOB:
		callprint_blob(line, &arg->blob);
		return;
	default:
		fx_line_string(line, "null");
	}
}

void fx_callprint_name(struct fx_callprint *print, const struct fxt_string *name)
{
	fx_line_shown(&print->line, name->data, name->length, 0);
}

void fx_callprint_text(struct fx_callprint *print, const struct fxt_string *text)
{
	callprint_quoted(&print->line, text->data, text->length);
}

/* --- Losses ----------------------------------------------------------------------------------- */

bool fx_callprint_is_loss(const struct fxt_event *event)
{
	return event->type == FXT_EVENT_INSTANT && fxt_string_equals(&event->category, "fxtrace") &&
	       fxt_string_equals(&event->name, FX_CALLPRINT_LOSS);
}

/* --- Calls ------------------------------------------------------------------------------------ */

/* What stands behind the arguments. */
static bool callprint_is_result(const struct fxt_arg *arg)
{
	return fxt_string_equals(&arg->name, "ret") || fxt_string_equals(&arg->name, "errno");
}

static const struct fxt_arg *callprint_find(const struct fxt_record *record,
					    const struct fxt_record *end, const char *name)
{
	const struct fxt_arg *arg = end ? fxt_record_find_arg(end, name) : NULL;

	return arg ? arg : fxt_record_find_arg(record, name);
}

/* The arguments of a record, or of two: `name="value", name=3'; without result and error. False: there is none. */
static bool callprint_args(struct fx_callprint *print, const struct fxt_record *record,
			   const struct fxt_record *end)
{
	const struct fxt_record *const records[] = {record, end};
	const char *before = "(";

	for (size_t which = 0; which < 2 && records[which]; which++) {
		for (uint32_t i = 0; i < records[which]->nargs; i++) {
			const struct fxt_arg *arg = &records[which]->args[i];

			if (!fxt_arg_type_name(arg->type) || callprint_is_result(arg))
				continue;
			fx_line_string(&print->line, before);
			fx_callprint_name(print, &arg->name);
			fx_line_char(&print->line, '=');
			callprint_value(&print->line, arg);
			before = ", ";
		}
	}
	return before[0] != '(';
}

/* Whether a name has its parameters, as those of C++ have. */
static bool callprint_has_parameters(const struct fxt_string *name)
{
	static const char constant[] = ") const";
	size_t length = sizeof(constant) - 1;

	if (name->length > 0 && name->data[name->length - 1] == ')')
		return true;
	return name->length > length &&
	       memcmp(name->data + name->length - length, constant, length) == 0;
}

void fx_callprint_call(struct fx_callprint *print, const struct fxt_string *name,
		       const struct fxt_record *record, const struct fxt_record *end)
{
	fx_callprint_name(print, name);
	if (record && callprint_args(print, record, end))
		fx_line_char(&print->line, ')');
	else if (!callprint_has_parameters(name))
		fx_line_string(&print->line, "()");
}

void fx_callprint_result(struct fx_callprint *print, const struct fxt_record *record,
			 const struct fxt_record *end, uint64_t ns)
{
	const struct fxt_arg *ret = callprint_find(record, end, "ret");
	const struct fxt_arg *error = callprint_find(record, end, "errno");

	if (ret || error)
		fx_line_string(&print->line, " =");
	if (ret) {
		fx_line_char(&print->line, ' ');
		callprint_value(&print->line, ret);
	}
	if (error) {
		fx_line_char(&print->line, ' ');
		if (error->type == FXT_ARG_STRING)
			fx_callprint_name(print, &error->string);
		else
			callprint_value(&print->line, error);
	}
	fx_callprint_duration(print, ns);
}

void fx_callprint_duration(struct fx_callprint *print, uint64_t ns)
{
	static const char unfinished[] = "unfinished";
	char *at = fx_line_room(&print->line, FX_UNIT_TEXT_MAX + 8);

	memcpy(at, " <", 2);
	at += 2;
	if (ns <= INT64_MAX) {
		at = fx_unit_time(ns, at);
	} else {
		memcpy(at, unfinished, sizeof(unfinished) - 1);
		at += sizeof(unfinished) - 1;
	}
	memcpy(at, ">;", 2);
	fx_line_end_room(&print->line, at + 2);
}

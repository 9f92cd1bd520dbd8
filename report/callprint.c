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
	COLORS = 6,
};

#define NS_PER_S UINT64_C(1000000000)

/* The thread in its columns: name and number. */
static void callprint_thread(struct fx_line *line, const struct fx_thread *thread)
{
	const struct fx_text *name = thread->name ? thread->name : thread->process->name;
	size_t columns = 0, width = 2; /* of the number, and the space before it */

	for (uint64_t tid = thread->key.tid; tid >= 10; tid /= 10)
		width++;
	if (name) {
		size_t room = WHO_WIDTH - width;

		fx_line_shown(line, name->data, name->length, room);
		for (uint32_t i = 0; i < name->length; i++)
			columns += (name->data[i] & 0xc0) != 0x80;
		columns = columns < room ? columns : room;
	}
	fx_line_char(line, ' ');
	fx_line_number(line, thread->key.tid, 0, ' ');
	fx_line_repeat(line, ' ', WHO_WIDTH - columns - width);
}

void fx_callprint_line(struct fx_callprint *print, uint64_t ts, const struct fx_thread *thread,
		       unsigned depth)
{
	uint64_t since = print->deltas ? print->last : print->first;
	uint64_t ns = ts > since ? ts - since : 0;
	struct fx_line *line = &print->line;

	print->last = ts;
	fx_line_number(line, ns / NS_PER_S, 4, ' ');
	fx_line_char(line, '.');
	fx_line_number(line, ns % NS_PER_S, 9, '0');
	fx_line_char(line, ' ');
	if (print->color) {
		fx_line_string(line, "\033[3");
		fx_line_number(line, 1 + thread->number % COLORS, 0, ' ');
		fx_line_char(line, 'm');
	}
	callprint_thread(line, thread);
	fx_line_string(line, print->color ? "\033[0m | " : " | ");
	fx_line_repeat(line, ' ', 2 * (size_t)depth);
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

void fx_callprint_args(struct fx_callprint *print, const struct fxt_record *record,
		       const struct fxt_record *end)
{
	const struct fxt_record *const records[] = {record, end};
	const char *before = "";

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
}

void fx_callprint_result(struct fx_callprint *print, const struct fxt_record *record,
			 const struct fxt_record *end, uint64_t ns)
{
	const struct fxt_arg *ret = callprint_find(record, end, "ret");
	const struct fxt_arg *error = callprint_find(record, end, "errno");
	char text[FX_UNIT_TEXT_MAX] = "unfinished";

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
	if (ns <= INT64_MAX)
		fx_unit_number(FX_UNIT_NS, (int64_t)ns, text);
	fx_line_string(&print->line, " <");
	fx_line_string(&print->line, text);
	fx_line_string(&print->line, ">;");
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/callprint.h"
#include "report/print.h"
#include "report/units.h"

enum {
	WHO_WIDTH = 24,	  /* columns of the thread */
	BYTES_SHOWN = 32, /* of a blob */
	COLORS = 6,
};

#define NS_PER_S UINT64_C(1000000000)

void fx_callprint_line(struct fx_callprint *print, uint64_t ts, const struct fx_thread *thread,
		       unsigned depth)
{
	uint64_t since = print->deltas ? print->last : print->first;
	const struct fx_text *name = thread->name ? thread->name : thread->process->name;
	uint64_t ns = ts > since ? ts - since : 0;
	char id[24];
	int length = snprintf(id, sizeof(id), " %" PRIu64, thread->key.tid);
	size_t columns = 0;

	print->last = ts;
	fprintf(print->out, "%4" PRIu64 ".%09" PRIu64 " ", ns / NS_PER_S, ns % NS_PER_S);
	if (print->color)
		fprintf(print->out, "\033[3%um", 1 + thread->number % COLORS);
	if (name) {
		size_t room = WHO_WIDTH - (size_t)length;

		fx_print_shown(print->out, name->data, name->length, room);
		for (uint32_t i = 0; i < name->length; i++)
			columns += (name->data[i] & 0xc0) != 0x80;
		columns = columns < room ? columns : room;
	}
	fprintf(print->out, "%s%*s", id, (int)(WHO_WIDTH - columns) - length, "");
	fputs(print->color ? "\033[0m | " : " | ", print->out);
	fprintf(print->out, "%*s", (int)(2 * depth), "");
}

/* --- Values ----------------------------------------------------------------------------------- */

/* As a string of C: what a terminal would obey, and what is no UTF-8, by its number. */
static void callprint_quoted(FILE *out, const char *text, size_t length)
{
	putc('"', out);
	while (length > 0) {
		unsigned char byte = (unsigned char)text[0];
		size_t n = fx_utf8_sequence(text, length);

		if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte == '\n')
			fputs("\\n", out);
		else if (n == 0 || byte < 0x20 || byte == 0x7f)
			fprintf(out, "\\x%02X", byte);
		else if (byte == 0xc2 && (unsigned char)text[1] < 0xa0)
			fprintf(out, "\\x%02X\\x%02X", byte, (unsigned char)text[1]);
		else
			fwrite(text, 1, n, out);
		n = n ? n : 1;
		text += n;
		length -= n;
	}
	putc('"', out);
}

static void callprint_blob(FILE *out, const struct fxt_bytes *blob)
{
	const uint8_t *data = blob->data;

	fputs("0x", out);
	for (uint64_t i = 0; i < blob->size && i < BYTES_SHOWN; i++)
		fprintf(out, "%02x", data[i]);
	fputs(blob->size > BYTES_SHOWN ? "..." : "", out);
}

static void callprint_value(FILE *out, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		fprintf(out, "%" PRId32, arg->int32);
		return;
	case FXT_ARG_UINT32:
		fprintf(out, "%" PRIu32, arg->uint32);
		return;
	case FXT_ARG_INT64:
		fprintf(out, "%" PRId64, arg->int64);
		return;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		fprintf(out, "%" PRIu64, arg->uint64);
		return;
	case FXT_ARG_DOUBLE:
		fprintf(out, "%.9g", arg->real);
		return;
	case FXT_ARG_STRING:
		callprint_quoted(out, arg->string.data, arg->string.length);
		return;
	case FXT_ARG_POINTER:
		fprintf(out, "0x%" PRIx64, arg->pointer);
		return;
	case FXT_ARG_BOOL:
		fputs(arg->boolean ? "true" : "false", out);
		return;
	case FXT_ARG_BLOB:
		callprint_blob(out, &arg->blob);
		return;
	default:
		fputs("null", out);
	}
}

void fx_callprint_name(struct fx_callprint *print, const struct fxt_string *name)
{
	fx_print_shown(print->out, name->data, name->length, 0);
}

void fx_callprint_text(struct fx_callprint *print, const struct fxt_string *text)
{
	callprint_quoted(print->out, text->data, text->length);
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
			fputs(before, print->out);
			fx_callprint_name(print, &arg->name);
			putc('=', print->out);
			callprint_value(print->out, arg);
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
		fputs(" =", print->out);
	if (ret) {
		putc(' ', print->out);
		callprint_value(print->out, ret);
	}
	if (error) {
		putc(' ', print->out);
		if (error->type == FXT_ARG_STRING)
			fx_callprint_name(print, &error->string);
		else
			callprint_value(print->out, error);
	}
	if (ns <= INT64_MAX)
		fx_unit_number(FX_UNIT_NS, (int64_t)ns, text);
	fprintf(print->out, " <%s>;", text);
}

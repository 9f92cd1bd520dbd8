/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "convert/sample.h"

#include "convert/event-args.h"

const struct fxt_string *fx_sample_stack(const struct fx_event *event)
{
	const struct fxt_arg *arg;

	if (!fxt_string_equals(event->category, "sample"))
		return NULL;
	arg = fx_event_arg(event, "stack");
	return arg && arg->type == FXT_ARG_STRING && arg->string.length > 0 ? &arg->string : NULL;
}

uint64_t fx_sample_period(const struct fx_event *event)
{
	int64_t period;

	return fx_event_integer(event, "period_ns", &period) && period > 0 ? (uint64_t)period : 0;
}

/* A line is a text, or ends so. */
static bool line_is(const char *line, size_t length, const char *text, bool whole)
{
	size_t size = strlen(text);

	return length >= size && (!whole || length == size) &&
	       memcmp(line + length - size, text, size) == 0;
}

bool fx_sample_in_kernel(const char *stack, size_t length)
{
	const char *newline = memchr(stack, '\n', length);
	size_t line = newline ? (size_t)(newline - stack) : length;

	return line_is(stack, line, FX_SAMPLE_KERNEL, true) ||
	       line_is(stack, line, FX_SAMPLE_KERNEL_SUFFIX, false);
}

/* Whether a text is a number as code addresses are written, and nothing more. */
static bool reads_as_address(const char *text, size_t length)
{
	if (length < 3 || text[0] != '0' || text[1] != 'x')
		return false;
	for (size_t i = 2; i < length; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return false;
	}
	return true;
}

static size_t function_put(const char *text, size_t length, bool bracketed, char *ret, size_t room)
{
	size_t more = bracketed ? 2 : 0;

	if (length > room - more)
		length = room - more;
	if (bracketed)
		*ret++ = '[';
	memcpy(ret, text, length);
	if (bracketed)
		ret[length] = ']';
	return length + more;
}

size_t fx_sample_function(const char *line, size_t length, char *ret, size_t room)
{
	const char *plus = memrchr(line, '+', length);
	size_t module = plus ? (size_t)(plus - line) : 0;

	if (reads_as_address(line, length))
		return function_put("unknown", strlen("unknown"), true, ret, room);
	if (!plus || !reads_as_address(plus + 1, length - module - 1))
		return function_put(line, length, false, ret, room);
	/* A module's name may have brackets already. */
	return function_put(line, module, line[0] != '[', ret, room);
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "report/line.h"
#include "report/print.h"

enum { LINE_NUMBER_MAX = 24 };

void fx_line_flush(struct fx_line *line)
{
	if (line->used > 0)
		fwrite(line->text, 1, line->used, line->out);
	line->used = 0;
}

void fx_line_put_slow_(struct fx_line *line, const char *text, size_t length)
{
	fx_line_flush(line);
	if (length > FX_LINE_ROOM)
		fwrite(text, 1, length, line->out);
	else
		fx_line_put(line, text, length);
}

void fx_line_repeat(struct fx_line *line, char c, size_t count)
{
	while (count > 0) {
		size_t some = count;

		if (line->used == FX_LINE_ROOM)
			fx_line_flush(line);
		if (some > FX_LINE_ROOM - line->used)
			some = FX_LINE_ROOM - line->used;
		memset(line->text + line->used, c, some);
		line->used += some;
		count -= some;
	}
}

/* Digits of a number, the last of them before @end; returns the first. */
static char *line_digits(char *end, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	for (; number >= 100; number /= 100)
		memcpy(end -= 2, pairs + number % 100 * 2, 2);
	if (number >= 10)
		memcpy(end -= 2, pairs + number * 2, 2);
	else
		*--end = (char)('0' + number);
	return end;
}

void fx_line_number(struct fx_line *line, uint64_t number, size_t width, char fill)
{
	char digits[LINE_NUMBER_MAX], *end = digits + sizeof(digits);
	char *first = line_digits(end, number);

	while ((size_t)(end - first) < width && first > digits)
		*--first = fill;
	fx_line_put(line, first, (size_t)(end - first));
}

void fx_line_signed(struct fx_line *line, int64_t number)
{
	if (number < 0)
		fx_line_char(line, '-');
	fx_line_number(line, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 0, ' ');
}

void fx_line_hex(struct fx_line *line, uint64_t number)
{
	char digits[16];
	size_t at = sizeof(digits);

	do
		digits[--at] = "0123456789abcdef"[number & 15];
	while (number >>= 4);
	fx_line_put(line, digits + at, sizeof(digits) - at);
}

/* Whether each byte of a text takes a column and may stand as it is. */
static bool line_is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] < 0x20 || text[i] >= 0x7f)
			return false;
	}
	return true;
}

void fx_line_shown(struct fx_line *line, const char *text, size_t length, size_t width)
{
	if ((width == 0 || length <= width) && line_is_plain(text, length)) {
		fx_line_put(line, text, length);
		return;
	}
	fx_line_flush(line);
	fx_print_shown(line->out, text, length, width);
}

void fx_line_end(struct fx_line *line)
{
	fx_line_char(line, '\n');
	if (line->eager)
		fx_line_flush(line);
}

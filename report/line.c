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

static const char line_pairs[] = "00010203040506070809101112131415161718192021222324"
				 "25262728293031323334353637383940414243444546474849"
				 "50515253545556575859606162636465666768697071727374"
				 "75767778798081828384858687888990919293949596979899";

/* Digits of a number, the last of them before @end; returns the first. */
static char *line_digits(char *end, uint64_t number)
{
	for (; number >= 100; number /= 100)
		memcpy(end -= 2, line_pairs + number % 100 * 2, 2);
	if (number >= 10)
		memcpy(end -= 2, line_pairs + number * 2, 2);
	else
		*--end = (char)('0' + number);
	return end;
}

char *fx_line_nine_digits(char *text, uint32_t number)
{
	uint32_t high = number / 10000, low = number % 10000;

	text[0] = (char)('0' + high / 10000);
	memcpy(text + 1, line_pairs + high / 100 % 100 * 2, 2);
	memcpy(text + 3, line_pairs + high % 100 * 2, 2);
	memcpy(text + 5, line_pairs + low / 100 * 2, 2);
	memcpy(text + 7, line_pairs + low % 100 * 2, 2);
	return text + 9;
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

/* Of eight bytes: those that are 0x20 to 0x7e have no bit here. */
static uint64_t line_odd_bytes(uint64_t bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;

	return (bytes | (bytes + ones) | ~((bytes | highs) - 0x20 * ones)) & highs;
}

/* Whether each byte of a text takes a column and may stand as it is. */
bool fx_line_is_plain(const char *text, size_t length)
{
	uint64_t bytes, odd = 0;

	if (length < sizeof(bytes)) {
		bytes = UINT64_C(0x2020202020202020);
		memcpy(&bytes, text, length);
		return line_odd_bytes(bytes) == 0;
	}
	for (size_t i = 0; i + sizeof(bytes) <= length; i += sizeof(bytes)) {
		memcpy(&bytes, text + i, sizeof(bytes));
		odd |= line_odd_bytes(bytes);
	}
	memcpy(&bytes, text + length - sizeof(bytes), sizeof(bytes));
	return (odd | line_odd_bytes(bytes)) == 0;
}

void fx_line_shown(struct fx_line *line, const char *text, size_t length, size_t width)
{
	if ((width == 0 || length <= width) && fx_line_is_plain(text, length)) {
		fx_line_put(line, text, length);
		return;
	}
	fx_line_flush(line);
	fx_print_shown(line->out, text, length, width);
}

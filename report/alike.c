/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "report/alike.h"

enum { FIRST_CHOSEN_PORT = 32768, LAST_PORT = 65535 };

static size_t alike_count_digits(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && isdigit((unsigned char)text[count]))
		count++;
	return count;
}

static size_t alike_count_hex(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && isxdigit((unsigned char)text[count]))
		count++;
	return count;
}

/* Whether what was written so far ends with these words. */
static bool alike_ends_with(const char *written, size_t length, const char *words)
{
	size_t count = strlen(words);

	return length >= count && memcmp(written + length - count, words, count) == 0;
}

/* Behind an address of the net: 127.0.0.1:41532, [::1]:41532. */
static bool alike_is_port(const char *written, size_t put, const char *digits, size_t count)
{
	unsigned port = 0;

	if (count != 5 || put < 2 || written[put - 1] != ':' ||
	    !(isdigit((unsigned char)written[put - 2]) || written[put - 2] == ']'))
		return false;
	for (size_t i = 0; i < count; i++)
		port = port * 10 + (unsigned)(digits[i] - '0');
	return port >= FIRST_CHOSEN_PORT && port <= LAST_PORT;
}

/* How long the number is that begins here and is of this run alone; 0: there is none. */
static size_t alike_number(const char *written, size_t put, const char *text, size_t length)
{
	size_t count = alike_count_digits(text, length);

	if (count == 0)
		return 0;
	if (alike_ends_with(written, put, ":["))
		return length > count && text[count] == ']' ? count : 0;
	if (alike_ends_with(written, put, "(tid ") || alike_ends_with(written, put, "/proc/") ||
	    alike_is_port(written, put, text, count))
		return count;
	return 0;
}

/* The same for an address, behind its `0x'. */
static size_t alike_address(const char *written, size_t put, const char *text, size_t length)
{
	bool is_first =
	    put < 3 || (written[put - 3] != '+' && !isalnum((unsigned char)written[put - 3]));

	return is_first && alike_ends_with(written, put, "0x") ? alike_count_hex(text, length) : 0;
}

size_t fx_alike(const char *text, size_t length, char *alike)
{
	size_t put = 0, at = 0;

	while (at < length) {
		size_t count = alike_number(alike, put, text + at, length - at);

		if (count == 0)
			count = alike_address(alike, put, text + at, length - at);
		alike[put++] = count > 0 ? '*' : text[at];
		at += count > 0 ? count : 1;
	}
	alike[put] = 0;
	return put;
}

/* SPDX-License-Identifier: MIT */
/*
 * Lines of text that are put together piece by piece, very many of them: a buffer of its own before a FILE, with numbers
 * formatted by hand. Errors of output stay in the FILE.
 */
#ifndef FX_REPORT_LINE_H
#define FX_REPORT_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FX_LINE_ROOM = 1 << 16 };

struct fx_line {
	FILE *out;
	bool eager; /* each line is written when it ends */
	size_t used;
	char text[FX_LINE_ROOM];
};

/* Writes what is there. */
void fx_line_flush(struct fx_line *line);

void fx_line_put_slow_(struct fx_line *line, const char *text, size_t length);

static inline void fx_line_put(struct fx_line *line, const char *text, size_t length)
{
	if (length > FX_LINE_ROOM - line->used) {
		fx_line_put_slow_(line, text, length);
		return;
	}
	memcpy(line->text + line->used, text, length);
	line->used += length;
}

static inline void fx_line_string(struct fx_line *line, const char *text)
{
	fx_line_put(line, text, strlen(text));
}

static inline void fx_line_char(struct fx_line *line, char c)
{
	fx_line_put(line, &c, 1);
}

/* Room for @size more bytes, FX_LINE_ROOM at most; what is put there ends at fx_line_end_room(). */
static inline char *fx_line_room(struct fx_line *line, size_t size)
{
	if (size > FX_LINE_ROOM - line->used)
		fx_line_flush(line);
	return line->text + line->used;
}

static inline void fx_line_end_room(struct fx_line *line, const char *end)
{
	line->used = (size_t)(end - line->text);
}

void fx_line_repeat(struct fx_line *line, char c, size_t count);

/* Decimal, at least of this width (up to 24), with @fill before it. */
void fx_line_number(struct fx_line *line, uint64_t number, size_t width, char fill);
void fx_line_signed(struct fx_line *line, int64_t number);
/* Decimal digits of a number below 10^9, all nine, at @text; returns what is behind them. */
char *fx_line_nine_digits(char *text, uint32_t number);

void fx_line_hex(struct fx_line *line, uint64_t number);

/* Whether each byte of a text is a character of a column. */
bool fx_line_is_plain(const char *text, size_t length);

/* A text as fx_print_shown() has it (print.h). */
void fx_line_shown(struct fx_line *line, const char *text, size_t length, size_t width);

static inline void fx_line_end(struct fx_line *line)
{
	fx_line_char(line, '\n');
	if (line->eager)
		fx_line_flush(line);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Text of measurements (spec.h), as words. */
#ifndef FX_MEASURE_LEXER_H
#define FX_MEASURE_LEXER_H

#include <stdbool.h>
#include <stddef.h>

enum fx_token_kind {
	FX_TOKEN_END,	 /* of the text */
	FX_TOKEN_LINE,	 /* the end of a measurement */
	FX_TOKEN_WORD,	 /* letters, digits, `_', `-', `.'; begins with a letter or `_' */
	FX_TOKEN_NUMBER, /* begins with a digit, or `-' and a digit; units stand right behind it */
	FX_TOKEN_STRING, /* in quotation marks, which are part of it */
	FX_TOKEN_SIGN,	 /* one of : , ( ) and the operators */
	FX_TOKEN_BAD,	 /* a byte that begins nothing, or a string without an end */
};

struct fx_token {
	enum fx_token_kind kind;
	const char *start; /* in the text */
	size_t length;
	unsigned line, column; /* counted from 1; columns are bytes */
};

struct fx_lexer {
	const char *at, *end;
	const char *line_start;
	unsigned line;
};

void fx_lexer_init(struct fx_lexer *lexer, const char *text, size_t length);
struct fx_token fx_lexer_next(struct fx_lexer *lexer);

bool fx_token_is(const struct fx_token *token, const char *text);

#endif

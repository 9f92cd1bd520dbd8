/* SPDX-License-Identifier: MIT */
/*
 * What the rules of the grammar (parser.c) are made of: words of its tables, tokens taken one by one, values, and the first
 * fault, after which there is nothing more to take.
 */
#ifndef FX_MEASURE_PARSING_H
#define FX_MEASURE_PARSING_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/lexer.h"
#include "measure/spec.h"

/* Digits of a number, and of a percentile. */
enum { FX_PARSER_NUMBER_MAX = 63 };

struct fx_parser {
	struct fx_lexer lexer;
	struct fx_token token; /* what comes next */
	struct fx_token last;  /* what was taken last */
	struct fx_spec *spec;
	struct fx_spec_fault *fault;
	int error; /* 0, -EINVAL or -ENOMEM: the first one counts */
};

/* A word, and what it stands for; tables of them end with a word that is NULL. */
struct fx_parser_word {
	const char *word;
	int value;
	enum fx_literal_type type;
};

extern const struct fx_parser_word fx_parser_fields[], fx_parser_statistics[],
    fx_parser_operators[];

/* NULL: the token is none of them. */
const struct fx_parser_word *fx_parser_find_word(const struct fx_parser_word *words,
						 const struct fx_token *token);

/* The first fault stays. */
void fx_parser_fail(struct fx_parser *parser, const struct fx_token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "expected WHAT, not `what stands there'" */
void fx_parser_expected(struct fx_parser *parser, const char *what);

/* A copy that lives as long as the spec; "" where memory has run out. */
char *fx_parser_keep(struct fx_parser *parser, const char *text, size_t length);

/* To the next token; after a fault there is nothing more to take. */
void fx_parser_advance(struct fx_parser *parser);

/* Whether this word or sign comes next; whether it did, and was taken; that it has to. */
bool fx_parser_is(const struct fx_parser *parser, const char *text);
bool fx_parser_take(struct fx_parser *parser, const char *text);
void fx_parser_want(struct fx_parser *parser, const char *text);

/* The text of a string: \" and \\ stand for the characters behind the backslash. */
const char *fx_parser_unquote(struct fx_parser *parser, const struct fx_token *token);

/* A string, or any value, that has to come next; `what' is how a fault calls it. */
const char *fx_parser_string(struct fx_parser *parser, const char *what);
struct fx_literal fx_parser_literal(struct fx_parser *parser, const char *what);

#endif

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "measure/parsing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

/* Of what stands in the wrong place. */
enum { SHOWN_MAX = 40 };

/* --- Words ------------------------------------------------------------------------------------- */

#define FX_FIELD(name, word, type) {word, FX_FIELD_##name, FX_LITERAL_##type},
#define FX_STATISTIC(name, word)
#define FX_OPERATOR(name, sign)
const struct fx_parser_word fx_parser_fields[] = {
#include "measure/words.def"
    {NULL, 0, FX_LITERAL_NUMBER}};
#undef FX_FIELD
#undef FX_STATISTIC
#undef FX_OPERATOR

#define FX_FIELD(name, word, type)
#define FX_STATISTIC(name, word) {word, FX_STATISTIC_##name, FX_LITERAL_NUMBER},
#define FX_OPERATOR(name, sign)
const struct fx_parser_word fx_parser_statistics[] = {
#include "measure/words.def"
    {NULL, 0, FX_LITERAL_NUMBER}};
#undef FX_FIELD
#undef FX_STATISTIC
#undef FX_OPERATOR

#define FX_FIELD(name, word, type)
#define FX_STATISTIC(name, word)
#define FX_OPERATOR(name, sign) {sign, FX_OPERATOR_##name, FX_LITERAL_NUMBER},
const struct fx_parser_word fx_parser_operators[] = {
#include "measure/words.def"
    {"==", FX_OPERATOR_EQUAL, FX_LITERAL_NUMBER}, {NULL, 0, FX_LITERAL_NUMBER}};
#undef FX_FIELD
#undef FX_STATISTIC
#undef FX_OPERATOR

const struct fx_parser_word *fx_parser_find_word(const struct fx_parser_word *words,
						 const struct fx_token *token)
{
	for (; words->word; words++) {
		if (fx_token_is(token, words->word))
			return words;
	}
	return NULL;
}

void fx_spec_statistic_text(enum fx_statistic statistic, double percent, char text[24])
{
	if (statistic == FX_STATISTIC_PERCENTILE) {
		snprintf(text, 24, "p%.10g", percent);
		return;
	}
	for (const struct fx_parser_word *word = fx_parser_statistics; word->word; word++) {
		if (word->value == (int)statistic)
			snprintf(text, 24, "%s", word->word);
	}
}

const char *fx_spec_operator_text(enum fx_operator relation)
{
	for (const struct fx_parser_word *word = fx_parser_operators; word->word; word++) {
		if (word->value == (int)relation)
			return word->word;
	}
	return "has";
}

/* --- Faults, memory, tokens -------------------------------------------------------------------- */

void fx_parser_fail(struct fx_parser *parser, const struct fx_token *at, const char *format, ...)
{
	va_list args;

	if (parser->error)
		return;
	parser->error = -EINVAL;
	parser->fault->line = at->line;
	parser->fault->column = at->column;
	va_start(args, format);
	vsnprintf(parser->fault->what, sizeof(parser->fault->what), format, args);
	va_end(args);
}

void fx_parser_expected(struct fx_parser *parser, const char *what)
{
	const struct fx_token *token = &parser->token;
	char shown[4 * SHOWN_MAX + 1];
	size_t length = token->length < SHOWN_MAX ? token->length : SHOWN_MAX;

	shown[fx_escape(shown, sizeof(shown) - 1, token->start, length,
			FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES)] = '\0';
	if (token->kind == FX_TOKEN_END || token->kind == FX_TOKEN_LINE)
		fx_parser_fail(parser, token, "expected %s, not the end of the measurement", what);
	else if (token->kind == FX_TOKEN_BAD && *token->start == '"')
		fx_parser_fail(parser, token, "a text without its closing quotation mark");
	else
		fx_parser_fail(parser, token, "expected %s, not %s%s", what, shown,
			       length < token->length ? "..." : "");
}

char *fx_parser_keep(struct fx_parser *parser, const char *text, size_t length)
{
	static char nothing[1];
	char *copy = malloc(length + 1);

	if (!copy || fx_vector_reserve(&parser->spec->texts, 1) < 0) {
		free(copy);
		parser->error = -ENOMEM;
		return nothing;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	parser->spec->texts.items[parser->spec->texts.count++] = copy;
	return copy;
}

void fx_parser_advance(struct fx_parser *parser)
{
	parser->last = parser->token;
	if (parser->token.kind != FX_TOKEN_END && !parser->error)
		parser->token = fx_lexer_next(&parser->lexer);
}

bool fx_parser_is(const struct fx_parser *parser, const char *text)
{
	return !parser->error &&
	       (parser->token.kind == FX_TOKEN_WORD || parser->token.kind == FX_TOKEN_SIGN) &&
	       fx_token_is(&parser->token, text);
}

bool fx_parser_take(struct fx_parser *parser, const char *text)
{
	if (!fx_parser_is(parser, text))
		return false;
	fx_parser_advance(parser);
	return true;
}

void fx_parser_want(struct fx_parser *parser, const char *text)
{
	char what[40];

	snprintf(what, sizeof(what), "`%s'", text);
	if (!fx_parser_take(parser, text))
		fx_parser_expected(parser, what);
}

/* --- Values ------------------------------------------------------------------------------------ */

const char *fx_parser_unquote(struct fx_parser *parser, const struct fx_token *token)
{
	char *text = fx_parser_keep(parser, token->start + 1, token->length - 2);
	size_t put = 0;

	if (memchr(token->start, '\0', token->length))
		fx_parser_fail(parser, token, "a text with a zero byte in it");
	if (parser->error)
		return text;
	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '\\' && (text[i + 1] == '"' || text[i + 1] == '\\'))
			i++;
		text[put++] = text[i];
	}
	text[put] = '\0';
	return text;
}

const char *fx_parser_string(struct fx_parser *parser, const char *what)
{
	const char *text = "";

	if (parser->token.kind != FX_TOKEN_STRING) {
		fx_parser_expected(parser, what);
		return text;
	}
	text = fx_parser_unquote(parser, &parser->token);
	fx_parser_advance(parser);
	return text;
}

static const struct parser_unit {
	const char *name;
	long double factor;
	enum fx_literal_type type;
} parser_units[] = {
    {"", 1, FX_LITERAL_NUMBER},	       {"K", 0x1p10L, FX_LITERAL_NUMBER},
    {"M", 0x1p20L, FX_LITERAL_NUMBER}, {"G", 0x1p30L, FX_LITERAL_NUMBER},
    {"ns", 1, FX_LITERAL_TIME},	       {"us", 1e3L, FX_LITERAL_TIME},
    {"ms", 1e6L, FX_LITERAL_TIME},     {"s", 1e9L, FX_LITERAL_TIME},
    {"min", 60e9L, FX_LITERAL_TIME},
};

static const struct parser_unit *parser_find_unit(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(parser_units) / sizeof(parser_units[0]); i++) {
		if (strlen(parser_units[i].name) == length &&
		    memcmp(parser_units[i].name, name, length) == 0)
			return &parser_units[i];
	}
	return NULL;
}

/* A number, with its unit right behind it or as the next word. */
static struct fx_literal parser_number(struct fx_parser *parser)
{
	const struct fx_token number = parser->token;
	struct fx_literal literal = {.type = FX_LITERAL_NUMBER};
	const struct parser_unit *unit;
	char text[FX_PARSER_NUMBER_MAX + 1], *end;

	if (number.length > FX_PARSER_NUMBER_MAX) {
		fx_parser_fail(parser, &number, "a number of too many digits");
		return literal;
	}
	memcpy(text, number.start, number.length);
	text[number.length] = '\0';
	literal.number = strtold(text, &end);
	unit = parser_find_unit(end, strlen(end));
	if (!unit || !isfinite(literal.number)) {
		fx_parser_expected(parser,
				   "a number, with a unit (ns, us, ms, s, min; K, M, G) or none");
		return literal;
	}
	fx_parser_advance(parser);
	if (!*end && parser->token.kind == FX_TOKEN_WORD &&
	    parser_find_unit(parser->token.start, parser->token.length)) {
		unit = parser_find_unit(parser->token.start, parser->token.length);
		fx_parser_advance(parser);
	}
	literal.type = unit->type;
	literal.number *= unit->factor;
	return literal;
}

struct fx_literal fx_parser_literal(struct fx_parser *parser, const char *what)
{
	struct fx_literal literal = {.type = FX_LITERAL_BOOL};

	if (parser->token.kind == FX_TOKEN_STRING) {
		literal.type = FX_LITERAL_TEXT;
		literal.text = fx_parser_string(parser, what);
	} else if (parser->token.kind == FX_TOKEN_NUMBER) {
		literal = parser_number(parser);
	} else if (fx_parser_is(parser, "true") || fx_parser_is(parser, "false")) {
		literal.number = fx_parser_is(parser, "true");
		fx_parser_advance(parser);
	} else {
		fx_parser_expected(parser, what);
	}
	return literal;
}

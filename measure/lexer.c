/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "measure/lexer.h"

void fx_lexer_init(struct fx_lexer *lexer, const char *text, size_t length)
{
	*lexer = (struct fx_lexer){.at = text, .end = text + length, .line_start = text, .line = 1};
}

static bool lexer_has(const struct fx_lexer *lexer, size_t ahead)
{
	return (size_t)(lexer->end - lexer->at) > ahead;
}

static bool lexer_is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

static void lexer_skip_blanks(struct fx_lexer *lexer)
{
	while (lexer_has(lexer, 0) && lexer_is_blank(*lexer->at))
		lexer->at++;
	if (lexer_has(lexer, 0) && *lexer->at == '#') {
		while (lexer_has(lexer, 0) && *lexer->at != '\n')
			lexer->at++;
	}
}

/* Goes over ends of lines, and lines that are empty. Whether what follows begins a line of its own. */
static bool lexer_skip_lines(struct fx_lexer *lexer)
{
	bool is_new = false;

	lexer_skip_blanks(lexer);
	while (lexer_has(lexer, 0) && *lexer->at == '\n') {
		lexer->at++;
		lexer->line++;
		lexer->line_start = lexer->at;
		is_new = lexer_has(lexer, 0) && !lexer_is_blank(*lexer->at);
		lexer_skip_blanks(lexer);
	}
	return is_new;
}

static bool lexer_is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '.' || byte == '-';
}

static size_t lexer_string_length(const char *start, const char *end)
{
	const char *at = start + 1;

	while (at < end && *at != '"' && *at != '\n')
		at += *at == '\\' && at + 1 < end && at[1] != '\n' ? 2 : 1;
	return at < end && *at == '"' ? (size_t)(at - start) + 1 : 0;
}

static size_t lexer_sign_length(const char *start, const char *end)
{
	static const char *const signs[] = {"==", "!=", "<=", ">=", "!~", "=", "<",
					    ">",  "~",	":",  ",",  "(",  ")"};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		size_t length = strlen(signs[i]);

		if ((size_t)(end - start) >= length && memcmp(start, signs[i], length) == 0)
			return length;
	}
	return 0;
}

/* What kind of token begins here, and how long it is. */
static enum fx_token_kind lexer_look(const struct fx_lexer *lexer, size_t *ret_length)
{
	const char *at = lexer->at;
	bool is_negative = *at == '-' && lexer_has(lexer, 1) && isdigit((unsigned char)at[1]);

	*ret_length = 1;
	if (*at == '"') {
		size_t length = lexer_string_length(at, lexer->end);

		*ret_length = length ? length : 1;
		return length ? FX_TOKEN_STRING : FX_TOKEN_BAD;
	}
	if (isalnum((unsigned char)*at) || *at == '_' || is_negative) {
		while (lexer_has(lexer, *ret_length) && lexer_is_word(at[*ret_length]))
			++*ret_length;
		return isdigit((unsigned char)*at) || is_negative ? FX_TOKEN_NUMBER : FX_TOKEN_WORD;
	}
	*ret_length = lexer_sign_length(at, lexer->end);
	if (*ret_length > 0)
		return FX_TOKEN_SIGN;
	*ret_length = 1;
	return FX_TOKEN_BAD;
}

struct fx_token fx_lexer_next(struct fx_lexer *lexer)
{
	struct fx_token token = {.line = lexer->line,
				 .column = (unsigned)(lexer->at - lexer->line_start) + 1};
	bool is_new = lexer_skip_lines(lexer);

	token.start = lexer->at;
	if (is_new) {
		/* The measurement ended where the line before did. */
		token.kind = FX_TOKEN_LINE;
		return token;
	}
	token.line = lexer->line;
	token.column = (unsigned)(lexer->at - lexer->line_start) + 1;
	if (lexer_has(lexer, 0))
		token.kind = lexer_look(lexer, &token.length);
	lexer->at += token.length;
	return token;
}

bool fx_token_is(const struct fx_token *token, const char *text)
{
	return token->length == strlen(text) && memcmp(token->start, text, token->length) == 0;
}

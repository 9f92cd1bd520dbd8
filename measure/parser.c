/* SPDX-License-Identifier: MIT */
/* Text of measurements into a spec: a function for each rule of the grammar (spec.h). */
#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "measure/lexer.h"
#include "measure/spec.h"

enum { MEASUREMENTS_MAX = 10000, NUMBER_LENGTH_MAX = 63, SHOWN_MAX = 40 };

struct parser {
	struct fx_lexer lexer;
	struct fx_token token; /* what comes next */
	struct fx_token last;  /* what was taken last */
	struct fx_spec *spec;
	struct fx_spec_fault *fault;
	int error; /* 0, -EINVAL or -ENOMEM: the first one counts */
};

/* --- Words ------------------------------------------------------------------------------------- */

struct parser_word {
	const char *word;
	int value;
	enum fx_literal_type type;
};

#define FX_FIELD(name, word, type) {word, FX_FIELD_##name, FX_LITERAL_##type},
#define FX_STATISTIC(name, word)
#define FX_OPERATOR(name, sign)
static const struct parser_word parser_fields[] = {
#include "measure/words.def"
    {NULL, 0, FX_LITERAL_NUMBER}};
#undef FX_FIELD
#undef FX_STATISTIC
#undef FX_OPERATOR

#define FX_FIELD(name, word, type)
#define FX_STATISTIC(name, word) {word, FX_STATISTIC_##name, FX_LITERAL_NUMBER},
#define FX_OPERATOR(name, sign)
static const struct parser_word parser_statistics[] = {
#include "measure/words.def"
    {NULL, 0, FX_LITERAL_NUMBER}};
#undef FX_FIELD
#undef FX_STATISTIC
#undef FX_OPERATOR

#define FX_FIELD(name, word, type)
#define FX_STATISTIC(name, word)
#define FX_OPERATOR(name, sign) {sign, FX_OPERATOR_##name, FX_LITERAL_NUMBER},
static const struct parser_word parser_operators[] = {
#include "measure/words.def"
    {"==", FX_OPERATOR_EQUAL, FX_LITERAL_NUMBER}, {NULL, 0, FX_LITERAL_NUMBER}};
#undef FX_FIELD
#undef FX_STATISTIC
#undef FX_OPERATOR

static const struct parser_word *parser_find_word(const struct parser_word *words,
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
	for (const struct parser_word *word = parser_statistics; word->word; word++) {
		if (word->value == (int)statistic)
			snprintf(text, 24, "%s", word->word);
	}
}

const char *fx_spec_operator_text(enum fx_operator relation)
{
	for (const struct parser_word *word = parser_operators; word->word; word++) {
		if (word->value == (int)relation)
			return word->word;
	}
	return "has";
}

/* --- Faults, memory, tokens -------------------------------------------------------------------- */

static void parser_fail(struct parser *parser, const struct fx_token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void parser_fail(struct parser *parser, const struct fx_token *at, const char *format, ...)
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

/* "expected WHAT, not `what stands there'" */
static void parser_expected(struct parser *parser, const char *what)
{
	const struct fx_token *token = &parser->token;
	char shown[4 * SHOWN_MAX + 1];
	size_t length = token->length < SHOWN_MAX ? token->length : SHOWN_MAX;

	shown[fx_escape(shown, sizeof(shown) - 1, token->start, length,
			FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES)] = '\0';
	if (token->kind == FX_TOKEN_END || token->kind == FX_TOKEN_LINE)
		parser_fail(parser, token, "expected %s, not the end of the measurement", what);
	else if (token->kind == FX_TOKEN_BAD && *token->start == '"')
		parser_fail(parser, token, "a text without its closing quotation mark");
	else
		parser_fail(parser, token, "expected %s, not %s%s", what, shown,
			    length < token->length ? "..." : "");
}

/* A copy that lives as long as the spec; "" where memory has run out. */
static char *parser_keep(struct parser *parser, const char *text, size_t length)
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

/* After a fault there is nothing more to take. */
static void parser_advance(struct parser *parser)
{
	parser->last = parser->token;
	if (parser->token.kind != FX_TOKEN_END && !parser->error)
		parser->token = fx_lexer_next(&parser->lexer);
}

static bool parser_is(const struct parser *parser, const char *text)
{
	return !parser->error &&
	       (parser->token.kind == FX_TOKEN_WORD || parser->token.kind == FX_TOKEN_SIGN) &&
	       fx_token_is(&parser->token, text);
}

static bool parser_take(struct parser *parser, const char *text)
{
	if (!parser_is(parser, text))
		return false;
	parser_advance(parser);
	return true;
}

static void parser_want(struct parser *parser, const char *text)
{
	char what[40];

	snprintf(what, sizeof(what), "`%s'", text);
	if (!parser_take(parser, text))
		parser_expected(parser, what);
}

/* --- Values ------------------------------------------------------------------------------------ */

/* The text of a string: \" and \\ stand for the characters behind the backslash. */
static const char *parser_unquote(struct parser *parser, const struct fx_token *token)
{
	char *text = parser_keep(parser, token->start + 1, token->length - 2);
	size_t put = 0;

	if (memchr(token->start, '\0', token->length))
		parser_fail(parser, token, "a text with a zero byte in it");
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

static const char *parser_string(struct parser *parser, const char *what)
{
	const char *text = "";

	if (parser->token.kind != FX_TOKEN_STRING) {
		parser_expected(parser, what);
		return text;
	}
	text = parser_unquote(parser, &parser->token);
	parser_advance(parser);
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
static struct fx_literal parser_number(struct parser *parser)
{
	const struct fx_token number = parser->token;
	struct fx_literal literal = {.type = FX_LITERAL_NUMBER};
	const struct parser_unit *unit;
	char text[NUMBER_LENGTH_MAX + 1], *end;

	if (number.length > NUMBER_LENGTH_MAX) {
		parser_fail(parser, &number, "a number of too many digits");
		return literal;
	}
	memcpy(text, number.start, number.length);
	text[number.length] = '\0';
	literal.number = strtold(text, &end);
	unit = parser_find_unit(end, strlen(end));
	if (!unit || !isfinite(literal.number)) {
		parser_expected(parser,
				"a number, with a unit (ns, us, ms, s, min; K, M, G) or none");
		return literal;
	}
	parser_advance(parser);
	if (!*end && parser->token.kind == FX_TOKEN_WORD &&
	    parser_find_unit(parser->token.start, parser->token.length)) {
		unit = parser_find_unit(parser->token.start, parser->token.length);
		parser_advance(parser);
	}
	literal.type = unit->type;
	literal.number *= unit->factor;
	return literal;
}

static struct fx_literal parser_literal(struct parser *parser, const char *what)
{
	struct fx_literal literal = {.type = FX_LITERAL_BOOL};

	if (parser->token.kind == FX_TOKEN_STRING) {
		literal.type = FX_LITERAL_TEXT;
		literal.text = parser_string(parser, what);
	} else if (parser->token.kind == FX_TOKEN_NUMBER) {
		literal = parser_number(parser);
	} else if (parser_is(parser, "true") || parser_is(parser, "false")) {
		literal.number = parser_is(parser, "true");
		parser_advance(parser);
	} else {
		parser_expected(parser, what);
	}
	return literal;
}

/* --- Conditions -------------------------------------------------------------------------------- */

/* arg.NAME, or arg."NAME"; NULL: something else comes. */
static const char *parser_argument(struct parser *parser)
{
	const struct fx_token token = parser->token;

	if (token.kind != FX_TOKEN_WORD || token.length < 4 || memcmp(token.start, "arg.", 4) != 0)
		return NULL;
	parser_advance(parser);
	if (token.length > 4)
		return parser_keep(parser, token.start + 4, token.length - 4);
	return parser_string(parser, "the name of an argument");
}

/* A field or an argument. */
static struct fx_asked parser_asked(struct parser *parser, enum fx_literal_type *ret_type)
{
	struct fx_asked asked = {.field = FX_FIELD_ARGUMENT};
	const struct parser_word *word = NULL;

	if (parser->token.kind == FX_TOKEN_WORD)
		word = parser_find_word(parser_fields, &parser->token);
	asked.argument = parser_argument(parser);
	if (asked.argument)
		return asked;
	if (!word) {
		parser_expected(parser, "arg.NAME, name, category, thread, tid, process, pid, "
					"duration or at");
		return asked;
	}
	asked.field = (enum fx_field)word->value;
	*ret_type = word->type;
	parser_advance(parser);
	return asked;
}

static enum fx_operator parser_operator(struct parser *parser, const char *what)
{
	const struct parser_word *word = NULL;

	if (parser->token.kind == FX_TOKEN_SIGN)
		word = parser_find_word(parser_operators, &parser->token);
	if (!word) {
		parser_expected(parser, what);
		return FX_OPERATOR_EQUAL;
	}
	parser_advance(parser);
	return (enum fx_operator)word->value;
}

static bool parser_operator_is_order(enum fx_operator relation)
{
	return relation == FX_OPERATOR_LESS || relation == FX_OPERATOR_AT_MOST ||
	       relation == FX_OPERATOR_MORE || relation == FX_OPERATOR_AT_LEAST;
}

static bool parser_operator_is_pattern(enum fx_operator relation)
{
	return relation == FX_OPERATOR_MATCHES || relation == FX_OPERATOR_MATCHES_NOT;
}

/* What cannot be compared is not: a text with <, a time with a number. */
static void parser_check_leaf(struct parser *parser, const struct fx_condition *leaf,
			      enum fx_literal_type type, const struct fx_token *at)
{
	static const char *const wanted[] = {
	    [FX_LITERAL_NUMBER] = "expected a number",
	    [FX_LITERAL_TIME] = "expected a time with its unit, such as 20ms",
	    [FX_LITERAL_TEXT] = "expected a text, such as \"main\"",
	    [FX_LITERAL_BOOL] = "expected true or false"};
	enum fx_literal_type got = leaf->literal.type;

	if (parser_operator_is_pattern(leaf->relation) && got != FX_LITERAL_TEXT)
		parser_fail(parser, at, "expected a pattern, such as \"read*\"");
	else if (parser_operator_is_order(leaf->relation) &&
		 (got == FX_LITERAL_TEXT || got == FX_LITERAL_BOOL))
		parser_fail(parser, at, "expected a number behind %s",
			    fx_spec_operator_text(leaf->relation));
	else if (leaf->asked.field == FX_FIELD_ARGUMENT && got == FX_LITERAL_TIME)
		parser_fail(parser, at, "expected a number: nobody knows the unit of an argument");
	else if (leaf->asked.field != FX_FIELD_ARGUMENT && got != type)
		parser_fail(parser, at, "%s", wanted[type]);
}

static uint32_t parser_add_node(struct parser *parser, struct fx_selector *selector,
				const struct fx_condition *node)
{
	if (parser->error)
		return 0;
	if (fx_vector_reserve(&selector->nodes, 1) < 0) {
		parser->error = -ENOMEM;
		return 0;
	}
	selector->nodes.items[selector->nodes.count] = *node;
	return (uint32_t)selector->nodes.count++;
}

static uint32_t parser_leaf(struct parser *parser, struct fx_selector *selector)
{
	struct fx_condition leaf = {.kind = FX_CONDITION_LEAF};
	enum fx_literal_type type = FX_LITERAL_NUMBER;
	const struct fx_token start = parser->token;
	struct fx_token at;

	for (size_t i = 0; i < selector->nodes.count; i++)
		leaf.leaf += selector->nodes.items[i].kind == FX_CONDITION_LEAF;
	if (leaf.leaf == FX_CONDITION_LEAVES_MAX)
		parser_fail(parser, &start, "more than 63 comparisons in one condition");
	if (parser_take(parser, "has")) {
		leaf.relation = FX_OPERATOR_HAS;
		leaf.asked.field = FX_FIELD_ARGUMENT;
		leaf.asked.argument = parser_argument(parser);
		if (!leaf.asked.argument)
			parser_expected(parser, "arg.NAME");
		return parser_add_node(parser, selector, &leaf);
	}
	leaf.asked = parser_asked(parser, &type);
	leaf.relation = parser_operator(parser, "one of = != < <= > >= ~ !~");
	at = parser->token;
	leaf.literal = parser_literal(parser, "a value: a text, a number, a time, true or false");
	parser_check_leaf(parser, &leaf, type, &at);
	return parser_add_node(parser, selector, &leaf);
}

static uint32_t parser_condition(struct parser *parser, struct fx_selector *selector,
				 unsigned depth);

static uint32_t parser_factor(struct parser *parser, struct fx_selector *selector, unsigned depth)
{
	struct fx_condition node = {.kind = FX_CONDITION_NOT};
	uint32_t inner;

	if (depth > FX_CONDITION_DEPTH_MAX)
		parser_fail(parser, &parser->token, "a condition nested too deep");
	if (parser_take(parser, "not")) {
		node.left = parser_factor(parser, selector, depth + 1);
		return parser_add_node(parser, selector, &node);
	}
	if (parser_take(parser, "(")) {
		inner = parser_condition(parser, selector, depth + 1);
		parser_want(parser, ")");
		return inner;
	}
	return parser_leaf(parser, selector);
}

static uint32_t parser_term(struct parser *parser, struct fx_selector *selector, unsigned depth)
{
	struct fx_condition node = {.kind = FX_CONDITION_AND};
	uint32_t term = parser_factor(parser, selector, depth);

	while (parser_take(parser, "and")) {
		node.left = term;
		node.right = parser_factor(parser, selector, depth);
		term = parser_add_node(parser, selector, &node);
	}
	return term;
}

static uint32_t parser_condition(struct parser *parser, struct fx_selector *selector,
				 unsigned depth)
{
	struct fx_condition node = {.kind = FX_CONDITION_OR};
	uint32_t condition = parser_term(parser, selector, depth);

	while (parser_take(parser, "or")) {
		node.left = condition;
		node.right = parser_term(parser, selector, depth);
		condition = parser_add_node(parser, selector, &node);
	}
	return condition;
}

/* --- Measurements ------------------------------------------------------------------------------ */

static void parser_events(struct parser *parser, struct fx_selector *selector)
{
	selector->pattern = parser_string(parser, "the name of events, such as \"read\"");
	if (parser_take(parser, "where"))
		selector->root = parser_condition(parser, selector, 0);
}

static void parser_moment(struct parser *parser, struct fx_selector *selector)
{
	selector->at_end = parser_is(parser, "end");
	if (parser_take(parser, "begin") || parser_take(parser, "end"))
		parser_want(parser, "of");
	parser_events(parser, selector);
}

static void parser_keys(struct parser *parser, struct fx_measurement *measurement)
{
	enum fx_literal_type type;

	do {
		const struct fx_token at = parser->token;
		struct fx_asked asked = parser_asked(parser, &type);

		if (asked.field == FX_FIELD_DURATION || asked.field == FX_FIELD_AT)
			parser_fail(parser, &at,
				    "expected what two events have in common, such as "
				    "arg.id or thread");
		if (measurement->keys.count == FX_MEASURE_KEYS_MAX)
			parser_fail(parser, &at, "more than 16 keys");
		if (fx_vector_reserve(&measurement->keys, 1) < 0)
			parser->error = -ENOMEM;
		else
			measurement->keys.items[measurement->keys.count++] = asked;
	} while (parser_take(parser, ","));
}

static void parser_what(struct parser *parser, struct fx_measurement *measurement)
{
	if (parser_take(parser, "duration")) {
		measurement->kind = FX_MEASURE_DURATION;
	} else if (parser_take(parser, "count")) {
		measurement->kind = FX_MEASURE_COUNT;
	} else if (parser_take(parser, "value")) {
		measurement->kind = FX_MEASURE_VALUE;
		measurement->argument = parser_argument(parser);
		if (!measurement->argument)
			parser_expected(parser, "arg.NAME");
	} else if (parser_take(parser, "time")) {
		measurement->kind = FX_MEASURE_BETWEEN;
		parser_want(parser, "from");
		parser_moment(parser, &measurement->from);
		parser_want(parser, "to");
		parser_moment(parser, &measurement->to);
		if (parser_take(parser, "by"))
			parser_keys(parser, measurement);
		return;
	} else {
		parser_expected(parser,
				"`duration of', `count of', `value arg.NAME of' or `time from'");
	}
	parser_want(parser, "of");
	parser_events(parser, &measurement->from);
}

/* p50, p99.9 */
static bool parser_percentile(const struct fx_token *token, double *ret)
{
	char text[NUMBER_LENGTH_MAX + 1], *end;

	if (token->kind != FX_TOKEN_WORD || token->length < 2 ||
	    token->length > NUMBER_LENGTH_MAX || token->start[0] != 'p')
		return false;
	memcpy(text, token->start + 1, token->length - 1);
	text[token->length - 1] = '\0';
	if (strspn(text, "0123456789.") != token->length - 1)
		return false;
	*ret = strtod(text, &end);
	return !*end && *ret > 0 && *ret <= 100;
}

static void parser_statistic(struct parser *parser, const struct fx_measurement *measurement,
			     struct fx_limit *limit)
{
	const struct parser_word *word = NULL;

	if (parser->token.kind == FX_TOKEN_WORD)
		word = parser_find_word(parser_statistics, &parser->token);
	if (measurement->kind == FX_MEASURE_COUNT && !(word && word->value == FX_STATISTIC_COUNT)) {
		parser_expected(parser, "`count', which is all that a count has");
		return;
	}
	limit->statistic = FX_STATISTIC_PERCENTILE;
	if (word)
		limit->statistic = (enum fx_statistic)word->value;
	else if (!parser_percentile(&parser->token, &limit->percent))
		parser_expected(parser, "count, sum, min, mean, deviation, median, max, or a "
					"percentile from p0 to p100, such as p99");
	parser_advance(parser);
}

static void parser_limit(struct parser *parser, struct fx_measurement *measurement)
{
	bool is_time =
	    measurement->kind == FX_MEASURE_DURATION || measurement->kind == FX_MEASURE_BETWEEN;
	const struct fx_token start = parser->token;
	struct fx_limit limit = {.text = ""};
	struct fx_token at;

	parser_statistic(parser, measurement, &limit);
	at = parser->token;
	limit.relation = parser_operator(parser, "one of < <= > >= = !=");
	if (parser_operator_is_pattern(limit.relation))
		parser_fail(parser, &at, "expected one of < <= > >= = !=");
	at = parser->token;
	is_time = is_time && limit.statistic != FX_STATISTIC_COUNT;
	limit.value =
	    parser_literal(parser, is_time ? "a time with its unit, such as 20ms" : "a number");
	if (limit.value.type != (is_time ? FX_LITERAL_TIME : FX_LITERAL_NUMBER))
		parser_fail(parser, &at,
			    is_time ? "expected a time with its unit, such as 20ms"
				    : "expected a number without a unit of time");
	if (parser->error)
		return;
	limit.text = parser_keep(parser, start.start,
				 (size_t)(parser->last.start + parser->last.length - start.start));
	if (fx_vector_reserve(&measurement->limits, 1) < 0)
		parser->error = -ENOMEM;
	else
		measurement->limits.items[measurement->limits.count++] = limit;
}

/* NAME `:', where a second token is looked at before the first is taken. */
static const char *parser_name(struct parser *parser)
{
	const struct fx_token token = parser->token;
	struct fx_lexer ahead = parser->lexer;
	struct fx_token next = fx_lexer_next(&ahead);
	const char *name;

	if ((token.kind != FX_TOKEN_WORD && token.kind != FX_TOKEN_STRING) ||
	    next.kind != FX_TOKEN_SIGN || !fx_token_is(&next, ":"))
		return NULL;
	name = token.kind == FX_TOKEN_STRING ? parser_unquote(parser, &token)
					     : parser_keep(parser, token.start, token.length);
	for (size_t i = 0; i < parser->spec->items.count; i++) {
		if (parser->spec->items.items[i].name &&
		    strcmp(parser->spec->items.items[i].name, name) == 0)
			parser_fail(parser, &token, "a second measurement of this name");
	}
	parser_advance(parser);
	parser_advance(parser);
	return name;
}

static void parser_measurement(struct parser *parser)
{
	struct fx_measurement *measurement;
	const char *name, *start;

	if (fx_vector_reserve(&parser->spec->items, 1) < 0) {
		parser->error = -ENOMEM;
		return;
	}
	name = parser_name(parser);
	start = parser->token.start;
	measurement = &parser->spec->items.items[parser->spec->items.count++];
	*measurement = (struct fx_measurement){.name = name};
	parser_what(parser, measurement);
	/* Without a name it is called what it says. */
	if (!name && !parser->error)
		measurement->name = parser_keep(
		    parser, start, (size_t)(parser->last.start + parser->last.length - start));
	if (parser_take(parser, "limit")) {
		do
			parser_limit(parser, measurement);
		while (parser_take(parser, ","));
	}
	if (parser->token.kind != FX_TOKEN_END && parser->token.kind != FX_TOKEN_LINE)
		parser_expected(parser, measurement->limits.count > 0
					    ? "`,' or the end of the line"
					    : "`where', `limit' or the end of the line");
}

int fx_spec_parse(struct fx_spec *ret, const char *text, size_t length,
		  struct fx_spec_fault *ret_fault)
{
	struct parser parser = {.spec = ret, .fault = ret_fault};

	*ret = (struct fx_spec){0};
	*ret_fault = (struct fx_spec_fault){.line = 1, .column = 1};
	fx_lexer_init(&parser.lexer, text, length);
	parser.token = fx_lexer_next(&parser.lexer);
	while (!parser.error && parser.token.kind != FX_TOKEN_END) {
		if (parser.token.kind == FX_TOKEN_LINE)
			parser_advance(&parser);
		else if (ret->items.count == MEASUREMENTS_MAX)
			parser_fail(&parser, &parser.token, "more than 10000 measurements");
		else
			parser_measurement(&parser);
	}
	if (!parser.error && ret->items.count == 0)
		parser_fail(&parser, &parser.token, "no measurement");
	return parser.error;
}

void fx_spec_free(struct fx_spec *spec)
{
	for (size_t i = 0; i < spec->items.count; i++) {
		struct fx_measurement *measurement = &spec->items.items[i];

		fx_vector_free(&measurement->from.nodes);
		fx_vector_free(&measurement->to.nodes);
		fx_vector_free(&measurement->keys);
		fx_vector_free(&measurement->limits);
	}
	for (size_t i = 0; i < spec->texts.count; i++)
		free(spec->texts.items[i]);
	fx_vector_free(&spec->items);
	fx_vector_free(&spec->texts);
}

/* SPDX-License-Identifier: MIT */
/* Text of measurements into a spec: a function for each rule of the grammar (spec.h). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "measure/parsing.h"

enum { MEASUREMENTS_MAX = 10000 };

/* --- Conditions -------------------------------------------------------------------------------- */

/* arg.NAME, or arg."NAME"; NULL: something else comes. */
static const char *parser_argument(struct fx_parser *parser)
{
	const struct fx_token token = parser->token;

	if (token.kind != FX_TOKEN_WORD || token.length < 4 || memcmp(token.start, "arg.", 4) != 0)
		return NULL;
	fx_parser_advance(parser);
	if (token.length > 4)
		return fx_parser_keep(parser, token.start + 4, token.length - 4);
	return fx_parser_string(parser, "the name of an argument");
}

/* A field or an argument. */
static struct fx_asked parser_asked(struct fx_parser *parser, enum fx_literal_type *ret_type)
{
	struct fx_asked asked = {.field = FX_FIELD_ARGUMENT};
	const struct fx_parser_word *word = NULL;

	if (parser->token.kind == FX_TOKEN_WORD)
		word = fx_parser_find_word(fx_parser_fields, &parser->token);
	asked.argument = parser_argument(parser);
	if (asked.argument)
		return asked;
	if (!word) {
		fx_parser_expected(parser, "arg.NAME, name, category, thread, tid, process, pid, "
					   "duration or at");
		return asked;
	}
	asked.field = (enum fx_field)word->value;
	*ret_type = word->type;
	fx_parser_advance(parser);
	return asked;
}

static enum fx_operator parser_operator(struct fx_parser *parser, const char *what)
{
	const struct fx_parser_word *word = NULL;

	if (parser->token.kind == FX_TOKEN_SIGN)
		word = fx_parser_find_word(fx_parser_operators, &parser->token);
	if (!word) {
		fx_parser_expected(parser, what);
		return FX_OPERATOR_EQUAL;
	}
	fx_parser_advance(parser);
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
static void parser_check_leaf(struct fx_parser *parser, const struct fx_condition *leaf,
			      enum fx_literal_type type, const struct fx_token *at)
{
	static const char *const wanted[] = {
	    [FX_LITERAL_NUMBER] = "expected a number",
	    [FX_LITERAL_TIME] = "expected a time with its unit, such as 20ms",
	    [FX_LITERAL_TEXT] = "expected a text, such as \"main\"",
	    [FX_LITERAL_BOOL] = "expected true or false"};
	enum fx_literal_type got = leaf->literal.type;

	if (parser_operator_is_pattern(leaf->relation) && got != FX_LITERAL_TEXT)
		fx_parser_fail(parser, at, "expected a pattern, such as \"read*\"");
	else if (parser_operator_is_order(leaf->relation) &&
		 (got == FX_LITERAL_TEXT || got == FX_LITERAL_BOOL))
		fx_parser_fail(parser, at, "expected a number behind %s",
			       fx_spec_operator_text(leaf->relation));
	else if (leaf->asked.field == FX_FIELD_ARGUMENT && got == FX_LITERAL_TIME)
		fx_parser_fail(parser, at,
			       "expected a number: nobody knows the unit of an argument");
	else if (leaf->asked.field != FX_FIELD_ARGUMENT && got != type)
		fx_parser_fail(parser, at, "%s", wanted[type]);
}

static uint32_t parser_add_node(struct fx_parser *parser, struct fx_selector *selector,
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

static uint32_t parser_leaf(struct fx_parser *parser, struct fx_selector *selector)
{
	struct fx_condition leaf = {.kind = FX_CONDITION_LEAF};
	enum fx_literal_type type = FX_LITERAL_NUMBER;
	const struct fx_token start = parser->token;
	struct fx_token at;

	for (size_t i = 0; i < selector->nodes.count; i++)
		leaf.leaf += selector->nodes.items[i].kind == FX_CONDITION_LEAF;
	if (leaf.leaf == FX_CONDITION_LEAVES_MAX)
		fx_parser_fail(parser, &start, "more than 63 comparisons in one condition");
	if (fx_parser_take(parser, "has")) {
		leaf.relation = FX_OPERATOR_HAS;
		leaf.asked.field = FX_FIELD_ARGUMENT;
		leaf.asked.argument = parser_argument(parser);
		if (!leaf.asked.argument)
			fx_parser_expected(parser, "arg.NAME");
		return parser_add_node(parser, selector, &leaf);
	}
	leaf.asked = parser_asked(parser, &type);
	leaf.relation = parser_operator(parser, "one of = != < <= > >= ~ !~");
	at = parser->token;
	leaf.literal =
	    fx_parser_literal(parser, "a value: a text, a number, a time, true or false");
	parser_check_leaf(parser, &leaf, type, &at);
	return parser_add_node(parser, selector, &leaf);
}

static uint32_t parser_condition(struct fx_parser *parser, struct fx_selector *selector,
				 unsigned depth);

static uint32_t parser_factor(struct fx_parser *parser, struct fx_selector *selector,
			      unsigned depth)
{
	struct fx_condition node = {.kind = FX_CONDITION_NOT};
	uint32_t inner;

	if (depth > FX_CONDITION_DEPTH_MAX)
		fx_parser_fail(parser, &parser->token, "a condition nested too deep");
	if (fx_parser_take(parser, "not")) {
		node.left = parser_factor(parser, selector, depth + 1);
		return parser_add_node(parser, selector, &node);
	}
	if (fx_parser_take(parser, "(")) {
		inner = parser_condition(parser, selector, depth + 1);
		fx_parser_want(parser, ")");
		return inner;
	}
	return parser_leaf(parser, selector);
}

static uint32_t parser_term(struct fx_parser *parser, struct fx_selector *selector, unsigned depth)
{
	struct fx_condition node = {.kind = FX_CONDITION_AND};
	uint32_t term = parser_factor(parser, selector, depth);

	while (fx_parser_take(parser, "and")) {
		node.left = term;
		node.right = parser_factor(parser, selector, depth);
		term = parser_add_node(parser, selector, &node);
	}
	return term;
}

static uint32_t parser_condition(struct fx_parser *parser, struct fx_selector *selector,
				 unsigned depth)
{
	struct fx_condition node = {.kind = FX_CONDITION_OR};
	uint32_t condition = parser_term(parser, selector, depth);

	while (fx_parser_take(parser, "or")) {
		node.left = condition;
		node.right = parser_term(parser, selector, depth);
		condition = parser_add_node(parser, selector, &node);
	}
	return condition;
}

/* --- Measurements ------------------------------------------------------------------------------ */

static void parser_events(struct fx_parser *parser, struct fx_selector *selector)
{
	selector->pattern = fx_parser_string(parser, "the name of events, such as \"read\"");
	if (fx_parser_take(parser, "where"))
		selector->root = parser_condition(parser, selector, 0);
}

static void parser_moment(struct fx_parser *parser, struct fx_selector *selector)
{
	selector->at_end = fx_parser_is(parser, "end");
	if (fx_parser_take(parser, "begin") || fx_parser_take(parser, "end"))
		fx_parser_want(parser, "of");
	parser_events(parser, selector);
}

static void parser_keys(struct fx_parser *parser, struct fx_measurement *measurement)
{
	enum fx_literal_type type;

	do {
		const struct fx_token at = parser->token;
		struct fx_asked asked = parser_asked(parser, &type);

		if (asked.field == FX_FIELD_DURATION || asked.field == FX_FIELD_AT)
			fx_parser_fail(parser, &at,
				       "expected what two events have in common, such as "
				       "arg.id or thread");
		if (measurement->keys.count == FX_MEASURE_KEYS_MAX)
			fx_parser_fail(parser, &at, "more than 16 keys");
		if (fx_vector_reserve(&measurement->keys, 1) < 0)
			parser->error = -ENOMEM;
		else
			measurement->keys.items[measurement->keys.count++] = asked;
	} while (fx_parser_take(parser, ","));
}

static void parser_what(struct fx_parser *parser, struct fx_measurement *measurement)
{
	if (fx_parser_take(parser, "duration")) {
		measurement->kind = FX_MEASURE_DURATION;
	} else if (fx_parser_take(parser, "count")) {
		measurement->kind = FX_MEASURE_COUNT;
	} else if (fx_parser_take(parser, "value")) {
		measurement->kind = FX_MEASURE_VALUE;
		measurement->argument = parser_argument(parser);
		if (!measurement->argument)
			fx_parser_expected(parser, "arg.NAME");
	} else if (fx_parser_take(parser, "time")) {
		measurement->kind = FX_MEASURE_BETWEEN;
		fx_parser_want(parser, "from");
		parser_moment(parser, &measurement->from);
		fx_parser_want(parser, "to");
		parser_moment(parser, &measurement->to);
		if (fx_parser_take(parser, "by"))
			parser_keys(parser, measurement);
		return;
	} else {
		fx_parser_expected(parser,
				   "`duration of', `count of', `value arg.NAME of' or `time from'");
	}
	fx_parser_want(parser, "of");
	parser_events(parser, &measurement->from);
}

/* p50, p99.9 */
static bool parser_percentile(const struct fx_token *token, double *ret)
{
	char text[FX_PARSER_NUMBER_MAX + 1], *end;

	if (token->kind != FX_TOKEN_WORD || token->length < 2 ||
	    token->length > FX_PARSER_NUMBER_MAX || token->start[0] != 'p')
		return false;
	memcpy(text, token->start + 1, token->length - 1);
	text[token->length - 1] = '\0';
	if (strspn(text, "0123456789.") != token->length - 1)
		return false;
	*ret = strtod(text, &end);
	return !*end && *ret > 0 && *ret <= 100;
}

static void parser_statistic(struct fx_parser *parser, const struct fx_measurement *measurement,
			     struct fx_limit *limit)
{
	const struct fx_parser_word *word = NULL;

	if (parser->token.kind == FX_TOKEN_WORD)
		word = fx_parser_find_word(fx_parser_statistics, &parser->token);
	if (measurement->kind == FX_MEASURE_COUNT && !(word && word->value == FX_STATISTIC_COUNT)) {
		fx_parser_expected(parser, "`count', which is all that a count has");
		return;
	}
	limit->statistic = FX_STATISTIC_PERCENTILE;
	if (word)
		limit->statistic = (enum fx_statistic)word->value;
	else if (!parser_percentile(&parser->token, &limit->percent))
		fx_parser_expected(parser, "count, sum, min, mean, deviation, median, max, or a "
					   "percentile from p0 to p100, such as p99");
	fx_parser_advance(parser);
}

static void parser_limit(struct fx_parser *parser, struct fx_measurement *measurement)
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
		fx_parser_fail(parser, &at, "expected one of < <= > >= = !=");
	at = parser->token;
	is_time = is_time && limit.statistic != FX_STATISTIC_COUNT;
	limit.value =
	    fx_parser_literal(parser, is_time ? "a time with its unit, such as 20ms" : "a number");
	if (limit.value.type != (is_time ? FX_LITERAL_TIME : FX_LITERAL_NUMBER))
		fx_parser_fail(parser, &at,
			       is_time ? "expected a time with its unit, such as 20ms"
				       : "expected a number without a unit of time");
	if (parser->error)
		return;
	limit.text = fx_parser_keep(
	    parser, start.start, (size_t)(parser->last.start + parser->last.length - start.start));
	if (fx_vector_reserve(&measurement->limits, 1) < 0)
		parser->error = -ENOMEM;
	else
		measurement->limits.items[measurement->limits.count++] = limit;
}

/* NAME `:', where a second token is looked at before the first is taken. */
static const char *parser_name(struct fx_parser *parser)
{
	const struct fx_token token = parser->token;
	struct fx_lexer ahead = parser->lexer;
	struct fx_token next = fx_lexer_next(&ahead);
	const char *name;

	if ((token.kind != FX_TOKEN_WORD && token.kind != FX_TOKEN_STRING) ||
	    next.kind != FX_TOKEN_SIGN || !fx_token_is(&next, ":"))
		return NULL;
	name = token.kind == FX_TOKEN_STRING ? fx_parser_unquote(parser, &token)
					     : fx_parser_keep(parser, token.start, token.length);
	for (size_t i = 0; i < parser->spec->items.count; i++) {
		if (parser->spec->items.items[i].name &&
		    strcmp(parser->spec->items.items[i].name, name) == 0)
			fx_parser_fail(parser, &token, "a second measurement of this name");
	}
	fx_parser_advance(parser);
	fx_parser_advance(parser);
	return name;
}

static void parser_measurement(struct fx_parser *parser)
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
		measurement->name = fx_parser_keep(
		    parser, start, (size_t)(parser->last.start + parser->last.length - start));
	if (fx_parser_take(parser, "limit")) {
		do
			parser_limit(parser, measurement);
		while (fx_parser_take(parser, ","));
	}
	if (parser->token.kind != FX_TOKEN_END && parser->token.kind != FX_TOKEN_LINE)
		fx_parser_expected(parser, measurement->limits.count > 0
					       ? "`,' or the end of the line"
					       : "`where', `limit' or the end of the line");
}

int fx_spec_parse(struct fx_spec *ret, const char *text, size_t length,
		  struct fx_spec_fault *ret_fault)
{
	struct fx_parser parser = {.spec = ret, .fault = ret_fault};

	*ret = (struct fx_spec){0};
	*ret_fault = (struct fx_spec_fault){.line = 1, .column = 1};
	fx_lexer_init(&parser.lexer, text, length);
	parser.token = fx_lexer_next(&parser.lexer);
	while (!parser.error && parser.token.kind != FX_TOKEN_END) {
		if (parser.token.kind == FX_TOKEN_LINE)
			fx_parser_advance(&parser);
		else if (ret->items.count == MEASUREMENTS_MAX)
			fx_parser_fail(&parser, &parser.token, "more than 10000 measurements");
		else
			parser_measurement(&parser);
	}
	if (!parser.error && ret->items.count == 0)
		fx_parser_fail(&parser, &parser.token, "no measurement");
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

/* SPDX-License-Identifier: MIT */
/*
 * What is to be measured in an archive, and within which limits, as text says it; fxtrace-measure(1) has the language:
 *
 *     file         a measurement a line; a line that begins with a blank goes on; # begins a comment
 *     measurement  [NAME ":"] what ["limit" limit {"," limit}]
 *     what         "duration" "of" events
 *                | "count" "of" events
 *                | "value" "arg."NAME "of" events
 *                | "time" "from" moment "to" moment ["by" key {"," key}]
 *     moment       ["begin" "of" | "end" "of"] events
 *     events       "PATTERN" ["where" condition]
 *     condition    "not", "and", "or", parentheses; field operator value; "has" "arg."NAME
 *     limit        statistic operator value
 */
#ifndef FX_MEASURE_SPEC_H
#define FX_MEASURE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"

enum fx_literal_type { FX_LITERAL_NUMBER, FX_LITERAL_TIME, FX_LITERAL_TEXT, FX_LITERAL_BOOL };

struct fx_literal {
	enum fx_literal_type type;
	long double number; /* NUMBER; TIME: ns; BOOL: 0 or 1 */
	const char *text;   /* TEXT */
};

#define FX_FIELD(name, word, type) FX_FIELD_##name,
#define FX_STATISTIC(name, word)
#define FX_OPERATOR(name, sign)
enum fx_field {
#include "measure/words.def"
	FX_FIELD_ARGUMENT, /* by its name */
};
#undef FX_FIELD
#undef FX_STATISTIC
#undef FX_OPERATOR

#define FX_FIELD(name, word, type)
#define FX_STATISTIC(name, word) FX_STATISTIC_##name,
#define FX_OPERATOR(name, sign)
enum fx_statistic {
#include "measure/words.def"
	FX_STATISTIC_PERCENTILE,
};
#undef FX_FIELD
#undef FX_STATISTIC
#undef FX_OPERATOR

#define FX_FIELD(name, word, type)
#define FX_STATISTIC(name, word)
#define FX_OPERATOR(name, sign) FX_OPERATOR_##name,
enum fx_operator {
#include "measure/words.def"
	FX_OPERATOR_HAS, /* the argument is there */
};
#undef FX_FIELD
#undef FX_STATISTIC
#undef FX_OPERATOR

/* What an event is asked for. */
struct fx_asked {
	enum fx_field field;
	const char *argument; /* FX_FIELD_ARGUMENT */
};

enum fx_condition_kind { FX_CONDITION_LEAF, FX_CONDITION_NOT, FX_CONDITION_AND, FX_CONDITION_OR };

/* A node of a condition; `left' and `right' are places in the list of nodes. */
struct fx_condition {
	enum fx_condition_kind kind;
	uint32_t left, right;
	/* Leaves: */
	unsigned leaf; /* number, counted from 0 in each condition */
	struct fx_asked asked;
	enum fx_operator relation;
	struct fx_literal literal;
};

enum { FX_CONDITION_LEAVES_MAX = 63, FX_CONDITION_DEPTH_MAX = 64 };

/* Which events. */
struct fx_selector {
	const char *pattern; /* of the name */
	FX_VECTOR(struct fx_condition) nodes;
	uint32_t root; /* where there are nodes */
	bool at_end;   /* times: the end of the event */
};

enum { FX_MEASURE_KEYS_MAX = 16 };

enum fx_measurement_kind {
	FX_MEASURE_DURATION,
	FX_MEASURE_COUNT,
	FX_MEASURE_VALUE,
	FX_MEASURE_BETWEEN,
};

struct fx_limit {
	enum fx_statistic statistic;
	double percent; /* FX_STATISTIC_PERCENTILE */
	enum fx_operator relation;
	struct fx_literal value;
	const char *text; /* as it was written */
};

struct fx_measurement {
	const char *name;
	enum fx_measurement_kind kind;
	struct fx_selector from; /* the events */
	struct fx_selector to;	 /* FX_MEASURE_BETWEEN: until these */
	const char *argument;	 /* FX_MEASURE_VALUE */
	FX_VECTOR(struct fx_asked) keys;
	FX_VECTOR(struct fx_limit) limits;
};

struct fx_spec {
	FX_VECTOR(struct fx_measurement) items;
	FX_VECTOR(char *) texts; /* all that is pointed to */
};

/* Where a text is wrong, counted from 1, and how. */
struct fx_spec_fault {
	unsigned line, column;
	char what[320];
};

/* Reads a text of `length' bytes, which may be anything. Returns 0 or -errno: -EINVAL with a fault, -ENOMEM. The spec is
 * to be freed in any case. */
int fx_spec_parse(struct fx_spec *ret, const char *text, size_t length,
		  struct fx_spec_fault *ret_fault);

void fx_spec_free(struct fx_spec *spec);

/* "p99.9", "mean" */
void fx_spec_statistic_text(enum fx_statistic statistic, double percent, char text[24]);

/* "<=" */
const char *fx_spec_operator_text(enum fx_operator relation);

#endif

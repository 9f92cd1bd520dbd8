/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/condition.h"
#include "report/section.h"

enum { VERDICT_UNKNOWN, VERDICT_MATCHES, VERDICT_OTHER };

/* --- Names ------------------------------------------------------------------------------------- */

static const char *witness_text(const struct fx_witness *witness, uint32_t serial)
{
	return serial ? fx_texts_get(witness->texts, serial)->data : "";
}

int fx_selector_matches_name(const struct fx_selector *selector, struct fx_name_verdicts *verdicts,
			     const struct fx_witness *witness)
{
	uint32_t name = witness->event->name->serial;
	size_t count = verdicts->items.count;
	uint8_t *verdict;

	if (name >= count) {
		size_t more = name + 1 - count;

		if (fx_vector_reserve(&verdicts->items, more) < 0)
			return -ENOMEM;
		memset(verdicts->items.items + count, VERDICT_UNKNOWN, more);
		verdicts->items.count += more;
	}
	verdict = &verdicts->items.items[name];
	if (*verdict == VERDICT_UNKNOWN)
		*verdict = fnmatch(selector->pattern, witness_text(witness, name), 0) == 0
			       ? VERDICT_MATCHES
			       : VERDICT_OTHER;
	return *verdict == VERDICT_MATCHES;
}

/* --- What events say --------------------------------------------------------------------------- */

static bool witness_arg_number(const struct fxt_arg *arg, long double *ret)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		*ret = arg->int32;
		return true;
	case FXT_ARG_UINT32:
		*ret = arg->uint32;
		return true;
	case FXT_ARG_INT64:
		*ret = arg->int64;
		return true;
	case FXT_ARG_UINT64:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		*ret = arg->uint64;
		return true;
	case FXT_ARG_DOUBLE:
		*ret = arg->real;
		return true;
	default:
		return false;
	}
}

bool fx_witness_number(const struct fx_witness *witness, const char *argument, long double *ret)
{
	const struct fxt_arg *arg = fx_event_arg(witness->event, argument);

	return arg && witness_arg_number(arg, ret);
}

static bool witness_field_number(const struct fx_witness *witness, enum fx_field field,
				 long double *ret)
{
	const struct fx_event *event = witness->event;

	switch (field) {
	case FX_FIELD_TID:
		*ret = event->thread->key.tid;
		return event->thread->key.tid != 0;
	case FX_FIELD_PID:
		*ret = event->thread->key.pid;
		return true;
	case FX_FIELD_AT:
		*ret = event->ts - witness->first_ts;
		return true;
	case FX_FIELD_DURATION:
		*ret = witness->duration;
		return witness->has_duration;
	default:
		return false;
	}
}

/* NULL: it is no text. */
static const char *witness_field_text(const struct fx_witness *witness, enum fx_field field)
{
	const struct fx_event *event = witness->event;

	switch (field) {
	case FX_FIELD_NAME:
		return witness_text(witness, event->name->serial);
	case FX_FIELD_CATEGORY:
		return witness_text(witness, event->category->serial);
	case FX_FIELD_THREAD:
		return event->thread->name ? event->thread->name->data : "";
	case FX_FIELD_PROCESS:
		return event->thread->process->name ? event->thread->process->name->data : "";
	default:
		return NULL;
	}
}

/* --- Comparisons ------------------------------------------------------------------------------- */

static bool compare_order(enum fx_operator relation, int order)
{
	switch (relation) {
	case FX_OPERATOR_EQUAL:
		return order == 0;
	case FX_OPERATOR_UNEQUAL:
		return order != 0;
	case FX_OPERATOR_LESS:
		return order < 0;
	case FX_OPERATOR_AT_MOST:
		return order <= 0;
	case FX_OPERATOR_MORE:
		return order > 0;
	case FX_OPERATOR_AT_LEAST:
		return order >= 0;
	default:
		return false;
	}
}

/* What is no number has no order. */
static bool compare_numbers(const struct fx_condition *leaf, long double value)
{
	long double other = leaf->literal.number;

	if (value != value)
		return leaf->relation == FX_OPERATOR_UNEQUAL;
	return compare_order(leaf->relation, (value > other) - (value < other));
}

static bool compare_texts(const struct fx_condition *leaf, const char *text)
{
	if (leaf->relation == FX_OPERATOR_MATCHES || leaf->relation == FX_OPERATOR_MATCHES_NOT)
		return (fnmatch(leaf->literal.text, text, 0) == 0) ==
		       (leaf->relation == FX_OPERATOR_MATCHES);
	return compare_order(leaf->relation, strcmp(text, leaf->literal.text));
}

/* A text of the archive, which is not terminated. */
static bool compare_string(const struct fx_condition *leaf, const struct fxt_string *string)
{
	char room[512], *text = room;
	bool holds;

	if (string->length >= sizeof(room))
		text = malloc((size_t)string->length + 1);
	if (!text)
		return false;
	memcpy(text, string->data, string->length);
	text[string->length] = '\0';
	holds = compare_texts(leaf, text);
	if (text != room)
		free(text);
	return holds;
}

static bool compare_argument(const struct fx_condition *leaf, const struct fx_witness *witness)
{
	const struct fxt_arg *arg = fx_event_arg(witness->event, leaf->asked.argument);
	long double number;

	if (!arg || leaf->relation == FX_OPERATOR_HAS)
		return arg != NULL;
	switch (leaf->literal.type) {
	case FX_LITERAL_TEXT:
		return arg->type == FXT_ARG_STRING && compare_string(leaf, &arg->string);
	case FX_LITERAL_BOOL:
		return arg->type == FXT_ARG_BOOL && compare_numbers(leaf, arg->boolean);
	default:
		return witness_arg_number(arg, &number) && compare_numbers(leaf, number);
	}
}

static bool compare_leaf(const struct fx_condition *leaf, const struct fx_witness *witness)
{
	const char *text = witness_field_text(witness, leaf->asked.field);
	long double number;

	if (leaf->asked.field == FX_FIELD_ARGUMENT)
		return compare_argument(leaf, witness);
	if (text)
		return compare_texts(leaf, text);
	return witness_field_number(witness, leaf->asked.field, &number) &&
	       compare_numbers(leaf, number);
}

uint64_t fx_selector_leaves(const struct fx_selector *selector, const struct fx_witness *witness,
			    bool of_duration)
{
	uint64_t leaves = 0;

	for (size_t i = 0; i < selector->nodes.count; i++) {
		const struct fx_condition *node = &selector->nodes.items[i];

		if (node->kind != FX_CONDITION_LEAF ||
		    (node->asked.field == FX_FIELD_DURATION) != of_duration)
			continue;
		if (compare_leaf(node, witness))
			leaves |= UINT64_C(1) << node->leaf;
	}
	return leaves;
}

/* The parser bounds how deep it goes. */
static bool condition_holds(const struct fx_selector *selector, uint32_t place, uint64_t leaves)
{
	const struct fx_condition *node = &selector->nodes.items[place];

	switch (node->kind) {
	case FX_CONDITION_NOT:
		return !condition_holds(selector, node->left, leaves);
	case FX_CONDITION_AND:
		return condition_holds(selector, node->left, leaves) &&
		       condition_holds(selector, node->right, leaves);
	case FX_CONDITION_OR:
		return condition_holds(selector, node->left, leaves) ||
		       condition_holds(selector, node->right, leaves);
	default:
		return leaves >> node->leaf & 1;
	}
}

bool fx_selector_holds(const struct fx_selector *selector, uint64_t leaves)
{
	return selector->nodes.count == 0 || condition_holds(selector, selector->root, leaves);
}

/* --- Keys -------------------------------------------------------------------------------------- */

/* Numbers and texts differ, even where they look alike. */
static size_t witness_arg_key(const struct fxt_arg *arg, char *text, size_t size)
{
	long double number;

	if (arg->type == FXT_ARG_STRING)
		return (size_t)snprintf(text, size, "\"%.*s", (int)arg->string.length,
					arg->string.data);
	if (arg->type == FXT_ARG_BOOL)
		return (size_t)snprintf(text, size, "%s", arg->boolean ? "true" : "false");
	if (witness_arg_number(arg, &number))
		return (size_t)snprintf(text, size, "%.21Lg", number);
	return 0;
}

size_t fx_witness_key(const struct fx_witness *witness, const struct fx_asked *asked, char *text,
		      size_t size)
{
	const char *field = witness_field_text(witness, asked->field);
	const struct fxt_arg *arg;
	long double number;
	size_t length = 0;

	if (asked->field == FX_FIELD_ARGUMENT) {
		arg = fx_event_arg(witness->event, asked->argument);
		length = arg ? witness_arg_key(arg, text, size) : 0;
	} else if (asked->field == FX_FIELD_THREAD && witness->event->thread->key.tid == 0) {
		length = 0;
	} else if (asked->field == FX_FIELD_THREAD || asked->field == FX_FIELD_PROCESS) {
		/* Threads of one name are several. */
		length = (size_t)snprintf(
		    text, size, "%" PRIu64 " %" PRIu64, witness->event->thread->key.pid,
		    asked->field == FX_FIELD_THREAD ? witness->event->thread->key.tid : 0);
	} else if (field) {
		length = (size_t)snprintf(text, size, "\"%s", field);
	} else if (witness_field_number(witness, asked->field, &number)) {
		length = (size_t)snprintf(text, size, "%.21Lg", number);
	}
	return length < size ? length : size - 1;
}

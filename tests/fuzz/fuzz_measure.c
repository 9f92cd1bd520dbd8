/* SPDX-License-Identifier: MIT */
/*
 * Text of measurements. A fault says where it is, within the text, and how, in clean words. What is taken can be asked
 * of an event that has nothing to say.
 */
#include <stdlib.h>
#include <string.h>

#include "measure/condition.h"
#include "measure/spec.h"
#include "tests/fuzz/fuzz.h"

static void measure_check_fault(const struct fx_spec_fault *fault, const uint8_t *data, size_t size)
{
	unsigned lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	if (fault->line < 1 || fault->line > lines || fault->column < 1 ||
	    fault->column > size + 1 || !*fault->what)
		abort();
	for (const char *at = fault->what; *at; at++) {
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			abort();
	}
}

static void measure_ask(const struct fx_selector *selector, const struct fx_witness *witness)
{
	struct fx_name_verdicts verdicts = {0};
	uint64_t leaves = fx_selector_leaves(selector, witness, false) |
			  fx_selector_leaves(selector, witness, true);

	fx_selector_holds(selector, leaves);
	if (fx_selector_matches_name(selector, &verdicts, witness) < 0)
		abort();
	fx_vector_free(&verdicts.items);
}

static void measure_use(const struct fx_spec *spec)
{
	struct fxt_string none = {0};
	struct fxt_arg arg = {.type = FXT_ARG_DOUBLE, .real = 0};
	struct fx_process process = {0};
	struct fx_thread thread = {.process = &process};
	struct fx_event event = {
	    .thread = &thread, .category = &none, .name = &none, .args = &arg, .nargs = 1};
	struct fx_witness witness = {.event = &event};
	char text[24], key[64];

	arg.name.data = "a";
	arg.name.length = 1;
	for (size_t i = 0; i < spec->items.count; i++) {
		const struct fx_measurement *measurement = &spec->items.items[i];

		if (!*measurement->from.pattern && !measurement->name)
			abort();
		measure_ask(&measurement->from, &witness);
		if (measurement->kind == FX_MEASURE_BETWEEN)
			measure_ask(&measurement->to, &witness);
		for (size_t j = 0; j < measurement->keys.count; j++)
			fx_witness_key(&witness, &measurement->keys.items[j], key, sizeof(key));
		for (size_t j = 0; j < measurement->limits.count; j++)
			fx_spec_statistic_text(measurement->limits.items[j].statistic,
					       measurement->limits.items[j].percent, text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fx_spec_fault fault;
	struct fx_spec spec;

	if (fx_spec_parse(&spec, (const char *)data, size, &fault) < 0)
		measure_check_fault(&fault, data, size);
	else
		measure_use(&spec);
	fx_spec_free(&spec);
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "manager/terms.h"

#include <string.h>

/* How long the clocks must run for a slope that decides what is worth recording, in ns. */
#define ROUGH_SLOPE_NS 250000u

static uint64_t buffer_size_for(const struct fx_session_config *config, const char *name)
{
	uint64_t size = config->buffer_size;

	for (size_t i = 0; i < config->size_count; i++) {
		if (strcmp(config->sizes[i].name, name) == 0)
			size = config->sizes[i].size;
	}
	return size;
}

/* Ticks in a span of time: a rough slope will do. */
static uint64_t ticks_in(enum fx_clock_kind kind, struct fx_anchor first, uint64_t ns)
{
	struct fx_anchor now;

	if (ns == 0 || kind == FX_CLOCK_BOOTTIME)
		return ns;
	do {
		now = fx_anchor_take(kind);
	} while (now.ns - first.ns < ROUGH_SLOPE_NS);
	return (uint64_t)((double)ns * (double)(now.ticks - first.ticks) /
			  (double)(now.ns - first.ns));
}

uint32_t fx_terms_bits(const struct fx_session_config *config, uint32_t bits)
{
	if (config->pairs && (bits & FX_CAT_FUNCTION))
		bits = (bits & ~(uint32_t)FX_CAT_FUNCTION) | FX_CAT_PAIRS;
	return bits;
}

struct fx_provider_terms fx_terms_for(const struct fx_session_config *config,
				      enum fx_clock_kind kind, struct fx_anchor first_anchor,
				      const char *name)
{
	return (struct fx_provider_terms){
	    .clock_kind = kind,
	    .mode = config->mode,
	    .on_full = config->on_full,
	    .max_depth = config->max_depth,
	    .tick_step = (uint32_t)ticks_in(kind, first_anchor, 1) + (kind == FX_CLOCK_COUNTER),
	    .min_duration = ticks_in(kind, first_anchor, config->min_duration_ns),
	    .config = config,
	    .stack_categories = config->stack_categories,
	    .stack_duration = ticks_in(kind, first_anchor, config->stack_duration_ns),
	    .buffer_size = buffer_size_for(config, name),
	};
}

const char *fx_terms_cure(const struct fx_session_config *config)
{
	if (config->mode == FX_MODE_ONESHOT)
		return "--buffer-size, --buffering-mode streaming";
	return "--buffer-size, --on-full block";
}

unsigned fx_terms_trigger(const struct fx_session_config *config, const char *alert)
{
	unsigned action = 0;

	for (size_t i = 0; i < config->trigger_count; i++) {
		if (strcmp(config->triggers[i].alert, alert) == 0)
			action = config->triggers[i].action;
	}
	return action;
}

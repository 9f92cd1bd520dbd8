/* SPDX-License-Identifier: MIT */
#include "manager/settings/terms.h"

#include <string.h>

#include "manager/settings/functions.h"

/* How long the clocks must run for a slope that decides what is worth recording, in ns. */
#define ROUGH_SLOPE_NS 250000u

/* A longer time may be one in which the machine slept, and its counter stood still. */
#define AWAKE_NS UINT64_C(1000000000)

/* How much later than the one before a thread's reading is made, at least, in ns. More than one, since the
 * slope that times are converted with in the end may be smaller. */
#define STEP_NS 1.02

uint64_t fx_terms_buffer_size(const struct fx_session_config *config, const char *name)
{
	uint64_t size = config->buffer_size;

	for (size_t i = 0; i < config->size_count; i++) {
		if (strcmp(config->sizes[i].name, name) == 0)
			size = config->sizes[i].size;
	}
	return size;
}

static bool terms_name_size(const struct fx_session_config *config, const char *name)
{
	for (size_t i = 0; i < config->size_count; i++) {
		if (strcmp(config->sizes[i].name, name) == 0)
			return true;
	}
	return false;
}

static uint64_t terms_wished_size(const struct fx_session_config *config, const char *name,
				  uint64_t wish)
{
	uint64_t size = fx_terms_buffer_size(config, name);

	if (wish > FX_BUFFER_WISH_MAX)
		wish = FX_BUFFER_WISH_MAX;
	wish = FX_ALIGN_UP(wish, (uint64_t)FX_PAGE);
	return wish > size && !terms_name_size(config, name) ? wish : size;
}

static enum fx_buffering_mode terms_wished_mode(const struct fx_session_config *config,
						uint32_t wish)
{
	bool free = config->mode == FX_MODE_STREAMING && config->on_full != FX_ON_FULL_BLOCK;

	return free && (wish == FX_MODE_ONESHOT || wish == FX_MODE_CIRCULAR)
		   ? (enum fx_buffering_mode)wish
		   : config->mode;
}

uint64_t fx_terms_last(const struct fx_session_config *config)
{
	return config->mode == FX_MODE_CIRCULAR ? config->last_ns : 0;
}

/* Ticks in a nanosecond, roughly. It is the machine's, and measured once. */
static double rate(enum fx_clock_kind kind, struct fx_anchor first)
{
	static double measured;
	struct fx_anchor now;

	if (kind == FX_CLOCK_BOOTTIME)
		return 1;
	if (measured > 0)
		return measured;
	now = fx_anchor_take(kind);
	if (now.ns - first.ns > AWAKE_NS)
		first = now;
	while (now.ns - first.ns < ROUGH_SLOPE_NS)
		now = fx_anchor_take(kind);
	measured = (double)(now.ticks - first.ticks) / (double)(now.ns - first.ns);
	return measured;
}

static uint64_t ticks_in(enum fx_clock_kind kind, struct fx_anchor first, uint64_t ns)
{
	double ticks = ns ? (double)ns * rate(kind, first) : 0;

	return ticks < 0x1p63 ? (uint64_t)ticks : INT64_MAX; /* a client may ask for any time */
}

static uint32_t terms_step(enum fx_clock_kind kind, struct fx_anchor first)
{
	return kind == FX_CLOCK_BOOTTIME ? 1 : (uint32_t)(STEP_NS * rate(kind, first)) + 1;
}

uint32_t fx_terms_max_depth(const struct fx_session_config *config)
{
	return fx_functions_have_when(config->functions) ? 0 : config->max_depth;
}

static bool terms_nest(const struct fx_session_config *config)
{
	return !config->pairs && fx_functions_nest(config->functions);
}

/* Depths count from calls that are recorded: what is one must not depend on when a provider hears of it. And a call whose end a provider
 * does not see, because it has just heard of it, may be closed too late or too early: where calls are judged by what they lie in, all
 * are recorded. */
bool fx_terms_choose(const struct fx_session_config *config)
{
	return !config->pairs && !fx_terms_max_depth(config) && !terms_nest(config) &&
	       fx_functions_spare(config->functions);
}

/* But what a call lies in that --when does not mean says nothing of it; and what --when means, a provider never leaves out, nor what lies
 * in that, nor what it does not know. So what it leaves out would not be in the archive. */
bool fx_terms_scope(const struct fx_session_config *config)
{
	return !config->pairs && fx_functions_scope(config->functions);
}

bool fx_terms_tell(const struct fx_session_config *config)
{
	return fx_terms_choose(config) || fx_terms_scope(config);
}

uint32_t fx_terms_bits(const struct fx_session_config *config, uint32_t bits)
{
	if (config->pairs && (bits & FX_CAT_FUNCTION))
		bits = (bits & ~(uint32_t)FX_CAT_FUNCTION) | FX_CAT_PAIRS;
	else if (fx_terms_tell(config) && (bits & FX_CAT_FUNCTION))
		bits = (bits & ~(uint32_t)FX_CAT_FUNCTION) | FX_CAT_CHOSEN;
	return bits;
}

struct fx_provider_terms fx_terms_for(const struct fx_session_config *config,
				      enum fx_clock_kind kind, struct fx_anchor first_anchor,
				      const char *name, const struct fx_msg_wish *wish)
{
	return (struct fx_provider_terms){
	    .clock_kind = kind,
	    .mode = terms_wished_mode(config, wish->mode),
	    .on_full = config->on_full,
	    .max_depth = fx_terms_max_depth(config),
	    .nests = terms_nest(config),
	    .tick_step = terms_step(kind, first_anchor),
	    .min_duration = ticks_in(kind, first_anchor,
				     fx_functions_min(config->functions, config->min_duration_ns)),
	    .config = config,
	    .stack_categories = config->stack_categories,
	    .stack_duration = ticks_in(kind, first_anchor, config->stack_duration_ns),
	    .buffer_size = terms_wished_size(config, name, wish->buffer_size),
	    .patch = config->patch,
	    .recipes = fx_terms_tell(config) || fx_functions_have_values(config->functions),
	};
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

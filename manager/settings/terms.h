/* SPDX-License-Identifier: MIT */
/*
 * What a session's configuration means for one provider.
 */
#ifndef FX_MANAGER_TERMS_H
#define FX_MANAGER_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "manager/settings/settings.h"
#include "manager/settings/timebase.h"
#include "protocol/messages.h"

/* What every provider of a session is given. */
struct fx_provider_terms {
	enum fx_clock_kind clock_kind;
	enum fx_buffering_mode mode;
	enum fx_on_full on_full;
	uint32_t max_depth;
	bool nests;	       /* whether a call is recorded depends on what it lies in */
	uint32_t tick_step;    /* ticks of a nanosecond and a little more */
	uint64_t min_duration; /* ticks */
	uint32_t stack_categories;
	uint64_t stack_duration;		/* ticks */
	const struct fx_session_config *config; /* which categories; used before the terms go */
	uint32_t epoch;
	bool running;	      /* tracing has begun */
	uint64_t buffer_size; /* that the session asks for */
	uint64_t reserve;     /* resident: the size of the memory, at least as large; else 0 */
	bool resident;	      /* the buffer outlives sessions, and serves any mode */
	bool is_kernel;	      /* the kernel provider */
	bool patch;	      /* functions with room for a call get one */
	bool recipes;	      /* functions may be left out, or their arguments wanted */
};

/*
 * The terms of providers of this name; epoch and whether tracing runs are the caller's to set. `first_anchor` is a reading
 * of the clocks from before, the longer ago the better.
 *
 * What the provider wishes holds as far as the session's user has not said otherwise: a buffer that is larger than the
 * session's, up to FX_BUFFER_WISH_MAX, unless the session names one for this provider; another mode where the session's is
 * streaming, and nobody is to wait for room.
 */
struct fx_provider_terms fx_terms_for(const struct fx_session_config *config,
				      enum fx_clock_kind kind, struct fx_anchor first_anchor,
				      const char *name, const struct fx_msg_wish *wish);

/* How long before the end things are kept, in ns; 0: as there is room. */
uint64_t fx_terms_last(const struct fx_session_config *config);

/* Size of the buffers of providers of this name, in bytes. */
uint64_t fx_terms_buffer_size(const struct fx_session_config *config, const char *name);

/* How deep calls may be nested, for all that providers record; 0: as deep as there is room. (Within --when, the writer counts.) */
uint32_t fx_terms_max_depth(const struct fx_session_config *config);

/* Whether a provider leaves out functions itself. */
bool fx_terms_choose(const struct fx_session_config *config);

/* The same of those that lie in no call that --when means; or either. */
bool fx_terms_scope(const struct fx_session_config *config);
bool fx_terms_tell(const struct fx_session_config *config);

/* Category bits as the control page has them. */
uint32_t fx_terms_bits(const struct fx_session_config *config, uint32_t bits);

/* What alerts of this name do: 0 if nothing, else enum fx_trigger_action. */
unsigned fx_terms_trigger(const struct fx_session_config *config, const char *alert);

#endif

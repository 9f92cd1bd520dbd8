/* SPDX-License-Identifier: MIT */
/*
 * What a session's configuration means for one provider.
 */
#ifndef FX_MANAGER_TERMS_H
#define FX_MANAGER_TERMS_H

#include "base/clock.h"
#include "manager/settings.h"
#include "manager/provider.h"

/*
 * The terms of providers of this name; epoch and whether tracing runs are the caller's to set. `first_anchor` is a reading
 * of the clocks from before, the longer ago the better.
 */
struct fx_provider_terms fx_terms_for(const struct fx_session_config *config,
				      enum fx_clock_kind kind, struct fx_anchor first_anchor,
				      const char *name);

/* Size of the buffers of providers of this name, in bytes. */
uint64_t fx_terms_buffer_size(const struct fx_session_config *config, const char *name);

/* Category bits as the control page has them. */
uint32_t fx_terms_bits(const struct fx_session_config *config, uint32_t bits);

/* The options that would have kept lost records, as the timeline shows them. */
const char *fx_terms_cure(const struct fx_session_config *config);

/* What alerts of this name do: 0 if nothing, else enum fx_trigger_action. */
unsigned fx_terms_trigger(const struct fx_session_config *config, const char *alert);

#endif

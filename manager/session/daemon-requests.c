/* SPDX-License-Identifier: MIT */
/*
 * Whether what clients ask of a session can be: they are not trusted.
 */
#include <string.h>

#include "manager/session/daemon-internal.h"
#include "manager/settings/functions.h"
#include "manager/settings/wanted.h"

#define CATEGORY_BIT(sym, bit, name, dflt, help) | 1u << (bit)
#define CATEGORIES_KNOWN			 (0u FX_CATEGORIES(CATEGORY_BIT))

static bool words_are_sound(const char words[FX_CATEGORY_LIST_MAX])
{
	return memchr(words, 0, FX_CATEGORY_LIST_MAX) && (!*words || !fx_words_check(words));
}

bool fx_daemon_session_initialize_is_sound(const struct fx_msg_initialize *r)
{
	if (r->mode < FX_MODE_ONESHOT || r->mode > FX_MODE_STREAMING ||
	    r->on_full > FX_ON_FULL_BLOCK || (r->categories & ~CATEGORIES_KNOWN) ||
	    (r->stack_categories & ~CATEGORIES_KNOWN) ||
	    (r->on_full == FX_ON_FULL_BLOCK && r->mode != FX_MODE_STREAMING))
		return false;
	if (r->max_depth >= FX_FRAMES || r->spec_count > FX_PROVIDER_SPECS ||
	    r->trigger_count > FX_TRIGGERS)
		return false;
	if (!words_are_sound(r->words) || !memchr(r->functions, 0, sizeof(r->functions)) ||
	    !fx_functions_are_sound(r->functions))
		return false;
	for (uint32_t i = 0; i < r->trigger_count; i++) {
		if (r->triggers[i].action < FX_TRIGGER_STOP ||
		    r->triggers[i].action > FX_TRIGGER_SNAPSHOT)
			return false;
	}
	return true;
}

bool fx_daemon_session_sizes_are_sound(const struct fx_msg_initialize *r)
{
	if (r->buffer_size && !fx_buffer_size_is_valid(r->buffer_size))
		return false;
	for (uint32_t i = 0; i < r->spec_count; i++) {
		if (!fx_buffer_size_is_valid(r->specs[i].size))
			return false;
	}
	return true;
}

bool fx_daemon_session_start_is_sound(const struct fx_daemon_session *t,
				      const struct fx_msg_start *request)
{
	return request->disposition >= FX_CLEAR_ENTIRE && request->disposition <= FX_RETAIN &&
	       !(request->categories & ~CATEGORIES_KNOWN) && words_are_sound(request->words) &&
	       fx_words_count(t->request.words) + fx_words_count(request->words) <= FX_WANTED_MAX;
}

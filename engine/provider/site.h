/* SPDX-License-Identifier: MIT */
/*
 * Sites: a place in the program that traces, or any number of them that share a category, remembers
 * whether its category is wanted. A static struct fx_site of zeroes is ready for use.
 *
 * What a site remembers is the whole word of state that its answer was given for. A start, a stop, or
 * another set of categories changes that word, and the site's next look finds it changed: so no list of
 * sites is kept, nobody has to flush them, and a library that is unloaded takes its sites along.
 */
#ifndef FX_ENGINE_SITE_H
#define FX_ENGINE_SITE_H

#include "engine/provider/engine.h"

struct fx_site {
	uint64_t state; /* of the control page, and FX_SITE_ENABLED */
};

/* Never set in the control page's state. */
#define FX_SITE_ENABLED ((uint64_t)FX_LOOK_EXIT)

/* Whether events of a category, ours or the program's own, are recorded now. */
bool fx_category_is_enabled(const char *category);

/* Slow half of fx_site_on(): asks, remembers, and returns the site's new state. */
fx_cold uint64_t fx_site_look(struct fx_site *site, const char *category);

/* The calling thread's state if the site's category is being traced, else NULL; as fx_thread_on().
 * Off: 5 instructions and two branches. */
fx_hot struct fx_thread *fx_site_on(struct fx_site *site, const char *category)
{
	/* relaxed: what the site knows is compared with it, and nothing else read through it */
	uint64_t state = fx_load_relaxed(&fx_control()->state);
	uint64_t seen = fx_load_relaxed(&site->state);

	if (fx_unlikely((seen & ~FX_SITE_ENABLED) != state))
		seen = fx_site_look(site, category);
	return seen & FX_SITE_ENABLED ? fx_thread_on(~FX_LOOK_EXIT) : NULL;
}

#endif

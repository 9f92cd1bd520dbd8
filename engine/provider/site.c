/* SPDX-License-Identifier: MIT */
#include "engine/provider/site.h"

#include <string.h>

#include "engine/provider/category.h"
#include "engine/provider/observer.h"

static const struct {
	const char *name;
	uint32_t bit;
} categories[] = {
#define CATEGORY_ROW(sym, bit, name, dflt, help) {name, FX_CAT_##sym},
    FX_CATEGORIES(CATEGORY_ROW)
#undef CATEGORY_ROW
};

/* The bits of state of which one must be set for events of a category: one of ours has its own, any other
 * is the program's. */
static uint32_t bits_of(const char *category)
{
	for (size_t i = 0; i < FX_ARRAY_LEN(categories); i++) {
		if (strcmp(category, categories[i].name) != 0)
			continue;
		return categories[i].bit == FX_CAT_FUNCTION ? FX_CAT_FUNCTIONS : categories[i].bit;
	}
	return FX_CAT_USER;
}

static bool is_enabled(uint64_t state, const char *category)
{
	uint32_t bits = bits_of(category);

	return (state & bits) && (bits != FX_CAT_USER || fx_category_wanted(category));
}

bool fx_category_is_enabled(const char *category)
{
	return is_enabled(fx_load_acquire(&fx_control()->state), category);
}

uint64_t fx_site_look(struct fx_site *site, const char *category)
{
	/* acquire: a start's configuration. Pairs with the manager's release. */
	uint64_t state = fx_load_acquire(&fx_control()->state);

	if (is_enabled(state, category))
		state |= FX_SITE_ENABLED;
	/* relaxed: any thread that finds it gets the same answer for the same state */
	fx_store_relaxed(&site->state, state);
	/* The next look is to come back here. */
	if (fx_observers_notify())
		fx_store_relaxed(&site->state, ~state & ~FX_SITE_ENABLED);
	return state;
}

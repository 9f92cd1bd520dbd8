/* SPDX-License-Identifier: MIT */
#include "symbols/made.h"

#include <string.h>

#include "base/clock.h"
#include "symbols/reading.h"

static void glance_forget(struct fx_made *made, size_t index)
{
	fx_file_free(made->cache, made->looks[index]);
	made->count--;
	memmove(&made->looks[index], &made->looks[index + 1],
		(made->count - index) * sizeof(made->looks[0]));
}

void fx_made_clear(struct fx_made *made)
{
	while (made->count)
		glance_forget(made, made->count - 1);
}

static struct fx_symbol_file *glance_newest(const struct fx_made *made)
{
	return made->count ? made->looks[made->count - 1] : NULL;
}

static bool glance_goes_on(const struct fx_made *made)
{
	const struct fx_symbol_file *newest = glance_newest(made);

	return newest && (newest->state == FX_FILE_WAITING || newest->state == FX_FILE_LOADING);
}

/* What came of the newest look. */
static void glance_take(struct fx_made *made)
{
	struct fx_symbol_file *newest = glance_newest(made);

	if (!made->is_looking || glance_goes_on(made))
		return;
	made->is_looking = false;
	if (newest->state == FX_FILE_FAILED) {
		/* That there is none may be over soon. */
		made->is_over = newest->failure >= FX_SYMBOL_FILE_NO_MEMORY;
		glance_forget(made, made->count - 1);
		return;
	}
	made->source.mark = newest->table.jit;
	while (newest->table.jit.is_anew && made->count > 1)
		glance_forget(made, 0);
	if (newest->table.entries.count)
		made->vain = 0;
	else
		glance_forget(made, made->count - 1);
}

static bool made_knows(const struct fx_made *made, uint64_t address)
{
	for (size_t i = made->count; i-- > 0;) {
		if (made->looks[i]->state == FX_FILE_LOADED &&
		    fx_symtab_find(&made->looks[i]->table, address) != FX_NO_ENTRY)
			return true;
	}
	return false;
}

/* Whether to look again for an address. */
static bool glance_is_due(const struct fx_made *made, uint64_t address, uint64_t now)
{
	uint64_t since = now - made->looked;

	if (!made->path[0] || made->is_over || glance_goes_on(made))
		return false;
	if (made_knows(made, address))
		return since >= FX_MADE_FRESH_NS;
	return made->vain < FX_MADE_VAIN || since >= FX_MADE_PAUSE_NS;
}

static void glance_begin(struct fx_made *made, uint64_t now)
{
	struct fx_jit_source source = made->source;

	if (made->count >= FX_MADE_LOOKS)
		source.mark = (struct fx_jit_mark){0};
	if (fx_file_create_map(made->cache, made->view, made->path, &source,
			       &made->looks[made->count]) < 0)
		return;
	made->count++;
	made->is_looking = true;
	made->looked = now;
	made->vain++;
}

void fx_made_want(struct fx_made *made, uint64_t address)
{
	uint64_t now = fx_monotonic_ns();

	glance_take(made);
	if (glance_is_due(made, address, now))
		glance_begin(made, now);
	if (glance_goes_on(made))
		fx_file_want(made->cache, made->view, glance_newest(made));
}

bool fx_made_is_settled(struct fx_made *made)
{
	return !made->count || fx_file_is_settled(made->cache, made->view, glance_newest(made));
}

bool fx_made_find(struct fx_made *made, uint64_t address, struct fx_symbol *ret)
{
	/* Without a loader, reads it; with one, it is over, or took too long. */
	if (glance_goes_on(made))
		fx_file_find(made->cache, made->view, glance_newest(made), address, ret);
	glance_take(made);
	for (size_t i = made->count; i-- > 0;) {
		struct fx_symbol_file *look = made->looks[i];

		if (look->state == FX_FILE_LOADED &&
		    fx_file_find(made->cache, made->view, look, address, ret)) {
			ret->module = look->module;
			return true;
		}
	}
	return false;
}

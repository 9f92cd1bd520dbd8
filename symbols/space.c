/* SPDX-License-Identifier: MIT */
/*
 * One process image: its modules in the order in which they came. A process has some ten to a few
 * hundred, so the newest that contains an address is
 * found by a walk from the end.
 */
#include "symbols/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODULES_MAX 65536

struct module {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	struct fx_symbol_file *file;
};

struct fx_symspace {
	struct fx_symbol_cache *cache;
	const struct fx_view *view; /* NULL: the reader's own */
	struct module *modules;	    /* oldest first */
	uint32_t count;
	uint32_t capacity;
};

int fx_symspace_create(struct fx_symbol_cache *cache, struct fx_symspace **ret_space)
{
	struct fx_symspace *space = calloc(1, sizeof(*space));
	if (!space)
		return -ENOMEM;
	space->cache = cache;
	*ret_space = space;
	return 0;
}

void fx_symspace_set_view(struct fx_symspace *space, const struct fx_view *view)
{
	space->view = view;
}

void fx_symspace_destroy(struct fx_symspace *space)
{
	if (!space)
		return;
	for (uint32_t i = 0; i < space->count; i++)
		fx_file_unuse(space->cache, space->modules[i].file);
	free(space->modules);
	free(space);
}

static int modules_reserve(struct fx_symspace *space)
{
	if (space->count == MODULES_MAX)
		return -ENOSPC;
	if (space->count < space->capacity)
		return 0;
	uint32_t capacity = space->capacity ? space->capacity * 2 : 16;
	struct module *modules = realloc(space->modules, capacity * sizeof(*modules));
	if (!modules)
		return -ENOMEM;
	space->modules = modules;
	space->capacity = capacity;
	return 0;
}

/* The newest of the first `moment` modules that contains address. */
static const struct module *find_module(const struct fx_symspace *space, uint32_t moment,
					uint64_t address)
{
	for (uint32_t i = moment; i-- > 0;) {
		const struct module *module = &space->modules[i];
		if (address >= module->start && address < module->end)
			return module;
	}
	return NULL;
}

/* Whether this very module is what stands in its addresses, with nothing newer over any of them. */
static bool stands_already(const struct fx_symspace *space, const struct module *wanted)
{
	for (uint32_t i = space->count; i-- > 0;) {
		const struct module *module = &space->modules[i];
		if (module->start < wanted->end && wanted->start < module->end)
			return !memcmp(module, wanted, sizeof(*wanted));
	}
	return false;
}

static bool space_is_sound(const struct fx_symbol_module *module)
{
	return module->path && module->path[0] && module->start < module->end &&
	       (!module->build_id ||
		(module->build_id_size && module->build_id_size <= FX_BUILD_ID_MAX));
}

int fx_symspace_add_module(struct fx_symspace *space, const struct fx_symbol_module *module)
{
	if (!space_is_sound(module))
		return -EINVAL;
	int error = modules_reserve(space);
	if (error)
		return error;
	struct module added = {.start = module->start, .end = module->end, .bias = module->bias};
	error = fx_file_use(space->cache, space->view, module, &added.file);
	if (error)
		return error;
	if (stands_already(space, &added))
		fx_file_unuse(space->cache, added.file);
	else
		space->modules[space->count++] = added;
	return 0;
}

uint32_t fx_symspace_moment(const struct fx_symspace *space)
{
	return space->count;
}

void fx_symspace_resolve_at(struct fx_symspace *space, uint32_t moment, uint64_t address,
			    struct fx_symbol *ret_symbol)
{
	const struct module *module =
	    find_module(space, moment < space->count ? moment : space->count, address);
	*ret_symbol = (struct fx_symbol){.kind = FX_SYMBOL_UNKNOWN, .offset = address};
	if (!module)
		return;
	ret_symbol->kind = FX_SYMBOL_IN_MODULE;
	ret_symbol->module = module->file->module;
	ret_symbol->offset = address - module->bias;
	if (fx_file_find(space->cache, space->view, module->file, ret_symbol->offset,
			 &ret_symbol->name, &ret_symbol->offset))
		ret_symbol->kind = FX_SYMBOL_NAMED;
}

void fx_symspace_resolve(struct fx_symspace *space, uint64_t address, struct fx_symbol *ret_symbol)
{
	fx_symspace_resolve_at(space, space->count, address, ret_symbol);
}

/* SPDX-License-Identifier: MIT */
/*
 * One process image: its modules in the order in which they came. A process has some ten to a few
 * hundred, so the newest that contains an address is found by a walk from the end.
 */
#include "symbols/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists/vector.h"
#include "symbols/made.h"
#include "symbols/reading.h"

#define MODULES_MAX 65536

struct module {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	struct fx_symbol_file *file;
};

struct fx_symspace {
	struct fx_symbol_cache *cache;
	struct fx_made made;
	const struct fx_view *view;		   /* NULL: the reader's own */
	FX_VECTOR(struct module) modules;	   /* oldest first */
	FX_VECTOR(struct fx_symbol_file *) wanted; /* those that are being read */
};

int fx_symspace_create(struct fx_symbol_cache *cache, struct fx_symspace **ret)
{
	struct fx_symspace *space = calloc(1, sizeof(*space));

	if (!space)
		return -ENOMEM;
	space->cache = space->made.cache = cache;
	*ret = space;
	return 0;
}

void fx_symspace_set_view(struct fx_symspace *space, const struct fx_view *view)
{
	space->view = space->made.view = view;
}

void fx_symspace_expect_map(struct fx_symspace *space, uint32_t pid, uint64_t owner,
			    uint64_t since_ns)
{
	snprintf(space->made.path, sizeof(space->made.path), "/tmp/perf-%" PRIu32 ".map", pid);
	space->made.source = (struct fx_jit_source){.owner = owner, .since_ns = since_ns};
}

void fx_symspace_destroy(struct fx_symspace *space)
{
	if (!space)
		return;
	for (size_t i = 0; i < space->modules.count; i++)
		fx_file_unuse(space->cache, space->modules.items[i].file);
	fx_made_clear(&space->made);
	fx_vector_free(&space->modules);
	fx_vector_free(&space->wanted);
	free(space);
}

static int modules_reserve(struct fx_symspace *space)
{
	return space->modules.count == MODULES_MAX ? -ENOSPC
						   : fx_vector_reserve(&space->modules, 1);
}

/* The newest of the first `moment` modules that contains address. */
static const struct module *find_module(const struct fx_symspace *space, uint32_t moment,
					uint64_t address)
{
	size_t count = space->modules.count;

	for (size_t i = moment < count ? moment : count; i-- > 0;) {
		const struct module *module = &space->modules.items[i];

		if (address >= module->start && address < module->end)
			return module;
	}
	return NULL;
}

/* Whether this very module is what stands in its addresses, with nothing newer over any of them. */
static bool stands_already(const struct fx_symspace *space, const struct module *wanted)
{
	for (size_t i = space->modules.count; i-- > 0;) {
		const struct module *module = &space->modules.items[i];

		if (module->start < wanted->end && wanted->start < module->end)
			return memcmp(module, wanted, sizeof(*wanted)) == 0;
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
	struct module added = {.start = module->start, .end = module->end, .bias = module->bias};
	int r;

	if (!space_is_sound(module))
		return -EINVAL;
	r = modules_reserve(space);
	if (r < 0)
		return r;
	r = fx_file_use(space->cache, space->view, module, &added.file);
	if (r < 0)
		return r;
	if (stands_already(space, &added))
		fx_file_unuse(space->cache, added.file);
	else
		space->modules.items[space->modules.count++] = added;
	return 0;
}

uint32_t fx_symspace_moment(const struct fx_symspace *space)
{
	return (uint32_t)space->modules.count;
}

/* Without memory it is not waited for. */
static void wanted_add(struct fx_symspace *space, struct fx_symbol_file *file)
{
	for (size_t i = 0; i < space->wanted.count; i++)
		if (space->wanted.items[i] == file)
			return;
	if (fx_vector_reserve(&space->wanted, 1) == 0)
		space->wanted.items[space->wanted.count++] = file;
}

bool fx_symspace_want(struct fx_symspace *space, uint32_t moment, uint64_t address)
{
	const struct module *module = find_module(space, moment, address);

	if (!module)
		return false;
	fx_file_want(space->cache, space->view, module->file);
	if (module->file->awaited)
		wanted_add(space, module->file);
	return true;
}

void fx_symspace_want_made(struct fx_symspace *space, uint64_t address)
{
	fx_made_want(&space->made, address);
}

bool fx_symspace_is_ready(struct fx_symspace *space)
{
	size_t left = 0;

	for (size_t i = 0; i < space->wanted.count; i++) {
		struct fx_symbol_file *file = space->wanted.items[i];

		if (!fx_file_is_settled(space->cache, space->view, file))
			space->wanted.items[left++] = file;
	}
	space->wanted.count = left;
	return fx_made_is_settled(&space->made) && left == 0;
}

void fx_symspace_resolve_at(struct fx_symspace *space, uint32_t moment, uint64_t address,
			    struct fx_symbol *ret)
{
	const struct module *module = find_module(space, moment, address);

	*ret = (struct fx_symbol){.kind = FX_SYMBOL_UNKNOWN, .offset = address};
	if (!module) {
		if (fx_made_find(&space->made, address, ret))
			ret->kind = FX_SYMBOL_NAMED;
		return;
	}
	ret->kind = FX_SYMBOL_IN_MODULE;
	ret->module = module->file->module;
	ret->offset = address - module->bias;
	if (fx_file_find(space->cache, space->view, module->file, ret->offset, ret))
		ret->kind = FX_SYMBOL_NAMED;
}

void fx_symspace_resolve(struct fx_symspace *space, uint64_t address, struct fx_symbol *ret)
{
	fx_symspace_resolve_at(space, fx_symspace_moment(space), address, ret);
}

unsigned fx_symspace_places_at(struct fx_symspace *space, uint32_t moment, uint64_t address,
			       struct fx_symbol_place ret[FX_SYMBOL_PLACES_MAX])
{
	const struct module *module = find_module(space, moment, address);

	return module ? fx_file_places(space->cache, module->file, address - module->bias, ret) : 0;
}

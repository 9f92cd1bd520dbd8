/* SPDX-License-Identifier: MIT */
#include "manager/archive/modules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "lists/hashes-lenient.h"
#include "manager/settings/functions.h"

/* Bytes of a file's name behind a function's. */
#define PLACE_FILE_MAX 255u

_Static_assert(FX_MODULES_TEXT_MAX + sizeof(" (") + PLACE_FILE_MAX +
		       sizeof(":4294967295, inlined)") <=
		   FX_MODULES_CALLER_MAX,
	       "room for a function and its place");

struct fx_module {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint16_t id;
	size_t build_id_size;
	uint8_t build_id[FX_BUILD_ID_MAX];
	char path[FXT_MAX_NAME_LENGTH + 1];
};

void fx_modules_init(struct fx_modules *ret, struct fx_symbol_cache *cache,
		     const struct fx_view *view)
{
	*ret = (struct fx_modules){.cache = cache, .view = view};
}

void fx_modules_expect_map(struct fx_modules *modules, uint32_t pid, uint64_t owner,
			   uint64_t since_ns)
{
	modules->map_pid = pid;
	modules->map_owner = owner;
	modules->map_since_ns = since_ns;
}

void fx_modules_destroy(struct fx_modules *modules)
{
	struct fx_module *module, *next;

	HASH_ITER (hh, modules->by_id, module, next) {
		HASH_DEL(modules->by_id, module);
		free(module);
	}
	fx_symspace_destroy(modules->space);
	memset(modules, 0, sizeof(*modules));
}

static struct fx_module *module_get(struct fx_modules *modules, uint16_t id)
{
	struct fx_module *module;

	HASH_FIND(hh, modules->by_id, &id, sizeof(id), module);
	if (module)
		return module;
	module = calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	module->id = id;
	HASH_ADD(hh, modules->by_id, id, sizeof(module->id), module);
	if (module->lost) {
		free(module);
		return NULL;
	}
	return module;
}

static int module_define(struct fx_modules *modules, const struct fxt_profiler *p)
{
	struct fx_module *module;

	if (p->name.length > FXT_MAX_NAME_LENGTH || p->build_id.size > FX_BUILD_ID_MAX)
		return -EINVAL;
	module = module_get(modules, p->module);
	if (!module)
		return -ENOMEM;
	memcpy(module->path, p->name.data, p->name.length);
	module->path[p->name.length] = 0;
	module->build_id_size = p->build_id.size;
	if (p->build_id.size)
		memcpy(module->build_id, p->build_id.data, p->build_id.size);
	return 0;
}

/* A module that has come has some of them perhaps. */
static void unplaced_look(struct fx_modules *modules)
{
	uint32_t now = fx_symspace_moment(modules->space);

	for (unsigned i = 0; i < FX_UNPLACED; i++) {
		if (modules->unplaced[i] &&
		    fx_symspace_want(modules->space, now, modules->unplaced[i]))
			modules->unplaced[i] = 0;
	}
	modules->waiting = !fx_symspace_is_ready(modules->space);
}

static int module_map(struct fx_modules *modules, const struct fxt_profiler *p)
{
	struct fx_symbol_module facts;
	struct fx_module *module;
	uint16_t id = p->module;
	int r;

	HASH_FIND(hh, modules->by_id, &id, sizeof(id), module);
	if (!module || p->start + p->range < p->start)
		return -EINVAL;
	if (!modules->space) {
		r = fx_symspace_create(modules->cache, &modules->space);
		if (r < 0)
			return r;
		fx_symspace_set_view(modules->space, modules->view);
		if (modules->map_pid)
			fx_symspace_expect_map(modules->space, modules->map_pid, modules->map_owner,
					       modules->map_since_ns);
	}
	facts = (struct fx_symbol_module){
	    .path = module->path,
	    .build_id = module->build_id_size ? module->build_id : NULL,
	    .build_id_size = module->build_id_size,
	    .bias = p->start - p->vaddr,
	    .start = p->start,
	    .end = p->start + p->range,
	};
	r = fx_symspace_add_module(modules->space, &facts);
	if (r == 0)
		unplaced_look(modules);
	return r;
}

int fx_modules_add(struct fx_modules *modules, const struct fxt_record *record)
{
	if (record->kind == FXT_KIND_MODULE)
		return module_define(modules, &record->profiler);
	if (record->kind == FXT_KIND_MMAP)
		return module_map(modules, &record->profiler);
	return -EINVAL;
}

uint32_t fx_modules_moment(const struct fx_modules *modules)
{
	return modules->space ? fx_symspace_moment(modules->space) : 0;
}

void fx_modules_want(struct fx_modules *modules, uint32_t moment, uint64_t address)
{
	struct fx_symspace *space = modules->space;

	if (!space || (!fx_symspace_want(space, moment, address) &&
		       !fx_symspace_want(space, fx_symspace_moment(space), address))) {
		modules->unplaced[modules->unplaced_next++ % FX_UNPLACED] = address;
		if (space)
			fx_symspace_want_made(space, address);
	}
	if (space)
		modules->waiting = !fx_symspace_is_ready(space);
}

bool fx_modules_want_known(struct fx_modules *modules, uint64_t address)
{
	struct fx_symspace *space = modules->space;

	if (!space || !fx_symspace_want(space, fx_symspace_moment(space), address))
		return false;
	modules->waiting = !fx_symspace_is_ready(space);
	return modules->waiting;
}

bool fx_modules_are_ready(struct fx_modules *modules)
{
	if (modules->waiting)
		modules->waiting = !fx_symspace_is_ready(modules->space);
	return !modules->waiting;
}

/* As it was at that moment, or is now: while a thread tells of a module, another may be the first to call its
 * functions. */
static struct fx_symbol modules_resolve(struct fx_modules *modules, uint32_t moment,
					uint64_t address)
{
	struct fx_symbol symbol = {.kind = FX_SYMBOL_UNKNOWN, .offset = address};

	if (!modules->space)
		return symbol;
	fx_symspace_resolve_at(modules->space, moment, address, &symbol);
	if (symbol.kind == FX_SYMBOL_UNKNOWN)
		fx_symspace_resolve(modules->space, address, &symbol);
	return symbol;
}

size_t fx_modules_name(struct fx_modules *modules, uint32_t moment, uint64_t address,
		       char ret[FX_MODULES_TEXT_MAX])
{
	struct fx_symbol symbol = modules_resolve(modules, moment, address);

	return fx_symbol_format(&symbol, ret, FX_MODULES_TEXT_MAX);
}

/* A function that a call returns into, without the place in it. */
static size_t caller_name(struct fx_modules *modules, uint32_t moment, uint64_t address,
			  char ret[FX_MODULES_TEXT_MAX])
{
	struct fx_symbol symbol = modules_resolve(modules, moment, address - 1);

	if (symbol.kind == FX_SYMBOL_NAMED)
		symbol.offset = 0;
	else if (symbol.kind == FX_SYMBOL_UNKNOWN)
		symbol.offset = address;
	return fx_symbol_format(&symbol, ret, FX_MODULES_TEXT_MAX);
}

/* Where in the source such an address is; none without --lines. */
static unsigned caller_places(struct fx_modules *modules, uint32_t moment, uint64_t address,
			      struct fx_symbol_place ret[FX_SYMBOL_PLACES_MAX])
{
	unsigned count;

	if (!modules->space)
		return 0;
	count = fx_symspace_places_at(modules->space, moment, address - 1, ret);
	return count ? count
		     : fx_symspace_places_at(modules->space, fx_symspace_moment(modules->space),
					     address - 1, ret);
}

/* " (file:line)" behind a function's name. */
static size_t place_append(char *to, size_t length, const struct fx_symbol_place *place)
{
	to[length++] = ' ';
	to[length++] = '(';
	length += fx_escape(to + length, PLACE_FILE_MAX, place->file, strlen(place->file), 0);
	if (place->line)
		length +=
		    (size_t)snprintf(to + length, sizeof(":4294967295"), ":%" PRIu32, place->line);
	return length + (size_t)snprintf(to + length, sizeof(", inlined)"), "%s)",
					 place->function ? ", inlined" : "");
}

size_t fx_modules_caller(struct fx_modules *modules, uint32_t moment, uint64_t address,
			 char ret[FX_MODULES_CALLER_MAX])
{
	struct fx_symbol_place places[FX_SYMBOL_PLACES_MAX];
	unsigned count = caller_places(modules, moment, address, places);
	size_t length = caller_name(modules, moment, address, ret);

	return count && !places[count - 1].function ? place_append(ret, length, &places[count - 1])
						    : length;
}

void fx_modules_callers(struct fx_modules *modules, uint32_t moment, uint64_t address,
			fx_modules_line *take, void *opaque)
{
	struct fx_symbol_place places[FX_SYMBOL_PLACES_MAX];
	unsigned count = caller_places(modules, moment, address, places);
	char line[FX_MODULES_CALLER_MAX];

	for (unsigned i = 0; i < count && places[i].function; i++) {
		size_t length =
		    (size_t)snprintf(line, FX_MODULES_TEXT_MAX, "%s", places[i].function);

		if (!take(opaque, line, place_append(line, length, &places[i])))
			return;
	}
	take(opaque, line, fx_modules_caller(modules, moment, address, line));
}

bool fx_modules_has_name(struct fx_modules *modules, uint32_t moment, uint64_t address)
{
	return modules_resolve(modules, moment, address).kind == FX_SYMBOL_NAMED;
}

bool fx_modules_function(struct fx_modules *modules, uint32_t moment, uint64_t address, char *ret,
			 size_t size)
{
	struct fx_symbol symbol = modules_resolve(modules, moment, address);
	char name[FX_MODULES_TEXT_MAX];
	int n;

	if (symbol.kind != FX_SYMBOL_NAMED || !symbol.module)
		return false;
	fx_symbol_format(&symbol, name, sizeof(name));
	n = snprintf(ret, size, "%s/%s", symbol.module, name);
	return n > 0 && (size_t)n < size && !strchr(ret, '\n');
}

struct fx_pattern_verdict fx_modules_judge(struct fx_modules *modules, uint32_t moment,
					   uint64_t address, const char *functions)
{
	struct fx_symbol symbol = modules_resolve(modules, moment, address);
	char name[FX_MODULES_TEXT_MAX];
	const struct fx_pattern_subject function = {
	    .module = symbol.module,
	    .name = name,
	    .source = symbol.source,
	    .size = symbol.size,
	};

	fx_symbol_format(&symbol, name, sizeof(name));
	return fx_functions_judge(functions, &function);
}

/* SPDX-License-Identifier: MIT */
#include "preload/hooks/recipes.h"

#include "base/atomic.h"
#include "engine/provider/engine.h"
#include "engine/provider/string.h"
#include "preload/host/caller.h"

bool fx_recipes_some;

/* What is looked at by all threads. The one that adopts the state changes it under them: each word is true by itself, and
 * what it leads to stays. */
static struct {
	const struct fx_recipe_book *book; /* NULL: there is none */
	uint32_t first, count;		   /* modules that are of now */
	uint32_t serial;
	uint32_t attachment; /* of which it is */
} seen;

/* The table of a module. False: it is none. */
static bool table_at(const struct fx_recipe_book *book, const struct fx_recipe_module *m,
		     struct fx_recipes_of *ret)
{
	*ret = (struct fx_recipes_of){0};
	if (m->offset % 8 || m->offset > FX_RECIPE_SPACE || m->size > FX_RECIPE_SPACE - m->offset)
		return false;
	ret->table = (const uint8_t *)book + m->offset;
	ret->size = m->size;
	ret->bias = m->bias;
	return true;
}

static const struct fx_recipe_function *recipes_search(const struct fx_recipes_of *of,
						       uint64_t address);

static bool has_recipes(const void *opaque, uint64_t address)
{
	const struct fx_recipes_of *of = opaque;

	return recipes_search(of, address - of->bias) != NULL;
}

/* Whether a table has recipes at all. */
static bool is_of_recipes(const struct fx_recipes_of *of)
{
	const struct fx_recipe_table *table = fx_recipe_at(of, 0, sizeof *table);
	uint32_t log2 = table ? table->slots_log2 : 0;

	if (!log2 || log2 > 20 || !fx_recipe_at(of, 0, sizeof *table + ((uint64_t)4 << log2)))
		return false;
	for (uint32_t i = 0; i >> log2 == 0; i++) {
		if (table->slots[i])
			return true;
	}
	return false;
}

/* The usual ways of the hooks know nothing of functions that have recipes now: these have other places in the table of names,
 * and their callers are not known by their plain keys. */
static void modules_take(const struct fx_recipe_book *book, uint32_t from, uint32_t to)
{
	struct fx_recipes_of of;
	bool some = false;

	for (uint32_t i = from; i < to; i++) {
		const struct fx_recipe_module *m = &book->modules[i];

		if (!table_at(book, m, &of) || !is_of_recipes(&of))
			continue;
		fx_strings_forget_some(m->start, m->end, has_recipes, &of);
		some = true;
	}
	if (some)
		fx_callers_forget();
}

bool fx_recipes_look(void)
{
	const struct fx_recipe_book *book = fx_recipe_book_of(fx_engine.page);
	uint32_t serial = book ? fx_load_acquire(&book->serial) : 0, first, count, known;

	if (fx_load_relaxed(&seen.book) == book && fx_load_relaxed(&seen.serial) == serial &&
	    seen.attachment == fx_engine.attachments)
		return false;
	first = book ? fx_load_relaxed(&book->first) : 0;
	count = book ? fx_load_acquire(&book->count) : 0; /* pairs with the manager's release */
	if (count > FX_RECIPE_MODULES || first > count)
		first = count = 0;
	/* A process that has just been attached, or a child, has a table of names with nothing in it. */
	known = count;
	if (seen.attachment == fx_engine.attachments && fx_load_relaxed(&seen.book) == book)
		/* What has gone with an earlier session is forgotten as well. */
		known = fx_load_relaxed(&seen.first) < first ? fx_load_relaxed(&seen.first)
							     : fx_load_relaxed(&seen.count);
	modules_take(book, known, count);
	seen.attachment = fx_engine.attachments;
	fx_store_relaxed(&seen.book, book);
	fx_store_relaxed(&seen.first, first);
	fx_store_relaxed(&seen.count, count);
	fx_store_relaxed(&seen.serial, serial);
	fx_store_relaxed(&fx_recipes_some, first < count);
	return true;
}

static const struct fx_recipe_module *module_of(const struct fx_recipe_book *book,
						uint64_t function)
{
	uint32_t count = fx_load_relaxed(&seen.count);

	/* The newest: others may have been at its addresses before. */
	for (uint32_t i = count; i-- > fx_load_relaxed(&seen.first);) {
		const struct fx_recipe_module *m = &book->modules[i];

		if (function >= m->start && function < m->end)
			return m;
	}
	return NULL;
}

const void *fx_recipe_at(const struct fx_recipes_of *of, uint32_t offset, uint64_t size)
{
	return offset % 8 == 0 && offset <= of->size && size <= of->size - offset
		   ? of->table + offset
		   : NULL;
}

static const struct fx_recipe_function *function_at(const struct fx_recipes_of *of, uint32_t offset)
{
	const struct fx_recipe_function *f = fx_recipe_at(of, offset, sizeof *f);

	return f && fx_recipe_at(of, offset, sizeof *f + (uint64_t)f->count * sizeof f->places[0])
		   ? f
		   : NULL;
}

static const struct fx_recipe_function *recipes_search(const struct fx_recipes_of *of,
						       uint64_t address)
{
	const struct fx_recipe_table *table = fx_recipe_at(of, 0, sizeof *table);
	uint32_t log2 = table ? table->slots_log2 : 0, mask, at;

	if (!log2 || log2 > 20 || !fx_recipe_at(of, 0, sizeof *table + ((uint64_t)4 << log2)))
		return NULL;
	mask = (1u << log2) - 1;
	at = fx_recipe_hash(address, log2);
	for (uint32_t i = 0; i <= mask && table->slots[at]; i++, at = (at + 1) & mask) {
		const struct fx_recipe_function *f = function_at(of, table->slots[at]);

		if (!f || f->address == address)
			return f;
	}
	return NULL;
}

/* The table of a function's module. False: it is not known. */
static bool recipes_table_of(uint64_t function, struct fx_recipes_of *ret)
{
	const struct fx_recipe_book *book = fx_load_relaxed(&seen.book);
	const struct fx_recipe_module *m = book ? module_of(book, function) : NULL;

	*ret = (struct fx_recipes_of){0};
	return m && table_at(book, m, ret);
}

fx_cold void fx_recipes_find_slow(uint64_t function, struct fx_recipes_of *ret)
{
	if (recipes_table_of(function, ret))
		ret->function = recipes_search(ret, function - ret->bias);
}

/* Whether a list of the table has a link-time address. */
static bool list_has(const struct fx_recipes_of *of, uint32_t offset, uint32_t count,
		     uint64_t address)
{
	const uint32_t *list = count ? fx_recipe_at(of, offset, 4ull * count) : NULL;
	uint32_t low = 0, high = count;

	if (!list)
		return false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && list[low] == address;
}

enum fx_recipes_choice fx_recipes_choose(uint64_t function)
{
	const struct fx_recipe_table *table;
	struct fx_recipes_of of;

	if (!recipes_table_of(function, &of))
		return FX_RECIPES_IN;
	table = fx_recipe_at(&of, 0, sizeof *table);
	if (!table)
		return FX_RECIPES_IN;
	function -= of.bias;
	if (list_has(&of, table->left_out, table->left_out_count, function))
		return table->is_scoped ? FX_RECIPES_SCOPED : FX_RECIPES_OUT;
	if (list_has(&of, table->suppressed, table->suppressed_count, function))
		return FX_RECIPES_COUNTED;
	return FX_RECIPES_IN;
}

bool fx_recipes_leave_out(uint64_t function)
{
	enum fx_recipes_choice choice = fx_recipes_choose(function);

	return choice == FX_RECIPES_OUT || choice == FX_RECIPES_COUNTED;
}

const struct fx_recipe *fx_recipe_for(const struct fx_recipes_of *of, uint64_t place, uint32_t kind)
{
	const struct fx_recipe_function *f = of->function;

	for (uint32_t i = 0; i < f->count; i++) {
		const struct fx_recipe_place *p = &f->places[i];
		const struct fx_recipe *r;

		if (p->kind != kind || (p->address && p->address != place - of->bias))
			continue;
		r = fx_recipe_at(of, p->recipe, sizeof *r);
		if (r && !fx_recipe_at(of, p->recipe,
				       sizeof *r + (uint64_t)r->count * sizeof r->values[0]))
			r = NULL;
		return r;
	}
	return NULL;
}

uint64_t fx_recipes_key(uint64_t function)
{
	struct fx_recipes_of of;

	fx_recipes_find(function, &of);
	return of.function ? (uint64_t)(uintptr_t)of.function : function;
}

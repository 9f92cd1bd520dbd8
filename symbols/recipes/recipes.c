/* SPDX-License-Identifier: MIT */
#include "symbols/recipes/recipes.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "engine/recipe.h"
#include "symbols/demangle.h"
#include "symbols/patterns.h"
#include "symbols/recipes/cook.h"
#include "symbols/recipes/step.h"
#include "symbols/symbols.h"

/* Units of debug information within one another. */
#define NEST_MAX 64u

struct collecting {
	const struct fx_elf_source *source;
	const char *patterns;
	struct fx_recipes *ret;
	FX_VECTOR(struct fx_wanted_function) wanted; /* by rising address */
	uint32_t *left_out;			     /* addresses, the same; */
	size_t left_out_count;
	uint32_t *suppressed; /* and of those of them that drown the others */
	size_t suppressed_count;
	bool is_scoped; /* what is left out is so outside of calls of the others */
};

static int collect_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

/* --- Which functions -------------------------------------------------------------------------- */

static const char *module_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What is wanted of a function of that name. The last specs count. */
static unsigned wanted_flags(const char *patterns, const struct fx_pattern_subject *function,
			     char ret_specs[FX_PATTERN_MAX])
{
	struct fx_pattern p;
	unsigned flags = 0;

	*ret_specs = 0;
	while (fx_pattern_next(&patterns, &p)) {
		if ((p.sign != '(' && p.sign != '=') || !fx_pattern_matches(&p, function))
			continue;
		flags |= p.sign == '(' ? FX_RECIPE_ARGS : FX_RECIPE_RESULT;
		if (p.specs)
			strcpy(ret_specs, p.specs);
		/* They may ask for both. */
		if (p.specs && strstr(p.specs, "retval"))
			flags |= FX_RECIPE_RESULT;
		if (p.specs && (strncmp(p.specs, "retval", 6) != 0 || strchr(p.specs, ',')))
			flags |= FX_RECIPE_ARGS;
	}
	return flags;
}

static int collect_add(struct collecting *c, const struct fx_symtab_entry *e, unsigned flags,
		       const char *specs)
{
	char *kept = *specs ? strdup(specs) : NULL;

	if ((*specs && !kept) || fx_vector_reserve(&c->wanted, 1) < 0) {
		free(kept);
		return -ENOMEM;
	}
	c->wanted.items[c->wanted.count++] = (struct fx_wanted_function){
	    .address = e->start,
	    .end = e->start + e->size,
	    .flags = flags,
	    .specs = kept,
	};
	return 0;
}

/* Those that lie too far out are recorded, and nobody sees them. */
static void collect_left_out(struct collecting *c, uint64_t address, bool is_suppressed)
{
	if (address > UINT32_MAX)
		return;
	if (is_suppressed)
		c->suppressed[c->suppressed_count++] = (uint32_t)address;
	else
		c->left_out[c->left_out_count++] = (uint32_t)address;
}

static int collect_room(struct collecting *c, size_t count)
{
	c->left_out = malloc((count + 1) * sizeof(*c->left_out));
	c->suppressed = malloc((count + 1) * sizeof(*c->suppressed));
	return c->left_out && c->suppressed ? 0 : -ENOMEM;
}

/* The table is by rising address. */
static int collect_names(struct collecting *c, const struct fx_symtab *table)
{
	char name[FX_SYMBOL_NAME_MAX + 1], specs[FX_PATTERN_MAX];
	struct fx_pattern_subject function = {.module = module_name(c->source->path), .name = name};
	bool chooses = fx_patterns_have(c->patterns, FX_PATTERN_CHOICES);
	struct fx_pattern_verdict verdict = {.spare = false};
	int r = chooses ? collect_room(c, table->entries.count) : 0;

	for (size_t i = 0; i < table->entries.count && r == 0; i++) {
		uint64_t address = table->entries.items[i].start;
		unsigned flags;

		if (!(table->entries.items[i].rank & FX_RANK_FUNCTION))
			continue;
		fx_demangle(table->names.items + table->entries.items[i].name, name);
		function.source = fx_symtab_source(table, i);
		function.size = fx_symtab_size(table, i);
		if (chooses)
			verdict = fx_patterns_judge(c->patterns, &function);
		if (c->is_scoped ? !verdict.inside : verdict.spare)
			collect_left_out(c, address, verdict.suppressed && !c->is_scoped);
		if (verdict.spare)
			continue;
		flags = wanted_flags(c->patterns, &function, specs);
		if (flags)
			r = collect_add(c, &table->entries.items[i], flags, specs);
	}
	return r;
}

/* --- Their debug information ------------------------------------------------------------------ */

static int wanted_compare(const void *key, const void *item)
{
	uint64_t address = *(const uint64_t *)key;
	const struct fx_wanted_function *f = item;

	return address < f->address ? -1 : address > f->address;
}

/* One that lies in several pieces begins with one of them. */
static void die_take(struct collecting *c, Dwarf_Die *die, Dwarf_Addr bias)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (dwarf_tag(die) != DW_TAG_subprogram)
		return;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		uint64_t key = start + bias;
		struct fx_wanted_function *f = bsearch(&key, c->wanted.items, c->wanted.count,
						       sizeof(*c->wanted.items), wanted_compare);

		if (f && !f->has_die) {
			f->die = *die;
			f->has_die = true;
		}
	}
}

/* What may have functions in it. */
static bool is_container(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_subprogram ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_module || tag == DW_TAG_interface_type;
}

static void dies_take(struct collecting *c, Dwarf_Die *parent, Dwarf_Addr bias, unsigned depth)
{
	Dwarf_Die child;

	if (depth == NEST_MAX)
		return;
	for (int more = dwarf_child(parent, &child); more == 0;
	     more = dwarf_siblingof(&child, &child)) {
		die_take(c, &child, bias);
		if (is_container(dwarf_tag(&child)))
			dies_take(c, &child, bias, depth + 1);
	}
}

/* Whether some function that is wanted lies in the unit, or the unit does not say where it lies. */
static bool unit_has_any(const struct collecting *c, Dwarf_Die *unit, Dwarf_Addr bias)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	bool says = false;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		size_t low = 0, high = c->wanted.count;

		says = true;
		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (c->wanted.items[middle].address < start + bias)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < c->wanted.count && c->wanted.items[low].address < end + bias)
			return true;
	}
	return !says;
}

static void collect_dies(struct collecting *c, Dwfl_Module *module)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Addr bias = 0;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	Dwarf_Die die, split;

	/* Its addresses are the file's own, as everywhere here: libdwfl has moved nothing. */
	while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, &split) == 0) {
		if (!unit_has_any(c, &die, bias))
			continue;
		dies_take(c, split.addr ? &split : &die, bias, 0);
	}
}

/* --- The table -------------------------------------------------------------------------------- */

/* Puts a function's offset into its slot. */
static void slot_put(struct fx_recipe_table *table, uint64_t address, uint32_t offset)
{
	uint32_t mask = (1u << table->slots_log2) - 1;
	uint32_t at = fx_recipe_hash(address, table->slots_log2);

	while (table->slots[at])
		at = (at + 1) & mask;
	table->slots[at] = offset;
}

static int table_begin(struct collecting *c, struct fx_cook *cook)
{
	struct fx_recipe_table head = {.slots_log2 = 4};

	while ((size_t)1 << head.slots_log2 < 2 * c->wanted.count)
		head.slots_log2++;
	fx_blob_put(&cook->blob, NULL, sizeof(head) + ((size_t)4 << head.slots_log2));
	if (cook->blob.is_full)
		return -ENOSPC;
	memcpy(fx_blob_at(&cook->blob, 0), &head, sizeof(head));
	return 0;
}

/* Puts a list of addresses into the table, and where it is, 0 none. Those for which there is no room are recorded, and nobody
 * sees them. */
static uint32_t list_put(struct fx_cook *cook, const uint32_t *list, size_t count)
{
	size_t bytes = count * sizeof(*list);

	return count && bytes <= FX_RECIPE_TABLE_MAX / 2 ? fx_blob_put(&cook->blob, list, bytes)
							 : 0;
}

static void left_out_put(const struct collecting *c, struct fx_cook *cook)
{
	uint32_t left_out = list_put(cook, c->left_out, c->left_out_count);
	uint32_t suppressed = list_put(cook, c->suppressed, c->suppressed_count);
	struct fx_recipe_table *table = fx_blob_at(&cook->blob, 0);

	table->is_scoped = c->is_scoped;
	table->left_out = left_out;
	table->left_out_count = left_out ? (uint32_t)c->left_out_count : 0;
	table->suppressed = suppressed;
	table->suppressed_count = suppressed ? (uint32_t)c->suppressed_count : 0;
}

static void table_fill(struct collecting *c, struct fx_cook *cook)
{
	left_out_put(c, cook);
	for (size_t i = 0; i < c->wanted.count; i++) {
		/* Where no instruction is known nothing is shown: it would look as if compilers had left it out. */
		uint32_t at =
		    fx_values_are_known() ? fx_cook_function(cook, &c->wanted.items[i]) : 0;

		c->ret->unknown += !at;
		if (at)
			slot_put(fx_blob_at(&cook->blob, 0), c->wanted.items[i].address, at);
	}
}

static int collect_cook(struct collecting *c, const struct fx_image *image)
{
	struct fx_recipe_table *table;
	struct fx_cook *cook = calloc(1, sizeof(*cook));
	int r = cook ? fx_cook_init(cook, image) : -ENOMEM;

	if (r == 0)
		r = table_begin(c, cook);
	if (r == 0) {
		table_fill(c, cook);
		table = fx_blob_at(&cook->blob, 0);
		table->size = (uint32_t)FX_ALIGN_UP(cook->blob.size, 8u);
		c->ret->table = cook->blob.bytes;
		c->ret->size = table->size;
		c->ret->is_cut = cook->blob.is_full;
		cook->blob.bytes = NULL;
	}
	if (cook)
		fx_cook_clear(cook);
	free(cook);
	return r == -ENOMEM ? collect_problem(FX_SYMBOL_FILE_NO_MEMORY)
	       : r	    ? collect_problem(FX_SYMBOL_FILE_TOO_LARGE)
			    : 0;
}

static int collect(void *opaque, Dwfl_Module *module, const struct fx_symtab *symbols)
{
	struct collecting *c = opaque;
	struct fx_image image;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	int failed = 0;

	if (!elf || fx_image_read(elf, &image) < 0)
		return collect_problem(FX_SYMBOL_FILE_DAMAGED);
	if (fx_image_has_hooks(&image)) {
		if (collect_names(c, symbols) < 0)
			failed = collect_problem(FX_SYMBOL_FILE_NO_MEMORY);
		c->ret->matched = (uint32_t)c->wanted.count;
		c->ret->left_out = (uint32_t)(c->left_out_count + c->suppressed_count);
		if (!failed && c->wanted.count)
			collect_dies(c, module);
		if (!failed && (c->wanted.count || c->ret->left_out))
			failed = collect_cook(c, &image);
	}
	fx_image_clear(&image);
	return failed;
}

bool fx_values_are_known(void)
{
	return fx_step_is_known();
}

int fx_recipes_read(const struct fx_elf_source *source, const char *patterns,
		    struct fx_recipes *ret)
{
	struct fx_elf_source wanted = *source;
	struct collecting c = {.source = &wanted, .patterns = patterns, .ret = ret};
	struct fx_symtab symbols = {0};
	int failed;

	*ret = (struct fx_recipes){0};
	wanted.wants_sources = fx_patterns_need_sources(patterns);
	c.is_scoped = fx_patterns_scope(patterns);
	failed = fx_elf_load_and(&wanted, &symbols, collect, &c);
	if (!failed)
		fx_symtab_clear(&symbols);
	else
		fx_recipes_clear(ret);
	for (size_t i = 0; i < c.wanted.count; i++)
		free((char *)c.wanted.items[i].specs);
	fx_vector_free(&c.wanted);
	free(c.left_out);
	free(c.suppressed);
	return failed;
}

void fx_recipes_clear(struct fx_recipes *recipes)
{
	free(recipes->table);
	memset(recipes, 0, sizeof(*recipes));
}

/* SPDX-License-Identifier: MIT */
/*
 * What the readers of a program's files make recipes of. An input is a whole file, as ELF, or the code of one function: a byte that
 * says what is wanted of it, how to spell that, and the code. The table that comes out is one that a hook can follow: nothing
 * in it lies beyond its end, and no code is longer than it may be.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/recipes/cook.h"
#include "symbols/recipes/recipes.h"
#include "symbols/recipes/wish.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

#define SPECS_MAX 64u
#define FUNCTION  0x1000u
#define CONSTANTS 0x8000u
#define SLOTS	  0x9000u

/* --- What comes out --------------------------------------------------------------------------- */

struct table {
	const uint8_t *bytes;
	size_t size;
};

static const void *table_at(const struct table *t, uint64_t offset, uint64_t size)
{
	if (offset % 8 || offset > t->size || size > t->size - offset)
		abort();
	return t->bytes + offset;
}

static void text_check(const struct table *t, uint32_t offset)
{
	const char *text = table_at(t, offset, 1);

	if (!memchr(text, 0, t->size - offset))
		abort();
}

static void names_check(const struct table *t, uint32_t offset)
{
	const struct fx_recipe_names *names = table_at(t, offset, sizeof(*names));

	table_at(t, offset, sizeof(*names) + (uint64_t)names->count * sizeof(names->names[0]));
	for (uint32_t i = 0; i < names->count; i++) {
		text_check(t, names->names[i].name);
		if (i && names->names[i].value < names->names[i - 1].value)
			abort();
	}
}

static void recipe_check(const struct table *t, uint32_t offset)
{
	const struct fx_recipe *recipe = table_at(t, offset, sizeof(*recipe));

	if (recipe->count > FX_RECIPE_VALUES)
		abort();
	table_at(t, offset, sizeof(*recipe) + (uint64_t)recipe->count * sizeof(recipe->values[0]));
	for (uint32_t i = 0; i < recipe->count; i++) {
		const struct fx_recipe_value *v = &recipe->values[i];

		text_check(t, v->name);
		if (v->shape > FX_SHAPE_OTHER || v->code_size > FX_RECIPE_CODE_MAX)
			abort();
		if (v->code_size)
			table_at(t, v->code, v->code_size);
		if (v->names)
			names_check(t, v->names);
	}
}

static void function_check(const struct table *t, uint32_t offset)
{
	const struct fx_recipe_function *f = table_at(t, offset, sizeof(*f));

	table_at(t, offset, sizeof(*f) + (uint64_t)f->count * sizeof(f->places[0]));
	for (uint32_t i = 0; i < f->count; i++)
		recipe_check(t, f->places[i].recipe);
}

/* --- A file ----------------------------------------------------------------------------------- */

static void file_check(const struct fx_recipes *recipes)
{
	const struct table t = {recipes->table, recipes->size};
	const struct fx_recipe_table *table;

	if (!recipes->table)
		return;
	table = table_at(&t, 0, sizeof(*table));
	if (recipes->size > FX_RECIPE_TABLE_MAX || table->size != recipes->size)
		abort();
	table_at(&t, 0, sizeof(*table) + ((uint64_t)4 << table->slots_log2));
	for (uint32_t i = 0; i >> table->slots_log2 == 0; i++) {
		if (table->slots[i])
			function_check(&t, table->slots[i]);
	}
}

static void fuzz_file(const uint8_t *data, size_t size)
{
	struct fx_elf_source source = {.path = "/nowhere", .debug_path = "", .limit = 1 << 20};
	struct fx_recipes recipes;

	source.fd = memfd_create("file", MFD_CLOEXEC);
	if (source.fd < 0 || write(source.fd, data, size) != (ssize_t)size)
		abort();
	if (fx_recipes_read(&source, "(*\n=*\n", &recipes) == 0) {
		file_check(&recipes);
		fx_recipes_clear(&recipes);
	}
	close(source.fd);
}

/* --- A function ------------------------------------------------------------------------------- */

static void function_cook(const struct fx_image *image, struct fx_wanted_function *function)
{
	struct fx_cook cook;
	uint32_t at;

	if (fx_cook_init(&cook, image) < 0)
		abort();
	/* Nothing stands where a table has its head. */
	fx_blob_put(&cook.blob, NULL, sizeof(struct fx_recipe_table));
	at = fx_cook_function(&cook, function);
	if (at)
		function_check(&(struct table){cook.blob.bytes, cook.blob.size}, at);
	fx_cook_clear(&cook);
}

static void fuzz_function(const uint8_t *data, size_t size)
{
	static const uint8_t constants[64] = {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff};
	static struct fx_image_slot slots[] = {
	    {SLOTS, "__cyg_profile_func_enter"},
	    {SLOTS + 8, "__cyg_profile_func_exit"},
	    {SLOTS + 16, "abort"},
	    {SLOTS + 24, "_Unwind_Resume"},
	    {SLOTS + 32, "puts"},
	};
	struct input in = {data, data + size};
	unsigned flags = input_u8(&in) & (FX_RECIPE_ARGS | FX_RECIPE_RESULT);
	char specs[SPECS_MAX + 1] = "";
	size_t length = strnlen((const char *)in.at, (size_t)(in.end - in.at));
	struct fx_image_section sections[2] = {
	    {CONSTANTS, sizeof(constants), constants, false},
	};
	struct fx_image image = {
	    .sections = sections,
	    .section_count = 2,
	    .slots = {.items = slots, .count = sizeof(slots) / sizeof(slots[0])}};
	struct fx_wanted_function function = {.address = FUNCTION, .flags = flags, .specs = specs};

	if (length > SPECS_MAX || length == (size_t)(in.end - in.at))
		return;
	input_take(&in, specs, length);
	input_u8(&in);
	if (!*specs || !fx_wishes_are_sound(specs))
		return;
	size = (size_t)(in.end - in.at);
	sections[1] = (struct fx_image_section){FUNCTION, size, in.at, true};
	function.end = FUNCTION + size;
	function_cook(&image, &function);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0)
		fuzz_file(data, size);
	else
		fuzz_function(data, size);
	return 0;
}

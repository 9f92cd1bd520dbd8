/* SPDX-License-Identifier: MIT */
#include "tests/symbols/world.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *world_path(const char *name)
{
	const char *build = getenv("FX_BUILDDIR");
	char *path = NULL;
	cr_assert(asprintf(&path, "%s/tests/symbols/%s", build ? build : ".", name) > 0);
	char *whole = realpath(path, NULL);
	cr_assert_not_null(whole, "%s is not built", path);
	free(path);
	return whole;
}

static size_t parse_build_id(const char *text, uint8_t *id)
{
	size_t size = 0;
	while (sscanf(text + 2 * size, "%2hhx", &id[size]) == 1)
		size++;
	return size;
}

static void parse_module(struct world *world, const char *line)
{
	cr_assert_lt(world->module_count, WORLD_MODULES);
	struct world_module *module = &world->modules[world->module_count++];
	struct fx_symbol_module *facts = &module->facts;
	char build_id[2 * FX_BUILD_ID_MAX + 1];
	cr_assert_eq(sscanf(line, "module %" SCNx64 " %" SCNx64 " %" SCNx64 " %128s %4095[^\n]",
			    &facts->bias, &facts->start, &facts->end, build_id, module->path),
		     5, "%s", line);
	facts->path = module->path;
	facts->build_id_size = parse_build_id(build_id, module->build_id);
	facts->build_id = facts->build_id_size ? module->build_id : NULL;
}

static void parse_function(struct world *world, const char *line)
{
	cr_assert_lt(world->function_count, WORLD_FUNCTIONS);
	struct world_function *function = &world->functions[world->function_count++];
	cr_assert_eq(
	    sscanf(line, "function %" SCNx64 " %255[^\n]", &function->address, function->name), 2,
	    "%s", line);
}

void world_run(struct world *world, const char *name, const char *argument)
{
	char *path = world_path(name);
	char *argument_path = argument ? world_path(argument) : NULL;
	char *command = NULL;
	cr_assert(asprintf(&command, "'%s' '%s'", path, argument_path ? argument_path : "") > 0);
	if (!argument)
		command[strlen(command) - 3] = '\0';

	world->module_count = 0;
	world->function_count = 0;
	FILE *output = popen(command, "r");
	cr_assert_not_null(output);
	char *line = NULL;
	size_t size = 0;
	while (getline(&line, &size, output) > 0) {
		if (!strncmp(line, "module ", 7))
			parse_module(world, line);
		else
			parse_function(world, line);
	}
	cr_assert_eq(pclose(output), 0, "%s failed", command);
	free(line);
	free(command);
	free(argument_path);
	free(path);
}

struct world_module *world_module(struct world *world, const char *name)
{
	for (size_t i = 0; i < world->module_count; i++) {
		struct world_module *module = &world->modules[i];
		size_t length = strlen(module->path);
		if (length >= strlen(name) && !strcmp(module->path + length - strlen(name), name))
			return module;
	}
	cr_assert_fail("no module %s", name);
	abort();
}

void world_add_modules(const struct world *world, struct fx_symspace *space)
{
	for (size_t i = 0; i < world->module_count; i++)
		cr_assert_eq(fx_symspace_add_module(space, &world->modules[i].facts), 0);
}

const char *world_text(struct fx_symspace *space, uint64_t address)
{
	static char text[FX_SYMBOL_TEXT_MAX];
	struct fx_symbol symbol;
	fx_symspace_resolve(space, address, &symbol);
	fx_symbol_format(&symbol, text, sizeof(text));
	return text;
}

void world_expect_names(const struct world *world, struct fx_symspace *space)
{
	cr_assert_gt(world->function_count, 0);
	for (size_t i = 0; i < world->function_count; i++)
		cr_expect_str_eq(world_text(space, world->functions[i].address),
				 world->functions[i].name);
}

void world_copy(const char *from, const char *to)
{
	FILE *source = fopen(from, "rb");
	FILE *copy = fopen(to, "wb");
	cr_assert(source && copy, "%s to %s", from, to);
	char block[65536];
	size_t size;
	while ((size = fread(block, 1, sizeof(block), source)) > 0)
		cr_assert_eq(fwrite(block, 1, size, copy), size);
	fclose(source);
	cr_assert_eq(fclose(copy), 0);
}

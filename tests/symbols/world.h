/* SPDX-License-Identifier: MIT */
/* What the tests share: a target program is run to its end, and what it printed is kept. */
#ifndef FX_TESTS_SYMBOLS_WORLD_H
#define FX_TESTS_SYMBOLS_WORLD_H

#include "symbols/symbols.h"

#define WORLD_MODULES	16
#define WORLD_FUNCTIONS 32

struct world_module {
	struct fx_symbol_module facts; /* points into this structure */
	uint8_t build_id[FX_BUILD_ID_MAX];
	char path[4096];
};

struct world_function {
	uint64_t address;
	char name[256];
};

struct world {
	struct world_module modules[WORLD_MODULES];
	size_t module_count;
	struct world_function functions[WORLD_FUNCTIONS];
	size_t function_count;
};

/* Absolute path of a file that the build made in tests/symbols/; to be freed. */
char *world_path(const char *name);

/* Runs a target, with another file of tests/symbols/ as its argument unless NULL. */
void world_run(struct world *world, const char *name, const char *argument);

/* The module whose path ends in name. */
struct world_module *world_module(struct world *world, const char *name);

void world_add_modules(const struct world *world, struct fx_symspace *space);

/* Resolves and formats; the text is valid until the next call. */
const char *world_text(struct fx_symspace *space, uint64_t address);

/* Each function that the target printed must have the name that it printed. */
void world_expect_names(const struct world *world, struct fx_symspace *space);

/* Copies a file; the copy is new in every respect but its bytes. */
void world_copy(const char *from, const char *to);

#endif

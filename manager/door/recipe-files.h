/* SPDX-License-Identifier: MIT */
/*
 * Files of modules whose functions' recipes are wanted (manager/door/recipes.h): each is read once, in a process apart, for all processes that
 * have it. All of this is the control thread's, which waits for nothing.
 */
#ifndef FX_MANAGER_RECIPE_FILES_H
#define FX_MANAGER_RECIPE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/recipe.h"
#include "lists/hashes-lenient.h"
#include "symbols/loader.h"
#include "symbols/view.h"

enum fx_recipe_file_state {
	FX_RECIPE_FILE_NEW,
	FX_RECIPE_FILE_LOADING,
	FX_RECIPE_FILE_READY,
	FX_RECIPE_FILE_FAILED
};

/* A file by its path and build-id, and from where it is seen. One without a build-id is not told from its successor, and
 * is nobody else's. */
struct fx_recipe_file {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	enum fx_recipe_file_state state;
	unsigned users; /* codes that wait for it */
	uint64_t since; /* CLOCK_MONOTONIC ns; when it was first wanted */
	struct fx_load *load;
	struct fx_recipes recipes;
	size_t path_size, build_id_size, key_size;
	char key[]; /* the path with its NUL; the build-id, or a number; the view's key */
};

/* A module as the process told it, by its id. */
struct fx_recipe_owner {
	struct fx_recipe_owner *next;
	uint16_t id;
	size_t build_id_size;
	uint8_t build_id[FX_BUILD_ID_MAX];
	char path[];
};

/* What is wanted, and what is known of it. */
struct fx_recipe_maker {
	char *functions;      /* of the session: its list (symbols/patterns.h); NULL: it has none */
	const char *patterns; /* the same; NULL: nobody need be told of it */
	uint32_t version;     /* of the list */
	bool has_values;      /* some ask for arguments or results */
	struct fx_loader *loader;     /* started when it is needed first; NULL: there is none */
	struct fx_recipe_file *files; /* uthash */
	unsigned loading;	      /* of those */
	uint64_t kept;		      /* bytes of them, with their tables */
	uint64_t matched;	      /* functions whose values are wanted, in all files */
	uint64_t left_out;	      /* functions that are not recorded, the same */
	uint64_t unknown;	      /* those of them that nothing is known of */
	bool is_cut;		      /* there was no room for some */
};

/* The file of a module, which is kept until its user takes itself out of its `users`; NULL: there is no memory for it. */
struct fx_recipe_file *fx_recipe_file_use(struct fx_recipe_maker *maker,
					  const struct fx_recipe_owner *owner,
					  const struct fx_view *view);

/* Whether it need not be waited for any more; it is read if it is its turn. */
bool fx_recipe_file_is_settled(struct fx_recipe_maker *maker, struct fx_recipe_file *file,
			       const struct fx_view *view);

/* If too much is kept, those that nobody waits for go; all go, with what was counted of them. */
void fx_recipe_files_thin(struct fx_recipe_maker *maker);
void fx_recipe_files_forget(struct fx_recipe_maker *maker);

#endif

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/finder.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lists/hashes.h"

/* Addresses that a file can have. */
#define FINDER_ADDRESS_MAX (UINT64_C(1) << 62)

extern char **environ;

/* A file by its build-id, where it was found. */
struct finder_file {
	struct fx_symspace *space; /* NULL: nowhere */
	UT_hash_handle hh;
	char key[2 * FX_BUILD_ID_MAX + 1]; /* in hexadecimal */
};

struct fx_finder {
	struct fx_finder_places places;
	struct fx_symbol_cache *cache;
	struct finder_file *files;
};

struct fx_finder *fx_finder_new(const struct fx_finder_places *places)
{
	struct fx_finder *finder = calloc(1, sizeof(*finder));

	if (!finder)
		return NULL;
	finder->places = *places;
	if (fx_symbol_cache_create(NULL, &finder->cache) == 0)
		return finder;
	free(finder);
	return NULL;
}

void fx_finder_free(struct fx_finder *finder)
{
	struct finder_file *file, *next;

	if (!finder)
		return;
	HASH_ITER (hh, finder->files, file, next) {
		HASH_DEL(finder->files, file);
		fx_symspace_destroy(file->space);
		free(file);
	}
	fx_symbol_cache_destroy(finder->cache);
	free(finder);
}

/* Whether the file at a path is the one, and names the address. */
static bool finder_try(struct fx_finder *finder, struct finder_file *found,
		       const struct fx_finder_file *file, const char *path, uint64_t address)
{
	char whole[PATH_MAX];
	const struct fx_symbol_module module = {
	    .path = whole,
	    .build_id = file->build_id,
	    .build_id_size = file->build_id_size,
	    .end = FINDER_ADDRESS_MAX,
	};
	struct fx_symspace *space;
	struct fx_symbol symbol;

	if (!realpath(path, whole) || fx_symspace_create(finder->cache, &space) < 0)
		return false;
	if (fx_symspace_add_module(space, &module) == 0) {
		fx_symspace_resolve(space, address, &symbol);
		if (symbol.kind == FX_SYMBOL_NAMED) {
			found->space = space;
			return true;
		}
	}
	fx_symspace_destroy(space);
	return false;
}

static bool finder_try_debug(struct fx_finder *finder, struct finder_file *found,
			     const struct fx_finder_file *file, const char *tree,
			     const char *folder, uint64_t address)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s%s/.build-id/%.2s/%s.debug", tree, folder,
			      found->key, found->key + 2);

	return length > 0 && (size_t)length < sizeof(path) &&
	       finder_try(finder, found, file, path, address);
}

/* What debuginfod-find prints, without the end of the line. False: it has none, or is not there. */
static bool finder_ask(const char *build_id, char path[PATH_MAX])
{
	char *argv[] = {"debuginfod-find", "debuginfo", (char *)build_id, NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], status = -1, r;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(ends) < 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (r == 0 && (n = read(ends[0], path + used, PATH_MAX - 1 - used)) > 0)
		used += (size_t)n;
	close(ends[0]);
	if (r == 0)
		waitpid(pid, &status, 0);
	path[used] = '\0';
	path[strcspn(path, "\n")] = '\0';
	return status == 0 && path[0] == '/';
}

static void finder_look(struct fx_finder *finder, struct finder_file *found,
			const struct fx_finder_file *file, uint64_t address)
{
	const struct fx_finder_places *places = &finder->places;
	static const char *const own[] = {""};
	const char *const *trees = places->sysroot_count > 0 ? places->sysroots : own;
	size_t tree_count = places->sysroot_count > 0 ? places->sysroot_count : 1;
	char path[PATH_MAX];

	for (size_t i = 0; i < places->debug_folder_count; i++) {
		if (finder_try_debug(finder, found, file, "", places->debug_folders[i], address))
			return;
	}
	for (size_t i = 0; i < tree_count; i++) {
		int length = snprintf(path, sizeof(path), "%s%s", trees[i], file->path);

		if (finder_try_debug(finder, found, file, trees[i], "/usr/lib/debug", address))
			return;
		if (length > 0 && (size_t)length < sizeof(path) &&
		    finder_try(finder, found, file, path, address))
			return;
	}
	if (places->ask_servers && finder_ask(found->key, path))
		finder_try(finder, found, file, path, address);
}

bool fx_finder_name(struct fx_finder *finder, const struct fx_finder_file *file, uint64_t address,
		    char ret[FX_SYMBOL_TEXT_MAX])
{
	char key[2 * FX_BUILD_ID_MAX + 1] = "";
	struct finder_file *found;
	struct fx_symbol symbol;

	if (file->build_id_size < 2 || file->build_id_size > FX_BUILD_ID_MAX ||
	    address >= FINDER_ADDRESS_MAX)
		return false;
	for (size_t i = 0; i < file->build_id_size; i++)
		snprintf(key + 2 * i, 3, "%02x", file->build_id[i]);
	HASH_FIND_STR(finder->files, key, found);
	if (!found) {
		found = calloc(1, sizeof(*found));
		if (!found)
			return false;
		memcpy(found->key, key, sizeof(key));
		HASH_ADD_STR(finder->files, key, found);
		finder_look(finder, found, file, address);
	}
	if (!found->space)
		return false;
	fx_symspace_resolve(found->space, address, &symbol);
	if (symbol.kind != FX_SYMBOL_NAMED)
		return false;
	fx_symbol_format(&symbol, ret, FX_SYMBOL_TEXT_MAX);
	return true;
}

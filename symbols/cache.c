/* SPDX-License-Identifier: MIT */
#include "symbols/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "symbols/file-open.h"
#include "symbols/text.h"

int fx_symbol_cache_create(const char *debug_path, struct fx_symbol_cache **ret)
{
	struct fx_symbol_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->idle_limit = FX_IDLE_BYTES;
	cache->wait_ns = FX_SYMBOL_WAIT_NS;
	cache->file_limit = FX_SYMBOL_BYTES;
	cache->user_limit = FX_SYMBOL_USER_BYTES;
	if (debug_path) {
		cache->debug_path = strdup(debug_path);
		if (!cache->debug_path) {
			free(cache);
			return -ENOMEM;
		}
	}
	*ret = cache;
	return 0;
}

void fx_symbol_cache_load_apart(struct fx_symbol_cache *cache, struct fx_loader *loader)
{
	cache->loader = loader;
}

void fx_symbol_cache_want_sources(struct fx_symbol_cache *cache)
{
	cache->wants_sources = true;
}

void fx_symbol_cache_want_lines(struct fx_symbol_cache *cache)
{
	cache->wants_lines = true;
}

void fx_symbol_cache_keep(struct fx_symbol_cache *cache, const char *folder)
{
	snprintf(cache->store, sizeof(cache->store), "%s", folder);
}

void fx_symbol_cache_limit(struct fx_symbol_cache *cache, uint64_t file, uint64_t user)
{
	if (file)
		cache->file_limit = file;
	if (user)
		cache->user_limit = user;
}

void fx_symbol_cache_count(const struct fx_symbol_cache *cache, struct fx_symbol_counters *ret)
{
	*ret = cache->counters;
}

/* --- Users ------------------------------------------------------------------------------------ */

static struct fx_symbol_user *user_get(struct fx_symbol_cache *cache, uint64_t number)
{
	struct fx_symbol_user *user;

	HASH_FIND(hh, cache->users, &number, sizeof(number), user);
	if (user)
		return user;
	user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	user->user = number;
	HASH_ADD(hh, cache->users, user, sizeof(user->user), user);
	if (user->lost) {
		free(user);
		return NULL;
	}
	return user;
}

void fx_symbol_cache_destroy(struct fx_symbol_cache *cache)
{
	struct fx_symbol_file *file, *next_file;
	struct fx_symbol_user *user, *next_user;
	struct fx_symbol_problem problem;

	if (!cache)
		return;
	HASH_ITER (hh, cache->files, file, next_file) {
		if (file->users == 0)
			fx_file_revive(cache, file);
		fx_file_free(cache, file);
	}
	HASH_ITER (hh, cache->users, user, next_user) {
		HASH_DEL(cache->users, user);
		free(user);
	}
	while (fx_symbol_cache_next_problem(cache, &problem))
		;
	free(cache->told);
	free(cache->debug_path);
	free(cache);
}

/* --- Files that modules name ------------------------------------------------------------------ */

/* The name of the module, from its path without folders and without " (deleted)". */
static const char *module_name_add(struct fx_symbol_file *file, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
	char copy[FX_SYMBOL_NAME_MAX + 1];
	size_t length = fx_text_copy(copy, FX_SYMBOL_NAME_MAX, name, fx_path_length(name));

	return fx_strings_add(&file->strings, copy, length);
}

static struct fx_symbol_file *file_create(struct fx_symbol_cache *cache, const struct fx_view *view,
					  const struct fx_symbol_module *module, const char *key,
					  size_t key_size)
{
	struct fx_symbol_file *file = calloc(1, sizeof(*file) + key_size);

	if (!file)
		return NULL;
	file->fd = -1;
	file->user = user_get(cache, fx_view_is_own(view) ? 0 : view->key.user);
	file->path_size = strlen(module->path) + 1;
	file->build_id_size = module->build_id ? module->build_id_size : 0;
	file->key_size = key_size;
	memcpy(file->key, key, key_size);
	file->module = module_name_add(file, module->path);
	file->lost = !file->module || !file->user;
	if (!file->lost)
		HASH_ADD_KEYPTR(hh, cache->files, file->key, file->key_size, file);
	if (file->lost) {
		fx_strings_clear(&file->strings);
		free(file);
		return NULL;
	}
	cache->counters.files++;
	return file;
}

/* The same; it is opened if that can be. */
static struct fx_symbol_file *elf_create(struct fx_symbol_cache *cache, const struct fx_view *view,
					 const struct fx_symbol_module *module, const char *key,
					 size_t key_size)
{
	struct fx_symbol_file *file = file_create(cache, view, module, key, key_size);

	/* What cannot be opened now is tried again, and told, when an address asks for it. */
	if (file && fx_view_is_own(view))
		fx_file_reopen(cache, file);
	return file;
}

/* What tells a file without build-id; true: from all others, whatever they are. */
static bool identity_find(struct fx_symbol_cache *cache, const struct fx_view *view,
			  const char *path, struct fx_file_identity *ret)
{
	if (fx_view_is_own(view)) {
		fx_file_identify(path, ret);
		return false;
	}
	/* Nobody has looked at it. */
	*ret = (struct fx_file_identity){.inode = ++cache->unidentified};
	return true;
}

int fx_file_use(struct fx_symbol_cache *cache, const struct fx_view *view,
		const struct fx_symbol_module *module, struct fx_symbol_file **ret)
{
	const size_t view_size = fx_view_is_own(view) ? 0 : sizeof(view->key);
	size_t path_size = strlen(module->path) + 1, rest_size = module->build_id_size;
	const void *rest = module->build_id;
	struct fx_file_identity identity;
	struct fx_symbol_file *file;
	bool single = false;
	char *key;

	if (!rest) {
		single = identity_find(cache, view, module->path, &identity);
		rest = &identity;
		rest_size = sizeof(identity);
	}
	key = malloc(path_size + rest_size + view_size);
	if (!key)
		return -ENOMEM;
	memcpy(key, module->path, path_size);
	memcpy(key + path_size, rest, rest_size);
	if (view_size)
		memcpy(key + path_size + rest_size, &view->key, view_size);
	rest_size += view_size;

	HASH_FIND(hh, cache->files, key, path_size + rest_size, file);
	if (file && file->users == 0)
		fx_file_revive(cache, file);
	if (!file)
		file = elf_create(cache, view, module, key, path_size + rest_size);
	free(key);
	if (!file)
		return -ENOMEM;
	file->single = single;
	file->users++;
	*ret = file;
	return 0;
}

int fx_file_create_map(struct fx_symbol_cache *cache, const struct fx_view *view, const char *path,
		       const struct fx_jit_source *source, struct fx_symbol_file **ret)
{
	/* Its name among modules. */
	const struct fx_symbol_module module = {.path = "jit"};
	const uint64_t number = ++cache->unidentified;
	char key[FX_MAP_PATH_MAX + sizeof(number)];
	size_t path_size = strlen(path) + 1;
	struct fx_symbol_file *file;

	if (path_size > FX_MAP_PATH_MAX)
		return -EINVAL;
	memcpy(key, path, path_size);
	memcpy(key + path_size, &number, sizeof(number));
	file = file_create(cache, view, &module, key, path_size + sizeof(number));
	if (!file)
		return -ENOMEM;
	file->path_size = path_size;
	file->single = true;
	file->users = 1;
	file->is_map = true;
	file->map = *source;
	*ret = file;
	return 0;
}

void fx_file_unuse(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	if (--file->users)
		return;
	fx_file_close(cache, file);
	if (file->single || file->state == FX_FILE_LOADING)
		fx_file_free(cache, file);
	else
		fx_file_idle(cache, file);
}

/* --- Problems --------------------------------------------------------------------------------- */

bool fx_symbol_cache_next_problem(struct fx_symbol_cache *cache, struct fx_symbol_problem *ret)
{
	struct fx_symbol_trouble *trouble = cache->troubles;

	free(cache->told);
	cache->told = trouble;
	if (!trouble)
		return false;
	DL_DELETE(cache->troubles, trouble);
	*ret = (struct fx_symbol_problem){.path = trouble->path, .kind = trouble->kind};
	return true;
}

const char *fx_symbol_problem_text(enum fx_symbol_problem_kind kind)
{
	switch (kind) {
	case FX_SYMBOL_FILE_MISSING:
		return "does not exist any more";
	case FX_SYMBOL_FILE_UNREADABLE:
		return "cannot be read";
	case FX_SYMBOL_FILE_CHANGED:
		return "has changed since it ran";
	case FX_SYMBOL_FILE_NOT_ELF:
		return "is not an ELF program or shared object";
	case FX_SYMBOL_FILE_DAMAGED:
		return "is damaged";
	case FX_SYMBOL_FILE_NO_MEMORY:
		return "has more symbols than memory holds";
	case FX_SYMBOL_FILE_TOO_LARGE:
		return "has more symbols than --max-symbols allows";
	case FX_SYMBOL_FILE_BEYOND:
		return "has symbols beyond those that --max-user-symbols allows its user";
	case FX_SYMBOL_FILE_TOO_SLOW:
		return "takes too long to read";
	case FX_SYMBOL_FILE_CRASHED:
		return "cannot be read: its reader crashed";
	case FX_SYMBOL_FILE_PARTIAL:
		return "has a debug file that cannot be read";
	case FX_SYMBOL_FILE_NO_DESCRIPTORS:
		return "cannot be read: too many open files (ulimit -n)";
	}
	return "gives no names";
}

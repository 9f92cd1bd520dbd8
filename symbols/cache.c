/* SPDX-License-Identifier: MIT */
#include "symbols/cache.h"

#include "base/clock.h"
#include "symbols/demangle.h"
#include "symbols/file_open.h"
#include "symbols/elf_load.h"
#include "symbols/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

int fx_symbol_cache_create(const char *debug_path, struct fx_symbol_cache **ret_cache)
{
	struct fx_symbol_cache *cache = calloc(1, sizeof(*cache));
	if (!cache)
		return -ENOMEM;
	cache->idle_limit = FX_IDLE_BYTES;
	if (debug_path) {
		cache->debug_path = strdup(debug_path);
		if (!cache->debug_path) {
			free(cache);
			return -ENOMEM;
		}
	}
	*ret_cache = cache;
	return 0;
}

void fx_symbol_cache_destroy(struct fx_symbol_cache *cache)
{
	if (!cache)
		return;
	struct fx_symbol_file *file;
	struct fx_symbol_file *next;
	HASH_ITER (hh, cache->files, file, next) {
		HASH_DEL(cache->files, file);
		if (file->fd >= 0)
			close(file->fd);
		fx_symtab_clear(&file->table);
		fx_load_forget(file->load);
		free(file);
	}
	struct fx_symbol_waiter *waiter;
	struct fx_symbol_waiter *next_waiter;
	HASH_ITER (hh, cache->waiters, waiter, next_waiter) {
		HASH_DEL(cache->waiters, waiter);
		free(waiter);
	}
	fx_strings_clear(&cache->strings);
	free(cache->debug_path);
	free(cache);
}

void fx_symbol_cache_count(const struct fx_symbol_cache *cache,
			   struct fx_symbol_counters *ret_counters)
{
	*ret_counters = cache->counters;
}

bool fx_symbol_cache_next_problem(struct fx_symbol_cache *cache,
				  struct fx_symbol_problem *ret_problem)
{
	struct fx_symbol_file *file = cache->problems;
	if (!file)
		return false;
	DL_DELETE(cache->problems, file);
	*ret_problem = (struct fx_symbol_problem){.path = file->text_path, .kind = file->problem};
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
		return "has more than 256 MiB of symbols";
	case FX_SYMBOL_FILE_TOO_SLOW:
		return "takes too long to read";
	case FX_SYMBOL_FILE_CRASHED:
		return "cannot be read: its reader crashed";
	}
	return "gives no names";
}

static void file_fail(struct fx_symbol_cache *cache, struct fx_symbol_file *file,
		      enum fx_symbol_problem_kind kind)
{
	file->state = FX_FILE_FAILED;
	file->problem = kind;
	/* "[vdso]" and its like were never files: nothing is wrong. */
	if (file->key[0] == '/')
		DL_APPEND(cache->problems, file);
}

static void file_close(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	DL_DELETE(cache->open, file);
	cache->open_count--;
}

/* 0, or an enum fx_symbol_problem_kind plus one. */
static int file_open(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	const char *rest = file->key + file->path_size;
	struct fx_file_identity identity;
	bool by_identity = !file->build_id_size;
	if (by_identity)
		memcpy(&identity, rest, sizeof(identity));
	int fd;
	int failed = fx_file_open(file->key, by_identity ? &identity : NULL, &fd);
	if (failed)
		return failed;
	if (cache->open_count == FX_OPEN_FILES)
		file_close(cache, cache->open);
	file->fd = fd;
	DL_APPEND(cache->open, file);
	cache->open_count++;
	cache->counters.opens++;
	return 0;
}

static void idle_remove(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	DL_DELETE(cache->idle, file);
	cache->idle_bytes -= fx_symtab_memory(&file->table);
	file->idle = false;
}

static void table_drop(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	cache->counters.symbols -= file->table.count;
	cache->counters.table_bytes -= fx_symtab_memory(&file->table);
	fx_symtab_clear(&file->table);
	file->state = FX_FILE_WAITING;
}

/* The one that became idle last is kept whatever its size: it may be wanted by each new process. */
static void idle_add(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	DL_APPEND(cache->idle, file);
	cache->idle_bytes += fx_symtab_memory(&file->table);
	file->idle = true;
	while (cache->idle_bytes > cache->idle_limit && cache->idle != file) {
		struct fx_symbol_file *oldest = cache->idle;
		idle_remove(cache, oldest);
		table_drop(cache, oldest);
	}
}

static const char *text_add(struct fx_symbol_cache *cache, const char *text)
{
	char copy[FX_SYMBOL_NAME_MAX + 1];
	size_t length = fx_text_copy(copy, FX_SYMBOL_NAME_MAX, text, strlen(text));
	return fx_strings_add(&cache->strings, copy, length);
}

/* The name of the module, from its path without folders and without " (deleted)". */
static const char *module_name_add(struct fx_symbol_cache *cache, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = strdup(slash && slash[1] ? slash + 1 : path);
	if (!name)
		return NULL;
	name[fx_path_length(name)] = '\0';
	const char *added = text_add(cache, name);
	free(name);
	return added;
}

static struct fx_symbol_file *file_create(struct fx_symbol_cache *cache, const struct fx_view *view,
					  const struct fx_symbol_module *module, const char *key,
					  size_t key_size)
{
	struct fx_symbol_file *file = calloc(1, sizeof(*file) + key_size);
	if (!file)
		return NULL;
	file->fd = -1;
	file->path_size = strlen(module->path) + 1;
	file->build_id_size = module->build_id ? module->build_id_size : 0;
	file->key_size = key_size;
	memcpy(file->key, key, key_size);
	file->module = module_name_add(cache, module->path);
	file->text_path = text_add(cache, module->path);
	if (!file->module || !file->text_path) {
		free(file);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, cache->files, file->key, file->key_size, file);
	cache->counters.files++;
	/* What cannot be opened now is tried again, and told, when an address asks for it. */
	if (fx_view_is_own(view))
		file_open(cache, file);
	else
		file->user = view->key.user;
	return file;
}

int fx_file_use(struct fx_symbol_cache *cache, const struct fx_view *view,
		const struct fx_symbol_module *module, struct fx_symbol_file **ret_file)
{
	size_t path_size = strlen(module->path) + 1;
	struct fx_file_identity identity = {0};
	const bool own = fx_view_is_own(view);
	const size_t view_size = own ? 0 : sizeof(view->key);
	const void *rest = module->build_id;
	size_t rest_size = module->build_id_size;
	if (!rest && !own) {
		/* One that nobody has looked at is each process's own. */
		identity.inode = ++cache->unidentified;
		rest = &identity;
		rest_size = sizeof(identity);
	}
	if (!rest) {
		fx_file_identify(module->path, &identity);
		rest = &identity;
		rest_size = sizeof(identity);
	}
	char *key = malloc(path_size + rest_size + view_size);
	if (!key)
		return -ENOMEM;
	memcpy(key, module->path, path_size);
	memcpy(key + path_size, rest, rest_size);
	if (!own)
		memcpy(key + path_size + rest_size, &view->key, view_size);
	rest_size += view_size;

	struct fx_symbol_file *file;
	HASH_FIND(hh, cache->files, key, path_size + rest_size, file);
	if (!file)
		file = file_create(cache, view, module, key, path_size + rest_size);
	free(key);
	if (!file)
		return -ENOMEM;
	if (file->idle)
		idle_remove(cache, file);
	file->users++;
	*ret_file = file;
	return 0;
}

void fx_file_unuse(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	if (--file->users)
		return;
	file_close(cache, file);
	if (file->state == FX_FILE_LOADED)
		idle_add(cache, file);
}

void fx_symbol_cache_load_apart(struct fx_symbol_cache *cache, struct fx_loader *loader)
{
	cache->loader = loader;
}

static void file_loaded(struct fx_symbol_cache *cache, struct fx_symbol_file *file, int failed)
{
	if (failed) {
		file_fail(cache, file, (enum fx_symbol_problem_kind)(failed - 1));
		return;
	}
	file->state = FX_FILE_LOADED;
	cache->counters.loads++;
	cache->counters.symbols += file->table.count;
	cache->counters.table_bytes += fx_symtab_memory(&file->table);
}

static void file_load(struct fx_symbol_cache *cache, const struct fx_view *view,
		      struct fx_symbol_file *file)
{
	const bool own = fx_view_is_own(view);
	int failed = 0;
	if (file->fd < 0 && own)
		failed = file_open(cache, file);
	if (!own && !cache->loader)
		failed = FX_SYMBOL_FILE_UNREADABLE + 1;
	if (!failed) {
		const char *rest = file->key + file->path_size;
		struct fx_elf_source source = {
		    .fd = file->fd,
		    .path = file->key,
		    .build_id = file->build_id_size ? (const uint8_t *)rest : NULL,
		    .build_id_size = file->build_id_size,
		    .debug_path = cache->debug_path,
		};
		if (!cache->loader)
			failed = fx_elf_load(&source, &file->table);
		else if (fx_load_begin(cache->loader, &source, own ? NULL : view, &file->load) == 0)
			file->state = FX_FILE_LOADING;
		else
			failed = FX_SYMBOL_FILE_NO_MEMORY + 1;
		file_close(cache, file);
	}
	if (file->state != FX_FILE_LOADING)
		file_loaded(cache, file, failed);
}

/* What is left of the time that a file may be waited for. */
static uint64_t patience_left(const struct fx_symbol_file *file,
			      const struct fx_symbol_waiter *waiter)
{
	uint64_t left = file->waited < FX_SYMBOL_WAIT_NS ? FX_SYMBOL_WAIT_NS - file->waited : 0;
	uint64_t of_user = waiter && waiter->waited < FX_SYMBOL_WAIT_USER_NS
			       ? FX_SYMBOL_WAIT_USER_NS - waiter->waited
			       : 0;
	return left < of_user ? left : of_user;
}

static void file_wait(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	struct fx_symbol_waiter *waiter;
	HASH_FIND(hh, cache->waiters, &file->user, sizeof(file->user), waiter);
	if (!waiter) {
		waiter = calloc(1, sizeof(*waiter));
		if (waiter) {
			waiter->user = file->user;
			HASH_ADD(hh, cache->waiters, user, sizeof(waiter->user), waiter);
		}
	}
	uint64_t began = fx_monotonic_ns();
	int failed = 0;
	if (fx_load_end(file->load, patience_left(file, waiter), &failed, &file->table)) {
		file->load = NULL;
		file->state = FX_FILE_WAITING;
		file_loaded(cache, file, failed);
	}
	uint64_t waited = fx_monotonic_ns() - began;
	file->waited += waited;
	if (waiter)
		waiter->waited += waited;
}

/* The name to show for an entry, made at the first time; NULL if there is no memory. */
static const char *entry_name(struct fx_symbol_cache *cache, struct fx_symtab *table,
			      uint32_t index)
{
	if (!table->shown[index]) {
		char name[FX_SYMBOL_NAME_MAX + 1];
		size_t length = fx_demangle(table->names + table->entries[index].name, name);
		table->shown[index] = fx_strings_add(&cache->strings, name, length);
		cache->counters.names++;
	}
	return table->shown[index];
}

bool fx_file_find(struct fx_symbol_cache *cache, const struct fx_view *view,
		  struct fx_symbol_file *file, uint64_t address, const char **ret_name,
		  uint64_t *ret_offset)
{
	if (file->state == FX_FILE_WAITING)
		file_load(cache, view, file);
	if (file->state == FX_FILE_LOADING)
		file_wait(cache, file);
	if (file->state != FX_FILE_LOADED)
		return false;
	uint32_t index = fx_symtab_find(&file->table, address);
	const char *name = index == FX_NO_ENTRY ? NULL : entry_name(cache, &file->table, index);
	if (!name)
		return false;
	*ret_name = name;
	*ret_offset = address - file->table.entries[index].start;
	return true;
}

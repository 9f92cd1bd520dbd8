/* SPDX-License-Identifier: MIT */
#include "symbols/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "symbols/file-open.h"

/* Of the time that a user's files were waited for, one part of so many of what passes since is forgotten. */
#define FORGIVEN_OF 10u

/* --- Users that wait -------------------------------------------------------------------------- */

void fx_file_wait_begin(struct fx_symbol_file *file, uint64_t now)
{
	struct fx_symbol_user *user = file->user;
	uint64_t forgiven = (now - user->since) / FORGIVEN_OF;

	if (!file->since)
		file->since = now;
	file->awaited = true;
	if (user->awaited++)
		return;
	user->waited -= user->waited < forgiven ? user->waited : forgiven;
	user->since = now;
}

void fx_file_wait_end(struct fx_symbol_file *file, uint64_t now)
{
	struct fx_symbol_user *user = file->user;

	if (!file->awaited)
		return;
	file->awaited = false;
	if (--user->awaited)
		return;
	user->waited += now - user->since;
	user->since = now;
}

/* --- Files that are open ---------------------------------------------------------------------- */

void fx_file_close(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	DL_DELETE(cache->open, file);
	cache->open_count--;
}

int fx_file_reopen(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	struct fx_file_identity identity;
	bool by_identity = !file->build_id_size;
	int failed, fd;

	if (by_identity)
		memcpy(&identity, file->key + file->path_size, sizeof(identity));
	failed = fx_file_open(fx_file_path(file), by_identity ? &identity : NULL, &fd);
	if (failed)
		return failed;
	if (cache->open_count == FX_OPEN_FILES)
		fx_file_close(cache, cache->open);
	file->fd = fd;
	DL_APPEND(cache->open, file);
	cache->open_count++;
	cache->counters.opens++;
	return 0;
}

/* --- Files that nobody uses ------------------------------------------------------------------- */

/* What was read, and a reader that is at it. */
static void reading_forget(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	size_t memory = fx_symtab_memory(&file->table);

	fx_file_wait_end(file, fx_monotonic_ns());
	if (file->load) {
		fx_load_forget(file->load);
		file->load = NULL;
		file->user->loading--;
	}
	if (file->state == FX_FILE_LOADED) {
		file->user->bytes -= memory;
		cache->counters.symbols -= file->table.entries.count;
		cache->counters.table_bytes -= memory;
	}
	fx_symtab_clear(&file->table);
	free(file->functions);
	file->functions = NULL;
	file->state = FX_FILE_WAITING;
}

void fx_file_free(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	HASH_DEL(cache->files, file);
	cache->counters.files--;
	fx_file_close(cache, file);
	reading_forget(cache, file);
	fx_strings_clear(&file->strings);
	free(file);
}

void fx_file_revive(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	DL_DELETE(cache->idle, file);
	cache->idle_bytes -= fx_symtab_memory(&file->table);
	cache->idle_count--;
	file->given_up = false;
	file->since = 0;
}

static void idle_free(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	fx_file_revive(cache, file);
	fx_file_free(cache, file);
}

/* Which is the next to go; NULL: none has to. A table that is alone is kept whatever its size: it may be wanted by each
 * new process. */
static struct fx_symbol_file *idle_oldest(const struct fx_symbol_cache *cache)
{
	struct fx_symbol_file *file = cache->idle;

	if (cache->idle_count > FX_IDLE_FILES)
		return file;
	if (cache->idle_bytes <= cache->idle_limit)
		return NULL;
	while (fx_symtab_memory(&file->table) == 0)
		file = file->next;
	return fx_symtab_memory(&file->table) < cache->idle_bytes ? file : NULL;
}

void fx_file_idle(struct fx_symbol_cache *cache, struct fx_symbol_file *file)
{
	struct fx_symbol_file *oldest;

	DL_APPEND(cache->idle, file);
	cache->idle_bytes += fx_symtab_memory(&file->table);
	cache->idle_count++;
	while ((oldest = idle_oldest(cache)))
		idle_free(cache, oldest);
}

bool fx_file_make_room(struct fx_symbol_cache *cache, const struct fx_symbol_user *user,
		       uint64_t bytes)
{
	struct fx_symbol_file *file, *next;

	if (bytes > cache->user_limit)
		return false;
	for (file = cache->idle; file && user->bytes > cache->user_limit - bytes; file = next) {
		next = file->next;
		if (file->user == user)
			idle_free(cache, file);
	}
	return user->bytes <= cache->user_limit - bytes;
}

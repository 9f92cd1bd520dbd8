/* SPDX-License-Identifier: MIT */
#include "manager/archive/file-locks.h"

#include <stdlib.h>

#include "manager/archive/file-lock-draw.h"

/* Memory for what was told; what comes then is left out. */
#define FILE_LOCKS_BYTES_MAX (UINT64_C(64) << 20)

#define WAITED_NS UINT64_C(1000000)

void fx_file_locks_destroy(struct fx_file_locks *locks)
{
	struct fx_file_party *party, *next_party;
	struct fx_file *file, *next;

	HASH_ITER (hh, locks->files, file, next) {
		HASH_DEL(locks->files, file);
		fx_vector_free(&file->told);
		free(file);
	}
	HASH_ITER (hh, locks->parties, party, next_party) {
		HASH_DEL(locks->parties, party);
		fx_vector_free(&party->ends);
		fx_vector_free(&party->spread);
		free(party);
	}
}

/* NULL: there is no memory. */
static struct fx_file_party *party_get(struct fx_file_locks *locks, uint32_t pid)
{
	struct fx_file_party *party;

	HASH_FIND(hh, locks->parties, &pid, sizeof(pid), party);
	if (party)
		return party;
	party = calloc(1, sizeof(*party));
	if (!party)
		return NULL;
	party->pid = pid;
	HASH_ADD(hh, locks->parties, pid, sizeof(party->pid), party);
	if (party->lost) {
		free(party);
		return NULL;
	}
	locks->bytes += sizeof(*party);
	return party;
}

static struct fx_file *file_get(struct fx_file_locks *locks, uint64_t key)
{
	struct fx_file *file;

	HASH_FIND(hh, locks->files, &key, sizeof(key), file);
	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->key = key;
	HASH_ADD(hh, locks->files, key, sizeof(file->key), file);
	if (file->lost) {
		free(file);
		return NULL;
	}
	locks->bytes += sizeof(*file);
	return file;
}

static void party_spread(struct fx_file_locks *locks, const struct fx_file_told *told)
{
	struct fx_file_party *party = party_get(locks, told->pid);

	if (!party || locks->bytes >= FILE_LOCKS_BYTES_MAX ||
	    fx_vector_reserve(&party->spread, 1) < 0) {
		locks->is_full = true;
		return;
	}
	party->spread.items[party->spread.count++] = told->provider;
	locks->bytes += sizeof(told->provider);
}

void fx_file_locks_take(struct fx_file_locks *locks, const struct fx_file_told *told)
{
	struct fx_file *file;

	if (told->kind == FX_FILE_LOCK_SPREADS) {
		party_spread(locks, told);
		return;
	}
	if (told->kind == FX_FILE_LOCK_NOT_SAID && !told->key) {
		locks->is_doubtful = true;
		return;
	}
	file = locks->bytes < FILE_LOCKS_BYTES_MAX ? file_get(locks, told->key) : NULL;
	if (!file || !party_get(locks, told->pid) || fx_vector_reserve(&file->told, 1) < 0) {
		locks->is_full = true;
		return;
	}
	file->is_odd |= told->kind == FX_FILE_LOCK_NOT_SAID;
	file->told.items[file->told.count++] = *told;
	locks->bytes += sizeof(*told);
}

void fx_file_locks_end(struct fx_file_locks *locks, const struct fx_file_end *end, bool is_lossy)
{
	struct fx_file_party *party;

	locks->is_lossy |= is_lossy;
	HASH_FIND(hh, locks->parties, &end->pid, sizeof(end->pid), party);
	if (!party)
		return;
	if (locks->bytes >= FILE_LOCKS_BYTES_MAX || fx_vector_reserve(&party->ends, 1) < 0) {
		locks->is_full = true;
		return;
	}
	party->ends.items[party->ends.count++] = *end;
	locks->bytes += sizeof(*end);
}

/* What has taken so long has waited, most likely. */
static void file_leave(struct fx_file_locks *locks, const struct fx_file *file,
		       enum fx_transfer_left why)
{
	for (size_t i = 0; i < file->told.count; i++) {
		const struct fx_file_told *told = &file->told.items[i];

		locks->counts->left[why] +=
		    told->kind == FX_FILE_LOCK_HAS_WAITED && told->end - told->begin > WAITED_NS;
	}
}

void fx_file_locks_finish(struct fx_file_locks *locks, bool is_doubtful)
{
	struct fx_file *file, *next;

	HASH_ITER (hh, locks->files, file, next) {
		if (locks->is_lossy)
			file_leave(locks, file, FX_TRANSFER_LEFT_LOST);
		else if (locks->is_doubtful || is_doubtful || file->is_odd)
			file_leave(locks, file, FX_TRANSFER_LEFT_UNTRACED);
		else if (locks->is_full || fx_file_draw(locks, file) < 0)
			file_leave(locks, file, FX_TRANSFER_LEFT_MANY);
	}
}

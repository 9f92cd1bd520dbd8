/* SPDX-License-Identifier: MIT */
#include "manager/door/recipe-files.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "manager/settings/report.h"
#include "symbols/loader.h"

/* Files that are read at a time, and memory for files and their tables beyond which those go that nobody waits for. */
#define LOADING_MAX 8u
#define KEPT_MAX    (UINT64_C(64) << 20)

static uint64_t file_bytes(const struct fx_recipe_file *file)
{
	return sizeof(*file) + file->key_size + file->recipes.size;
}

static void file_forget(struct fx_recipe_maker *maker, struct fx_recipe_file *file)
{
	HASH_DEL(maker->files, file);
	if (file->state == FX_RECIPE_FILE_LOADING)
		maker->loading--;
	fx_load_forget(file->load);
	maker->kept -= file_bytes(file);
	fx_recipes_clear(&file->recipes);
	free(file);
}

void fx_recipe_files_thin(struct fx_recipe_maker *maker)
{
	struct fx_recipe_file *file, *next;

	if (maker->kept <= KEPT_MAX)
		return;
	HASH_ITER (hh, maker->files, file, next) {
		if (!file->users)
			file_forget(maker, file);
	}
}

/* A file's key: the path, then what tells it from others. */
static struct fx_recipe_file *file_new(const struct fx_recipe_owner *owner,
				       const struct fx_view *view)
{
	static uint64_t single;
	static const struct fx_view_key own;
	const void *id = owner->build_id_size ? (const void *)owner->build_id : &single;
	size_t path = strlen(owner->path) + 1;
	size_t id_size = owner->build_id_size ? owner->build_id_size : sizeof(single);
	size_t size = path + id_size + sizeof(own);
	struct fx_recipe_file *file = calloc(1, sizeof(*file) + size);

	if (!file)
		return NULL;
	single++;
	memcpy(file->key, owner->path, path);
	memcpy(file->key + path, id, id_size);
	memcpy(file->key + path + id_size, fx_view_is_own(view) ? &own : &view->key, sizeof(own));
	file->path_size = path;
	file->build_id_size = owner->build_id_size;
	file->key_size = size;
	return file;
}

struct fx_recipe_file *fx_recipe_file_use(struct fx_recipe_maker *maker,
					  const struct fx_recipe_owner *owner,
					  const struct fx_view *view)
{
	struct fx_recipe_file *file = file_new(owner, view), *known;

	if (!file)
		return NULL;
	HASH_FIND(hh, maker->files, file->key, file->key_size, known);
	if (known) {
		free(file);
		file = known;
	} else {
		file->since = fx_monotonic_ns();
		HASH_ADD_KEYPTR(hh, maker->files, file->key, file->key_size, file);
		if (file->lost) {
			free(file);
			return NULL;
		}
		maker->kept += file_bytes(file);
	}
	file->users++;
	return file;
}

static void file_begin(struct fx_recipe_maker *maker, struct fx_recipe_file *file,
		       const struct fx_view *view)
{
	const struct fx_elf_source source = {
	    .fd = -1,
	    .path = file->key,
	    .build_id = file->build_id_size ? (const uint8_t *)file->key + file->path_size : NULL,
	    .build_id_size = file->build_id_size,
	    .limit = FX_SYMBOL_BYTES,
	};

	if (maker->loading >= LOADING_MAX)
		return;
	if (!maker->loader && fx_loader_start(&maker->loader) < 0)
		maker->loader = NULL;
	file->state = FX_RECIPE_FILE_FAILED;
	if (!maker->loader ||
	    fx_load_begin_recipes(maker->loader, &source, fx_view_is_own(view) ? NULL : view,
				  maker->patterns, &file->load) < 0)
		return;
	file->state = FX_RECIPE_FILE_LOADING;
	maker->loading++;
}

/* What is not ELF, or no file at all as the kernel's own object, has no functions. */
static void file_report(const struct fx_recipe_maker *maker, const struct fx_recipe_file *file,
			enum fx_symbol_problem_kind kind)
{
	if (maker->has_values && file->key[0] == '/' && kind != FX_SYMBOL_FILE_NOT_ELF)
		fx_report("%s: %s; arguments and results of its functions are not recorded",
			  file->key, fx_symbol_problem_text(kind));
}

static void file_ended(struct fx_recipe_maker *maker, struct fx_recipe_file *file, int failed)
{
	file->load = NULL;
	maker->loading--;
	file->state = failed ? FX_RECIPE_FILE_FAILED : FX_RECIPE_FILE_READY;
	if (failed) {
		file_report(maker, file, (enum fx_symbol_problem_kind)(failed - 1));
		return;
	}
	maker->kept += file->recipes.size;
	maker->matched += file->recipes.matched;
	maker->left_out += file->recipes.left_out;
	maker->unknown += file->recipes.unknown;
	maker->is_cut = maker->is_cut || file->recipes.is_cut;
}

bool fx_recipe_file_is_settled(struct fx_recipe_maker *maker, struct fx_recipe_file *file,
			       const struct fx_view *view)
{
	int failed = 0;

	if (file->state == FX_RECIPE_FILE_NEW)
		file_begin(maker, file, view);
	if (file->state == FX_RECIPE_FILE_LOADING &&
	    fx_load_end_recipes(file->load, &failed, &file->recipes))
		file_ended(maker, file, failed);
	if ((file->state == FX_RECIPE_FILE_NEW || file->state == FX_RECIPE_FILE_LOADING) &&
	    fx_monotonic_ns() - file->since >= FX_SYMBOL_WAIT_NS) {
		fx_load_forget(file->load);
		maker->loading++;
		maker->loading -= file->state == FX_RECIPE_FILE_NEW;
		file_ended(maker, file, FX_SYMBOL_FILE_TOO_SLOW + 1);
	}
	return file->state == FX_RECIPE_FILE_READY || file->state == FX_RECIPE_FILE_FAILED;
}

void fx_recipe_files_forget(struct fx_recipe_maker *maker)
{
	struct fx_recipe_file *file, *next;

	HASH_ITER (hh, maker->files, file, next)
		file_forget(maker, file);
	maker->matched = maker->left_out = maker->unknown = 0;
}

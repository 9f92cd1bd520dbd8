/* SPDX-License-Identifier: MIT */
#include "symbols/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "symbols/demangle.h"
#include "symbols/elf-load.h"
#include "symbols/text.h"

/* Whether it has been waited for long enough. */
static bool is_over(const struct fx_symbol_cache *cache, const struct fx_symbol_file *file,
		    uint64_t now)
{
	const struct fx_symbol_user *user = file->user;

	return now - file->since >= cache->wait_ns ||
	       user->waited + (now - user->since) >= FX_SYMBOL_WAIT_USER_NS;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static void trouble_add(struct fx_symbol_cache *cache, const char *path,
			enum fx_symbol_problem_kind kind)
{
	struct fx_symbol_trouble *trouble = malloc(sizeof(*trouble));

	if (!trouble)
		return;
	trouble->kind = kind;
	fx_text_copy(trouble->path, FX_SYMBOL_NAME_MAX, path, strlen(path));
	DL_APPEND(cache->troubles, trouble);
}

static void file_fail(struct fx_symbol_cache *cache, struct fx_symbol_file *file,
		      enum fx_symbol_problem_kind kind)
{
	file->state = FX_FILE_FAILED;
	file->failure = kind;
	/* "[vdso]" and its like were never files, and few programs write a map: nothing is wrong. */
	if (fx_file_path(file)[0] == '/' && (!file->is_map || kind >= FX_SYMBOL_FILE_NO_MEMORY))
		trouble_add(cache, fx_file_path(file), kind);
}

/* `failed`: as of fx_elf_load(). */
static void reading_ended(struct fx_symbol_cache *cache, struct fx_symbol_file *file, int failed)
{
	size_t memory = failed ? 0 : fx_symtab_memory(&file->table);

	if (!failed && !fx_file_make_room(cache, file->user, memory)) {
		fx_symtab_clear(&file->table);
		failed = FX_SYMBOL_FILE_BEYOND + 1;
	}
	if (failed) {
		file_fail(cache, file, (enum fx_symbol_problem_kind)(failed - 1));
		return;
	}
	if (file->table.is_partial)
		trouble_add(cache, fx_file_path(file), FX_SYMBOL_FILE_PARTIAL);
	file->state = FX_FILE_LOADED;
	file->user->bytes += memory;
	cache->counters.loads++;
	if (file->table.was_stored) {
		cache->counters.stored_loads++;
		cache->counters.stored_symbols += file->table.entries.count;
	}
	cache->counters.symbols += file->table.entries.count;
	cache->counters.table_bytes += memory;
}

/* Without a loader. */
static int map_read_here(const struct fx_elf_source *source, struct fx_symtab *ret)
{
	int fd, failed = fx_jit_map_open(-1, source->path, source->map, &fd);

	if (failed)
		return failed;
	failed = fx_jit_map_read(fd, source->map, source->limit, ret);
	close(fd);
	return failed;
}

static void reading_begin(struct fx_symbol_cache *cache, const struct fx_view *view,
			  struct fx_symbol_file *file)
{
	const bool own = fx_view_is_own(view);
	struct fx_elf_source source = {
	    .path = fx_file_path(file),
	    .build_id = fx_file_build_id(file),
	    .build_id_size = file->build_id_size,
	    .debug_path = cache->debug_path,
	    .limit = cache->file_limit,
	    .wants_sources = cache->wants_sources,
	    .wants_lines = cache->wants_lines,
	    /* Others' files are no business of this user's folder. */
	    .store = own && cache->store[0] ? cache->store : NULL,
	    .map = file->is_map ? &file->map : NULL,
	};
	int failed = 0;

	/* One more would go beyond what its user may take at a time; it is tried again. */
	if (cache->loader && file->user->loading >= FX_LOADS_PER_USER)
		return;
	if (file->fd < 0 && own && !file->is_map)
		failed = fx_file_reopen(cache, file);
	else if (!own && !cache->loader)
		failed = FX_SYMBOL_FILE_UNREADABLE + 1;
	source.fd = file->fd;
	if (!failed && !cache->loader) {
		failed = file->is_map ? map_read_here(&source, &file->table)
				      : fx_elf_load(&source, &file->table);
	} else if (!failed) {
		int r = fx_load_begin(cache->loader, &source, own ? NULL : view, &file->load);

		file->is_scarce = r == -EMFILE || r == -ENFILE;
		if (file->is_scarce) /* others may give some back while it is waited for */
			return;
		if (r == 0) {
			file->state = FX_FILE_LOADING;
			file->user->loading++;
		} else {
			failed = FX_SYMBOL_FILE_NO_MEMORY + 1;
		}
	}
	fx_file_close(cache, file);
	if (file->state != FX_FILE_LOADING)
		reading_ended(cache, file, failed);
}

/* Takes what the reader has done, or begins. */
static void reading_go_on(struct fx_symbol_cache *cache, const struct fx_view *view,
			  struct fx_symbol_file *file)
{
	int failed = 0;

	if (file->state == FX_FILE_WAITING)
		reading_begin(cache, view, file);
	if (file->state != FX_FILE_LOADING || !fx_load_end(file->load, &failed, &file->table))
		return;
	file->load = NULL;
	file->user->loading--;
	reading_ended(cache, file, failed);
}

static bool has_been_read(const struct fx_symbol_file *file)
{
	return file->state == FX_FILE_LOADED || file->state == FX_FILE_FAILED;
}

void fx_file_want(struct fx_symbol_cache *cache, const struct fx_view *view,
		  struct fx_symbol_file *file)
{
	if (!cache->loader || has_been_read(file) || file->awaited || file->given_up)
		return;
	fx_file_wait_begin(file, fx_monotonic_ns());
	reading_go_on(cache, view, file);
}

bool fx_file_is_settled(struct fx_symbol_cache *cache, const struct fx_view *view,
			struct fx_symbol_file *file)
{
	uint64_t now;

	if (!file->awaited)
		return true;
	reading_go_on(cache, view, file);
	now = fx_monotonic_ns();
	if (!has_been_read(file)) {
		if (!is_over(cache, file, now))
			return false;
		if (file->state == FX_FILE_WAITING && file->is_scarce)
			file_fail(cache, file, FX_SYMBOL_FILE_NO_DESCRIPTORS);
		else
			file->given_up = true;
	}
	fx_file_wait_end(file, now);
	return true;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* The name to show for an entry, made at the first time; NULL if there is no memory. */
static const char *entry_name(struct fx_symbol_cache *cache, struct fx_symbol_file *file,
			      uint32_t index)
{
	struct fx_symtab *table = &file->table;
	char name[FX_SYMBOL_NAME_MAX + 1];
	size_t length;

	if (!table->shown[index]) {
		const char *symbol = table->names.items + table->entries.items[index].name;

		/* Those of made code are as their compiler shows them. */
		length = file->is_map
			     ? fx_text_copy(name, FX_SYMBOL_NAME_MAX, symbol, strlen(symbol))
			     : fx_demangle(symbol, name);
		table->shown[index] = fx_strings_add(&file->strings, name, length);
		cache->counters.names++;
	}
	return table->shown[index];
}

bool fx_file_find(struct fx_symbol_cache *cache, const struct fx_view *view,
		  struct fx_symbol_file *file, uint64_t address, struct fx_symbol *ret)
{
	const char *name;
	uint32_t index;

	if (!has_been_read(file))
		reading_go_on(cache, view, file);
	if (file->state != FX_FILE_LOADED)
		return false;
	index = fx_symtab_find(&file->table, address);
	name = index == FX_NO_ENTRY ? NULL : entry_name(cache, file, index);
	if (!name)
		return false;
	ret->name = name;
	ret->offset = address - file->table.entries.items[index].start;
	ret->source = fx_symtab_source(&file->table, index);
	cache->counters.sources += ret->source != NULL;
	ret->size = fx_symtab_size(&file->table, index);
	return true;
}

/* The name to show for an inlined function, made at the first time; NULL if there is no memory. */
static const char *place_function(struct fx_symbol_cache *cache, struct fx_symbol_file *file,
				  uint32_t number)
{
	const struct fx_symtab *table = &file->table;
	char name[FX_SYMBOL_NAME_MAX + 1];
	size_t length;

	/* Of a large array only the pages in use become resident. */
	if (!file->functions)
		file->functions = calloc(table->lines.places.count, sizeof(*file->functions));
	if (!file->functions)
		return NULL;
	if (!file->functions[number]) {
		length = fx_demangle(
		    table->names.items + table->lines.places.items[number].function, name);
		file->functions[number] = fx_strings_add(&file->strings, name, length);
		cache->counters.names++;
	}
	return file->functions[number];
}

unsigned fx_file_places(struct fx_symbol_cache *cache, struct fx_symbol_file *file,
			uint64_t address, struct fx_symbol_place ret[FX_SYMBOL_PLACES_MAX])
{
	const struct fx_line_map *places = &file->table.lines;
	unsigned count = 0;
	uint32_t number;

	if (file->state != FX_FILE_LOADED)
		return 0;
	number = fx_line_map_find(places, address);
	while (number != FX_NO_PLACE && count < FX_SYMBOL_PLACES_MAX) {
		const struct fx_line_place *place = &places->places.items[number];
		const char *function = place->function ? place_function(cache, file, number) : NULL;

		if (place->function && !function)
			return 0;
		ret[count++] = (struct fx_symbol_place){
		    .function = function,
		    .file = file->table.names.items + place->file,
		    .line = place->line,
		};
		number = place->outer;
	}
	return count;
}

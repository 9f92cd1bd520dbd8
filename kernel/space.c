/* SPDX-License-Identifier: MIT */
#include "kernel/space.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "lists/hashes.h"
#include "symbols/symbols.h"

struct space_entry {
	UT_hash_handle hh;
	struct fx_space space;
};

struct fx_spaces {
	struct space_entry *entries; /* by pid */
	struct fx_symbol_cache *names;
	uint64_t since_ns; /* CLOCK_REALTIME; maps of code that processes make are newer */
	uint64_t serial;   /* the last that was given */
};

int fx_spaces_create(struct fx_symbol_cache *names, struct fx_spaces **ret)
{
	struct fx_spaces *spaces = calloc(1, sizeof(*spaces));
	struct timespec now;

	if (!spaces)
		return -ENOMEM;
	clock_gettime(CLOCK_REALTIME, &now);
	spaces->names = names;
	spaces->since_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	*ret = spaces;
	return 0;
}

/* All but who it is. */
static void space_clear(struct fx_space *space)
{
	for (size_t i = 0; i < space->count; i++)
		fx_image_release(space->mappings[i].image);
	if (space->unwinder)
		space->unwinder_end(space->unwinder);
	fx_symspace_destroy(space->names);
	free(space->mappings);
	*space = (struct fx_space){
	    .pid = space->pid,
	    .is_own = space->is_own,
	    .parent = space->parent,
	    .followed_ns = space->followed_ns,
	};
}

static void entry_free(struct fx_spaces *spaces, struct space_entry *entry)
{
	HASH_DEL(spaces->entries, entry);
	space_clear(&entry->space);
	free(entry);
}

void fx_spaces_destroy(struct fx_spaces *spaces)
{
	struct space_entry *entry, *next;

	HASH_ITER (hh, spaces->entries, entry, next)
		entry_free(spaces, entry);
	fx_images_forget();
	free(spaces);
}

static struct space_entry *entry_find(const struct fx_spaces *spaces, uint32_t pid)
{
	struct space_entry *entry;

	HASH_FIND(hh, spaces->entries, &pid, sizeof(pid), entry);
	return entry;
}

struct fx_space *fx_space_of(struct fx_spaces *spaces, uint32_t pid)
{
	struct space_entry *entry = entry_find(spaces, pid);

	if (entry)
		return &entry->space;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->space.pid = pid;
	entry->space.serial = ++spaces->serial;
	HASH_ADD(hh, spaces->entries, space.pid, sizeof(entry->space.pid), entry);
	return &entry->space;
}

const struct fx_space *fx_space_known(const struct fx_spaces *spaces, uint32_t pid)
{
	const struct space_entry *entry = entry_find(spaces, pid);

	return entry ? &entry->space : NULL;
}

void fx_space_own(struct fx_spaces *spaces, uint32_t pid,
		  void (*see)(void *opaque, struct fx_space *space), void *opaque)
{
	struct fx_space *space = fx_space_of(spaces, pid);
	struct space_entry *entry, *next;

	if (!space || space->is_own)
		return;
	space->is_own = true;
	see(opaque, space);
	HASH_ITER (hh, spaces->entries, entry, next) {
		if (entry->space.parent == space->serial)
			fx_space_own(spaces, entry->space.pid, see, opaque);
	}
}

/* --- Mappings ----------------------------------------------------------------------------------- */

static int mappings_reserve(struct fx_space *space, size_t more)
{
	size_t room = space->room ? 2 * space->room : 16;
	void *moved;

	if (space->count + more <= space->room)
		return 0;
	while (room < space->count + more)
		room *= 2;
	moved = realloc(space->mappings, room * sizeof(*space->mappings));
	if (!moved)
		return -ENOMEM;
	space->mappings = moved;
	space->room = room;
	return 0;
}

static void mapping_insert(struct fx_space *space, size_t at, struct fx_mapping mapping)
{
	memmove(&space->mappings[at + 1], &space->mappings[at],
		(space->count - at) * sizeof(mapping));
	space->mappings[at] = mapping;
	space->count++;
}

static void mapping_remove(struct fx_space *space, size_t at)
{
	fx_image_release(space->mappings[at].image);
	space->count--;
	memmove(&space->mappings[at], &space->mappings[at + 1],
		(space->count - at) * sizeof(struct fx_mapping));
}

/* Takes out what lies in [start, end): what is mapped there has replaced it. There is room for one more. */
static void mappings_cut(struct fx_space *space, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < space->count;) {
		struct fx_mapping *m = &space->mappings[i];

		if (m->end <= start || m->start >= end) {
			i++;
		} else if (m->start < start && m->end > end) {
			struct fx_mapping rest = *m;

			rest.start = end;
			fx_image_share(rest.image);
			m->end = start;
			mapping_insert(space, i + 1, rest);
			return;
		} else if (m->start < start) {
			m->end = start;
			i++;
		} else if (m->end > end) {
			m->start = end;
			return;
		} else {
			mapping_remove(space, i);
		}
	}
}

static void name_mapping(struct fx_symspace *names, const struct fx_mapping *m)
{
	const struct fx_image_facts *facts;
	struct fx_symbol_module module;

	if (!m->image)
		return;
	facts = fx_image_facts(m->image);
	module = (struct fx_symbol_module){
	    .path = facts->path,
	    .build_id = facts->build_id,
	    .build_id_size = facts->build_id_size,
	    .bias = m->bias,
	    .start = m->start,
	    .end = m->end,
	};
	fx_symspace_add_module(names, &module);
}

static void space_add(struct fx_space *space, struct fx_mapping mapping)
{
	size_t at = 0;

	if (mappings_reserve(space, 2) < 0) {
		fx_image_release(mapping.image);
		return;
	}
	mappings_cut(space, mapping.start, mapping.end);
	while (at < space->count && space->mappings[at].start < mapping.start)
		at++;
	mapping_insert(space, at, mapping);
	space->changes++;
	if (space->names)
		name_mapping(space->names, &mapping);
}

/* libfxtrace.so, wherever it lies. */
static bool is_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strcmp(slash + 1, "libfxtrace.so") == 0;
}

void fx_space_map(struct fx_spaces *spaces, uint32_t pid, uint64_t start, uint64_t size,
		  uint64_t offset, uint64_t device, uint64_t inode, const char *path)
{
	struct fx_space *space = fx_space_of(spaces, pid);
	struct fx_mapping mapping = {.start = start, .end = start + size};
	uint64_t address;

	if (!space || !size || mapping.end < start)
		return;
	if (is_library(path))
		space->is_preloaded = true;
	mapping.image = fx_image_get(pid, path, device, inode);
	if (mapping.image && fx_image_address(mapping.image, offset, &address)) {
		mapping.bias = start - address;
	} else {
		fx_image_release(mapping.image);
		mapping.image = NULL;
	}
	space_add(space, mapping);
}

const struct fx_mapping *fx_space_find(const struct fx_space *space, uint64_t address)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fx_mapping *m = &space->mappings[middle];

		if (address < m->start)
			high = middle;
		else if (address >= m->end)
			low = middle + 1;
		else
			return m;
	}
	return NULL;
}

/* --- Lives -------------------------------------------------------------------------------------- */

/* How many there are; none is known of one that has ended. */
static uint32_t threads_count(uint32_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	return stat(path, &st) == 0 && st.st_nlink > 2 ? (uint32_t)st.st_nlink - 2 : 1;
}

void fx_space_read(struct fx_spaces *spaces, uint32_t pid)
{
	struct fx_space *space = fx_space_of(spaces, pid);
	char path[64], line[4400];
	FILE *maps;

	if (space) {
		space->others = threads_count(pid) - 1;
		space->counted_ns = fx_boottime_ns();
	}
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset, inode;
		char mode[5];
		int name = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n",
			   &start, &end, mode, &offset, &inode, &name) < 5 ||
		    mode[2] != 'x' || end <= start)
			continue;
		line[strcspn(line, "\n")] = 0;
		fx_space_map(spaces, pid, start, end - start, offset, 0, inode, line + name);
	}
	if (maps)
		fclose(maps);
}

static void space_forget(struct fx_spaces *spaces, uint32_t pid)
{
	struct space_entry *entry = entry_find(spaces, pid);

	if (entry)
		entry_free(spaces, entry);
}

void fx_space_fork(struct fx_spaces *spaces, uint32_t parent, uint32_t child)
{
	const struct fx_space *from;
	struct fx_space *to;

	if (parent == child)
		return;
	space_forget(spaces, child);
	to = fx_space_of(spaces, child);
	from = fx_space_of(spaces, parent);
	if (to && from) {
		to->is_own = from->is_own;
		to->parent = from->serial;
		to->followed_ns = from->followed_ns;
	}
	if (!to || !from || mappings_reserve(to, from->count) < 0)
		return;
	for (size_t i = 0; i < from->count; i++) {
		to->mappings[i] = from->mappings[i];
		fx_image_share(to->mappings[i].image);
	}
	to->count = from->count;
	to->is_preloaded = from->is_preloaded;
	memcpy(to->name, from->name, sizeof(to->name));
}

void fx_space_exec(struct fx_spaces *spaces, uint32_t pid)
{
	struct space_entry *entry = entry_find(spaces, pid);

	if (!entry)
		return;
	space_clear(&entry->space);
	entry->space.serial = ++spaces->serial;
}

void fx_space_thread(struct fx_spaces *spaces, uint32_t pid, uint64_t ns)
{
	struct space_entry *entry = entry_find(spaces, pid);

	if (entry && ns > entry->space.counted_ns)
		entry->space.others++;
}

/* The process lives as long as any of its threads. The first one is among those that /proc has until the last has ended. */
bool fx_space_end(struct fx_spaces *spaces, uint32_t pid, bool is_first, uint64_t ns)
{
	struct space_entry *entry = entry_find(spaces, pid);

	if (!entry)
		return is_first;
	if (is_first)
		entry->space.has_lost_first = true;
	else if (entry->space.others && ns > entry->space.counted_ns)
		entry->space.others--;
	if (!entry->space.has_lost_first || entry->space.others)
		return false;
	entry_free(spaces, entry);
	return true;
}

struct fx_symspace *fx_space_names(struct fx_spaces *spaces, struct fx_space *space)
{
	char path[64];
	struct stat st;

	if (space->names || fx_symspace_create(spaces->names, &space->names) < 0)
		return space->names;
	snprintf(path, sizeof(path), "/proc/%u", space->pid);
	if (stat(path, &st) == 0)
		fx_symspace_expect_map(space->names, space->pid, st.st_uid, spaces->since_ns);
	for (size_t i = 0; i < space->count; i++)
		name_mapping(space->names, &space->mappings[i]);
	return space->names;
}

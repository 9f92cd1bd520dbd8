/* SPDX-License-Identifier: MIT */
#include "kernel/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists/hashes.h"
#include "lists/vector.h"

/* A path, kept as long as all: programs map the same few files. */
struct files_path {
	UT_hash_handle hh;
	char text[];
};

struct files_mapping {
	uint64_t start, end, offset;
	const struct files_path *path;
};

/* In the order in which they were made: the last that has an address is right. What a new one hides whole is taken out. */
struct files_process {
	UT_hash_handle hh;
	uint32_t pid;
	FX_VECTOR(struct files_mapping) mappings;
};

struct fx_files {
	struct files_process *processes; /* by pid */
	struct files_path *paths;
};

struct fx_files *fx_files_create(void)
{
	return calloc(1, sizeof(struct fx_files));
}

static struct files_process *files_find(const struct fx_files *files, uint32_t pid)
{
	struct files_process *process;

	HASH_FIND(hh, files->processes, &pid, sizeof(pid), process);
	return process;
}

void fx_files_clear(struct fx_files *files, uint32_t pid)
{
	struct files_process *process = files_find(files, pid);

	if (!process)
		return;
	HASH_DEL(files->processes, process);
	fx_vector_free(&process->mappings);
	free(process);
}

void fx_files_destroy(struct fx_files *files)
{
	struct files_process *process, *next;
	struct files_path *path, *next_path;

	if (!files)
		return;
	HASH_ITER (hh, files->processes, process, next)
		fx_files_clear(files, process->pid);
	HASH_ITER (hh, files->paths, path, next_path) {
		HASH_DEL(files->paths, path);
		free(path);
	}
	free(files);
}

static struct files_process *files_of(struct fx_files *files, uint32_t pid)
{
	struct files_process *process = files_find(files, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	HASH_ADD(hh, files->processes, pid, sizeof(process->pid), process);
	return process;
}

static const struct files_path *path_of(struct fx_files *files, const char *text)
{
	size_t length = strlen(text);
	struct files_path *path;

	HASH_FIND(hh, files->paths, text, length, path);
	if (path)
		return path;
	path = malloc(sizeof(*path) + length + 1);
	if (!path)
		return NULL;
	memcpy(path->text, text, length + 1);
	HASH_ADD_KEYPTR(hh, files->paths, path->text, length, path);
	return path;
}

static void files_uncover(struct files_process *process, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < process->mappings.count; i++) {
		const struct files_mapping *m = &process->mappings.items[i];

		if (m->start < start || m->end > end)
			process->mappings.items[kept++] = *m;
	}
	process->mappings.count = kept;
}

void fx_files_map(struct fx_files *files, uint32_t pid, uint64_t start, uint64_t size,
		  uint64_t offset, const char *path)
{
	struct files_process *process = files_of(files, pid);
	struct files_mapping mapping = {start, start + size, offset, path_of(files, path)};

	if (!process || !mapping.path || mapping.end <= start)
		return;
	files_uncover(process, start, mapping.end);
	if (fx_vector_reserve(&process->mappings, 1) == 0)
		process->mappings.items[process->mappings.count++] = mapping;
}

void fx_files_fork(struct fx_files *files, uint32_t parent, uint32_t child)
{
	const struct files_process *from = files_find(files, parent);
	struct files_process *to;

	if (parent == child)
		return;
	fx_files_clear(files, child);
	to = from ? files_of(files, child) : NULL;
	if (!to || fx_vector_reserve(&to->mappings, from->mappings.count) < 0)
		return;
	if (from->mappings.count)
		memcpy(to->mappings.items, from->mappings.items,
		       from->mappings.count * sizeof(*to->mappings.items));
	to->mappings.count = from->mappings.count;
}

void fx_files_read(struct fx_files *files, uint32_t pid)
{
	char path[64], line[4400];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;
		int name = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*x:%*x %*u %n", &start,
			   &end, &offset, &name) < 3 ||
		    !name || end <= start)
			continue;
		line[strcspn(line, "\n")] = 0;
		fx_files_map(files, pid, start, end - start, offset, line + name);
	}
	if (maps)
		fclose(maps);
}

const char *fx_files_at(const struct fx_files *files, uint32_t pid, uint64_t address,
			uint64_t *ret_offset)
{
	const struct files_process *process = files_find(files, pid);

	for (size_t i = process ? process->mappings.count : 0; i--;) {
		const struct files_mapping *m = &process->mappings.items[i];

		if (address < m->start || address >= m->end)
			continue;
		*ret_offset = m->offset + (address - m->start);
		return m->path->text;
	}
	return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "attach/target.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/elf.h"
#include "attach/proc.h"

#define OURS "libfxtrace.so"

static void target_modules_free(struct fx_target *target)
{
	for (size_t i = 0; i < target->modules.count; i++)
		free(target->modules.items[i].path);
	fx_vector_free(&target->modules);
	fx_vector_free(&target->memory);
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum fx_target_kind kind_by_name(const char *path)
{
	const char *name = last_name(path);

	if (strncmp(name, OURS, strlen(OURS)) == 0)
		return FX_TARGET_OURS;
	if (strncmp(name, "libc.so.6", 9) == 0)
		return FX_TARGET_LIBC;
	return FX_TARGET_PROGRAM;
}

/* One line of /proc/PID/maps, which come in order. */
struct map_line {
	uint64_t start, end, offset, inode;
	char access[5];
	const char *path;
};

/* Pieces of one file that follow one another are one module, up to the next that begins at the file's begin. */
static int target_module_take(struct fx_target *target, const struct map_line *line)
{
	struct fx_target_module *last =
	    target->modules.count ? &target->modules.items[target->modules.count - 1] : NULL;

	if (last && line->offset && strcmp(last->path, line->path) == 0) {
		last->end = line->end;
		return 0;
	}
	if (fx_vector_reserve(&target->modules, 1) < 0)
		return -ENOMEM;
	last = &target->modules.items[target->modules.count];
	*last = (struct fx_target_module){.start = line->start,
					  .end = line->end,
					  .kind = kind_by_name(line->path),
					  .path = strdup(line->path)};
	if (!last->path)
		return -ENOMEM;
	target->modules.count++;
	return 0;
}

static int target_memory_take(struct fx_target *target, const struct map_line *line,
			      uint64_t barred)
{
	if (strncmp(line->access, "rw", 2) != 0)
		return 0;
	if (fx_vector_reserve(&target->memory, 1) < 0)
		return -ENOMEM;
	target->memory.items[target->memory.count++] = (struct fx_target_memory){
	    line->start, line->end,
	    strcmp(line->path, "[stack]") == 0 || (!line->inode && barred == line->start)};
	return 0;
}

static bool map_parse(char *text, struct map_line *ret)
{
	int path = 0;

	text[strcspn(text, "\n")] = 0;
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &ret->start,
		   &ret->end, ret->access, &ret->offset, &ret->inode, &path) != 5)
		return false;
	ret->path = text + path;
	return true;
}

static int maps_read(struct fx_target *target, FILE *file)
{
	uint64_t barred = 0; /* where memory ends that cannot be accessed */
	struct map_line line;
	size_t room = 0;
	char *text = NULL;
	int r = 0;

	while (r == 0 && getline(&text, &room, file) > 0) {
		if (!map_parse(text, &line))
			continue;
		r = line.path[0] == '/' ? target_module_take(target, &line)
					: target_memory_take(target, &line, barred);
		barred = strncmp(line.access, "---", 3) == 0 ? line.end : 0;
	}
	free(text);
	return r;
}

static struct fx_target_module *module_at(const struct fx_target *target, uint64_t address)
{
	for (size_t i = 0; i < target->modules.count; i++) {
		struct fx_target_module *m = &target->modules.items[i];

		if (address >= m->start && address < m->end)
			return m;
	}
	return NULL;
}

/* Whose malloc() is called, other modules' may be as well. */
static void module_classify(const struct fx_target *target, struct fx_target_module *m)
{
	struct fx_elf elf;
	Elf64_Sym symbol;

	if (m->kind == FX_TARGET_PROGRAM && fx_elf_open(target->pid, m->start, &elf) &&
	    fx_elf_find(target->pid, &elf, "malloc", &symbol))
		m->kind = FX_TARGET_ALLOCATOR;
}

int fx_target_look(struct fx_target *target)
{
	FILE *file = fx_proc_open(target->pid, "maps");
	uint64_t linker, program;
	int r;

	if (!file)
		return -errno;
	target_modules_free(target);
	r = maps_read(target, file);
	fclose(file);
	if (r == 0 && fx_proc_auxv(target->pid, AT_BASE, &linker) && module_at(target, linker))
		module_at(target, linker)->kind = FX_TARGET_LINKER;
	target->ours = target->libc = 0;
	if (r == 0 && fx_proc_auxv(target->pid, AT_PHDR, &program) && module_at(target, program))
		target->program = module_at(target, program)->start;
	for (size_t i = 0; r == 0 && i < target->modules.count; i++) {
		struct fx_target_module *m = &target->modules.items[i];

		module_classify(target, m);
		if (m->kind == FX_TARGET_OURS && !target->ours)
			target->ours = m->start;
		if (m->kind == FX_TARGET_LIBC && !target->libc)
			target->libc = m->start;
	}
	return r;
}

enum fx_target_kind fx_target_kind_of(const struct fx_target *target, uint64_t address)
{
	const struct fx_target_module *m = module_at(target, address);

	return m ? m->kind : FX_TARGET_NONE;
}

bool fx_target_is_program(const struct fx_target *target, uint64_t address)
{
	const struct fx_target_module *m = module_at(target, address);

	return m && m->start == target->program;
}

bool fx_target_program_allocates(const struct fx_target *target)
{
	return fx_target_kind_of(target, target->program) == FX_TARGET_ALLOCATOR;
}

uint64_t fx_target_stack_below(const struct fx_target *target, uint64_t sp)
{
	for (size_t i = 0; i < target->memory.count; i++) {
		const struct fx_target_memory *m = &target->memory.items[i];

		if (m->stack && sp > m->start && sp <= m->end)
			return sp - m->start;
	}
	return 0;
}

void fx_target_close(struct fx_target *target)
{
	target_modules_free(target);
	fx_vector_free(&target->functions);
	free(target->names);
	target->names = NULL;
}

/* SPDX-License-Identifier: MIT */
#include "attach/target.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/elf.h"
#include "attach/memory.h"

#define OURS "libfxtrace.so"

/* --- What is mapped ----------------------------------------------------------------------------- */

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

static const char *target_proc_path(pid_t pid, const char *name, char *ret, size_t size)
{
	snprintf(ret, size, "/proc/%d/%s", (int)pid, name);
	return ret;
}

static FILE *target_proc_open(pid_t pid, const char *name)
{
	char path[64];

	return fopen(target_proc_path(pid, name, path, sizeof(path)), "re");
}

/* Of the auxiliary vector. False: it has none. */
static bool auxv_value(pid_t pid, uint64_t type, uint64_t *ret)
{
	FILE *file = target_proc_open(pid, "auxv");
	uint64_t pair[2];
	bool found = false;

	while (file && !found && fread(pair, sizeof(pair), 1, file) == 1) {
		found = pair[0] == type;
		*ret = pair[1];
	}
	if (file)
		fclose(file);
	return found;
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
	FILE *file = target_proc_open(target->pid, "maps");
	uint64_t linker, program;
	int r;

	if (!file)
		return -errno;
	target_modules_free(target);
	r = maps_read(target, file);
	fclose(file);
	if (r == 0 && auxv_value(target->pid, AT_BASE, &linker) && module_at(target, linker))
		module_at(target, linker)->kind = FX_TARGET_LINKER;
	target->ours = target->libc = 0;
	if (r == 0 && auxv_value(target->pid, AT_PHDR, &program) && module_at(target, program))
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

/* --- libc --------------------------------------------------------------------------------------- */

static int function_compare(const void *a, const void *b)
{
	const struct fx_target_function *f = a, *g = b;

	return (f->start > g->start) - (f->start < g->start);
}

static void functions_collect(struct fx_target *target, const struct fx_elf *elf,
			      const Elf64_Sym *symbols, uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < count; i++) {
		const Elf64_Sym *s = &symbols[i];

		if (s->st_shndx == SHN_UNDEF || s->st_name >= elf->string_bytes || !s->st_size ||
		    (ELF64_ST_TYPE(s->st_info) != STT_FUNC &&
		     ELF64_ST_TYPE(s->st_info) != STT_GNU_IFUNC))
			continue;
		target->functions.items[target->functions.count++] = (struct fx_target_function){
		    elf->base + s->st_value, elf->base + s->st_value + s->st_size,
		    target->names + s->st_name};
	}
	qsort(target->functions.items, target->functions.count, sizeof(target->functions.items[0]),
	      function_compare);
}

static int functions_read(struct fx_target *target, const struct fx_elf *elf)
{
	uint32_t count = fx_elf_count(target->pid, elf);
	Elf64_Sym *symbols;
	int r = -EIO;

	if (!count || !elf->string_bytes || elf->string_bytes > 16u << 20)
		return -EIO;
	symbols = calloc(count, sizeof(*symbols));
	target->names = calloc(1, elf->string_bytes + 1);
	if (!symbols || !target->names || fx_vector_reserve(&target->functions, count) < 0) {
		r = -ENOMEM;
	} else if (fx_memory_read(target->pid, elf->symbols, symbols, count * sizeof(*symbols)) &&
		   fx_memory_read(target->pid, elf->strings, target->names, elf->string_bytes)) {
		functions_collect(target, elf, symbols, elf->first_symbol, count);
		r = 0;
	}
	free(symbols);
	return r;
}

const char *fx_target_function_at(const struct fx_target *target, uint64_t address)
{
	const char *name = NULL;

	/* Of several names of one function any does: callers have lists of all. */
	for (size_t i = 0; i < target->functions.count; i++) {
		const struct fx_target_function *f = &target->functions.items[i];

		if (f->start > address)
			break;
		if (address < f->end)
			name = f->name;
	}
	return name;
}

uint64_t fx_target_function_of(const struct fx_target *target, uint64_t module, const char *name)
{
	struct fx_elf elf;
	Elf64_Sym symbol;

	if (!module || !fx_elf_open(target->pid, module, &elf) ||
	    !fx_elf_find(target->pid, &elf, name, &symbol) ||
	    ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
		return 0;
	return elf.base + symbol.st_value;
}

/* Where these bytes stand in libc's code; 0: nowhere. */
static uint64_t code_find(const uint8_t *code, size_t size, uint64_t start, const void *bytes,
			  size_t count)
{
	const uint8_t *found = memmem(code, size, bytes, count);

	return found ? start + (uint64_t)(found - code) : 0;
}

/*
 * __errno_location() is
 *
 *	mov DISTANCE(%rip), %rax	[endbr64 before it, or not]
 *	add %fs:0, %rax
 *	ret
 */
static bool errno_find(struct fx_target *target)
{
	static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}, load[] = {0x48, 0x8b, 0x05},
			     add[] = {0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3};
	uint64_t at = fx_target_function_of(target, target->libc, "__errno_location");
	uint8_t code[32];
	int32_t distance;
	size_t i = 0;

	if (!at || !fx_memory_read(target->pid, at, code, sizeof(code)))
		return false;
	if (memcmp(code, mark, sizeof(mark)) == 0)
		i += sizeof(mark);
	if (memcmp(code + i, load, sizeof(load)) != 0 || memcmp(code + i + 7, add, sizeof(add)))
		return false;
	memcpy(&distance, code + i + 3, sizeof(distance));
	return fx_memory_read(target->pid, at + i + 7 + (uint64_t)(int64_t)distance,
			      &target->errno_offset, sizeof(target->errno_offset));
}

static int libc_read(struct fx_target *target, const struct fx_elf *elf)
{
	static const uint8_t back[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05},
			     call[] = {0x0f, 0x05, 0xc3};
	size_t size = elf->code_end - elf->code_start;
	uint8_t *code;

	if (elf->code_start >= elf->code_end || size > 64u << 20)
		return -EIO;
	code = malloc(size);
	if (!code)
		return -ENOMEM;
	if (fx_memory_read(target->pid, elf->code_start, code, size)) {
		target->sigreturn = code_find(code, size, elf->code_start, back, sizeof(back));
		target->syscall = code_find(code, size, elf->code_start, call, sizeof(call));
	}
	free(code);
	target->dlopen = fx_target_function_of(target, target->libc, "dlopen");
	return target->sigreturn && target->syscall && errno_find(target) ? 0 : -EIO;
}

/* --- Whether it can be --------------------------------------------------------------------------- */

/* What /proc/PID/status says; `name` with its colon. False: there is no such line. */
static bool status_value(pid_t pid, const char *name, char *ret, size_t size)
{
	FILE *file = target_proc_open(pid, "status");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, name, strlen(name)) == 0;
		if (found)
			snprintf(ret, size, "%.*s", (int)strcspn(line + strlen(name), "\n"),
				 line + strlen(name));
	}
	if (file)
		fclose(file);
	return found;
}

static long status_number(pid_t pid, const char *name)
{
	char text[512];

	return status_value(pid, name, text, sizeof(text)) ? strtol(text, NULL, 10) : 0;
}

static bool has_several_numbers(pid_t pid)
{
	char text[512];
	const char *first;

	if (!status_value(pid, "NSpid:", text, sizeof(text)))
		return false;
	first = text + strspn(text, " \t");
	first += strspn(first, "0123456789");
	return strpbrk(first, "0123456789") != NULL;
}

static bool any_thread_has(pid_t pid, const char *name)
{
	char path[64];
	const struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)))
		found = entry->d_name[0] != '.' &&
			status_number((pid_t)strtol(entry->d_name, NULL, 10), name) != 0;
	if (folder)
		closedir(folder);
	return found;
}

/* The program's file: of this machine and of 64 bits. */
static int file_check(pid_t pid, char *why)
{
	FILE *file = target_proc_open(pid, "exe");
	Elf64_Ehdr e = {0};

	if (!file) {
		int error = errno;

		snprintf(why, FX_TARGET_WHY, "%s",
			 error == EACCES || error == EPERM
			     ? "it may not be looked into: it is another user's, or a set-user-ID "
			       "program, or kernel.yama.ptrace_scope keeps it from all but its "
			       "parents; root may"
			     : "it is no program, but the kernel's, or has ended");
		return error == EACCES ? -EPERM : -error;
	}
	if (fread(&e, sizeof(e), 1, file) != 1)
		e.e_machine = EM_NONE;
	fclose(file);
	if (e.e_ident[EI_CLASS] == ELFCLASS64 && e.e_machine == EM_X86_64)
		return 0;
	snprintf(why, FX_TARGET_WHY, "its program is not of 64 bits for x86-64");
	return -ENOTSUP;
}

static int target_refuse(char *why, const char *text)
{
	snprintf(why, FX_TARGET_WHY, "%s", text);
	return -ENOTSUP;
}

/* Its own program is what this process runs. */
static bool is_ourselves(pid_t pid)
{
	char path[64];
	struct stat own, its;

	return stat("/proc/self/exe", &own) == 0 &&
	       stat(target_proc_path(pid, "exe", path, sizeof(path)), &its) == 0 &&
	       own.st_ino == its.st_ino && own.st_dev == its.st_dev;
}

static int status_check(pid_t pid, char *why)
{
	char text[512] = "";
	uint64_t value = 0;
	long number;

	if (is_ourselves(pid))
		return target_refuse(why, "it is fxtrace itself");
	status_value(pid, "State:", text, sizeof(text));
	if (strpbrk(text, "ZX"))
		return target_refuse(why, "it has ended");
	number = status_number(pid, "TracerPid:");
	if (number) {
		snprintf(why, FX_TARGET_WHY,
			 "process %ld traces it already, a debugger or the like", number);
		return -ENOTSUP;
	}
	if (strstr(text, "T (stopped)"))
		return target_refuse(why, "it is stopped; SIGCONT lets it go on");
	if (has_several_numbers(pid))
		return target_refuse(
		    why, "it lives in another PID namespace, as those of containers do: "
			 "attach from inside");
	if (any_thread_has(pid, "Seccomp:"))
		return target_refuse(why, "it is under a seccomp filter, which need not allow what "
					  "libfxtrace.so asks the kernel for");
	if (status_value(pid, "x86_Thread_features:", text, sizeof(text)) && strstr(text, "shstk"))
		return target_refuse(why,
				     "it has a shadow stack, which lets no call be made in it");
	if (auxv_value(pid, AT_SECURE, &value) && value)
		return target_refuse(
		    why, "it is a set-user-ID program, or has capabilities of its file");
	return 0;
}

static int libc_check(struct fx_target *target, char *why)
{
	uint64_t linker = 0;
	struct fx_elf elf;

	if (!auxv_value(target->pid, AT_BASE, &linker) || !linker)
		return target_refuse(why,
				     "its program is static: it has no dynamic linker that could "
				     "load libfxtrace.so");
	if (!target->libc)
		return target_refuse(why, "its C library is not glibc");
	if (!fx_elf_open(target->pid, target->libc, &elf) || functions_read(target, &elf) < 0)
		return target_refuse(why, "its C library cannot be read");
	if (libc_read(target, &elf) < 0)
		return target_refuse(why, "its C library is of a kind that is not known");
	if (!target->dlopen)
		return target_refuse(why, "its C library is older than glibc 2.34");
	return 0;
}

int fx_target_open(pid_t pid, struct fx_target *ret, char *why)
{
	char path[64];
	int r;

	*ret = (struct fx_target){.pid = pid};
	why[0] = 0;
#if !defined(__x86_64__)
	return target_refuse(why, "attaching is there for x86-64 alone");
#endif
	if (access(target_proc_path(pid, "stat", path, sizeof(path)), F_OK) < 0) {
		snprintf(why, FX_TARGET_WHY, "there is no such process");
		return -ESRCH;
	}
	r = file_check(pid, why);
	if (r == 0)
		r = status_check(pid, why);
	if (r == 0) {
		r = fx_target_look(ret);
		if (r < 0)
			snprintf(why, FX_TARGET_WHY, "what is mapped in it cannot be read: %s",
				 strerror(-r));
	}
	if (r == 0)
		r = libc_check(ret, why);
	if (r < 0)
		fx_target_close(ret);
	return r;
}

void fx_target_close(struct fx_target *target)
{
	target_modules_free(target);
	fx_vector_free(&target->functions);
	free(target->names);
	target->names = NULL;
}

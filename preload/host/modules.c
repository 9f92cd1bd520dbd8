/* SPDX-License-Identifier: MIT */
#include "preload/host/modules.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/syscall.h"
#include "engine/provider/backtrace.h"
#include "engine/provider/durable.h"
#include "engine/provider/engine.h"
#include "engine/provider/string.h"
#include "preload/host/caller.h"
#include "preload/host/find-object.h" /* without it modules loaded later stay unnamed */
#include "preload/host/unwind.h"

#define PATH_BYTES     255 /* the record's field has 8 bits */
#define BUILD_ID_BYTES 64
#define STORE_WORDS    (1u << 16)
#define MODULES_MAX    1024

/* Profiler Record: type 10; [16..19] sub-type, [20..27] thread (0: inline), [28..43] module id. */
#define PROFILER(words, subtype, id)                                                               \
	(10ull | (uint64_t)(words) << 4 | (uint64_t)(subtype) << 16 | (uint64_t)(id) << 28)
#define SUBTYPE_MODULE 0
#define SUBTYPE_MMAP   1

struct module {
	const char *path;
	uint64_t bias;
	const ElfW(Phdr) * phdr;
	unsigned phnum;
	const struct dl_find_object *found; /* NULL: it is there from the start, and stays */
};

/* Whole records, in order. */
static uint64_t words[STORE_WORDS] FX_LARGE;

static struct {
	unsigned used; /* words */
	unsigned count;
	struct {
		uint64_t start, end;	     /* of executable code */
		uint64_t map_start, map_end; /* of all that is mapped; 0, 0: it stays, or is gone */
		const struct link_map *map;
	} range[MODULES_MAX];
	unsigned busy; /* taken by the thread that adds a module */
} store FX_LARGE;

/* Words of a record whose payload is `extra` words after time stamp, process and thread. */
static uint64_t *record_new(unsigned extra)
{
	unsigned count = 4 + extra;
	uint64_t *p = words + store.used;

	if (store.used + count > STORE_WORDS)
		return NULL;
	store.used += count;
	/* the time is set when the record is written; pid and tid stay 0: a module is the whole process's,
	 * and a child inherits it */
	return p;
}

static unsigned words_for(size_t bytes)
{
	return (unsigned)((bytes + 7) / 8);
}

/* The build-id note among `size` bytes of notes. */
static size_t build_id_find(const char *notes, size_t size, const char **ret)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)notes;
		size_t name = FX_ALIGN_UP((size_t)n->n_namesz, 4u);
		size_t descriptor = FX_ALIGN_UP((size_t)n->n_descsz, 4u);
		size_t whole = sizeof *n + name + descriptor;

		if (whole > size)
			break;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(n + 1, "GNU", 4)) {
			*ret = notes + sizeof *n + name;
			return n->n_descsz < BUILD_ID_BYTES ? n->n_descsz : BUILD_ID_BYTES;
		}
		notes += whole;
		size -= whole;
	}
	return 0;
}

static size_t module_build_id(const struct module *m, const char **ret)
{
	for (unsigned i = 0; i < m->phnum; i++) {
		size_t n;

		if (m->phdr[i].p_type != PT_NOTE)
			continue;
		n = build_id_find((const char *)(m->bias + m->phdr[i].p_vaddr), m->phdr[i].p_memsz,
				  ret);
		if (n)
			return n;
	}
	return 0;
}

static void module_record(const struct module *m, unsigned id)
{
	size_t path = strnlen(m->path, PATH_BYTES);
	const char *build_id = NULL;
	size_t build_id_length = module_build_id(m, &build_id);
	unsigned extra = words_for(path) + words_for(build_id_length);
	uint64_t *p = record_new(extra);

	if (!p)
		return;
	memcpy(p + 4, m->path, path);
	if (build_id_length)
		memcpy(p + 4 + words_for(path), build_id, build_id_length);
	p[0] = PROFILER(4 + extra, SUBTYPE_MODULE, id) | (uint64_t)path << 44 |
	       (uint64_t)build_id_length << 52;
}

static void mmap_record(uint64_t start, uint64_t size, uint64_t vaddr, unsigned flags, unsigned id)
{
	uint64_t *p = record_new(3);

	if (!p)
		return;
	p[4] = start;
	p[5] = size;
	p[6] = vaddr;
	p[0] = PROFILER(7, SUBTYPE_MMAP, id) | (uint64_t)(flags & 7) << 44;
}

static void modules_module_add(const struct module *m)
{
	unsigned id = store.count;

	if (id >= MODULES_MAX)
		return;
	module_record(m, id);
	store.range[id].start = UINT64_MAX;
	store.range[id].end = 0;
	if (m->found) {
		store.range[id].map = m->found->dlfo_link_map;
		store.range[id].map_start = (uint64_t)(uintptr_t)m->found->dlfo_map_start;
		store.range[id].map_end = (uint64_t)(uintptr_t)m->found->dlfo_map_end;
	}
	for (unsigned i = 0; i < m->phnum; i++) {
		const ElfW(Phdr) *ph = &m->phdr[i];
		uint64_t start = m->bias + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & (PF_X | PF_W)))
			continue;
		mmap_record(start, ph->p_memsz, ph->p_vaddr, ph->p_flags, id);
		if (!(ph->p_flags & PF_X))
			continue; /* data: its locks have names */
		if (start < store.range[id].start)
			store.range[id].start = start;
		if (start + ph->p_memsz > store.range[id].end)
			store.range[id].end = start + ph->p_memsz;
	}
	fx_store_release(&store.count,
			 id + 1); /* pairs with modules_is_known(): the range stands */
}

/*
 * The path that finds the file from anywhere: the main program has no name in the linker's list but may be known to be
 * `program`, and an object may have been loaded by a relative one. `out` has room for PATH_BYTES + 1.
 */
static const char *path_absolute(const char *path, const char *program, char *out)
{
	size_t length = strnlen(path, PATH_BYTES);
	long n;

	if (!length && program[0])
		return program;
	if (!length) {
		n = fx_syscall4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", out, PATH_BYTES);
		out[n > 0 ? n : 0] = 0;
		if (n > 0)
			return out;
		/* There is no /proc: what it was started by */
		path = (const char *)getauxval(AT_EXECFN);
		length = path ? strnlen(path, PATH_BYTES) : 0;
	}
	if (!length)
		return "?";
	if (path[0] == '/' || !strchr(path, '/'))
		return path; /* no slash: the kernel's own object */
	if (length > 2 && path[0] == '.' && path[1] == '/') {
		path += 2;
		length -= 2;
	}
	n = fx_syscall2(SYS_getcwd, out, PATH_BYTES); /* counts the NUL */
	if (n <= 0 || (size_t)n + length > PATH_BYTES)
		return path;
	if (n == 2) /* the root's */
		n = 1;
	out[n - 1] = '/';
	memcpy(out + n, path, length);
	out[(size_t)n + length] = 0;
	return out;
}

static int collect_one(struct dl_phdr_info *info, size_t size, void *program)
{
	char path[PATH_BYTES + 1];
	struct module m = {path_absolute(info->dlpi_name, program, path), info->dlpi_addr,
			   info->dlpi_phdr, info->dlpi_phnum, NULL};

	(void)size;
	modules_module_add(&m);
	return 0;
}

void fx_modules_collect(const char *program)
{
	fx_touch(&store);
	if (store.count)
		return;
	dl_iterate_phdr(collect_one, (void *)program);
}

static void words_write(unsigned from, unsigned to)
{
	while (from < to) {
		const uint64_t *r = words + from;
		unsigned count = (unsigned)(r[0] >> 4 & 0xfff);
		uint64_t *p = fx_durable_reserve(count);

		if (!p)
			return;
		memcpy(p + 1, r + 1, (count - 1) * 8);
		p[1] = fx_now();
		fx_durable_commit(p, r[0]);
		from += count;
	}
}

void fx_modules_write(void)
{
	words_write(0, store.used);
}

/* (The start is relaxed: fx_modules_forget() changes it, for code that nobody can be in.) */
static bool modules_is_known(uint64_t address)
{
	unsigned count = fx_load_acquire(&store.count); /* pairs with modules_module_add() */

	for (unsigned i = 0; i < count; i++)
		if (address >= fx_load_relaxed(&store.range[i].start) &&
		    address < store.range[i].end)
			return true;
	return false;
}

static bool is_gone(unsigned id)
{
	struct dl_find_object found;

	return _dl_find_object((void *)(uintptr_t)store.range[id].map_start, &found) != 0 ||
	       found.dlfo_link_map != store.range[id].map;
}

/* The thread that exchanges the start forgets: two threads may both have unloaded something. */
static bool module_forget(unsigned id)
{
	uint64_t start = fx_load_relaxed(&store.range[id].map_start);

	if (!start || !is_gone(id) || !fx_cas_acq_rel(&store.range[id].map_start, &start, 0))
		return false;
	fx_store_relaxed(&store.range[id].start, UINT64_MAX);
	fx_strings_forget(start, store.range[id].map_end);
	return true;
}

void fx_modules_forget(void)
{
	unsigned count = fx_load_acquire(&store.count); /* pairs with modules_module_add() */
	bool some = false;

	for (unsigned i = 0; i < count; i++)
		some = module_forget(i) || some;
	if (!some)
		return;
	fx_backtrace_forget();
	fx_unwind_forget();
	fx_callers_forget();
}

/* Program headers of a mapped object, by its ELF header. */
static bool module_from_link_map(const struct dl_find_object *o, char *path, struct module *ret)
{
	const ElfW(Ehdr) *e = o->dlfo_map_start;
	const struct link_map *map = o->dlfo_link_map;

	if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	ret->path = path_absolute(map->l_name, "", path);
	ret->bias = map->l_addr;
	ret->phdr = (const void *)((const char *)e + e->e_phoff);
	ret->phnum = e->e_phnum;
	ret->found = o;
	return true;
}

void fx_modules_see(uint64_t address)
{
	char path[PATH_BYTES + 1];
	struct dl_find_object found;
	struct module m;
	unsigned free = 0, before;

	if (modules_is_known(address) || !_dl_find_object || !fx_engine_may(FX_ASK_LOOK))
		return;
	/* The thread that comes second leaves it to the first, or to the module's next new function. */
	if (!fx_cas_acq_rel(&store.busy, &free, 1))
		return;
	before = store.used;
	if (_dl_find_object((void *)address, &found) == 0 &&
	    module_from_link_map(&found, path, &m)) {
		modules_module_add(&m);
		words_write(before, store.used);
	}
	fx_store_release(&store.busy, 0); /* pairs with the exchange above */
}

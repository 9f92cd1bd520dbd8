/* SPDX-License-Identifier: MIT */
/*
 * The file is read with read(), not mapped: a program may be overwritten in place while it is read,
 * and a mapping would end the reader with SIGBUS. Debug files, which libdwfl maps, are installed and
 * not built in place. All names are copied, so that nothing stays open or mapped.
 *
 * libdwfl places a module at the address that its first segment was linked for, so that all
 * addresses here are link-time ones.
 */
#include "symbols/elf_load.h"

#include "symbols/demangle.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer names are not read to their end. No more than their beginning is ever shown, with a hash of what was read. */
#define NAME_READ (64u << 10)

/* An address range of code, by link-time addresses. */
struct code_range {
	uint64_t start;
	uint64_t end;
};

/* The string table that the symbols of one file use. */
struct string_table {
	Elf *elf;
	const char *start;
	const char *end; /* equal to start if the table has no section of its own */
};

struct loader {
	const struct fx_elf_source *source;
	Elf *elf; /* libdwfl's from the moment that it asks for it */
	int fd;	  /* likewise */
	Dwfl_Module *by_name;
	char *debug_path;
	Dwfl_Callbacks callbacks;
	uint64_t start; /* where the segments lie */
	uint64_t end;
	struct code_range *code;
	size_t code_count;
	struct string_table strings; /* the one that was asked for last */
	bool is_partial;	     /* there is a debug file that may not be read */
};

static int elf_load_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

static struct loader *module_loader(Dwfl_Module *module)
{
	void **data = NULL;
	dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
	return *data;
}

/* libdwfl asks for the file of the module: it gets the one that is open and was verified. */
static int give_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	(void)module;
	(void)name;
	(void)base;
	struct loader *loader = *data;
	if (!loader || !loader->elf)
		return -1;
	*file_name = strdup(loader->source->path);
	*elf = loader->elf;
	loader->elf = NULL;
	int fd = loader->fd;
	loader->fd = -1;
	return fd;
}

/* Whether the symbols are no more than are read, by what the file says of itself. */
static bool symbols_fit(Elf *elf, uint64_t limit)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;
	GElf_Shdr header;

	while (sum <= limit && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM &&
		     header.sh_type != SHT_STRTAB))
			continue;
		sum = header.sh_size > limit ? UINT64_MAX : sum + header.sh_size;
	}
	return sum <= limit;
}

/* The same of a debug file that was found; else it is none. */
static int take_debug_file(int fd, uint64_t limit)
{
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	bool fits = elf && symbols_fit(elf, limit);

	elf_end(elf);
	if (fd >= 0 && !fits) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * libdwfl asks for the debug file. By build-id first. Its standard search by name ends with a
 * question to a debuginfod server if the module's build-id is known; it is therefore made for a
 * second module, of which libdwfl knows nothing, and it compares the checksum in the debug link.
 */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			   const char *file_name, const char *link, GElf_Word checksum,
			   char **debug_file_name)
{
	struct loader *loader = module_loader(module);
	uint64_t limit = loader ? loader->source->limit : 0;
	int fd = take_debug_file(dwfl_build_id_find_debuginfo(module, data, name, base, file_name,
							      link, checksum, debug_file_name),
				 limit);

	if (fd >= 0 || !link || !loader)
		return fd;
	errno = 0;
	fd = dwfl_standard_find_debuginfo(loader->by_name, data, name, base, file_name, link,
					  checksum, debug_file_name);
	loader->is_partial = fd < 0 && errno == EACCES;
	return take_debug_file(fd, limit);
}

static int verify_elf(const struct loader *loader)
{
	GElf_Ehdr header;
	if (elf_kind(loader->elf) != ELF_K_ELF || !gelf_getehdr(loader->elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return elf_load_problem(FX_SYMBOL_FILE_NOT_ELF);
	if (!loader->source->build_id)
		return 0;
	const void *build_id;
	ssize_t size = dwelf_elf_gnu_build_id(loader->elf, &build_id);
	if (size < 0 || (size_t)size != loader->source->build_id_size ||
	    memcmp(build_id, loader->source->build_id, loader->source->build_id_size))
		return elf_load_problem(FX_SYMBOL_FILE_CHANGED);
	return 0;
}

static void code_add(struct loader *loader, uint64_t start, uint64_t size)
{
	if (size && start + size > start)
		loader->code[loader->code_count++] = (struct code_range){start, start + size};
}

static int code_reserve(struct loader *loader, size_t count)
{
	free(loader->code);
	loader->code_count = 0;
	loader->code = calloc(count ? count : 1, sizeof(*loader->code));
	return loader->code ? 0 : elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);
}

/* Where the file is loaded, and which segments are code. */
static int elf_load_read_segments(struct loader *loader)
{
	size_t count;
	if (elf_getphdrnum(loader->elf, &count))
		return elf_load_problem(FX_SYMBOL_FILE_DAMAGED);
	int failed = code_reserve(loader, count);
	if (failed)
		return failed;
	loader->start = UINT64_MAX;
	loader->end = 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(loader->elf, (int)i, &segment))
			return elf_load_problem(FX_SYMBOL_FILE_DAMAGED);
		if (segment.p_type != PT_LOAD)
			continue;
		uint64_t align = segment.p_align ? segment.p_align : 1;
		uint64_t start = segment.p_vaddr & -align;
		uint64_t end = segment.p_vaddr + segment.p_memsz;
		/* libdwfl counts from the first segment; they stand in ascending order. */
		if (loader->start == UINT64_MAX)
			loader->start = start;
		if (end > loader->end)
			loader->end = end;
		if (segment.p_flags & PF_X)
			code_add(loader, segment.p_vaddr, segment.p_memsz);
	}
	return loader->start < loader->end ? 0 : elf_load_problem(FX_SYMBOL_FILE_DAMAGED);
}

/* Sections, where there are any, are finer than segments: a label cannot reach into the next one.
 */
static int read_sections(struct loader *loader)
{
	size_t count;
	if (elf_getshdrnum(loader->elf, &count) || !count)
		return 0;
	struct code_range *segments = loader->code;
	size_t segment_count = loader->code_count;
	loader->code = NULL;
	int failed = code_reserve(loader, count);
	Elf_Scn *section = NULL;
	while (!failed && (section = elf_nextscn(loader->elf, section))) {
		GElf_Shdr header;
		const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;
		if (gelf_getshdr(section, &header) && (header.sh_flags & wanted) == wanted)
			code_add(loader, header.sh_addr, header.sh_size);
	}
	if (failed || loader->code_count) {
		free(segments);
		return failed;
	}
	free(loader->code);
	loader->code = segments;
	loader->code_count = segment_count;
	return 0;
}

static int code_compare(const void *left, const void *right)
{
	const struct code_range *a = left;
	const struct code_range *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* The range that contains address; they are sorted and, but in damaged files, disjoint. */
static const struct code_range *find_code(const struct loader *loader, uint64_t address)
{
	size_t low = 0;
	size_t high = loader->code_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (loader->code[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	const struct code_range *range = low ? &loader->code[low - 1] : NULL;
	return range && address < range->end ? range : NULL;
}

/* The string section of elf that holds name. */
static struct string_table find_strings(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB)
			continue;
		const Elf_Data *data = elf_getdata(section, NULL);
		const char *start = data ? data->d_buf : NULL;
		if (start && name >= start && name < start + data->d_size)
			return (struct string_table){elf, start, start + data->d_size};
	}
	return (struct string_table){.elf = elf};
}

/*
 * libdwfl vouches for where a name begins, and not that it ends within its table. Length of the name,
 * at most NAME_READ; -1 if it has no end, or if that cannot be told: the names of files without
 * section headers are not used.
 */
static ssize_t elf_load_name_length(struct loader *loader, Elf *elf, const char *name)
{
	if (loader->strings.elf != elf)
		loader->strings = find_strings(elf, name);
	const struct string_table *strings = &loader->strings;
	if (name < strings->start || name >= strings->end)
		return -1;
	size_t room = (size_t)(strings->end - name);
	size_t length = strnlen(name, room < NAME_READ ? room : NAME_READ);
	return length < room ? (ssize_t)length : -1;
}

/* Labels that assemblers make for themselves, among them the mapping symbols of ARM and RISC-V. */
static bool is_private_label(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

/* The rank's flags of a symbol that names code, or -1. */
static int code_flags(const GElf_Sym *symbol, const char *name)
{
	int flags = 0;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
		return -1;
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		flags |= FX_RANK_FUNCTION;
		break;
	case STT_NOTYPE:
		if (is_private_label(name))
			return -1;
		break;
	default:
		return -1;
	}
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return flags;
	case STB_WEAK:
		return flags | FX_RANK_GLOBAL;
	default:
		return flags | FX_RANK_GLOBAL | FX_RANK_STRONG;
	}
}

static int read_symbols(struct loader *loader, Dwfl_Module *module, struct fx_symtab *table)
{
	GElf_Addr bias;
	int count = dwfl_module_getelf(module, &bias) ? dwfl_module_getsymtab(module) : -1;
	/* Without any symbol table there is nothing to read, and that is no error. */
	for (int i = 0; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		Elf *elf = NULL;
		const char *name =
		    dwfl_module_getsym_info(module, i, &symbol, &address, NULL, &elf, NULL);
		ssize_t length = name ? elf_load_name_length(loader, elf, name) : -1;
		if (length <= 0)
			continue;
		int flags = code_flags(&symbol, name);
		if (flags < 0)
			continue;
		const struct code_range *code = find_code(loader, address - bias);
		if (!code)
			continue;
		int error = fx_symtab_add(table, name, (size_t)length, address - bias,
					  symbol.st_size, code->end, (uint32_t)flags);
		if (error == -ENOMEM)
			return elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);
		if (error) /* full: what is in it serves */
			break;
	}
	return fx_symtab_finish(table) ? elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY) : 0;
}

static int read_by_dwfl(struct loader *loader, struct fx_symtab *table)
{
	loader->callbacks = (Dwfl_Callbacks){
	    .find_elf = give_elf,
	    .find_debuginfo = find_debug_file,
	    .debuginfo_path = &loader->debug_path,
	};
	Dwfl *dwfl = dwfl_begin(&loader->callbacks);
	if (!dwfl)
		return elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);
	dwfl_report_begin(dwfl);
	Dwfl_Module *module =
	    dwfl_report_module(dwfl, loader->source->path, loader->start, loader->end);
	loader->by_name = dwfl_report_module(dwfl, "by name", UINT64_MAX - 1, UINT64_MAX);
	int result = elf_load_problem(FX_SYMBOL_FILE_DAMAGED);
	if (module && loader->by_name && !dwfl_report_end(dwfl, NULL, NULL)) {
		void **data;
		dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
		*data = loader;
		result = read_symbols(loader, module, table);
	}
	dwfl_end(dwfl);
	return result;
}

static int read_elf(struct loader *loader, struct fx_symtab *table)
{
	int failed = verify_elf(loader);
	if (!failed && !symbols_fit(loader->elf, loader->source->limit))
		failed = elf_load_problem(FX_SYMBOL_FILE_TOO_LARGE);
	if (!failed)
		failed = elf_load_read_segments(loader);
	if (!failed)
		failed = read_sections(loader);
	if (failed)
		return failed;
	qsort(loader->code, loader->code_count, sizeof(*loader->code), code_compare);
	return read_by_dwfl(loader, table);
}

int fx_elf_load(const struct fx_elf_source *source, struct fx_symtab *ret)
{
	struct loader loader = {
	    .source = source,
	    .fd = fcntl(source->fd, F_DUPFD_CLOEXEC, 0),
	};
	if (loader.fd < 0)
		return elf_load_problem(FX_SYMBOL_FILE_UNREADABLE);
	elf_version(EV_CURRENT);
	loader.elf = elf_begin(loader.fd, ELF_C_READ, NULL);
	loader.debug_path = source->debug_path ? strdup(source->debug_path) : NULL;

	struct fx_symtab table;
	fx_symtab_begin(&table);
	int failed =
	    loader.elf ? read_elf(&loader, &table) : elf_load_problem(FX_SYMBOL_FILE_NOT_ELF);
	table.is_partial = loader.is_partial;
	if (failed)
		fx_symtab_clear(&table);
	else
		*ret = table;

	free(loader.code);
	free(loader.debug_path);
	elf_end(loader.elf);
	if (loader.fd >= 0)
		close(loader.fd);
	return failed;
}

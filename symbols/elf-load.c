/* SPDX-License-Identifier: MIT */
/*
 * The file is read with read(), not mapped: a program may be overwritten in place while it is read,
 * and a mapping would end the reader with SIGBUS. Debug files, which libdwfl maps, are installed and
 * not built in place. All names are copied, so that nothing stays open or mapped.
 *
 * libdwfl places a module at the address that its first segment was linked for, so that all
 * addresses here are link-time ones.
 */
#include "symbols/elf-load.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbols/code-ranges.h"
#include "symbols/debug-by-id.h"
#include "symbols/lines.h"
#include "symbols/sites.h"
#include "symbols/sources.h"
#include "symbols/store.h"

/* Longer names are not read to their end. No more than their beginning is ever shown, with a hash of what was read. */
#define NAME_READ (64u << 10)

/* The string table that the symbols of one file use. */
struct string_table {
	Elf *elf;
	const char *start;
	const char *end; /* equal to start if the table has no section of its own */
};

/* A file while it is read. */
struct elf_file {
	const struct fx_elf_source *source;
	Elf *elf; /* libdwfl's from the moment that it asks for it */
	int fd;	  /* likewise */
	Dwfl_Module *by_name;
	char *debug_path;
	Dwfl_Callbacks callbacks;
	struct fx_code_ranges code;
	struct string_table strings; /* the one that was asked for last */
	bool is_partial;	     /* there is a debug file that may not be read */
	fx_elf_more *more;	     /* NULL: nothing more is asked */
	void *opaque;
};

static int elf_load_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

/* --- What the file says of itself ------------------------------------------------------------- */

static bool is_symbol_section(const GElf_Shdr *header)
{
	return header->sh_type == SHT_SYMTAB || header->sh_type == SHT_DYNSYM ||
	       header->sh_type == SHT_STRTAB;
}

/* Whether the symbols are no more than are read. */
static bool symbols_fit(Elf *elf, uint64_t limit)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t sum = 0;

	while (sum <= limit && (section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && is_symbol_section(&header))
			sum = header.sh_size > limit ? UINT64_MAX : sum + header.sh_size;
	}
	return sum <= limit;
}

static bool is_loadable(Elf *elf)
{
	GElf_Ehdr header;

	return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
	       (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

static int file_verify(const struct elf_file *file)
{
	const struct fx_elf_source *source = file->source;

	if (!is_loadable(file->elf))
		return elf_load_problem(FX_SYMBOL_FILE_NOT_ELF);
	if (source->build_id &&
	    !fx_elf_has_build_id(file->elf, source->build_id, source->build_id_size))
		return elf_load_problem(FX_SYMBOL_FILE_CHANGED);
	if (!symbols_fit(file->elf, source->limit))
		return elf_load_problem(FX_SYMBOL_FILE_TOO_LARGE);
	return 0;
}

/* --- What libdwfl asks for -------------------------------------------------------------------- */

/* What it keeps for the provider that reports a module. */
static void **module_data(Dwfl_Module *module)
{
	void **data = NULL;

	dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
	return data;
}

/* The file of the module: it gets the one that is open and was verified. */
static int give_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	struct elf_file *file = *data;
	int fd;

	(void)module;
	(void)name;
	(void)base;
	if (!file || !file->elf)
		return -1;
	*file_name = strdup(file->source->path);
	*elf = file->elf;
	file->elf = NULL;
	fd = file->fd;
	file->fd = -1;
	return fd;
}

/* Whether the symbols of an open file are no more than are read. */
static bool debug_file_fits(const struct elf_file *file, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	bool fits = elf && symbols_fit(elf, file->source->limit);

	elf_end(elf);
	return fits;
}

/* A debug file that was found, unless its symbols are more than are read: then it is none. */
static int debug_file_take(const struct elf_file *file, int fd)
{
	if (fd >= 0 && !debug_file_fits(file, fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* -1 as well if there is none; too_large tells them apart. */
static int debug_file_by_id(const struct elf_file *file, Elf *elf, bool *too_large)
{
	int found = elf ? fx_debug_by_id_open(file->source->debug_path, elf) : -1;
	int fd = debug_file_take(file, found);

	*too_large = found >= 0 && fd < 0;
	return fd;
}

/*
 * libdwfl's search by name ends with a question to a debuginfod server if the module's build-id is
 * known; it is therefore made for a second module, of which libdwfl knows nothing, and it compares
 * the checksum in the debug link.
 */
static int debug_file_by_name(struct elf_file *file, const char *file_name, const char *link,
			      GElf_Word checksum, char **debug_file_name)
{
	int fd;

	errno = 0;
	fd = dwfl_standard_find_debuginfo(file->by_name, module_data(file->by_name), "by name", 0,
					  file_name, link, checksum, debug_file_name);
	file->is_partial = fd < 0 && errno == EACCES;
	return debug_file_take(file, fd);
}

/*
 * The debug file, and the one that it shares with others (dwz), by build-id first: libdwfl has both
 * of them from its own search, with its own Elf of them, and is not asked about one that is too large.
 */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			   const char *file_name, const char *link, GElf_Word checksum,
			   char **debug_file_name)
{
	struct elf_file *file = *module_data(module);
	GElf_Addr bias;
	bool too_large;
	int fd;

	if (!file)
		return -1;
	fd = debug_file_by_id(file, dwfl_module_getelf(module, &bias), &too_large);
	if (fd >= 0)
		close(fd);
	fd = too_large ? -1
		       : dwfl_build_id_find_debuginfo(module, data, name, base, file_name, link,
						      checksum, debug_file_name);
	return fd >= 0 || !link
		   ? fd
		   : debug_file_by_name(file, file_name, link, checksum, debug_file_name);
}

/* --- Its symbols ------------------------------------------------------------------------------ */

/* The string section that holds the name. */
static struct string_table strings_find(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		const Elf_Data *data;
		const char *start;
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB)
			continue;
		data = elf_getdata(section, NULL);
		start = data ? data->d_buf : NULL;
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
static ssize_t symbol_name_length(struct elf_file *file, Elf *elf, const char *name)
{
	const struct string_table *strings = &file->strings;
	size_t room, length;

	if (strings->elf != elf)
		file->strings = strings_find(elf, name);
	if (name < strings->start || name >= strings->end)
		return -1;
	room = (size_t)(strings->end - name);
	length = strnlen(name, room < NAME_READ ? room : NAME_READ);
	return length < room ? (ssize_t)length : -1;
}

/* Labels that assemblers make for themselves, among them the mapping symbols of ARM and RISC-V. */
static bool is_private_label(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static bool names_something(const GElf_Sym *symbol, const char *name)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
		return false;
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		return true;
	case STT_NOTYPE:
		return !is_private_label(name);
	default:
		return false;
	}
}

/* Data is named by symbols of data, code by all others. */
static bool is_at_home(const GElf_Sym *symbol, const struct fx_code_range *range)
{
	return (GELF_ST_TYPE(symbol->st_info) == STT_OBJECT) == range->is_data;
}

/* The flags of the rank of a symbol that names something. */
static uint32_t rank_flags(const GElf_Sym *symbol)
{
	uint32_t flags = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 0 : FX_RANK_FUNCTION;

	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return flags;
	case STB_WEAK:
		return flags | FX_RANK_GLOBAL;
	default:
		return flags | FX_RANK_GLOBAL | FX_RANK_STRONG;
	}
}

/* A symbol of the module, if it is one of code or data. 0, or what fx_symtab_add() says. */
static int symbol_take(struct elf_file *file, Dwfl_Module *module, int index, GElf_Addr bias,
		       struct fx_symtab *table)
{
	const struct fx_code_range *code;
	GElf_Addr address;
	GElf_Sym symbol;
	Elf *elf = NULL;
	const char *name =
	    dwfl_module_getsym_info(module, index, &symbol, &address, NULL, &elf, NULL);
	ssize_t length = name ? symbol_name_length(file, elf, name) : -1;

	if (length <= 0 || !names_something(&symbol, name))
		return 0;
	code = fx_code_ranges_find(&file->code, address - bias);
	if (!code || !is_at_home(&symbol, code))
		return 0;
	return fx_symtab_add(table, name, (size_t)length, address - bias, symbol.st_size, code->end,
			     rank_flags(&symbol));
}

/* --- What the compiler plugin has left -------------------------------------------------------- */

struct sites_to_take {
	struct elf_file *file;
	struct fx_symtab *table;
};

/* Where the function begins alone: how far it goes is not known. */
static int site_take(void *opaque, const struct fx_site_seen *site)
{
	struct sites_to_take *to = opaque;
	const struct fx_code_range *code = fx_code_ranges_find(&to->file->code, site->address);
	size_t length = strnlen(site->name, NAME_READ);

	if (!code || code->is_data || length == 0)
		return 0;
	return fx_symtab_add(to->table, site->name, length, site->address, 1, code->end,
			     FX_RANK_FUNCTION);
}

static bool elf_has_symtab(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			return true;
	}
	return false;
}

/* Of a stripped file. */
static int sites_take(struct elf_file *file, Elf *elf, struct fx_symtab *table)
{
	struct sites_to_take to = {file, table};

	return elf_has_symtab(elf) ? 0 : fx_sites_read(elf, site_take, &to);
}

/* The libraries say that it was memory in words alone, and errno may have changed since. */
static bool libraries_lacked_memory(void)
{
	const char *dwfl = dwfl_errmsg(-1), *elf = elf_errmsg(-1);

	return errno == ENOMEM || (dwfl && strstr(dwfl, "memory")) ||
	       (elf && strstr(elf, "memory"));
}

static int symbols_take(struct elf_file *file, Dwfl_Module *module, struct fx_symtab *table)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	int count;

	errno = 0;
	count = elf ? dwfl_module_getsymtab(module) : -1;
	/* Where one table had no memory, libdw may have taken a smaller one, and says nothing. */
	if (libraries_lacked_memory())
		return elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);

	/* Without any symbol table there is nothing to read, and that is no error. */
	for (int i = 0; i < count; i++) {
		int r = symbol_take(file, module, i, bias, table);

		if (r == -ENOMEM)
			return elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);
		if (r != 0) /* full: what is in it serves */
			break;
	}
	if (elf && sites_take(file, elf, table) == -ENOMEM)
		return elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);
	return fx_symtab_finish(table) ? elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY) : 0;
}

/* All that is asked for. */
static int table_make(struct elf_file *file, Dwfl_Module *module, struct fx_symtab *table)
{
	int failed = symbols_take(file, module, table);

	if (!failed && file->source->wants_sources && fx_sources_read(module, table) == -ENOMEM)
		failed = elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);
	if (!failed && file->source->wants_lines &&
	    fx_lines_read(module, file->source->limit, table) == -ENOMEM)
		failed = elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);
	return failed;
}

/* Which debug file will be read; none, if the file has what is asked for. The module is not touched. */
static void debug_file_identify(struct elf_file *file, Elf *elf, struct fx_store_file *ret)
{
	GElf_Word checksum = 0;
	const char *link = dwelf_elf_gnu_debuglink(elf, &checksum);
	char *found = NULL;
	bool too_large;
	struct stat st;
	int fd = debug_file_by_id(file, elf, &too_large);

	if (fd < 0 && link)
		fd = debug_file_by_name(file, file->source->path, link, checksum, &found);
	if (fd >= 0 && fstat(fd, &st) == 0)
		*ret = (struct fx_store_file){
		    .device = st.st_dev,
		    .inode = st.st_ino,
		    .size = (uint64_t)st.st_size,
		    .changed_seconds = (uint64_t)st.st_mtim.tv_sec,
		    .changed_nanoseconds = (uint64_t)st.st_mtim.tv_nsec,
		};
	if (fd >= 0)
		close(fd);
	free(found);
}

/* False: nothing tells the table from those of other files, or it is not kept. */
static bool store_key(struct elf_file *file, Dwfl_Module *module, struct fx_store_key *ret)
{
	const struct fx_elf_source *source = file->source;
	struct stat st;
	GElf_Addr bias;
	Elf *elf;

	if (!source->store || !source->build_id || fstat(source->fd, &st) < 0)
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->build_id, source->build_id, source->build_id_size);
	ret->build_id_size = source->build_id_size;
	ret->size = (uint64_t)st.st_size;
	ret->wants_sources = source->wants_sources;
	ret->wants_lines = source->wants_lines;
	elf = dwfl_module_getelf(module, &bias);
	if (!elf)
		return false;
	if (!elf_has_symtab(elf) || source->wants_sources || source->wants_lines)
		debug_file_identify(file, elf, &ret->debug);
	return true;
}

/* The same, as it was kept, or kept for the next time. */
static int table_give(struct elf_file *file, Dwfl_Module *module, struct fx_symtab *table)
{
	const struct fx_elf_source *source = file->source;
	struct fx_store_key key;
	bool keeps = store_key(file, module, &key);
	uint64_t began = fx_monotonic_ns();
	int failed;

	if (keeps && fx_store_get(source->store, &key, source->limit, table)) {
		table->was_stored = true;
		return 0;
	}
	failed = table_make(file, module, table);
	if (keeps && !failed && !file->is_partial)
		fx_store_put(source->store, &key, table, fx_monotonic_ns() - began);
	return failed;
}

static int symbols_read(struct elf_file *file, struct fx_symtab *table)
{
	int failed = elf_load_problem(FX_SYMBOL_FILE_DAMAGED);
	Dwfl_Module *module;
	Dwfl *dwfl;

	file->callbacks = (Dwfl_Callbacks){
	    .find_elf = give_elf,
	    .find_debuginfo = find_debug_file,
	    .debuginfo_path = &file->debug_path,
	};
	dwfl = dwfl_begin(&file->callbacks);
	if (!dwfl)
		return elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);
	dwfl_report_begin(dwfl);
	module = dwfl_report_module(dwfl, file->source->path, file->code.start, file->code.end);
	file->by_name = dwfl_report_module(dwfl, "by name", UINT64_MAX - 1, UINT64_MAX);
	if (module && file->by_name && !dwfl_report_end(dwfl, NULL, NULL)) {
		*module_data(module) = file;
		failed = table_give(file, module, table);
		if (!failed && file->more)
			failed = file->more(file->opaque, module, table);
	}
	dwfl_end(dwfl);
	return failed;
}

/* ---------------------------------------------------------------------------------------------- */

static int file_read(struct elf_file *file, struct fx_symtab *table)
{
	int failed = file_verify(file);

	if (!failed)
		failed = fx_code_ranges_read(file->elf, &file->code);
	return failed ? failed : symbols_read(file, table);
}

static void file_close(struct elf_file *file)
{
	fx_code_ranges_clear(&file->code);
	free(file->debug_path);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
}

int fx_elf_load(const struct fx_elf_source *source, struct fx_symtab *ret)
{
	return fx_elf_load_and(source, ret, NULL, NULL);
}

int fx_elf_load_and(const struct fx_elf_source *source, struct fx_symtab *ret, fx_elf_more *more,
		    void *opaque)
{
	struct elf_file file = {
	    .source = source,
	    .fd = fcntl(source->fd, F_DUPFD_CLOEXEC, 0),
	    .more = more,
	    .opaque = opaque,
	};
	struct fx_symtab table;
	int failed = elf_load_problem(FX_SYMBOL_FILE_NOT_ELF);

	if (file.fd < 0)
		return elf_load_problem(FX_SYMBOL_FILE_UNREADABLE);
	elf_version(EV_CURRENT);
	errno = 0;
	file.elf = elf_begin(file.fd, ELF_C_READ, NULL);
	file.debug_path = source->debug_path ? strdup(source->debug_path) : NULL;
	fx_symtab_begin(&table);
	if (file.elf)
		failed = file_read(&file, &table);
	if (failed && libraries_lacked_memory())
		failed = elf_load_problem(FX_SYMBOL_FILE_NO_MEMORY);
	table.is_partial = file.is_partial;
	if (failed)
		fx_symtab_clear(&table);
	else
		*ret = table;
	file_close(&file);
	return failed;
}

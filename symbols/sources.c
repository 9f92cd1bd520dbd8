/* SPDX-License-Identifier: MIT */
#include "symbols/sources.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "symbols/sites.h"

/* Units of debug information within one another. */
#define NEST_MAX 64u

/* Since DWARF 5 a unit's own file is number 0, which clang writes; libdw takes that for none, as it was before. */
static const char *source_file(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Half version;
	Dwarf_Word number;
	size_t count;
	Dwarf_Die unit;

	if (file ||
	    dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &number) != 0 ||
	    number != 0 || !dwarf_diecu(die, &unit, NULL, NULL) ||
	    dwarf_cu_info(unit.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) != 0 ||
	    version < 5 || dwarf_getsrcfiles(&unit, &files, &count) != 0)
		return file;
	return dwarf_filesrc(files, 0, NULL, NULL);
}

/* What is said of its file is said from the folder that it was compiled in. False: nothing is. */
static bool source_path(Dwarf_Die *die, char ret[PATH_MAX])
{
	const char *file = source_file(die), *folder = NULL;
	Dwarf_Attribute attribute;
	Dwarf_Die unit;

	if (!file)
		return false;
	if (file[0] != '/' && dwarf_diecu(die, &unit, NULL, NULL))
		folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
	snprintf(ret, PATH_MAX, "%s%s%s", folder ? folder : "", folder ? "/" : "", file);
	return true;
}

/* One that lies in several pieces begins with one of them. */
static int function_take(Dwarf_Die *die, Dwarf_Addr bias, struct fx_symtab *table)
{
	Dwarf_Addr base, start, end;
	char path[PATH_MAX] = "";
	ptrdiff_t at = 0;
	int r = 0;

	while (r == 0 && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (!*path && !source_path(die, path))
			return 0;
		r = fx_symtab_set_source(table, start + bias, path);
	}
	return r;
}

/* What may have functions in it. */
static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_subprogram ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_module || tag == DW_TAG_interface_type;
}

static int functions_take(Dwarf_Die *parent, Dwarf_Addr bias, struct fx_symtab *table,
			  unsigned depth)
{
	Dwarf_Die child;
	int r = 0;

	if (depth == NEST_MAX)
		return 0;
	for (int more = dwarf_child(parent, &child); more == 0 && r == 0;
	     more = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) == DW_TAG_subprogram)
			r = function_take(&child, bias, table);
		if (r == 0 && may_hold_functions(dwarf_tag(&child)))
			r = functions_take(&child, bias, table, depth + 1);
	}
	return r;
}

static int site_source_take(void *opaque, const struct fx_site_seen *site)
{
	return *site->file ? fx_symtab_set_source(opaque, site->address, site->file) : 0;
}

int fx_sources_read(Dwfl_Module *module, struct fx_symtab *table)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Addr bias = 0;
	Dwarf_Die die, split;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	int r = fx_symtab_want_sources(table);

	if (r == 0 && elf)
		r = fx_sites_read(elf, site_source_take, table);
	/* Its addresses are the file's own: libdwfl has moved nothing. */
	while (r == 0 && dwarf &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, &split) == 0)
		r = functions_take(split.addr ? &split : &die, bias, table, 0);
	return r;
}

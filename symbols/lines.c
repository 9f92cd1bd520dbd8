/* SPDX-License-Identifier: MIT */
/*
 * Unit by unit: first the inlined calls, each with the place that it was made from, then the lines, of which each is cut
 * where such a call begins or ends.
 *
 *	lines        |--- w.c:3 ---------|- w.c:7 -|
 *	deep()            |---------|
 *	rows         3 of work  3 of deep  3 of work  7 of work
 */
#include "symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lists/hashes-lenient.h"

/* Blocks of debug information within one another. */
#define LINES_NEST_MAX 128u

/* Of the time that a reader of symbols has (FX_LOAD_CPU_SECONDS); names are worth more than lines. */
#define LINES_CPU_SECONDS 5

/* A name that is in the table already: of a file, by its text in libdw; of a function, by its entry there. */
struct lines_known {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	const void *key;
	uint32_t offset;
};

/* A part of an inlined call's code. */
struct lines_inlined {
	uint64_t start, end;
	uint32_t call;	   /* the place that it was called from */
	uint32_t function; /* offset of its name */
	uint32_t depth;
};

struct lines_reading {
	struct fx_symtab *table;
	struct lines_known *known;
	uint64_t bias;
	Dwarf_Files *files; /* of the unit that is read */
	size_t file_count;
	FX_VECTOR(struct lines_inlined) inlined; /* the same */
	FX_VECTOR(uint64_t) cuts;		 /* where these begin and end */
	FX_VECTOR(uint32_t) open; /* those that the code at hand lies in, the innermost last */
};

/* --- Names ------------------------------------------------------------------------------------ */

static int lines_name(struct lines_reading *r, const void *key, const char *name, uint32_t *ret)
{
	struct lines_known *known;
	int result;

	HASH_FIND_PTR(r->known, &key, known);
	if (known) {
		*ret = known->offset;
		return 0;
	}
	result = fx_symtab_add_text(r->table, name, ret);
	known = result == 0 ? calloc(1, sizeof(*known)) : NULL;
	if (!known)
		return result;
	known->key = key;
	known->offset = *ret;
	HASH_ADD_PTR(r->known, key, known);
	if (known->lost)
		free(known);
	return 0;
}

static int lines_file(struct lines_reading *r, const char *path, uint32_t *ret)
{
	const char *last = path ? strrchr(path, '/') : "?";

	return lines_name(r, path, last ? last + (*last == '/') : path, ret);
}

static void lines_known_forget(struct lines_reading *r)
{
	struct lines_known *known, *next;

	HASH_ITER (hh, r->known, known, next) {
		HASH_DEL(r->known, known);
		free(known);
	}
}

/* --- Inlined calls ---------------------------------------------------------------------------- */

static uint64_t die_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

/* By the function that it is an instance of, which has one name for all. */
static int inlined_function(struct lines_reading *r, Dwarf_Die *die, uint32_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;
	const char *name =
	    dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	if (!name)
		name = dwarf_diename(die);
	if (!name)
		name = "?";
	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), &origin))
		origin = *die;
	return lines_name(r, origin.addr, name, ret);
}

/* `outer`: the call that this one lies in; NULL: the symbol's own code. */
static int inlined_begin(struct lines_reading *r, Dwarf_Die *die, const struct lines_inlined *outer,
			 struct lines_inlined *ret)
{
	size_t file = die_number(die, DW_AT_call_file);
	const char *path =
	    r->files && file < r->file_count ? dwarf_filesrc(r->files, file, NULL, NULL) : NULL;
	struct fx_line_place call = {.line = (uint32_t)die_number(die, DW_AT_call_line),
				     .function = outer ? outer->function : 0,
				     .outer = outer ? outer->call : FX_NO_PLACE};
	int result = lines_file(r, path, &call.file);

	if (result == 0)
		result = inlined_function(r, die, &ret->function);
	if (result == 0)
		result = fx_line_map_add(&r->table->lines, &call, &ret->call);
	ret->depth = outer ? outer->depth + 1 : 1;
	return result;
}

/* Code that was left out lies at 0. */
static int inlined_ranges(struct lines_reading *r, Dwarf_Die *die, struct lines_inlined *inlined)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start == 0 || start >= end)
			continue;
		if (fx_vector_reserve(&r->inlined, 1) < 0 || fx_vector_reserve(&r->cuts, 2) < 0)
			return -ENOMEM;
		inlined->start = start + r->bias;
		inlined->end = end + r->bias;
		r->inlined.items[r->inlined.count++] = *inlined;
		r->cuts.items[r->cuts.count++] = inlined->start;
		r->cuts.items[r->cuts.count++] = inlined->end;
	}
	return 0;
}

static bool may_hold_calls(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block || tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_inlined_subroutine;
}

static int inlined_collect(struct lines_reading *r, Dwarf_Die *parent,
			   const struct lines_inlined *outer, unsigned depth)
{
	struct lines_inlined inlined;
	Dwarf_Die child;
	int result = 0;

	if (depth == LINES_NEST_MAX)
		return 0;
	for (int more = dwarf_child(parent, &child); more == 0 && result == 0;
	     more = dwarf_siblingof(&child, &child)) {
		const int tag = dwarf_tag(&child);
		const bool is_inlined = tag == DW_TAG_inlined_subroutine;

		if (is_inlined)
			result = inlined_begin(r, &child, outer, &inlined);
		if (is_inlined && result == 0)
			result = inlined_ranges(r, &child, &inlined);
		if (result == 0 && may_hold_calls(tag))
			result =
			    inlined_collect(r, &child, is_inlined ? &inlined : outer, depth + 1);
	}
	return result;
}

/* By where they begin; at one address the outermost first. */
static int inlined_compare(const void *left, const void *right)
{
	const struct lines_inlined *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static int cut_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* How far the calls and cuts of the unit have been gone through: addresses only rise. */
struct lines_sweep {
	size_t inlined, cut;
};

/* The innermost call whose code has this address; NULL: none. */
static int inlined_at(struct lines_reading *r, struct lines_sweep *sweep, uint64_t address,
		      const struct lines_inlined **ret)
{
	for (;
	     sweep->inlined < r->inlined.count && r->inlined.items[sweep->inlined].start <= address;
	     sweep->inlined++) {
		if (fx_vector_reserve(&r->open, 1) < 0)
			return -ENOMEM;
		r->open.items[r->open.count++] = (uint32_t)sweep->inlined;
	}
	while (r->open.count && r->inlined.items[r->open.items[r->open.count - 1]].end <= address)
		r->open.count--;
	*ret = r->open.count ? &r->inlined.items[r->open.items[r->open.count - 1]] : NULL;
	return 0;
}

/* The same place as the row before has needs no row. */
static int row_add(struct lines_reading *r, uint64_t start, const struct fx_line_place *place)
{
	struct fx_line_map *to = &r->table->lines;
	uint32_t number = FX_NO_PLACE;
	int result = 0;

	if (to->rows.count && to->rows.items[to->rows.count - 1].place != FX_NO_PLACE &&
	    memcmp(place, &to->places.items[to->rows.items[to->rows.count - 1].place],
		   sizeof(*place)) == 0)
		return 0;
	result = fx_line_map_add(to, place, &number);
	return result == 0 ? fx_line_map_add_row(to, start, number) : result;
}

/* A line's code, from `start` up to `end`. */
static int line_take(struct lines_reading *r, struct lines_sweep *sweep, Dwarf_Line *line,
		     uint64_t start, uint64_t end)
{
	struct fx_line_place place = {0};
	const struct lines_inlined *inlined;
	int number = 0, result = lines_file(r, dwarf_linesrc(line, NULL, NULL), &place.file);

	if (dwarf_lineno(line, &number) == 0 && number > 0)
		place.line = (uint32_t)number;
	while (result == 0 && start < end) {
		result = inlined_at(r, sweep, start, &inlined);
		if (result < 0)
			break;
		place.function = inlined ? inlined->function : 0;
		place.outer = inlined ? inlined->call : FX_NO_PLACE;
		result = row_add(r, start, &place);
		while (sweep->cut < r->cuts.count && r->cuts.items[sweep->cut] <= start)
			sweep->cut++;
		start = sweep->cut < r->cuts.count && r->cuts.items[sweep->cut] < end
			    ? r->cuts.items[sweep->cut]
			    : end;
	}
	return result;
}

static bool is_same_line(Dwarf_Line *a, Dwarf_Line *b)
{
	const char *file = dwarf_linesrc(a, NULL, NULL), *other = dwarf_linesrc(b, NULL, NULL);
	int number = 0, other_number = 0;

	return dwarf_lineno(a, &number) == 0 && dwarf_lineno(b, &other_number) == 0 &&
	       number == other_number && file && other && strcmp(file, other) == 0;
}

/*
 * The line of the code at an address where one sequence ends and another begins; `i` is the last there, `end` the end. A sequence may
 * end with lines that have no code, which repeat the one before; they stand among the other's first, before or behind them, in the order of
 * the table:
 *
 *	0x4b	w.c:86		0x50	end	0x50	w.c:72		0x50	w.c:86		0x5c	w.c:73
 *	end - 1			end		what is looked for	i
 */
static Dwarf_Line *line_at_border(Dwarf_Lines *lines, size_t end, size_t i)
{
	Dwarf_Line *last = end ? dwarf_onesrcline(lines, end - 1) : NULL;

	if (!last || !is_same_line(dwarf_onesrcline(lines, i), last))
		return dwarf_onesrcline(lines, i);
	/* Both may be of one line. (Or the one that begins has none: that is not told from this.) */
	if (is_same_line(dwarf_onesrcline(lines, end + 1), last))
		return dwarf_onesrcline(lines, i);
	while (is_same_line(dwarf_onesrcline(lines, i), last))
		i--;
	return dwarf_onesrcline(lines, i);
}

static int lines_take(struct lines_reading *r, Dwarf_Die *unit)
{
	struct lines_sweep sweep = {0};
	/* Where the code of a sequence ended: a last line without code sorts behind that. */
	Dwarf_Addr ended = 0;
	size_t ended_at = 0;
	Dwarf_Lines *lines;
	size_t count;
	int result = 0;

	if (dwarf_getsrclines(unit, &lines, &count) != 0)
		return 0;
	for (size_t i = 0; i + 1 < count && result == 0; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr start = 0, end = 0;
		bool is_end = true;

		dwarf_lineaddr(line, &start);
		dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end);
		dwarf_lineendsequence(line, &is_end);
		if (is_end) {
			ended = start;
			ended_at = i;
		}
		if (start == 0 || (!is_end && start == ended && dwarf_haspc(unit, start) == 0))
			continue;
		if (!is_end && start == ended && end > start)
			line = line_at_border(lines, ended_at, i);
		result = is_end
			     ? fx_line_map_add_row(&r->table->lines, start + r->bias, FX_NO_PLACE)
			     : line_take(r, &sweep, line, start + r->bias, end + r->bias);
	}
	if (count && result == 0) {
		Dwarf_Addr end = 0;

		dwarf_lineaddr(dwarf_onesrcline(lines, count - 1), &end);
		result = fx_line_map_add_row(&r->table->lines, end + r->bias, FX_NO_PLACE);
	}
	return result;
}

/* Of a unit whose debug information is in a file of its own (split DWARF), the lines are in the first. */
static int unit_take(struct lines_reading *r, Dwarf_Die *unit, Dwarf_Die *split)
{
	Dwarf_Die *tree = split->addr ? split : unit;
	int result;

	r->inlined.count = r->cuts.count = r->open.count = 0;
	r->file_count = 0;
	if (dwarf_getsrcfiles(tree, &r->files, &r->file_count) != 0)
		r->files = NULL;
	result = inlined_collect(r, tree, NULL, 0);
	if (result < 0)
		return result;
	if (r->inlined.count)
		qsort(r->inlined.items, r->inlined.count, sizeof(*r->inlined.items),
		      inlined_compare);
	if (r->cuts.count)
		qsort(r->cuts.items, r->cuts.count, sizeof(*r->cuts.items), cut_compare);
	return lines_take(r, unit);
}

/* ---------------------------------------------------------------------------------------------- */

static time_t cpu_seconds(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec;
}

int fx_lines_read(Dwfl_Module *module, uint64_t limit, struct fx_symtab *table)
{
	struct lines_reading r = {.table = table};
	const time_t deadline = cpu_seconds() + LINES_CPU_SECONDS;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &r.bias);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	int result = 0;

	table->has_lines = true;
	while (result == 0 && dwarf && fx_symtab_memory(table) < limit &&
	       cpu_seconds() < deadline &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, &split) == 0)
		result = unit_take(&r, &die, &split);
	fx_line_map_settle(&table->lines);
	lines_known_forget(&r);
	fx_vector_free(&r.inlined);
	fx_vector_free(&r.cuts);
	fx_vector_free(&r.open);
	return result == -EFBIG ? 0 : result;
}

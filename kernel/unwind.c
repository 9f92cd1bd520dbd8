/* SPDX-License-Identifier: MIT */
#include "kernel/unwind.h"

#include <libunwind.h>
#include <string.h>

#include "kernel/registers.h"

/* libunwind's own search, which is not in its headers (perf goes this way, too). */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
				       unw_proc_info_t *, int, void *);

/* Encodings in .eh_frame_hdr: the one that all linkers write. */
#define PCREL_SDATA4   0x1b
#define UDATA4	       0x03
#define DATAREL_SDATA4 0x3b

/* Entries of the cache for each process: code of so many places is remembered. */
#define CACHE_SIZE 2048

struct unwinding {
	struct fx_space *space;
	const struct fx_caught *sample;
	uint64_t sp;
	const struct fx_mapping *tables; /* what was read last; NULL: nothing yet */
};

/* --- Memory and registers ----------------------------------------------------------------------- */

/*
 * Code, tables and data are of files. What is mapped to be read is not told of; it lies beside the code, as its file's
 * segments do.
 */
static bool unwind_file_word(struct unwinding *u, uint64_t address, uint64_t *ret)
{
	const struct fx_mapping *m = u->tables;

	if (m && fx_image_word(m->image, address - m->bias, ret))
		return true;
	for (size_t i = 0; i < u->space->count; i++) {
		m = &u->space->mappings[i];
		if (m->image && fx_image_word(m->image, address - m->bias, ret)) {
			u->tables = m;
			return true;
		}
	}
	return false;
}

static int unwind_memory(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write,
			 void *opaque)
{
	struct unwinding *u = opaque;
	uint64_t above = address - u->sp;

	(void)as;
	if (write)
		return -UNW_EINVAL;
	if (address >= u->sp && u->sample->stack_size >= 8 && above <= u->sample->stack_size - 8) {
		memcpy(value, u->sample->stack + above, 8);
		return 0;
	}
	return unwind_file_word(u, address, (uint64_t *)value) ? 0 : -UNW_EINVAL;
}

static int unwind_register(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int write,
			   void *opaque)
{
	static const unw_regnum_t numbers[] = {
#define FX_REGISTER_NUMBER_(unwinder, kernel) unwinder,
	    FX_REGISTERS(FX_REGISTER_NUMBER_)
#undef FX_REGISTER_NUMBER_
	};
	const struct unwinding *u = opaque;

	(void)as;
	for (unsigned i = 0; !write && i < FX_REGISTER_COUNT; i++) {
		if (numbers[i] == number && !(u->sample->unknown >> i & 1)) {
			*value = u->sample->registers[i];
			return 0;
		}
	}
	return -UNW_EBADREG;
}

static int unwind_float(unw_addr_space_t as, unw_regnum_t number, unw_fpreg_t *value, int write,
			void *opaque)
{
	(void)as, (void)number, (void)value, (void)write, (void)opaque;
	return -UNW_EBADREG;
}

static int unwind_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *opaque)
{
	(void)as, (void)cursor, (void)opaque;
	return -UNW_EINVAL;
}

static int unwind_name(unw_addr_space_t as, unw_word_t address, char *name, size_t size,
		       unw_word_t *offset, void *opaque)
{
	(void)as, (void)address, (void)name, (void)size, (void)offset, (void)opaque;
	return -UNW_ENOINFO;
}

static int unwind_dynamic(unw_addr_space_t as, unw_word_t *list, void *opaque)
{
	(void)as, (void)list, (void)opaque;
	return -UNW_ENOINFO;
}

/* --- Tables ------------------------------------------------------------------------------------- */

/* A search table, whose entries are two numbers of 32 bits, as seen from the table: where a function begins, and its description. */
struct unwind_table {
	uint64_t address; /* in the image */
	uint32_t count;	  /* of entries */
};

#define TABLE_HEAD 12u
#define ENTRY_SIZE 8u

/* What a binary search table begins with: version, three encodings, where the frames are, and how many entries there
 * are. False: it is another one. */
static bool table_describe(const struct fx_mapping *m, struct unwind_table *ret)
{
	const struct fx_image_facts *facts = fx_image_facts(m->image);
	uint64_t words[2] = {0};
	uint8_t bytes[sizeof(words)];

	if (!facts->table || !fx_image_word(m->image, facts->table, &words[0]) ||
	    !fx_image_word(m->image, facts->table + 8, &words[1]))
		return false;
	memcpy(bytes, words, sizeof(bytes));
	if (bytes[0] != 1 || bytes[1] != PCREL_SDATA4 || bytes[2] != UDATA4 ||
	    bytes[3] != DATAREL_SDATA4)
		return false;
	memcpy(&ret->count, bytes + 8, sizeof(ret->count));
	ret->address = facts->table;
	return true;
}

/* The place of the last entry that begins at an address or before it. libunwind finds it as well, by some hundred reads of single bytes. False:
 * there is none, or it cannot be read. */
static bool unwind_table_search(const struct fx_mapping *m, const struct unwind_table *table,
				uint64_t address, uint64_t *ret)
{
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t word;

		if (!fx_image_word(m->image,
				   table->address + TABLE_HEAD + (uint64_t)middle * ENTRY_SIZE,
				   &word))
			return false;
		if (table->address + (uint64_t)(int64_t)(int32_t)(uint32_t)word <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = table->address + TABLE_HEAD + (uint64_t)(low - 1) * ENTRY_SIZE;
	return low > 0;
}

static int unwind_find(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *ret, int need,
		       void *opaque)
{
	const struct unwinding *u = opaque;
	const struct fx_mapping *m = fx_space_find(u->space, ip);
	unw_dyn_info_t info = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};
	struct unwind_table table;
	uint64_t entry;

	if (!m || !m->image || !table_describe(m, &table) ||
	    !unwind_table_search(m, &table, ip - m->bias, &entry))
		return -UNW_ENOINFO;
	/* A table of one entry. */
	info.u.rti.segbase = table.address + m->bias;
	info.u.rti.table_data = entry + m->bias;
	info.u.rti.table_len = ENTRY_SIZE / sizeof(unw_word_t);
	info.start_ip = m->start;
	info.end_ip = m->end;
	return UNW_OBJ(dwarf_search_unwind_table)(as, ip, &info, ret, need, opaque);
}

static void unwind_put(unw_addr_space_t as, unw_proc_info_t *info, void *opaque)
{
	(void)as, (void)info, (void)opaque;
}

static unw_accessors_t accessors = {
    .find_proc_info = unwind_find,
    .put_unwind_info = unwind_put,
    .get_dyn_info_list_addr = unwind_dynamic,
    .access_mem = unwind_memory,
    .access_reg = unwind_register,
    .access_fpreg = unwind_float,
    .resume = unwind_resume,
    .get_proc_name = unwind_name,
};

/* --- Stacks ------------------------------------------------------------------------------------- */

static void unwinder_end(struct unw_addr_space *unwinder)
{
	unw_destroy_addr_space(unwinder);
}

static struct unw_addr_space *unwinder_make(struct fx_space *space)
{
	space->unwinder = unw_create_addr_space(&accessors, 0);
	if (!space->unwinder)
		return NULL;
	space->unwinder_end = unwinder_end;
	space->unwinder_changes = space->changes;
	unw_set_caching_policy(space->unwinder, UNW_CACHE_GLOBAL);
	unw_set_cache_size(space->unwinder, CACHE_SIZE, 0);
	return space->unwinder;
}

/* What it remembers of code is right as long as nothing is mapped anew. */
static struct unw_addr_space *unwinder_of(struct fx_space *space)
{
	if (!space->unwinder)
		return unwinder_make(space);
	if (space->unwinder_changes != space->changes)
		unw_flush_cache(space->unwinder, 0, 0);
	space->unwinder_changes = space->changes;
	return space->unwinder;
}

unsigned fx_unwind(struct fx_space *space, const struct fx_caught *sample,
		   uint64_t ret[FX_UNWIND_MAX], bool *ret_whole)
{
	struct unwinding u = {.space = space, .sample = sample};
	bool exact = true; /* the address is where it goes on, not behind a call */
	unw_cursor_t cursor;
	unsigned count = 0;
	unw_word_t ip;
	int step = 1;

	ret[0] = sample->ip;
	*ret_whole = false;
	if (!sample->registers || !unwinder_of(space) ||
	    unwind_register(NULL, UNW_REG_SP, &u.sp, 0, &u) < 0 ||
	    unw_init_remote(&cursor, space->unwinder, &u) < 0)
		return 1;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || !ip)
			break;
		exact |= unw_is_signal_frame(&cursor) > 0;
		ret[count++] = exact ? ip : ip - 1;
		exact = unw_is_signal_frame(&cursor) > 0;
	} while (count < FX_UNWIND_MAX && (step = unw_step(&cursor)) > 0);
	*ret_whole = step == 0;
	return count ? count : 1;
}

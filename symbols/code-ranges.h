/* SPDX-License-Identifier: MIT */
/* Where in an ELF file code lies, or data that the program changes, by link-time addresses. */
#ifndef FX_SYMBOLS_CODE_RANGES_H
#define FX_SYMBOLS_CODE_RANGES_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fx_code_range {
	uint64_t start;
	uint64_t end;
	bool is_data;
};

/* In the order of their addresses; disjoint, but in damaged files. All zero: there are none. */
struct fx_code_ranges {
	struct fx_code_range *list;
	size_t count;
	uint64_t start; /* where the segments lie */
	uint64_t end;
};

/* 0, or an enum fx_symbol_problem_kind plus one. */
int fx_code_ranges_read(Elf *elf, struct fx_code_ranges *ret);

/* The range that contains the address; NULL: none does. */
const struct fx_code_range *fx_code_ranges_find(const struct fx_code_ranges *code,
						uint64_t address);

void fx_code_ranges_clear(struct fx_code_ranges *code);

#endif

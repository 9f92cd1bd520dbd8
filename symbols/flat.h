/* SPDX-License-Identifier: MIT */
/*
 * A table as bytes in a file: a head that says how much there is, and its parts one after another. Readers answer so
 * (symbols/reader.h), and the store keeps tables so (symbols/store.h). What is read is checked: it can be looked up, whatever it
 * says.
 */
#ifndef FX_SYMBOLS_FLAT_H
#define FX_SYMBOLS_FLAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/table.h"

struct fx_flat_head {
	uint64_t count, names_size; /* entries, and bytes of names */
	uint64_t place_count, row_count;
	uint64_t is_partial, has_sources, has_lines; /* as in struct fx_symtab */
	struct fx_jit_mark jit;
};

void fx_flat_describe(const struct fx_symtab *table, struct fx_flat_head *ret);

/* Bytes of all parts. */
uint64_t fx_flat_size(const struct fx_flat_head *head);

/* A number that other parts, or bytes, have hardly ever. */
uint64_t fx_flat_sum(const struct fx_symtab *table);
uint64_t fx_flat_sum_of(const void *data, size_t size);

/* Writes the parts to a file, from where it is. */
bool fx_flat_write(int fd, const struct fx_symtab *table);

/* Reads and checks parts that begin at a place of the file. `limit': bytes that each part may take. 0, or an
 * enum fx_symbol_problem_kind plus one. */
int fx_flat_read(int fd, off_t at, const struct fx_flat_head *head, uint64_t limit,
		 struct fx_symtab *ret);

/* All bytes, or false. */
bool fx_flat_read_all(int fd, void *data, size_t size, off_t at);
bool fx_flat_write_all(int fd, const void *data, size_t size);

#endif

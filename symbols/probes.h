/* SPDX-License-Identifier: MIT */
/* Static probes of a program or library: places in its code that <sys/sdt.h> has marked, which its section .note.stapsdt lists. */
#ifndef FX_SYMBOLS_PROBES_H
#define FX_SYMBOLS_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fx_probe_symbols; /* of the file */

struct fx_probe_seen {
	const char *provider, *name; /* as its maker calls them; good during the call */
	const char *
	    arguments; /* SIZE@OPERAND, as an assembler of the machine has operands, between spaces */
	uint64_t address; /* link-time, of the instruction that does nothing */
	uint64_t offset;  /* of the same in the file */
	uint64_t
	    semaphore; /* where in the file two bytes stand that are to be counted up while somebody looks; 0: none */
	const struct fx_probe_symbols *symbols; /* good during the call; NULL: it has none */
};

/* The link-time address of a symbol, which arguments may name; false: the file does not have it (any more). */
bool fx_probe_symbol(const struct fx_probe_symbols *symbols, const char *name, size_t length,
		     uint64_t *ret);

/* What is done with each: something else than 0 ends the reading, and is its result. */
typedef int fx_probe_take(void *opaque, const struct fx_probe_seen *probe);

/*
 * Shows each probe of the file at `path', in its order. What is damaged, or lies in no segment, is passed over. 0, what `take'
 * returned, or -errno; -EINVAL: it is no ELF file of this machine's word size.
 */
int fx_probes_of_file(const char *path, fx_probe_take *take, void *opaque);

#endif

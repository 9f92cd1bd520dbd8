/* SPDX-License-Identifier: MIT */
/* Separate debug files by build-id: DIRECTORY/.build-id/xx/rest.debug (gdb's manual, "Separate Debug Files"). */
#ifndef FX_SYMBOLS_DEBUG_BY_ID_H
#define FX_SYMBOLS_DEBUG_BY_ID_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether it is the build-id that the file has. */
bool fx_elf_has_build_id(Elf *elf, const void *wanted, size_t wanted_size);

/*
 * The debug file of elf, open for reading, from the absolute directories of debug_path (libdwfl's
 * syntax; NULL: its default). -1: there is none that has elf's build-id.
 *
 * libdwfl's own search is not for this: it makes what it finds the debug file of its module.
 */
int fx_debug_by_id_open(const char *debug_path, Elf *elf);

#endif

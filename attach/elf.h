/* SPDX-License-Identifier: MIT */
/* The symbols that a module exports, as they lie in the memory of a process: its file may be gone, or another by now. */
#ifndef FX_ATTACH_ELF_H
#define FX_ATTACH_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fx_elf {
	uint64_t base; /* what addresses of symbols count from */
	uint64_t symbols, strings;
	uint64_t string_bytes;
	uint64_t buckets, chains;
	uint32_t bucket_count, first_symbol;
	uint64_t code_start, code_end;
};

/* Of the module that begins at `at`. False: it is none, or of a kind that is not understood. */
bool fx_elf_open(pid_t pid, uint64_t at, struct fx_elf *ret);

/* A symbol that is defined there. */
bool fx_elf_find(pid_t pid, const struct fx_elf *elf, const char *name, Elf64_Sym *ret);

/* How many symbols there are, by the table of hashes. */
uint32_t fx_elf_count(pid_t pid, const struct fx_elf *elf);

#endif

/* SPDX-License-Identifier: MIT */
/* What an ELF file tells of the code in it, before it runs. */
#ifndef FX_SYMBOLS_INSPECT_H
#define FX_SYMBOLS_INSPECT_H

#include <stdbool.h>
#include <stddef.h>

struct fx_elf_facts {
	bool hooks; /* calls the hooks of -finstrument-functions, or the plugin's */
	bool
	    promised; /* optimised at link time without the plugin that was to give it hooks (gate.h) */
	bool made; /* the plugin was there when code was made at link time, or of a file for that */
	bool profiling; /* calls mcount or __fentry__: built with -pg */
	bool room;	/* its functions begin with room for a call */
	bool sleds;	/* and they end so as well */
	bool names;	/* has a symbol table of its own, sites, or a debug file by build-id */
	bool allocator; /* defines malloc */
	bool filters;	/* calls what can install a seccomp filter */
	bool go;	/* has code of the Go compiler */
	char interpreter[256]; /* the dynamic linker that it asks for; "" none */
};

/* 0; -errno if the file cannot be read, -EINVAL if it is no ELF file. */
int fx_elf_inspect(const char *path, struct fx_elf_facts *ret);

#endif

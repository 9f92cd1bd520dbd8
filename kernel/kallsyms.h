/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own functions by their addresses: /proc/kallsyms, which shows them to whoever may see them. To read it takes some 60 ms of
 * a processor, so what does not change until the next boot, the kernel's own text, is kept on disk (symbols/store.h); modules and
 * programs that are loaded later are not.
 */
#ifndef FX_KERNEL_KALLSYMS_H
#define FX_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

struct fx_kallsyms;

/* Reads them, from `path' (NULL: the kernel's), or what is kept of them in `folder' (NULL: nothing is). NULL: there is no memory, or
 * nothing is shown. */
struct fx_kallsyms *fx_kallsyms_read(const char *path, const char *folder);
void fx_kallsyms_free(struct fx_kallsyms *symbols);

/* The function that an address lies in; NULL: none. Valid until the symbols are freed. */
const char *fx_kallsyms_find(struct fx_kallsyms *symbols, uint64_t address);

/* Whether all were read, and not only what was kept. */
bool fx_kallsyms_is_whole(const struct fx_kallsyms *symbols);

#endif

/* SPDX-License-Identifier: MIT */
/* The kernel's own functions by their addresses: /proc/kallsyms, which shows them to whoever may see them. */
#ifndef FX_KERNEL_KALLSYMS_H
#define FX_KERNEL_KALLSYMS_H

#include <stdint.h>

struct fx_kallsyms;

/* Reads them, from `path' (NULL: the kernel's). NULL: there is no memory, or nothing is shown. */
struct fx_kallsyms *fx_kallsyms_read(const char *path);
void fx_kallsyms_free(struct fx_kallsyms *symbols);

/* The function that an address lies in; NULL: none. */
const char *fx_kallsyms_find(const struct fx_kallsyms *symbols, uint64_t address);

#endif

/* SPDX-License-Identifier: MIT */
/* What the plugin writes beside a module's code: its gate, and a site for each function (include/fxtrace/gate.h). */
#ifndef FX_PLUGIN_SITES_H
#define FX_PLUGIN_SITES_H

#include <stdint.h>

/* Remembers a function that has the plugin's code. */
void fx_site_add(tree function, unsigned size, uint32_t flags);

/* Remembers one that has it before the linker makes code of it, for fx_sites_promise(). */
void fx_site_promise(tree function, unsigned size, uint32_t flags);

/* At the end of a translation unit: all of it, as text for the assembler. */
void fx_sites_write();

/*
 * In a file of which the linker makes code (-flto): that the plugin has chosen functions of it, which get their code there if
 * the plugin is there, too. If they have it already, the word that the code needs, and which they are.
 */
void fx_sites_promise(bool has_code);

#endif

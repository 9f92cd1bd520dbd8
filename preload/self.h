/* SPDX-License-Identifier: MIT */
/* Where this library itself was loaded from. */
#ifndef FX_PRELOAD_SELF_H
#define FX_PRELOAD_SELF_H

/* The path as the dynamic linker has it, relative if LD_PRELOAD's was; NULL: not known. */
const char *fx_self_path(void);

#endif

/* SPDX-License-Identifier: MIT */
/* The engine is told who in this library does what for it: before the process is attached. */
#ifndef FX_PRELOAD_EQUIP_H
#define FX_PRELOAD_EQUIP_H

void fx_equip(void);

#endif

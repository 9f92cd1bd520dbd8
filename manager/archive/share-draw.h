/* SPDX-License-Identifier: MIT */
/* The arrows of one lock in memory of several processes: see shares.h. */
#ifndef FX_MANAGER_SHARE_DRAW_H
#define FX_MANAGER_SHARE_DRAW_H

#include "manager/archive/share.h"

/* Counts what is drawn, and what is not. */
void fx_share_draw(struct fx_shares *shares, struct fx_share *share);

#endif

/* SPDX-License-Identifier: MIT */
/* The arrows that end at one end of a channel. */
#ifndef FX_MANAGER_TRANSFER_DRAW_H
#define FX_MANAGER_TRANSFER_DRAW_H

#include "manager/archive/transfers.h"

/* Of all that was read there. Another provider may be selected in the archive afterwards. */
void fx_transfer_draw(struct fx_transfers *transfers, struct fx_transfer_end *end);

#endif

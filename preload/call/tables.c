/* SPDX-License-Identifier: MIT */
#include "preload/call/tables.h"

#include "engine/provider/wiped.h"

_Static_assert(FX_TABLES_ROOM == (size_t)33 << 18, "what preload/show/fdtable.c knows of them");

void fx_tables_make(void)
{
	char *room = fx_wiped_map(FX_TABLES_ROOM);

	if (!room)
		return;
	fx_waits_place(room);
	fx_token_blocks_place(room + FX_WAITS_ROOM);
	fx_handoff_place(room + FX_WAITS_ROOM + FX_TOKEN_BLOCKS_ROOM);
}

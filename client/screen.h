/* SPDX-License-Identifier: MIT */
/* The terminal of `fxtrace top': a header and rows, drawn anew each time. It is left as it was found, however we end. */
#ifndef FX_CLIENT_SCREEN_H
#define FX_CLIENT_SCREEN_H

#include <stdbool.h>

#include "report/live.h"

/* Takes the terminal. False: it cannot do what is needed. */
bool fx_screen_open(void);
void fx_screen_close(void);

struct fx_screen_view {
	const char *title; /* what is watched */
	bool threads;	   /* rows of threads, too */
	int order;	   /* of fx_live_sort() */
};

/* As much of it as there is room for. */
void fx_screen_draw(struct fx_live *live, const struct fx_screen_view *view);

/*
 * Takes the keys that were pressed: q, and what view is wanted. False: it is to end.
 */
bool fx_screen_keys(struct fx_screen_view *view);

#endif

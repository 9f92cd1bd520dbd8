/* SPDX-License-Identifier: MIT */
/*
 * A forked child finds its memory ready, for it makes it itself: of the shape of its parent's, with the control page's
 * words as the parent's has them. It records at once, and leaves a message with the manager, which takes the memory on
 * when it gets round to it (manager/door/foreign.h). Nobody is waited for.
 */
#ifndef FX_PRELOAD_BRING_H
#define FX_PRELOAD_BRING_H

/* 0; -ENOSYS where memory cannot be had in this way, and the manager may be asked for it; or another -errno: there is
 * nobody to tell. Async-signal-safe. */
int fx_bring(void);

#endif

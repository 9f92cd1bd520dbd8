/* SPDX-License-Identifier: MIT */
/*
 * Plain preload: nobody set up a manager, so the process starts one for itself and its children.
 *
 * The manager is a grandchild without a terminal (setsid()), with none of the program's descriptors. The child
 * between is made without an exit signal and reaped here, so the program's wait() never sees either.
 */
#ifndef FX_PRELOAD_PRIVATE_H
#define FX_PRELOAD_PRIVATE_H

/*
 * Starts the manager, learns its socket (kept for children, also in FXTRACE_SOCKET), and returns a
 * connection to register over, or -errno: no manager program found, or it did not come up.
 */
int fx_private_manager_start(const char *name);

/* Now there is an environment for FXTRACE_SOCKET, if there was none then. */
void fx_private_manager_remember(void);

#endif

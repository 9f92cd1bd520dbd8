/* SPDX-License-Identifier: MIT */
/*
 * Directories of managers that were killed. Each manager listens in one of its own; one that ends
 * removes it, and of one that cannot, the next manager of the same user does.
 */
#ifndef FX_MANAGER_STALE_H
#define FX_MANAGER_STALE_H

/* The names of these directories, for mkdtemp(), and of the socket in each. */
#define FX_PRIVATE_TEMPLATE "fxtrace-XXXXXX"
#define FX_PRIVATE_SOCKET   "s"

/*
 * Removes such directories below `base` as belong to this user alone, have stood for a minute, hold
 * nothing but a socket, and at whose socket nobody listens. What cannot be removed is left.
 */
void fx_stale_remove(const char *base);

#endif

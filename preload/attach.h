/* SPDX-License-Identifier: MIT */
/*
 * Attaching a process to a manager: one connection, one request, one reply with three descriptors,
 * three mappings; then every descriptor is closed again.
 *
 * Freestanding: raw system calls alone, no allocation, no lock, so that a forked child can do it at its
 * first event, wherever that is.
 */
#ifndef FX_PRELOAD_ATTACH_H
#define FX_PRELOAD_ATTACH_H

#include "protocol/messages.h"

/* Where the manager listens, for this process and its forked children. At most 107 bytes are kept. */
void fx_attach_set_socket(const char *path);

/* The provider's name, at most FX_PROVIDER_NAME_MAX bytes. */
void fx_attach_set_name(const char *name);

/* Registers over the socket path. 0 or -errno; after a failure the process is as it was. */
int fx_attach(enum fx_register_cause cause);

/* The same over a connected socket, which is closed in any case. */
int fx_attach_over(int fd, enum fx_register_cause cause);

#endif

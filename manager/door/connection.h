/* SPDX-License-Identifier: MIT */
/* Connections whose request has not come yet: each is served once, and answered. */
#ifndef FX_MANAGER_CONNECTION_H
#define FX_MANAGER_CONNECTION_H

#include "manager/door/registry.h"

/* A process that connects has something to say: as a rule that is there already, and nobody needs to wait for it. The descriptor is the
 * registry's, unless this fails. 0 or -errno. */
int fx_connection_accept(struct fx_registry *registry, int fd);

/* A peer that was accepted, and can be given nothing, is told, and closed. */
void fx_connection_turn_away(struct fx_registry *registry, int fd, int error);

void fx_connection_close(struct fx_connection *c);

/* Closes those that have been silent for too long. now: CLOCK_MONOTONIC ns */
void fx_connections_expire(struct fx_registry *registry, uint64_t now);

#endif

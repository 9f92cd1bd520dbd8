/* SPDX-License-Identifier: MIT */
/*
 * The ends of channels, as descriptors are called (preload/show/fdname.h): what is written at one is read at the same, of a pipe,
 * or at its peer, of a socket.
 *
 *	pipe:[INODE], fifo:[INODE] PATH		one end for both
 *	anon_inode:[eventfd] PID-TICKS		the same; its bytes are what is added and taken
 *	socket:[INODE] tcp OWN->PEER		the peer is called by the same addresses the other way round
 *	socket:[INODE] unix KIND->socket:[INODE]	one of a pair, each of which is told by one process at least
 *	socket:[INODE] unix KIND PATH->pid PID	accepted; the peer is PID's, and called
 *	socket:[INODE] unix KIND->PATH of pid PID
 *
 * Of sockets for datagrams, transfer-boxes.h.
 * Of the others nobody knows who reads what was written. Addresses are used again, and a process may connect to one address
 * many times: then ends are each other's peers only if these were used one after another.
 */
#ifndef FX_MANAGER_TRANSFER_ENDS_H
#define FX_MANAGER_TRANSFER_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manager/archive/transfer-end.h"

void fx_transfer_ends_init(struct fx_transfer_ends *ends);
void fx_transfer_ends_free(struct fx_transfer_ends *ends);

/* The end that a descriptor is called so, used by process `pid' of its machine; NULL: it is none, or one too many (then
 * is_full). */
struct fx_transfer_end *fx_transfer_end_get(struct fx_transfer_ends *ends, const char *name,
					    size_t length, uint32_t pid);

/* Process `pid' connects the end of this name, which it may not be yet. NULL: it is none, or cannot be connected any more. */
struct fx_transfer_end *fx_transfer_end_connects(struct fx_transfer_ends *ends, const char *name,
						 size_t length, uint32_t pid);

/* Finds the peers, once all is known. */
void fx_transfer_ends_join(struct fx_transfer_ends *ends);

#endif

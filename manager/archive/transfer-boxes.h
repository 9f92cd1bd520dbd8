/* SPDX-License-Identifier: MIT */
/*
 * Datagrams are sent to addresses: what is sent to one comes to the one socket that is bound there, in one order.
 *
 *	socket:[INODE] udp OWN			socket:[INODE] unix datagram OWN
 *	socket:[INODE] udp OWN->PEER		socket:[INODE] unix datagram OWN->PEER
 *	socket:[INODE] udp 0.0.0.0:0		socket:[INODE] unix datagram		not bound: nothing comes
 *
 * To a socket that is bound to 0.0.0.0 or [::] comes what is sent to its port at an address of the loopback; which other
 * addresses are this machine's is not known. An address that several sockets have, or one by several names, has no order.
 */
#ifndef FX_MANAGER_TRANSFER_BOXES_H
#define FX_MANAGER_TRANSFER_BOXES_H

#include <stdbool.h>
#include <stddef.h>

#include "manager/archive/transfer-end.h"

/* Where goes what this descriptor's end writes, to `address' or, NULL, to the peer that the descriptor's name says. NULL: nobody
 * knows. */
struct fx_transfer_end *fx_transfer_box_get(struct fx_transfer_ends *ends,
					    const struct fx_transfer_end *from, const char *name,
					    size_t name_length, const char *address,
					    size_t address_length);

/* The box of a key, made with that address if there is none. NULL: there is no memory, or there are too many (then is_full). */
struct fx_transfer_end *fx_transfer_box_named(struct fx_transfer_ends *ends, const char *key,
					      const char *address);

/* What two descriptors of one socket say of its address. */
void fx_transfer_box_learn(struct fx_transfer_end *end, struct fx_transfer_end *said);

/* A call sent nobody knows what to where. */
void fx_transfer_box_anywhere(struct fx_transfer_ends *ends, const struct fx_transfer *call);

/* Gives each bound end the box of its address as its peer. */
void fx_transfer_boxes_join(struct fx_transfer_ends *ends);

void fx_transfer_boxes_free(struct fx_transfer_ends *ends);

#endif

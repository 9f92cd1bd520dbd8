/* SPDX-License-Identifier: MIT */
/*
 * Arrows from who connects to who accepts: to the accept() whose connection it is, and to the poll that woke for it. Which connection that
 * is both say by the addresses, as of messages (transfer-ends.h). A socket that listens gives the oldest connection first: so a poll that
 * found it ready was woken by the next one that is accepted, if no other was accepted meanwhile.
 *
 *	client	   |- connect -|
 *	server	|--- poll ---|   |- accept -|		the poll and accept() have arrows from connect()
 */
#ifndef FX_MANAGER_TRANSFER_MEETS_H
#define FX_MANAGER_TRANSFER_MEETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"
#include "manager/archive/transfer-end.h"

struct fx_transfer_drawing;

/* Calls that are remembered; further ones have no arrows. */
#define FX_TRANSFER_MEETS_MAX (1u << 18)

/* A call that was about a socket that listens. */
struct fx_transfer_meet {
	uint64_t listener; /* its inode */
	struct fx_transfer call;
	struct fx_transfer_end *end; /* what accept() has returned; NULL: it was a poll */
};

struct fx_transfer_meets {
	FX_VECTOR(struct fx_transfer_meet) meets;
	bool is_full;
	bool polls_are_odd; /* an accept() did not return: it may have taken what a poll has seen */
};

void fx_transfer_meets_free(struct fx_transfer_meets *meets);

/* Of a socket of this name; `end' as above. What does not listen is left alone. */
void fx_transfer_meets_add(struct fx_transfer_meets *meets, const char *listener, size_t length,
			   const struct fx_transfer *call, struct fx_transfer_end *end);

/* How a connect() ended. */
enum fx_connects { FX_CONNECTS_DONE, FX_CONNECTS_BEGUN, FX_CONNECTS_NOT };

/* `end' was connected by that call, or not. */
void fx_transfer_meets_connect(struct fx_transfer_end *end, const struct fx_transfer *call,
			       enum fx_connects how);

/* Draws all that is certain, once the ends have found their peers. */
void fx_transfer_meets_draw(struct fx_transfer_meets *meets, struct fx_transfer_drawing *drawing);

#endif

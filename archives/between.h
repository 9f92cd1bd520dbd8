/* SPDX-License-Identifier: MIT */
/*
 * What the messages between archives say of their clocks, in little memory: of each pair of archives and direction the shortest
 * way in each stretch of time, for what took longer bounds nothing. What this leaves out and would be out of order after
 * all is found when all are looked at once more, and kept from then on.
 */
#ifndef FX_ARCHIVES_BETWEEN_H
#define FX_ARCHIVES_BETWEEN_H

#include <stddef.h>
#include <stdint.h>

#include "lists/hashes.h"
#include "lists/vector.h"

struct fx_between_message {
	uint64_t sent, received; /* ns, of the clock of each archive */
};

struct fx_between_pair {
	struct fx_between_key {
		uint32_t from, to;
	} key;
	uint64_t width;				       /* of a stretch, ns */
	FX_VECTOR(struct fx_between_message) shortest; /* by stretch, ascending */
	FX_VECTOR(struct fx_between_message) kept;
	UT_hash_handle hh;
};

struct fx_between {
	struct fx_between_pair *pairs;
	size_t stretches; /* of a pair, at most */
};

/* Among so many archives. */
void fx_between_init(struct fx_between *between, size_t archives);
void fx_between_free(struct fx_between *between);

/* NULL: there are no messages of that direction. */
const struct fx_between_pair *fx_between_find(const struct fx_between *between, size_t from,
					      size_t to);

/* Messages of a pair in any order. 0 or -ENOMEM. */
int fx_between_add(struct fx_between *between, size_t from, size_t to, uint64_t sent,
		   uint64_t received);

/* This one counts in any case. */
int fx_between_keep(struct fx_between *between, size_t from, size_t to, uint64_t sent,
		    uint64_t received);

#endif

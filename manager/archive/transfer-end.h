/* SPDX-License-Identifier: MIT */
/* One end of a channel, and all of them: see transfer-ends.h. */
#ifndef FX_MANAGER_TRANSFER_END_H
#define FX_MANAGER_TRANSFER_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/hashes-lenient.h"
#include "lists/runs.h"
#include "lists/vector.h"
#include "manager/archive/transfer-match.h"

/* Ends that are remembered; calls at others are counted. */
#define FX_TRANSFER_ENDS_MAX 65536u

enum fx_transfer_kind {
	FX_TRANSFER_PIPE,
	FX_TRANSFER_STREAM,   /* of this machine */
	FX_TRANSFER_MESSAGES, /* each read takes one, whole or not */
	FX_TRANSFER_TCP,
	FX_TRANSFER_DATAGRAM, /* Unix: none is lost, */
	FX_TRANSFER_UDP,      /* but of these some may be */
	FX_TRANSFER_EVENT,    /* an eventfd: a number is added to, and taken */
};

struct fx_transfer_end {
	UT_hash_handle hh; /* by name */
	bool lost;	   /* not in the hash for lack of memory */
	bool is_bare;	   /* nothing is known but who connected it */
	bool is_unix;
	struct fx_transfer
	    shut; /* the first call that ended what is written here; its end is 0: none, */
	bool is_shut_often; /* or several at once */
	bool reads_no_more; /* it was shut down for reading */
	bool is_resized;    /* a pipe that does not hold what others do */
	bool is_semaphore;  /* an eventfd of which each read takes one */
	bool is_queue;	    /* of messages, or a channel of one */
	bool is_odd;	    /* it was called by several names, or moved what cannot be counted */
	enum fx_transfer_kind kind;
	char name[40];	    /* the text up to its first ']' */
	char *whole;	    /* the rest of a fifo's; NULL */
	char *bound;	    /* of datagrams, the address; NULL: none */
	char *meets;	    /* what it has in common with its peers; NULL: nothing */
	bool connects;	    /* it is the peer that connected; */
	uint32_t connector; /* of Unix sockets, the process that did so; 0: not known */
	uint64_t peer_inode;
	struct fx_transfer_end *peer; /* NULL: not known */
	bool is_shared;		      /* several may be the peer */
	struct fx_transfer accepted,
	    connected;		      /* the calls that made it; their end is 0: none is known */
	bool is_connecting;	      /* whether that one does is not known yet */
	uint64_t first, last;	      /* of its calls, ns */
	struct fx_runs written, read; /* struct fx_transfer */
	struct fx_transfer_end *next; /* of those of one meeting */
};

struct fx_transfer_ends {
	struct fx_transfer_end *ends;  /* uthash */
	struct fx_transfer_end *boxes; /* uthash, by what they are called in transfer-boxes.c */
	FX_VECTOR(struct fx_transfer) anywhere;
	struct fx_runs_pool pool;
	bool is_full;
	bool is_scattered; /* datagrams went nobody knows where */
};

/* It has a queue of what was sent to its address. */
static inline bool fx_transfer_is_datagram(const struct fx_transfer_end *end)
{
	return end->kind == FX_TRANSFER_DATAGRAM || end->kind == FX_TRANSFER_UDP;
}

/* Its maker has set all but what it will hold. */
void fx_transfer_end_init(struct fx_transfer_ends *ends, struct fx_transfer_end *end);

/* With the memory of its own. */
void fx_transfer_end_free(struct fx_transfer_end *end);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The ends of channels, as descriptors are called (preload/show/fdname.h): what is written at one is read at the same, of a pipe,
 * or at its peer, of a socket.
 *
 *	pipe:[INODE], fifo:[INODE] PATH		one end for both
 *	socket:[INODE] tcp OWN->PEER		the peer is called by the same addresses the other way round
 *	socket:[INODE] unix KIND->socket:[INODE]	one of a pair, each of which is told by one process at least
 *	socket:[INODE] unix KIND PATH->pid PID	accepted; the peer is PID's, and called
 *	socket:[INODE] unix KIND->PATH of pid PID
 *
 * Of the others nobody knows who reads what was written. Addresses are used again, and a process may connect to one address
 * many times: then ends are each other's peers only if these were used one after another.
 */
#ifndef FX_MANAGER_TRANSFER_ENDS_H
#define FX_MANAGER_TRANSFER_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/hashes-lenient.h"
#include "lists/runs.h"

/* Ends that are remembered; calls at others are counted. */
#define FX_TRANSFER_ENDS_MAX 65536u

enum fx_transfer_kind {
	FX_TRANSFER_PIPE,
	FX_TRANSFER_STREAM,   /* of this machine */
	FX_TRANSFER_MESSAGES, /* each read takes one, whole or not */
	FX_TRANSFER_TCP,
};

struct fx_transfer_end {
	UT_hash_handle hh; /* by name */
	bool lost;	   /* not in the hash for lack of memory */
	bool is_bare;	   /* nothing is known but who connected it */
	bool is_unix;
	bool is_odd; /* it was called by several names, or moved what cannot be counted */
	enum fx_transfer_kind kind;
	char name[40];	    /* the text up to its first ']' */
	char *whole;	    /* the rest of a fifo's; NULL */
	char *meets;	    /* what it has in common with its peers; NULL: nothing */
	bool connects;	    /* it is the peer that connected; */
	uint32_t connector; /* of Unix sockets, the process that did so; 0: not known */
	uint64_t peer_inode;
	struct fx_transfer_end *peer; /* NULL: not known */
	bool is_shared;		      /* several may be the peer */
	uint64_t first, last;	      /* of its calls, ns */
	struct fx_runs written, read; /* struct fx_transfer */
	struct fx_transfer_end *next; /* of those of one meeting */
};

struct fx_transfer_ends {
	struct fx_transfer_end *ends; /* uthash */
	struct fx_runs_pool pool;
	bool is_full;
};

void fx_transfer_ends_init(struct fx_transfer_ends *ends);
void fx_transfer_ends_free(struct fx_transfer_ends *ends);

/* The end that a descriptor is called so, used by process `pid' of its machine; NULL: it is none, or one too many (then
 * is_full). */
struct fx_transfer_end *fx_transfer_end_get(struct fx_transfer_ends *ends, const char *name,
					    size_t length, uint32_t pid);

/* Process `pid' connects the end of this name, which it may not be yet. */
void fx_transfer_end_connects(struct fx_transfer_ends *ends, const char *name, size_t length,
			      uint32_t pid);

/* Finds the peers, once all is known. */
void fx_transfer_ends_join(struct fx_transfer_ends *ends);

#endif

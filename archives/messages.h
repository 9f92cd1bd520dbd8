/* SPDX-License-Identifier: MIT */
/*
 * What an archive tells of streams (TCP) to other machines: calls that sent or received, with the position in the
 * stream that they reached. The byte at a position is sent before it is received, whatever the clocks say; so two
 * archives that have an end each of one connection tell how their clocks lie to each other.
 *
 * An end is looked at only if it is one descriptor of one process, since the positions are counted by descriptor.
 */
#ifndef FX_ARCHIVES_MESSAGES_H
#define FX_ARCHIVES_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "lists/hashes.h"
#include "lists/vector.h"

/* How many calls of an archive are remembered; later ones are counted. */
#define FX_MESSAGES_MAX (1u << 20)

/* A call that reached a position. */
struct fx_message {
	uint64_t position; /* bytes, of this call too */
	uint64_t ns;	   /* of the archive: when it began to send, or had received */
};

enum fx_direction { FX_DIRECTION_SENT, FX_DIRECTION_RECEIVED };

typedef FX_VECTOR(struct fx_message) fx_message_list;

/* One end of a connection. */
struct fx_stream_end {
	char *key;	 /* "OWN->PEER" */
	char *other_key; /* "PEER->OWN" */
	uint64_t inode, pid;
	int32_t fd;
	bool is_odd;		  /* several descriptors, or positions that do not grow */
	fx_message_list calls[2]; /* enum fx_direction; by position */
	/* For code that brings archives together: */
	struct fx_stream_end *other; /* the other end, in another archive; NULL: none */
	size_t owner;		     /* the number of this one's archive */
	uint64_t base;		     /* the number of the first call that received */
	UT_hash_handle hh;
};

struct fx_messages {
	struct fx_stream_end *ends;
	size_t count;
	uint64_t beyond; /* calls that were too many */
};

/* What a call says of a stream. */
struct fx_stream_call {
	enum fx_direction direction;
	uint64_t position, bytes, inode, pid, ns;
	int32_t fd;
	char key[256], other_key[256];
};

/* False: it is no call of a connected stream that moved something. */
bool fx_stream_call_read(const struct fxt_record *record, struct fx_stream_call *ret);

/* Takes a record of any kind. 0 or -ENOMEM. */
int fx_messages_add(struct fx_messages *messages, const struct fxt_record *record);

/* Sorts them, once all have been taken. */
void fx_messages_seal(struct fx_messages *messages);

/* The end of this key, if it is of use; else NULL. */
struct fx_stream_end *fx_messages_find(const struct fx_messages *messages, const char *key);

/* The first call that reached the position, or more; NULL: none did. */
const struct fx_message *fx_messages_reach(const fx_message_list *calls, uint64_t position);

void fx_messages_free(struct fx_messages *messages);

#endif

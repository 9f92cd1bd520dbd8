/* SPDX-License-Identifier: MIT */
/*
 * Which message a receive has got, told by counting alone: MPI never lets one message overtake another of the same sender,
 * communicator and tag. So each of these channels has its numbers: of sends in the order in which they were made, of
 * receives in the order in which they were posted.
 *
 * A receive from any source, or of any tag, belongs to a channel only when it is over. Until then, what was posted
 * behind it in a channel that it may turn out to be of has no number, though it may be over:
 *
 *	posted:	 any source, tag 5 | source 3, tag 5 | source 3, tag 5 | source 4, tag 5
 *	over:	 no		     yes: waits	       no		 no
 *	then:	 from 4: 4's first   3's first	       3's second	 4's second
 *
 * A receive that is being cancelled may have got a message as well, or not, so what follows it in its channel waits too.
 * It knows nothing of MPI itself, so that it can be tried without; nor of threads: its caller has a lock.
 */
#ifndef FX_MPI_MATCH_H
#define FX_MPI_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FX_MATCH_ANY (-1)

/* Channels of a process. What is sent in further ones has no number. */
#define FX_MATCH_CHANNELS_MAX (1u << 20)

/* Receives of a communicator that are over and have no number yet. If there are more, none has a number from then on. */
#define FX_MATCH_LATE_MAX 65536u

struct fx_match_link {
	struct fx_match_link *next, *previous;
};

/* Of a communicator. */
struct fx_match {
	uint64_t id; /* of the communicator: all its processes have the same */
	int rank;    /* of this process in it */
	bool
	    is_lost; /* a receive from any source went away unseen: no receive has a number any more */
	uint64_t stamp;
	struct fx_match_link wild;    /* receives whose channel is not known */
	struct fx_match_link late;    /* those that are over and have no number yet */
	struct fx_match_link posting; /* those that are being posted */
	struct fx_match_link sending;
	unsigned receives; /* that are not over */
	unsigned late_count;
};

/* What an end of a message is written by. */
struct fx_match_when {
	uint64_t ticks, tid;
};

struct fx_receive {
	struct fx_match_link queued, late, posting; /* in their lists, if any */
	struct fx_match *match;
	uint64_t stamp;
	int source, tag; /* FX_MATCH_ANY: not known yet */
	bool is_wild, is_posting, is_over, is_told, is_cancelling;
	bool
	    is_unsure; /* another was posted at the same time, so that nobody knows which was first */
	uint64_t by;   /* the thread that posts it */
	uint64_t bytes;
	struct fx_match_when when;
};

struct fx_sending {
	struct fx_match_link link; /* of those that go on in other threads */
	uint64_t channel;
	uint32_t number;
	bool has_number, is_unsure;
};

/* The receive is over, and its message was the sender's `number`-th of its channel. */
typedef void (*fx_match_tell)(const struct fx_receive *receive, uint32_t number);

void fx_match_init(struct fx_match *match, uint64_t id, int rank);

/* A message is sent: its number, if there is room. `is_shared`: other threads may send at the same time; then the message goes on
 * until fx_match_sent(). */
void fx_match_send(struct fx_match *match, int dest, int tag, bool is_shared,
		   struct fx_sending *ret);

/* It is sent, or was not (`failed`). */
void fx_match_sent(struct fx_match *match, struct fx_sending *sending, bool is_shared, bool failed);

/* It is cancelled: nothing more of its channel has a number. */
void fx_match_unsend(uint64_t channel);

/* A receive is being posted, by this thread; NULL: no memory. It goes on until fx_match_posted(). */
struct fx_receive *fx_match_post(struct fx_match *match, int source, int tag, uint64_t by);
void fx_match_posted(struct fx_receive *receive);

/* It has a message, of that source and tag; or none. It is gone then. */
void fx_match_over(struct fx_receive *receive, int source, int tag, uint64_t bytes,
		   struct fx_match_when when, fx_match_tell tell);
void fx_match_none(struct fx_receive *receive, fx_match_tell tell);

/* Its message is known, and not received yet. */
void fx_match_found(struct fx_receive *receive, int source, int tag, fx_match_tell tell);

/* It may be cancelled. */
void fx_match_cancelling(struct fx_receive *receive);

/* Nobody will say when it is over. */
void fx_match_forget(struct fx_receive *receive);

/* The number that both ends of a message have in common: that of an arrow. */
uint64_t fx_match_arrow(uint64_t communicator, int source, int dest, int tag, uint32_t number);

/* A number made of two. Never 0. */
uint64_t fx_match_mix(uint64_t a, uint64_t b);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What is known of one process, and the arrows and instants that tell of it: which made it, what it became by exec, how it
 * ended, which were told and which killed it. What is told and what the manager hears come in any order.
 */
#ifndef FX_MANAGER_LIVES_H
#define FX_MANAGER_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "lists/hashes-lenient.h"
#include "manager/archive/arrows.h"
#include "manager/archive/stream.h"

#define FX_KILLS_MAX 4u

struct fx_kill {
	struct fx_point at;
	int32_t signal;
};

/* That a process was made, or has ended, as another one tells. */
struct fx_word {
	struct fx_point at;
	uint32_t by; /* the kernel's number */
	int32_t value;
};

struct fx_life {
	UT_hash_handle hh;
	bool lost;		  /* not in the hash for lack of memory */
	uint32_t pid;		  /* the kernel's */
	struct fx_stream *stream; /* of its newest image; NULL once that is over */
	uint32_t shown;		  /* as the archive has it */
	char name[16];		  /* of the first thread, then */
	struct fx_point birth;	  /* of the first image */
	struct fx_word creation;  /* waits for the birth; the newest, */
	struct fx_word rival;	  /* and another one's before it */
	bool awaited;		  /* there will be a birth, says the process that created it, */
	struct fx_point
	    becomes; /* what it becomes will be heard of, says its image `becomes.provider` */
	struct fx_point image;	 /* birth of an image that came by exec; waits for `exec` */
	struct fx_point exec;	 /* the newest of its image `exec.provider` */
	uint32_t ended;		 /* the newest image that is over */
	struct fx_point exit;	 /* when the manager heard of it, or as far as its parent knows */
	struct fx_point told;	 /* its parent of its end, before the manager; waits for that */
	struct fx_ending ending; /* how */
	struct fx_word early;	 /* of its end, before anybody heard of the process */
	uint32_t parent;	 /* by the kernel, when it was heard of; 0 not known */
	uint32_t said_parent;	 /* and by its own word */
	bool shown_exit;	 /* its end stands in the archive */
	uint64_t dropped, dropped_at; /* of its images that are over: see struct fx_stream */
	int32_t signal;		      /* that ended it, while its sender is not known; else 0 */
	struct fx_kill kills[FX_KILLS_MAX];
	uint32_t kill_count;
};

/* An image of the process comes into the archive. `exec`: the process had another before. */
void fx_life_birth(struct fx_arrows *arrows, const struct fx_life *lives, struct fx_life *life,
		   struct fx_stream *s, uint64_t born_ns, bool exec);

/* Nothing more comes of an image. */
void fx_life_end(struct fx_arrows *arrows, struct fx_life *life, struct fx_stream *s,
		 const struct fx_stream_end *end);

/* Writes the end of the process, if it is known and not written yet. */
void fx_life_exit(struct fx_arrows *arrows, struct fx_life *life);

/*
 * Told by others, each at its own moment: that they have made it (value: FX_TIE_VALUE_*). One that cannot have, by what the
 * kernel and the process itself say, is not believed; `lives` are all that are known.
 */
void fx_life_created(struct fx_arrows *arrows, const struct fx_life *lives, struct fx_life *life,
		     const struct fx_word *word);

/* It is about to become another program, it says itself. */
void fx_life_execs(struct fx_life *life, const struct fx_point *at, int32_t value);

/* that they have been told of its end, with this status of wait(), */
void fx_life_reaped(struct fx_arrows *arrows, const struct fx_life *lives, struct fx_life *life,
		    const struct fx_word *word);

/* that they have sent it this signal. */
void fx_life_killed(struct fx_arrows *arrows, struct fx_life *life, const struct fx_point *at,
		    int32_t signal);

#endif

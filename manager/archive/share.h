/* SPDX-License-Identifier: MIT */
/* What is known of locks in memory of several processes: see shares.h. */
#ifndef FX_MANAGER_SHARE_H
#define FX_MANAGER_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/layout.h"
#include "lists/hashes-lenient.h"
#include "lists/vector.h"
#include "manager/archive/arrows.h"
#include "manager/archive/transfer-draw.h"

/* What a thread told; times are ns. */
struct fx_share_told {
	enum fx_share_kind kind;
	int32_t value;
	uint64_t key;
	uint64_t begin, looked, end,
	    after; /* of a semaphore, when it was seen to be empty afterwards; of a reader's release, when it was over; 0: not known */
	uint32_t provider;
	uint32_t pid, shown; /* of the archive */
	uint32_t tid;	     /* as its process calls it */
};

/* Of a mutex. */
struct fx_share_release {
	uint64_t ns;
	uint32_t provider, pid, shown, tid; /* as in struct fx_share_told */
};

struct fx_share {
	UT_hash_handle hh;
	bool lost;	   /* not in the hash for lack of memory */
	bool is_odd;	   /* something was done that was not told */
	bool is_open;	   /* of a mutex: somebody may have part who is not traced */
	bool is_inherited; /* of a mutex: an owner has ended without releasing it */
	uint64_t key;
	FX_VECTOR(struct fx_share_release) releases;
	FX_VECTOR(struct fx_share_told) uses; /* waits for a mutex; all of another lock */
};

/* Of a thread: nothing more comes of it. */
struct fx_share_end {
	uint32_t provider, pid, shown, tid; /* as in struct fx_share_told */
	bool is_death;			    /* of its process */
	uint64_t alive, heard;		    /* ns; it ended between them */
};

struct fx_shares {
	struct fx_arrows *arrows; /* borrowed */
	struct fx_share *shares;  /* uthash, by key */
	FX_VECTOR(struct fx_share_end) ends;
	uint64_t bytes;	  /* of all that is remembered */
	bool is_doubtful; /* somebody has not told what it does */
	bool is_lossy;	  /* records are missing */
	bool is_full;
	struct fx_transfer_counts counts; /* of arrows, and of waits that have none */
};

/* It is told of a call that has waited, and ended. */
bool fx_share_has_waited(const struct fx_share_told *told);

/* Waits from that use on have no arrow, for that reason. */
void fx_share_leave(struct fx_shares *shares, const struct fx_share *share, size_t first,
		    enum fx_transfer_left why);

/* From the call `by'. */
void fx_share_arrow(struct fx_shares *shares, const struct fx_point *from, const char *by,
		    const struct fx_share_told *to);

#endif

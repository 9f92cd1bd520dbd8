/* SPDX-License-Identifier: MIT */
/* Who had which bytes of a file when: what was told of it, by time, is taken in one after another. */
#ifndef FX_MANAGER_FILE_LOCK_HOLDS_H
#define FX_MANAGER_FILE_LOCK_HOLDS_H

#include "manager/archive/file-lock.h"

/* So much of a file as one has a lock of, until it is given back. */
struct fx_file_hold {
	const struct fx_file_told *has;
	uint64_t first, last; /* bytes */
	bool is_shared;
	/* It was given back between these; end 0: nothing tells that. By whom: NULL: by the end of the process. */
	uint64_t begin, end;
	const struct fx_file_told *freed;
	const struct fx_file_end *ended;
	bool
	    is_lost; /* since then it may be gone, or not: FX_FILE_LOCK_MAY_GO, or its process has become another program */
	uint64_t
	    gone; /* another has got it since, ns, though nothing tells when it went; 0: none has */
	uint64_t replaced; /* by another one of the same owner, ns; 0: it was not */
};

/* Those that one owner has. */
struct fx_file_holder {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	struct fx_file_holder_key {
		uint32_t pid;
		int32_t owner;
	} key;
	FX_VECTOR(size_t) holds; /* numbers */
};

/* A thread that has asked for one. */
struct fx_file_asking {
	const struct fx_file_told *wants;
	uint64_t until; /* it may have it since, ns; 0: it has got an answer */
};

struct fx_file_work {
	struct fx_file_locks *locks;
	bool is_flock; /* those of flock() and the others know nothing of each other */
	bool is_odd;   /* one was given back before it was had */
	struct fx_file_holder *holders; /* uthash */
	FX_VECTOR(struct fx_file_hold) holds;
	FX_VECTOR(struct fx_file_asking) asking;
	FX_VECTOR(const struct fx_file_told *)
	strange; /* given back by who is not known to have it: by another's descriptor, perhaps */
	FX_VECTOR(size_t) active; /* numbers of holds that may matter yet */
};

static inline bool fx_file_bytes_meet(uint64_t first, uint64_t last, uint64_t other_first,
				      uint64_t other_last)
{
	return first <= other_last && other_first <= last;
}

/* 0 or -ENOMEM. */
int fx_file_work_hear(struct fx_file_work *work, const struct fx_file_told *told);

/* All is heard. Ends of processes give back what these have; and one that was asking may have got it just before. */
void fx_file_work_end(struct fx_file_work *work);

void fx_file_work_free(struct fx_file_work *work);

#endif

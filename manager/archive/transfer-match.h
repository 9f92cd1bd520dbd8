/* SPDX-License-Identifier: MIT */
/*
 * Which call wrote the last byte that another one read, in one direction of one channel (a pipe, a stream, a queue of messages).
 *
 * A call is known by when it began and ended and how many bytes it moved; when in between it moved them is not known. So each has
 * the room in which its bytes must lie: behind those of all calls that had ended before it began, and before what all together had moved
 * that had begun when it ended. Bytes are written before they are read. Where a room is just as large as its call, the call's
 * place is known; calls that fill the beginning, or the end, leave the others what is left.
 *
 *	writes	|-- A: 10 --|   |-- B: 5 --|		A [0, 10)  B [10, 15)
 *	reads	|----------- C: 12 ----|		C [0, 12): its last byte is B's
 *
 * A poll that found the channel readable was woken by whoever wrote the first byte that was not read yet, if that write began later.
 *
 * A pipe of whole pages has room for a write's last byte when so many bytes before it have been read as the pipe holds: a write that
 * began before that read has waited for it. Of parts of pages nobody knows how many a pipe holds.
 *
 * A read has an arrow if all places in which its last byte can lie are of one write. What cannot be at all (a byte that
 * nobody wrote, or that had been written and was not there) shows that somebody else has part in the channel.
 */
#ifndef FX_MANAGER_TRANSFER_MATCH_H
#define FX_MANAGER_TRANSFER_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a call that nobody saw the end of. */
#define FX_TRANSFER_UNKNOWN UINT64_MAX

/* More is taken to be unknown. */
#define FX_TRANSFER_BYTES_MAX (UINT64_C(1) << 40)

enum fx_transfer_marks {
	FX_TRANSFER_SHOWN = 1 << 0,   /* it is a slice of the archive */
	FX_TRANSFER_EMPTY = 1 << 1,   /* the channel was empty when it was done */
	FX_TRANSFER_PERHAPS = 1 << 2, /* or seemed to be */
	FX_TRANSFER_WRITES = 1 << 3,
	FX_TRANSFER_AT_END = 1 << 6, /* nothing more will come */
	FX_TRANSFER_POLLS = 1 << 5,  /* it only saw that there was something */
	FX_TRANSFER_LOST =
	    1 << 4, /* stands for calls whose records were lost, if any of its process were */
};

/* A call that moved bytes. */
struct fx_transfer {
	uint64_t begin, end; /* ns */
	uint64_t bytes;
	uint32_t provider;
	uint32_t pid, tid; /* of the archive */
	uint32_t marks;
};

enum fx_match_verdict {
	FX_MATCH_NOTHING, /* it read nothing */
	FX_MATCH_FOUND,
	FX_MATCH_ORDER, /* several may have written its last byte */
};

/* Of a read. */
struct fx_match {
	uint64_t until; /* its last byte lies before this one */
	uint32_t from;	/* FOUND: the number of the write */
	enum fx_match_verdict verdict;
};

struct fx_match_result {
	struct fx_match *matches; /* one for each read */
	uint32_t *
	    makers; /* one for each write: the number of the read that made room for it; or FX_MATCH_NOBODY */
	bool is_larger;	  /* than that: a write did not wait that should have */
	bool contradicts; /* the calls do not fit each other: somebody else has moved bytes */
	bool is_sure;	  /* a read that found the channel empty had read all, */
	uint64_t sure;	  /* so that all is known up to this byte */
};

#define FX_MATCH_NOBODY UINT32_MAX

/* What a pipe holds unless it is told otherwise: so many pages. */
#define FX_PIPE_PAGES 16u

/* The calls by begin, the first of which found the channel empty. `page': the bytes of one, if it is a pipe, 0 if not. 0 or
 * -ENOMEM; matches and makers are for free(). */
int fx_transfer_match(const struct fx_transfer *writes, size_t write_count,
		      const struct fx_transfer *reads, size_t read_count, uint64_t page,
		      struct fx_match_result *ret);

#endif

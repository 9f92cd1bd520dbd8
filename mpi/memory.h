/* SPDX-License-Identifier: MIT */
/*
 * Memory of libfxtrace-mpi's own, from the kernel: what it takes is none of the program's malloc, nor in its trace. And its one
 * lock, which is held over a few steps in tables and never over a call of MPI.
 */
#ifndef FX_MPI_MEMORY_H
#define FX_MPI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed pages; NULL: there are none. */
void *fx_mpi_map(size_t size);
void fx_mpi_unmap(void *pages, size_t size);

/* Pieces of one size that are used again. All zeros but for `size`: there are none yet. */
struct fx_pool {
	size_t size; /* of a piece; at least a pointer's, a multiple of 8 */
	void *free;  /* a chain of pieces */
	char *next;  /* what nobody has had yet */
	size_t left;
};

/* A piece, zeroed; NULL: no memory. */
void *fx_pool_take(struct fx_pool *pool);
void fx_pool_give(struct fx_pool *pool, void *piece);

/* From numbers that are not 0 to pointers. All zeros: empty. */
struct fx_numbered {
	struct fx_numbered_slot {
		uint64_t number; /* 0: free */
		void *item;
	} * slots;
	size_t count, capacity; /* a power of 2 */
};

void *fx_numbered_find(const struct fx_numbered *table, uint64_t number);

/* In the place of one of the same number. False: no memory. */
bool fx_numbered_put(struct fx_numbered *table, uint64_t number, void *item);

/* Takes it out. NULL: it was not there. */
void *fx_numbered_take(struct fx_numbered *table, uint64_t number);

/* Not taken before that is so: the process has one thread that calls MPI. */
void fx_mpi_lock_matters(void);
void fx_mpi_lock(void);
void fx_mpi_unlock(void);

#endif

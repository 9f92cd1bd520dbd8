/* SPDX-License-Identifier: MIT */
#include "mpi/memory.h"

#include <linux/futex.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/syscall.h"

/* --- Pages ---------------------------------------------------------------------------------------- */

void *fx_mpi_map(size_t size)
{
	long r = fx_syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return fx_syscall_failed(r) ? NULL : (void *)r;
}

void fx_mpi_unmap(void *pages, size_t size)
{
	fx_syscall2(SYS_munmap, pages, size);
}

/* --- Pieces --------------------------------------------------------------------------------------- */

#define POOL_BYTES ((size_t)64 << 10)

void *fx_pool_take(struct fx_pool *pool)
{
	void *piece = pool->free;

	if (piece) {
		memcpy(&pool->free, piece, sizeof(void *));
		memset(piece, 0, pool->size);
		return piece;
	}
	if (pool->left < pool->size) {
		pool->next = fx_mpi_map(POOL_BYTES);
		pool->left = pool->next ? POOL_BYTES : 0;
		if (!pool->next)
			return NULL;
	}
	piece = pool->next;
	pool->next += pool->size;
	pool->left -= pool->size;
	return piece;
}

void fx_pool_give(struct fx_pool *pool, void *piece)
{
	memcpy(piece, &pool->free, sizeof(void *));
	pool->free = piece;
}

/* --- Numbers -------------------------------------------------------------------------------------- */

#define NUMBERED_FIRST 256u

/* Handles are addresses, or small numbers. */
static size_t numbered_home(const struct fx_numbered *table, uint64_t number)
{
	return (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (table->capacity - 1);
}

/* Where it is, or where it would be put. */
static size_t numbered_place(const struct fx_numbered *table, uint64_t number)
{
	size_t at = numbered_home(table, number);

	while (table->slots[at].number != 0 && table->slots[at].number != number)
		at = (at + 1) & (table->capacity - 1);
	return at;
}

void *fx_numbered_find(const struct fx_numbered *table, uint64_t number)
{
	const struct fx_numbered_slot *slot;

	if (table->count == 0 || number == 0)
		return NULL;
	slot = &table->slots[numbered_place(table, number)];
	return slot->number ? slot->item : NULL;
}

static bool numbered_grow(struct fx_numbered *table)
{
	struct fx_numbered larger = {.capacity =
					 table->capacity ? table->capacity * 2 : NUMBERED_FIRST};

	larger.slots = fx_mpi_map(larger.capacity * sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < table->capacity; i++) {
		if (table->slots[i].number)
			larger.slots[numbered_place(&larger, table->slots[i].number)] =
			    table->slots[i];
	}
	larger.count = table->count;
	if (table->slots)
		fx_mpi_unmap(table->slots, table->capacity * sizeof(*table->slots));
	*table = larger;
	return true;
}

bool fx_numbered_put(struct fx_numbered *table, uint64_t number, void *item)
{
	struct fx_numbered_slot *slot;

	if (number == 0 || (table->count * 2 >= table->capacity && !numbered_grow(table)))
		return false;
	slot = &table->slots[numbered_place(table, number)];
	table->count += slot->number == 0;
	*slot = (struct fx_numbered_slot){number, item};
	return true;
}

void *fx_numbered_take(struct fx_numbered *table, uint64_t number)
{
	size_t mask = table->capacity - 1, hole, at;
	void *item;

	if (table->count == 0 || number == 0)
		return NULL;
	hole = numbered_place(table, number);
	if (!table->slots[hole].number)
		return NULL;
	item = table->slots[hole].item;
	table->count--;
	/* What would not be found behind a hole moves into it. */
	for (at = (hole + 1) & mask; table->slots[at].number; at = (at + 1) & mask) {
		size_t home = numbered_home(table, table->slots[at].number);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			table->slots[hole] = table->slots[at];
			hole = at;
		}
	}
	table->slots[hole] = (struct fx_numbered_slot){0};
	return item;
}

/* --- The lock --------------------------------------------------------------------------------------- */

/* Free; taken; taken, and somebody sleeps. */
enum { LOCK_FREE, LOCK_TAKEN, LOCK_WANTED };

static uint32_t lock_word;
static bool lock_matters;

void fx_mpi_lock_matters(void)
{
	lock_matters = true;
}

void fx_mpi_lock(void)
{
	uint32_t seen = LOCK_FREE;

	/* pairs with the exchange in fx_mpi_unlock() */
	if (!lock_matters || fx_cas_acq_rel(&lock_word, &seen, LOCK_TAKEN))
		return;
	/* the same */
	while (__atomic_exchange_n(&lock_word, LOCK_WANTED, __ATOMIC_ACQUIRE) != LOCK_FREE)
		fx_syscall4(SYS_futex, &lock_word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, LOCK_WANTED, 0);
}

void fx_mpi_unlock(void)
{
	/* pairs with both ways to take it */
	if (lock_matters &&
	    __atomic_exchange_n(&lock_word, LOCK_FREE, __ATOMIC_RELEASE) == LOCK_WANTED)
		fx_syscall3(SYS_futex, &lock_word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

/* SPDX-License-Identifier: MIT */
/*
 * What the descriptors of the process are: a table from number to the string that says it, and the bytes
 * that the recorded calls have moved through the number in each direction.
 *
 * An entry is filled when a recorded call first uses the descriptor, by asking the kernel (fdname.h): so
 * it does not matter which thread opened it, or whether that was seen. This is before the clock is read for the
 * call, and never in a confined process. Calls that open or close a number only forget its entry. The
 * table is empty again in a forked child, whose strings are others.
 *
 * Threads that use and close one number at the same time may see what it was before, and lose some bytes
 * of the totals; nothing is locked. A descriptor has no string once those of descriptors have used up
 * their share of the indices or of the durable area, and beyond FX_FDS.
 */
#ifndef FX_PRELOAD_FDTABLE_H
#define FX_PRELOAD_FDTABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "engine/provider/engine.h"
#include "engine/layout.h"

/* Numbers with an entry: 0 .. FX_FDS-1. */
#define FX_FDS 65536u

/* Numbers of which it is remembered whether they are channels: those below. */
#define FX_FDS_ASKED 1024u

/* Strings for descriptors, at most; and their part of the durable area is one in this many. */
#define FX_FD_STRINGS	    8192u
#define FX_FD_DURABLE_SHARE 4u

struct fx_fd {
	/* age << 40 | is doubled << 39 | renamings << 32 | string index. Age or renamings grow with each forgetting: a thread that has asked the
	 * kernel in the meantime must not store what it was told. Index 0: unknown. */
	uint64_t word;
	uint64_t read; /* bytes */
	uint64_t written;
};

/* In place of an index: there is none, and asking again is no use. */
#define FX_FD_NAMELESS 0xffffu
/* Beside an index: a socket that may get a peer, or a port, yet. */
#define FX_FD_UNSETTLED 0x10000u
/* Or an eventfd, of which calls say what they have added or taken. */
#define FX_FD_COUNTED 0x20000u

extern struct fx_fd_table {
	struct fx_fd *entries;
	uint32_t count; /* of entries; 0 before fx_fd_table_init() */
} fx_fd_table __attribute__((visibility("hidden")));

/* What a call shows of a descriptor: string 0 is nothing; it may have FX_FD_COUNTED beside it. */
struct fx_fd_ref {
	struct fx_fd *entry;
	uint32_t string;
};

/* Makes the table. Without it (no memory) descriptors are numbers only. */
void fx_fd_table_init(void);

/* Slow half of fx_fd_look(). */
fx_cold uint32_t fx_fd_learn(int fd, uint32_t category);

/* Before a call of `category` that uses `fd`. 7 instructions and two branches. */
fx_hot struct fx_fd_ref fx_fd_look(int fd, uint32_t category)
{
	struct fx_fd_ref r = {0};

	if (fx_unlikely((uint32_t)fd >= fx_fd_table.count))
		return r;
	r.entry = &fx_fd_table.entries[fd];
	/* relaxed: the string was published before its index */
	r.string = (uint32_t)fx_load_relaxed(&r.entry->word);
	if (fx_unlikely(r.string - 1 >= FX_STRING_LOCAL - 1))
		r.string = fx_fd_learn(fd, category);
	return r;
}

/* The same without asking the kernel: the call closes it. */
struct fx_fd_ref fx_fd_known(int fd);

/* How often the number was forgotten, but for renamings: another age, another descriptor. */
uint32_t fx_fd_age(int fd);

/* Whether it is a pipe, FIFO or socket, which the kernel is asked once. Numbers from FX_FDS_ASKED on are none. */
bool fx_fd_is_channel(int fd);

/* `to' is a copy of `from'. */
void fx_fd_copied(int from, int to);

/*
 * Whether it was opened in this process, as far as is seen, and only this number leads there: it is no copy, has none and is not
 * mapped. Other processes may have it by fork().
 */
bool fx_fd_is_single(int fd);

/* A mapping leads there, too. */
void fx_fd_doubled(int fd);

/* `fd' is an eventfd, just made. */
void fx_fd_event(int fd, bool is_semaphore);

/* The number is closed, or was opened anew. Nothing in a vfork child: its descriptors are its own. */
void fx_fd_forget(int fd);

/* The number was closed, which was of this age before: nothing if it was opened anew meanwhile. */
void fx_fd_forget_closed(int fd, uint32_t age);

/* The same for all from `first` to `last`. */
void fx_fd_forget_range(uint32_t first, uint32_t last);

/* The number is forgotten, too; openat() has opened it in a directory (AT_FDCWD: none that is known) by this name, with these flags. */
void fx_fd_opened_at(int fd, int directory, const char *name, int flags);

/* renameat() has moved what was called so in a directory; NULL: more than that. */
void fx_fd_moved(int directory, const char *name);

/* The socket has another address: what it is is asked anew, the totals stay. */
void fx_fd_renamed(int fd);

/* relaxed, and not one operation: threads that move bytes at once may lose some of the sum */
fx_hot uint64_t fx_fd_sum(const uint64_t *total, int64_t bytes)
{
	return fx_load_relaxed(total) + (uint64_t)bytes;
}

fx_hot uint64_t fx_fd_add(uint64_t *total, int64_t bytes)
{
	uint64_t sum = fx_fd_sum(total, bytes);

	fx_store_relaxed(total, sum);
	return sum;
}

#endif

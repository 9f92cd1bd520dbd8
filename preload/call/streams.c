/* SPDX-License-Identifier: MIT */
#include "preload/call/streams.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <bits/types/struct_FILE.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "preload/call/call.h"
#include "preload/host/lookup.h"
#include "preload/host/real.h"
#include "preload/show/fdtable.h"

/* The tables stand beside each other, within so much of the one whose name is known. */
#define TABLES_BYTES 4096u

/* libc's own stream, whatever the program has in the variable stdin. */
extern struct {
	FILE stream;
	const void *table;
} _IO_2_1_stdin_;

#define BUSY_PID_SHIFT 3

/* Who is changing the words needs two system calls for it: for so long its end is waited for. */
#define YIELDS_MAX 1000u

uint64_t fx_streams_state;

/* --- What is recorded --------------------------------------------------------------------------- */

enum {
	STREAM_WORDS = FX_CALL_WORDS + FX_RESULT_WORDS + FX_WORDS_fd + FX_WORDS_size +
		       FX_WORDS_FILE + FX_WORDS_TOTAL
};

_Static_assert(STREAM_WORDS <= FX_CALL_WORDS_MAX, "fits the smallest chunk");

static bool stream_is_channel(const FILE *f)
{
	return fx_category_on(FX_CAT_SYSCALL) && fx_fd_is_channel(f->_fileno);
}

static ssize_t stream_reads(FILE *f, void *buf, ssize_t count)
{
	struct fx_fd_ref is;
	struct fx_call call;
	ssize_t ret;

	if (!stream_is_channel(f))
		return FX_REAL(_IO_file_read)(f, buf, count);
	is = fx_compact_look(f->_fileno, FX_CAT_SYSCALL);
	if (!fx_compact_begin(&call, FX_CAT_SYSCALL, FX_CALL_HEADER(syscall, read), FX_WRAPPER_SP(),
			      (uint64_t)f->_fileno))
		return FX_REAL(_IO_file_read)(f, buf, count);
	ret = FX_REAL(_IO_file_read)(f, buf, count);
	if (fx_compact_end(&call, STREAM_WORDS, FX_ERROR_sys(ret))) {
		fx_arg_fd(&call, FX_STR_fd, f->_fileno);
		fx_arg_size(&call, FX_STR_count, (size_t)count);
		fx_result_sys(&call, ret);
		fx_show_total(&call, FX_STR_file, &is, FX_STR_total_read, &is.entry->read, ret);
		fx_compact_write(&call, FX_CALL_HEADER(syscall, read));
	}
	return ret;
}

/* libc's makes several calls where one does not take all, and says how much there was in all. */
static ssize_t stream_writes(FILE *f, const void *buf, ssize_t count)
{
	struct fx_fd_ref is;
	struct fx_call call;
	ssize_t ret, shown;

	if (!stream_is_channel(f))
		return FX_REAL(_IO_file_write)(f, buf, count);
	is = fx_compact_look(f->_fileno, FX_CAT_SYSCALL);
	if (!fx_compact_begin(&call, FX_CAT_SYSCALL, FX_CALL_HEADER(syscall, write),
			      FX_WRAPPER_SP(), (uint64_t)f->_fileno))
		return FX_REAL(_IO_file_write)(f, buf, count);
	ret = FX_REAL(_IO_file_write)(f, buf, count);
	shown = ret > 0 || ret == count ? ret : -1;
	if (fx_compact_end(&call, STREAM_WORDS, FX_ERROR_sys(shown))) {
		fx_arg_fd(&call, FX_STR_fd, f->_fileno);
		fx_arg_size(&call, FX_STR_count, (size_t)count);
		fx_result_sys(&call, shown);
		fx_show_total(&call, FX_STR_file, &is, FX_STR_total_written, &is.entry->written,
			      shown);
		fx_compact_write(&call, FX_CALL_HEADER(syscall, write));
	}
	return ret;
}

/* --- The tables --------------------------------------------------------------------------------- */

/* What stands in a table, one behind the other. */
struct stream_ways {
	uint64_t read, write;
};

static uint64_t stream_address(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

/* Where libc's tables can be: in what is read-only once it is relocated. False: that is not known. */
static bool stream_tables(uint64_t *ret_start, uint64_t *ret_end)
{
	const uint64_t page = getauxval(AT_PAGESZ), libc = fx_lookup_libc();
	const uint64_t table = stream_address(_IO_2_1_stdin_.table);
	const ElfW(Ehdr) *header = (const void *)(uintptr_t)libc;
	const ElfW(Phdr) * ph;

	if (!libc || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	ph = (const void *)(uintptr_t)(libc + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uint64_t start = FX_ALIGN_DOWN(libc + ph[i].p_vaddr, page);
		uint64_t end = FX_ALIGN_DOWN(libc + ph[i].p_vaddr + ph[i].p_memsz, page);

		if (ph[i].p_type != PT_GNU_RELRO || table < start || table >= end)
			continue;
		*ret_start = table - start > TABLES_BYTES ? table - TABLES_BYTES : start;
		*ret_end = end - table > TABLES_BYTES ? table + TABLES_BYTES : end;
		return true;
	}
	return false;
}

/* A word that others go by meanwhile. */
static void stream_way_set(uint64_t *way, uint64_t from, uint64_t to)
{
	/* relaxed: what either leads to was there before this library's first call */
	if (fx_load_relaxed(way) == from)
		fx_cas_acq_rel(way, &from, to);
}

static bool stream_way_is(const uint64_t *way, uint64_t from, uint64_t to)
{
	const uint64_t is = fx_load_relaxed(way); /* as above */

	return is == from || is == to;
}

/* False: nothing is changed. What is changed by half already, by a thread that a fork has left behind, is changed whole. */
static bool stream_ways_change(const struct stream_ways *from, const struct stream_ways *to)
{
	const uint64_t page = getauxval(AT_PAGESZ);
	uint64_t start, end, first, size;

	if (!stream_tables(&start, &end))
		return false;
	first = FX_ALIGN_DOWN(start, page);
	size = FX_ALIGN_UP(end, page) - first;
	if (fx_syscall3(SYS_mprotect, first, size, PROT_READ | PROT_WRITE) != 0)
		return false;
	for (uint64_t at = start; at + sizeof(*from) <= end; at += sizeof(uint64_t)) {
		struct stream_ways *ways = (struct stream_ways *)(uintptr_t)at;

		if (!stream_way_is(&ways->read, from->read, to->read) ||
		    !stream_way_is(&ways->write, from->write, to->write))
			continue;
		stream_way_set(&ways->read, from->read, to->read);
		stream_way_set(&ways->write, from->write, to->write);
	}
	fx_syscall3(SYS_mprotect, first, size, PROT_READ);
	return true;
}

static struct stream_ways stream_ways_libc(void)
{
	return (struct stream_ways){stream_address((const void *)FX_REAL(_IO_file_read)),
				    stream_address((const void *)FX_REAL(_IO_file_write))};
}

static struct stream_ways stream_ways_own(void)
{
	return (struct stream_ways){stream_address((const void *)stream_reads),
				    stream_address((const void *)stream_writes)};
}

/* --- Who changes them ---------------------------------------------------------------------------- */

static uint64_t streams_busy(void)
{
	return (uint64_t)(uint32_t)fx_engine.pid << BUSY_PID_SHIFT | FX_STREAMS_BUSY;
}

static bool streams_are_at(uint64_t state)
{
	return state == streams_busy();
}

/*
 * Makes the words lead from `from` to `to`, and the state `done`, or `failed`. False: it was not `state` any more. One thread at a
 * time: two would make the page read-only under each other's writes. So would a handler in the middle, and the child that it forks.
 */
static bool streams_turn(uint64_t state, const struct stream_ways *from,
			 const struct stream_ways *to, uint64_t done, uint64_t failed)
{
	const uint64_t all = UINT64_MAX;
	uint64_t before;
	bool is_own;

	if (fx_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all)) != 0)
		return false;
	/* Pairs with the release below, of who has changed them before. */
	is_own = fx_cas_acq_rel(&fx_streams_state, &state, streams_busy());
	if (is_own)
		fx_store_release(&fx_streams_state, stream_ways_change(from, to) ? done : failed);
	fx_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
	return is_own;
}

static bool streams_may_be_changed(void)
{
	return fx_engine_may(FX_ASK_STREAMS | FX_ASK_LOOK);
}

fx_cold void fx_streams_see_first(void)
{
	/* relaxed: an exchange follows */
	uint64_t state = fx_load_relaxed(&fx_streams_state);

	/* A guest's process, and the number that stands there, are not this one's. */
	if (state & FX_STREAMS_SETTLED || streams_are_at(state) || fx_engine_is_stranger() ||
	    fx_engine_is_lent())
		return;
	if (!streams_may_be_changed()) {
		fx_cas_acq_rel(&fx_streams_state, &state, FX_STREAMS_LEFT);
	} else {
		const struct stream_ways from = stream_ways_libc(), to = stream_ways_own();

		streams_turn(state, &from, &to, FX_STREAMS_CHANGED, FX_STREAMS_LEFT);
	}
}

void fx_streams_begin(void)
{
	uint64_t left = FX_STREAMS_LEFT;

	fx_cas_acq_rel(&fx_streams_state, &left, FX_STREAMS_UNTOUCHED);
}

void fx_streams_restore(void)
{
	const struct stream_ways from = stream_ways_own(), to = stream_ways_libc();

	for (unsigned i = 0; i < YIELDS_MAX; i++) {
		/* relaxed: an exchange follows */
		uint64_t state = fx_load_relaxed(&fx_streams_state);

		if (state == FX_STREAMS_LEFT)
			return;
		if (state == FX_STREAMS_UNTOUCHED) {
			if (fx_cas_acq_rel(&fx_streams_state, &state, FX_STREAMS_LEFT))
				return;
		} else if (!streams_may_be_changed()) {
			return;
		} else if (!streams_are_at(state) &&
			   streams_turn(state, &from, &to, FX_STREAMS_LEFT, FX_STREAMS_CHANGED)) {
			return;
		} else {
			fx_syscall0(SYS_sched_yield);
		}
	}
	/* The words lead here for good, and from here on to libc's: this library stays where it is. */
}

/* SPDX-License-Identifier: MIT */
#include "preload/call/streams.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
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

bool fx_streams_are_seen;

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

/* In words that others go by meanwhile. */
static void stream_ways_change(const struct stream_ways *from, const struct stream_ways *to)
{
	const uint64_t page = getauxval(AT_PAGESZ);
	uint64_t start, end, first, size;

	if (!stream_tables(&start, &end))
		return;
	first = FX_ALIGN_DOWN(start, page);
	size = FX_ALIGN_UP(end, page) - first;
	if (fx_syscall3(SYS_mprotect, first, size, PROT_READ | PROT_WRITE) != 0)
		return;
	for (uint64_t at = start; at + sizeof(*from) <= end; at += sizeof(uint64_t)) {
		struct stream_ways *ways = (struct stream_ways *)(uintptr_t)at;
		uint64_t read = from->read, write = from->write;

		/* relaxed: what they lead to was there before this library's first call */
		if (fx_load_relaxed(&ways->read) != read || fx_load_relaxed(&ways->write) != write)
			continue;
		fx_cas_acq_rel(&ways->read, &read, to->read);
		fx_cas_acq_rel(&ways->write, &write, to->write);
	}
	fx_syscall3(SYS_mprotect, first, size, PROT_READ);
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

fx_cold void fx_streams_see_first(void)
{
	bool seen = false;

	if (!fx_category_on(FX_CAT_SYSCALL) || !fx_engine_may(FX_ASK_STREAMS))
		return;
	if (fx_cas_acq_rel(&fx_streams_are_seen, &seen, true)) {
		const struct stream_ways from = stream_ways_libc(), to = stream_ways_own();

		stream_ways_change(&from, &to);
	}
}

void fx_streams_restore(void)
{
	bool seen = true;

	if (fx_cas_acq_rel(&fx_streams_are_seen, &seen, false)) {
		const struct stream_ways from = stream_ways_own(), to = stream_ways_libc();

		stream_ways_change(&from, &to);
	}
}

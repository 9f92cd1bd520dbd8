/* SPDX-License-Identifier: MIT */
#include "preload/attach/mapped.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"
#include "engine/provider/wiped.h"

/* No machine has room for more. */
#define SIZE_LIMIT (1ull << 46)

static void keep_out_of_dumps(long p, uint64_t size)
{
	fx_syscall3(SYS_madvise, p, size, MADV_DONTDUMP);
}

/* --- The first time ------------------------------------------------------------------------------ */

enum piece { BUFFER, WIPED, CONTROL, COMMON, PIECES };

/* The whole is the buffer's, far behind its end: as much of the address space as all take, and no memory. The others
 * replace it from their places on. */
static int map_pieces(long base, const uint64_t at[PIECES + 1],
		      const struct fx_msg_registered *reply, const int fds[FX_FD_COUNT])
{
	const struct {
		uint64_t size;
		int prot, flags, fd;
	} pieces[PIECES] = {
	    [WIPED] = {FX_WIPED_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1},
	    [CONTROL] = {reply->control_size, PROT_READ, MAP_SHARED, fds[FX_FD_CONTROL]},
	    [COMMON] = {FX_PAGE, PROT_READ, MAP_SHARED, fds[FX_FD_COMMON]},
	};

	for (unsigned i = WIPED; i < PIECES; i++) {
		long p =
		    fx_syscall6(SYS_mmap, base + (long)at[i], (long)pieces[i].size, pieces[i].prot,
				pieces[i].flags | MAP_FIXED | MAP_NORESERVE, pieces[i].fd, 0);

		if (i == WIPED)
			FX_FAULT(register_half_mapped);
		if (!fx_syscall_failed(p))
			continue;
		/* Where that one was to be there may be another thread's by now. */
		fx_syscall2(SYS_munmap, base, at[i]);
		if (at[i + 1] < at[PIECES])
			fx_syscall2(SYS_munmap, base + (long)at[i + 1], at[PIECES] - at[i + 1]);
		return (int)p;
	}
	return 0;
}

static int map_together(struct fx_mapped *m, const struct fx_msg_registered *reply,
			const int fds[FX_FD_COUNT])
{
	const uint64_t sizes[PIECES] = {reply->buffer_size, FX_WIPED_SIZE, reply->control_size,
					FX_PAGE};
	const uint64_t page = getauxval(AT_PAGESZ);
	uint64_t at[PIECES + 1] = {0};
	long base;
	int r;

	for (unsigned i = 0; i < PIECES; i++)
		at[i + 1] = at[i] + FX_ALIGN_UP(sizes[i], page);
	base = fx_syscall6(SYS_mmap, 0, (long)at[PIECES], PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE, fds[FX_FD_BUFFER], 0);
	if (fx_syscall_failed(base))
		return (int)base;
	r = map_pieces(base, at, reply, fds);
	if (r != 0)
		return r;
	keep_out_of_dumps(base, at[PIECES]);
	fx_wiped_lies((char *)base + at[WIPED]); /* the engine tells if nothing wipes it */
	m->buffer = (char *)base;
	m->control = (char *)base + at[CONTROL];
	m->common = (char *)base + at[COMMON];
	return 0;
}

/* --- In a child ----------------------------------------------------------------------------------- */

/* Maps `fd`, in place of `old` if there is one of the same size. A control page of another size stays
 * where it is if the process was attached with it: what a fork has interrupted may still look at it. */
static void *map_over(void *old, uint64_t old_size, uint64_t size, int prot, int fd)
{
	int flags = MAP_SHARED | MAP_NORESERVE;
	long p;

	if (old && old_size != size) {
		if (old != (const void *)fx_engine.page)
			fx_syscall2(SYS_munmap, old, old_size);
		old = NULL;
	}
	if (old)
		flags |= MAP_FIXED;
	p = fx_syscall6(SYS_mmap, (long)old, (long)size, prot, flags, fd, 0);
	if (fx_syscall_failed(p))
		return NULL;
	keep_out_of_dumps(p, size);
	return (void *)p;
}

static int map_anew(struct fx_mapped *m, const struct fx_msg_registered *reply,
		    const int fds[FX_FD_COUNT])
{
	m->control = map_over(m->control, m->control_size, reply->control_size, PROT_READ,
			      fds[FX_FD_CONTROL]);
	m->common = map_over(m->common, FX_PAGE, FX_PAGE, PROT_READ, fds[FX_FD_COMMON]);
	FX_FAULT(register_half_mapped);
	if (!m->control || !m->common)
		return -ENOMEM;
	/* Never over the parent's: the engine has put memory of its own there. */
	m->buffer = map_over(m->again_size == reply->buffer_size ? m->again : NULL, m->again_size,
			     reply->buffer_size, PROT_READ | PROT_WRITE, fds[FX_FD_BUFFER]);
	m->again = NULL;
	m->again_size = 0;
	return m->buffer ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------------------------------- */

int fx_mapped_make(struct fx_mapped *m, const struct fx_msg_registered *reply,
		   const int fds[FX_FD_COUNT])
{
	int r;

	if (reply->control_size >= SIZE_LIMIT || reply->buffer_size >= SIZE_LIMIT)
		return -ENOMEM;
	r = m->control || m->common ? map_anew(m, reply, fds) : map_together(m, reply, fds);
	m->control_size = reply->control_size;
	m->buffer_size = reply->buffer_size;
	return r;
}

static void rolling_drop(char *buffer, const struct fx_layout *l)
{
	for (uint32_t i = 0; i < l->halves; i++) {
		uint64_t begin = FX_ALIGN_UP(l->rolling_offset[i], (uint64_t)FX_PAGE);
		uint64_t end = l->rolling_offset[i] + (uint64_t)l->chunks_per_half * l->chunk_size;

		end = FX_ALIGN_DOWN(end, (uint64_t)FX_PAGE);
		if (begin < end)
			fx_syscall3(SYS_madvise, buffer + begin, end - begin, MADV_REMOVE);
	}
}

void fx_mapped_keep(struct fx_mapped *m, const struct fx_layout *layout)
{
	if (!m->buffer)
		return;
	rolling_drop(m->buffer, layout);
	m->again = m->idle;
	m->again_size = m->idle_size;
	m->idle = m->buffer;
	m->idle_size = m->buffer_size;
	m->buffer = NULL;
}

void fx_mapped_drop_buffer(struct fx_mapped *m)
{
	fx_syscall2(SYS_munmap, m->buffer, m->buffer_size);
	m->buffer = NULL;
}

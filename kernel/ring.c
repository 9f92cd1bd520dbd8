/* SPDX-License-Identifier: MIT */
#include "kernel/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/registers.h"

/* Bytes of the stack that a sample brings; what lies deeper is not seen. */
#define STACK_BYTES 16384u

/* Pages of a ring: as many as are had, in steps of one half down to what everybody may lock (perf_event_mlock_kb). */
#define RING_PAGES_MOST	 1024u
#define RING_PAGES_LEAST 8u

/* Bytes of tracepoints after which their ring is read before its turn. */
#define TRACEPOINT_WATERMARK (256u << 10)

/* What every record says: struct fx_ring_trailer, and the address of fx_ring_sample_begin. */
#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

static int perf_event_open(struct perf_event_attr *attr, pid_t pid, uint32_t cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int ring_map(struct fx_ring *ring, unsigned pages)
{
	size_t page = (size_t)getpagesize();
	void *p = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	ring->page = p;
	ring->data = (const uint8_t *)p + page;
	ring->size = pages * page;
	return 0;
}

void fx_ring_disable(const struct fx_ring *ring)
{
	ioctl(ring->fd, PERF_EVENT_IOC_DISABLE, 0);
	for (unsigned i = 0; i < ring->other_count; i++)
		ioctl(ring->others[i], PERF_EVENT_IOC_DISABLE, 0);
}

void fx_ring_close(struct fx_ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->size + (size_t)getpagesize());
	while (ring->other_count)
		close(ring->others[--ring->other_count]);
	free(ring->others);
	if (ring->fd >= 0)
		close(ring->fd);
	*ring = (struct fx_ring){.fd = -1};
}

/* --- Samples, and what processes do -------------------------------------------------------------- */

static void attr_fill(const struct fx_kernel_wish *wish, bool kernel, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(*ret),
	    .config = wish->hz ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY,
	    .sample_type = SAMPLE_TYPE,
	    .inherit = 1,
	    .exclude_kernel = !kernel,
	    .exclude_hv = 1,
	    .mmap = 1,
	    .mmap2 = 1,
	    .comm = 1,
	    .comm_exec = 1,
	    .task = 1,
	    .context_switch = wish->switches,
	    .sample_id_all = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_BOOTTIME,
	    .watermark = 1,
	};
	if (!wish->hz)
		return;
	ret->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	ret->exclude_callchain_user = 1; /* that would go by frame pointers */
	ret->exclude_callchain_kernel = !kernel;
	ret->freq = 1;
	ret->sample_freq = wish->hz;
	ret->sample_regs_user = FX_REGISTER_MASK;
	ret->sample_stack_user = STACK_BYTES;
}

int fx_ring_open(struct fx_ring *ring, const struct fx_kernel_wish *wish, bool kernel, uint32_t cpu)
{
	struct perf_event_attr attr;
	int r = -ENOMEM;

	attr_fill(wish, kernel, &attr);
	for (unsigned pages = RING_PAGES_MOST; pages >= RING_PAGES_LEAST; pages /= 2) {
		*ring = (struct fx_ring){.cpu = cpu};
		/* It cannot be changed afterwards, so each size takes an event of its own. */
		attr.wakeup_watermark = (uint32_t)(pages * (size_t)getpagesize() / 4);
		ring->fd = perf_event_open(&attr, wish->pid, cpu);
		if (ring->fd < 0)
			return ring->fd;
		r = ring_map(ring, pages);
		if (r == 0)
			return 0;
		fx_ring_close(ring);
		if (r != -EPERM && r != -ENOMEM)
			break;
	}
	return r;
}

/* --- Tracepoints -------------------------------------------------------------------------------- */

/* Tracepoints know no clock that stands in an interrupt that nothing can hold up, as CLOCK_BOOTTIME does; and to be refused costs
 * a tracepoint some 40 ms, the way back included. */
static void attr_fill_tracepoint(uint32_t number, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
	    .type = PERF_TYPE_TRACEPOINT,
	    .size = sizeof(*ret),
	    .config = number,
	    .sample_period = 1,
	    .sample_type = SAMPLE_TYPE | PERF_SAMPLE_RAW,
	    .inherit = 1,
	    .sample_id_all = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	    .watermark = 1,
	    .wakeup_watermark = TRACEPOINT_WATERMARK,
	};
}

/* The first makes the ring, the others write into it. */
static int tracepoint_add(struct fx_ring *ring, uint32_t number, pid_t pid)
{
	struct perf_event_attr attr;
	int fd, r = -ENOMEM;

	attr_fill_tracepoint(number, &attr);
	fd = perf_event_open(&attr, pid, ring->cpu);
	if (fd < 0)
		return fd;
	if (ring->fd >= 0) {
		r = ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0 ? -errno : 0;
		if (r == 0)
			ring->others[ring->other_count++] = fd;
		else
			close(fd);
		return r;
	}
	ring->fd = fd;
	for (unsigned pages = RING_PAGES_MOST; r < 0 && pages >= RING_PAGES_LEAST; pages /= 2)
		r = ring_map(ring, pages);
	return r;
}

int fx_ring_open_tracepoints(struct fx_ring *ring, const struct fx_kernel_wish *wish, uint32_t cpu)
{
	int r = 0;

	*ring = (struct fx_ring){.fd = -1, .cpu = cpu, .is_tracepoints = true};
	ring->others = calloc(wish->tracepoint_count, sizeof(*ring->others));
	if (!ring->others)
		return -ENOMEM;
	for (unsigned i = 0; r == 0 && i < wish->tracepoint_count; i++)
		r = tracepoint_add(ring, wish->tracepoints[i], wish->pid);
	if (r < 0)
		fx_ring_close(ring);
	return r;
}

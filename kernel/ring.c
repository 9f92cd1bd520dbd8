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
#include "kernel/follow.h"

/* Bytes of the stack that a sample brings; what lies deeper is not seen. */
#define STACK_BYTES 16384u

/* Pages of a ring: as many as are had, in steps of one half down to what everybody may lock (perf_event_mlock_kb). */
#define RING_PAGES_MOST	 1024u
#define RING_PAGES_WIDE	 4096u /* for what all threads of the machine do */
#define RING_PAGES_LATE	 256u  /* for probes */
#define RING_PAGES_LEAST 8u

/* Bytes of tracepoints after which their ring is read before its turn. */
#define TRACEPOINT_WATERMARK (256u << 10)

/* What every record says: struct fx_ring_trailer, and the address of fx_ring_sample_begin. */
#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* All threads, as perf_event_open(2) has it. */
#define ANYBODY (-1)

static int perf_event_open(struct perf_event_attr *attr, pid_t pid, uint32_t cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static pid_t pid_of(const struct fx_kernel_wish *wish)
{
	return wish->everyone ? ANYBODY : wish->pid;
}

static unsigned ring_pages(const struct fx_kernel_wish *wish)
{
	return wish->everyone || wish->machine ? RING_PAGES_WIDE : RING_PAGES_MOST;
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
	/* What all threads do is told by one event alone. */
	bool tells_lives = wish->everyone || !wish->machine;
	/* A clock of all threads is the processor's. */
	uint32_t clock = wish->everyone ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK;

	*ret = (struct perf_event_attr){
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(*ret),
	    .config = wish->hz ? clock : PERF_COUNT_SW_DUMMY,
	    .sample_type = SAMPLE_TYPE | PERF_SAMPLE_ADDR,
	    .inherit = !wish->everyone,
	    .exclude_kernel = !kernel,
	    .exclude_hv = 1,
	    .exclude_idle = wish->everyone,
	    .mmap = 1,
	    .mmap2 = 1,
	    .mmap_data = wish->faults,
	    .comm = tells_lives,
	    .comm_exec = tells_lives,
	    .task = tells_lives,
	    .context_switch = wish->switches && tells_lives,
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

/* Where the kernel does not take it, more records come than are of interest, and mean the same. */
static void event_filter(int fd, const char *filter)
{
	if (filter)
		ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter);
}

/* One more event that writes into the ring: its descriptor, or -errno. */
static int event_direct(const struct fx_ring *ring, struct perf_event_attr *attr, pid_t pid,
			const char *filter)
{
	int fd = perf_event_open(attr, pid, ring->cpu), r;

	if (fd < 0)
		return fd;
	event_filter(fd, filter);
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

/* The ring has room for its descriptor. */
static int ring_add(struct fx_ring *ring, struct perf_event_attr *attr, pid_t pid,
		    const char *filter)
{
	int fd = event_direct(ring, attr, pid, filter);

	if (fd < 0)
		return fd;
	ring->others[ring->other_count++] = fd;
	return 0;
}

/* A fault brings its address, and no stack: fx_ring_fault() tells it from samples by that. */
static int ring_add_faults(struct fx_ring *ring, const struct fx_kernel_wish *wish, bool kernel)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	    .sample_period = 1,
	    .sample_type = SAMPLE_TYPE | PERF_SAMPLE_ADDR,
	    .inherit = !wish->everyone,
	    .exclude_kernel = !kernel,
	    .exclude_hv = 1,
	    .sample_id_all = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_BOOTTIME,
	    .watermark = 1,
	};

	return ring_add(ring, &attr, pid_of(wish), NULL);
}

/* What all threads of the machine do. */
static int ring_add_machine(struct fx_ring *ring)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = SAMPLE_TYPE,
	    .comm = 1,
	    .comm_exec = 1,
	    .task = 1,
	    .context_switch = 1,
	    .sample_id_all = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_BOOTTIME,
	    .watermark = 1,
	};

	return ring_add(ring, &attr, ANYBODY, NULL);
}

static int ring_add_others(struct fx_ring *ring, const struct fx_kernel_wish *wish, bool kernel)
{
	int r = 0;

	ring->others = calloc(2, sizeof(*ring->others));
	if (!ring->others)
		return -ENOMEM;
	if (wish->faults)
		r = ring_add_faults(ring, wish, kernel);
	if (r == 0 && wish->machine && !wish->everyone)
		r = ring_add_machine(ring);
	return r;
}

int fx_ring_open(struct fx_ring *ring, const struct fx_kernel_wish *wish, bool kernel, uint32_t cpu)
{
	struct perf_event_attr attr;
	int r = -ENOMEM;

	attr_fill(wish, kernel, &attr);
	for (unsigned pages = ring_pages(wish); pages >= RING_PAGES_LEAST; pages /= 2) {
		*ring = (struct fx_ring){.cpu = cpu};
		/* It cannot be changed afterwards, so each size takes an event of its own. */
		attr.wakeup_watermark = (uint32_t)(pages * (size_t)getpagesize() / 4);
		ring->fd = perf_event_open(&attr, pid_of(wish), cpu);
		if (ring->fd < 0)
			return ring->fd;
		r = ring_map(ring, pages);
		if (r == 0)
			r = ring_add_others(ring, wish, kernel);
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
static void attr_fill_tracepoint(uint32_t type, uint32_t config, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
	    .type = type,
	    .size = sizeof(*ret),
	    .config = config,
	    .sample_period = 1,
	    .sample_type = SAMPLE_TYPE | PERF_SAMPLE_RAW,
	    .sample_id_all = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	    .watermark = 1,
	    .wakeup_watermark = TRACEPOINT_WATERMARK,
	};
}

/* The first makes the ring, the others write into it. */
static int tracepoint_add(struct fx_ring *ring, const struct fx_kernel_wish *wish,
			  struct perf_event_attr *attr, pid_t pid, const char *filter)
{
	int r;

	if (ring->fd >= 0)
		return ring_add(ring, attr, pid, filter);
	r = perf_event_open(attr, pid, ring->cpu);
	if (r < 0)
		return r;
	ring->fd = r;
	event_filter(ring->fd, filter);
	r = -ENOMEM;
	for (unsigned pages = ring_pages(wish); r != 0 && pages >= RING_PAGES_LEAST; pages /= 2)
		r = ring_map(ring, pages);
	return r;
}

static int ring_add_point(struct fx_ring *ring, const struct fx_kernel_wish *wish,
			  const struct fx_kernel_point *point)
{
	pid_t pid = point->is_wide ? ANYBODY : pid_of(wish);
	struct perf_event_attr attr;

	attr_fill_tracepoint(PERF_TYPE_TRACEPOINT, point->number, &attr);
	attr.inherit = pid != ANYBODY;
	return tracepoint_add(ring, wish, &attr, pid, point->filter);
}

/* What programs write; it makes the ring. */
static int ring_add_followed(struct fx_ring *ring, const struct fx_kernel_wish *wish)
{
	struct perf_event_attr attr;
	int r;

	attr_fill_tracepoint(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, &attr);
	r = tracepoint_add(ring, wish, &attr, ANYBODY, NULL);
	return r < 0 ? r : fx_follow_direct(wish->follow, ring->cpu, ring->fd);
}

int fx_ring_open_tracepoints(struct fx_ring *ring, const struct fx_kernel_wish *wish, uint32_t cpu)
{
	int r = 0;

	*ring = (struct fx_ring){.fd = -1, .cpu = cpu, .is_tracepoints = true};
	ring->others = calloc(wish->point_count + 1, sizeof(*ring->others));
	if (!ring->others)
		return -ENOMEM;
	if (wish->follow)
		r = ring_add_followed(ring, wish);
	for (unsigned i = 0; r == 0 && i < wish->point_count; i++) {
		if (!wish->points[i].is_followed)
			r = ring_add_point(ring, wish, &wish->points[i]);
	}
	if (r < 0)
		fx_ring_close(ring);
	return r;
}

int fx_ring_open_late(struct fx_ring *ring, uint32_t cpu)
{
	struct perf_event_attr attr;
	int r;

	*ring = (struct fx_ring){.fd = -1, .cpu = cpu, .is_tracepoints = true};
	attr_fill_tracepoint(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, &attr);
	r = perf_event_open(&attr, ANYBODY, cpu);
	if (r < 0)
		return r;
	ring->fd = r;
	r = ring_map(ring, RING_PAGES_LATE);
	if (r < 0)
		fx_ring_close(ring);
	return r;
}

int fx_ring_add_late(const struct fx_ring *ring, uint32_t number)
{
	struct perf_event_attr attr;

	attr_fill_tracepoint(PERF_TYPE_TRACEPOINT, number, &attr);
	return event_direct(ring, &attr, ANYBODY, NULL);
}

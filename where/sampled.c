/* SPDX-License-Identifier: MIT */
#include "where/sampled.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"

/* Of the thread's time, ns; and how long it may take until it has had that, ms. */
#define PERIOD_NS UINT64_C(50000)
#define WAIT_MS	  60

/* Room for one sample, a power of two. */
#define RING_BYTES (128u << 10)

#if defined(__x86_64__)
#define IP_PLACE FX_REGISTER_UNW_X86_64_RIP
#elif defined(__aarch64__)
#define IP_PLACE FX_REGISTER_UNW_AARCH64_PC
#endif

/* What a sample consists of, which is the first record of its ring; behind it is the stack, and how much of that is real. */
struct sample {
	struct perf_event_header header;
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_... */
	uint64_t registers[FX_REGISTER_COUNT];
	uint64_t stack_size;
	uint8_t stack[];
};

static int sample_open(pid_t tid)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_SW_TASK_CLOCK,
	    .sample_period = PERIOD_NS,
	    .sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	    .sample_regs_user = FX_REGISTER_MASK,
	    .sample_stack_user = FX_SAMPLED_STACK,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .disabled = 1,
	    .wakeup_events = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int sample_read(const struct perf_event_mmap_page *page, const uint8_t *data,
		       struct fx_frozen *ret)
{
	const struct sample *sample = (const void *)data;
	uint64_t real;

	/* acquire: pairs with the kernel's store behind a record */
	if (fx_load_acquire(&page->data_head) < sizeof(*sample) ||
	    sample->header.type != PERF_RECORD_SAMPLE)
		return -EAGAIN;
	if (sample->abi != PERF_SAMPLE_REGS_ABI_64 || sample->stack_size == 0 ||
	    sample->stack_size > FX_SAMPLED_STACK ||
	    sample->header.size < sizeof(*sample) + sample->stack_size + sizeof(real))
		return -ENOTSUP;
	memcpy(&real, sample->stack + sample->stack_size, sizeof(real));
	if (real > sample->stack_size)
		return -ENOTSUP;
	memcpy(ret->registers, sample->registers, sizeof(ret->registers));
	memcpy(ret->stack, sample->stack, real);
	ret->stack_size = real;
	ret->known = UINT64_MAX;
	ret->ip = ret->registers[IP_PLACE];
	ret->held_ns = 0;
	return 0;
}

static int sample_await(int fd, const void *ring, size_t page, struct fx_frozen *ret)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	/* One sample, and it is over. */
	if (ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) < 0)
		return -errno;
	if (poll(&pollfd, 1, WAIT_MS) < 0)
		return -errno;
	return sample_read(ring, (const uint8_t *)ring + page, ret);
}

int fx_sampled_take(pid_t tid, struct fx_frozen *ret)
{
	size_t page = (size_t)getpagesize();
	int fd = sample_open(tid), r;
	void *ring;

	if (fd < 0)
		return fd;
	ring = mmap(NULL, page + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		r = -errno;
	} else {
		r = sample_await(fd, ring, page, ret);
		munmap(ring, page + RING_BYTES);
	}
	close(fd);
	return r;
}

/* SPDX-License-Identifier: MIT */
#include "kernel/rings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "kernel/registers.h"

/* Bytes of the stack that a sample brings; what lies deeper is not seen. */
#define STACK_BYTES 16384u

/* Pages of a ring: as many as are had, in steps of one half down to what everybody may lock (perf_event_mlock_kb). */
#define RING_PAGES_MOST	 1024u
#define RING_PAGES_LEAST 8u

/* Bytes of tracepoints after which their ring is read before its turn. */
#define TRACEPOINT_WATERMARK (256u << 10)

/* How often the rings are looked into, if none is full enough to say so. */
#define TURN_MS 20

/* What waits to be worked on takes no more than this; what comes then is lost, and counted. */
#define WAITING_BYTES (UINT64_C(256) << 20)

struct ring {
	int fd;
	bool is_tracepoints;
	int64_t clock; /* ns from the clock of its records to CLOCK_BOOTTIME */
	int *others;   /* further events that write into it */
	unsigned other_count;
	uint32_t cpu;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size; /* of the data */
};

struct fx_rings {
	struct ring *rings;
	unsigned count;
	bool has_tracepoints;
	struct pollfd *polled; /* the rings, and the bell */
	int bell;
	bool is_started;
	pthread_t thread;
	bool finish;	      /* atomic: set by the working thread, read by the reading one */
	uint64_t turn_began;  /* the reading thread's */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t came;
	struct fx_ring_record *fresh, **fresh_end; /* as they were read */
	uint64_t safe;				   /* ns; nothing older will come */
	uint64_t lost;
	uint64_t waiting; /* bytes */
	bool over;
	/* The working thread's: in order of time. */
	struct fx_ring_record **heap;
	size_t heap_count, heap_room;
	uint64_t heap_safe;
	uint64_t serial;
};

/* --- Opening ------------------------------------------------------------------------------------ */

static int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void attr_fill(const struct fx_rings_wish *wish, bool kernel, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(*ret),
	    .config = wish->hz ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
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

static int ring_map(struct ring *ring, unsigned pages)
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

static void ring_close(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->size + (size_t)getpagesize());
	while (ring->other_count)
		close(ring->others[--ring->other_count]);
	free(ring->others);
	if (ring->fd >= 0)
		close(ring->fd);
}

/* A ring of a processor. -ENODEV: that one is not there. */
static int ring_open(struct ring *ring, const struct fx_rings_wish *wish, bool kernel, int cpu)
{
	struct perf_event_attr attr;
	int r = -ENOMEM;

	attr_fill(wish, kernel, &attr);
	*ring = (struct ring){.cpu = (uint32_t)cpu};
	for (unsigned pages = RING_PAGES_MOST; pages >= RING_PAGES_LEAST; pages /= 2) {
		attr.wakeup_watermark = (uint32_t)(pages * (size_t)getpagesize() / 4);
		ring->fd = perf_event_open(&attr, wish->pid, cpu);
		if (ring->fd < 0)
			return ring->fd;
		r = ring_map(ring, pages);
		if (r == 0)
			return 0;
		ring_close(ring);
		ring->fd = -1;
		if (r != -EPERM && r != -ENOMEM)
			break;
	}
	return r;
}

/* Tracepoints know no clock that stands in an interrupt that nothing can hold up, as CLOCK_BOOTTIME does; and to be refused costs
 * a tracepoint some 40 ms, the way back included. */
static void attr_fill_tracepoint(uint32_t number, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
	    .type = PERF_TYPE_TRACEPOINT,
	    .size = sizeof(*ret),
	    .config = number,
	    .sample_period = 1,
	    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			   PERF_SAMPLE_RAW,
	    .inherit = 1,
	    .sample_id_all = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	    .watermark = 1,
	    .wakeup_watermark = TRACEPOINT_WATERMARK,
	};
}

/* The first makes the ring, the others write into it. */
static int tracepoint_add(struct ring *ring, uint32_t number, const struct fx_rings_wish *wish)
{
	struct perf_event_attr attr;
	int fd, r = -ENOMEM;

	attr_fill_tracepoint(number, &attr);
	fd = perf_event_open(&attr, wish->pid, (int)ring->cpu);
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

/* Of one processor. 0 or -errno, and then nothing is left of it. */
static int ring_open_tracepoints(struct ring *ring, const struct fx_rings_wish *wish, uint32_t cpu)
{
	int r = 0;

	*ring = (struct ring){.fd = -1, .cpu = cpu, .is_tracepoints = true};
	ring->others = calloc(wish->tracepoint_count, sizeof(*ring->others));
	if (!ring->others)
		return -ENOMEM;
	for (unsigned i = 0; r == 0 && i < wish->tracepoint_count; i++)
		r = tracepoint_add(ring, wish->tracepoints[i], wish);
	if (r < 0)
		ring_close(ring);
	return r;
}

static void ring_poll(struct fx_rings *rings)
{
	rings->polled[rings->count] =
	    (struct pollfd){.fd = rings->rings[rings->count].fd, .events = POLLIN};
	rings->count++;
}

/* All of them, or none. */
static void rings_open_tracepoints(struct fx_rings *rings, const struct fx_rings_wish *wish)
{
	unsigned usual = rings->count;

	rings->has_tracepoints = wish->tracepoint_count > 0;
	for (unsigned i = 0; rings->has_tracepoints && i < usual; i++) {
		rings->has_tracepoints = ring_open_tracepoints(&rings->rings[rings->count], wish,
							       rings->rings[i].cpu) == 0;
		if (rings->has_tracepoints)
			ring_poll(rings);
	}
	while (!rings->has_tracepoints && rings->count > usual)
		ring_close(&rings->rings[--rings->count]);
}

static int rings_open_all(struct fx_rings *rings, const struct fx_rings_wish *wish, bool kernel)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	rings->rings = calloc(2 * (size_t)cpus, sizeof(*rings->rings));
	rings->polled = calloc(2 * (size_t)cpus + 1, sizeof(*rings->polled));
	if (!rings->rings || !rings->polled)
		return -ENOMEM;
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct ring *ring = &rings->rings[rings->count];
		int r = ring_open(ring, wish, kernel, cpu);

		if (r == -ENODEV)
			continue;
		if (r < 0)
			return r;
		ring_poll(rings);
	}
	if (kernel)
		rings_open_tracepoints(rings, wish);
	rings->polled[rings->count] = (struct pollfd){.fd = rings->bell, .events = POLLIN};
	return rings->count ? 0 : -ENODEV;
}

static void rings_close_all(struct fx_rings *rings)
{
	while (rings->count)
		ring_close(&rings->rings[--rings->count]);
	free(rings->rings);
	free(rings->polled);
	rings->rings = NULL;
	rings->polled = NULL;
}

int fx_rings_open(const struct fx_rings_wish *wish, struct fx_rings **ret, bool *ret_kernel)
{
	struct fx_rings *rings = calloc(1, sizeof(*rings));
	int r;

	if (!rings)
		return -ENOMEM;
	rings->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rings->fresh_end = &rings->fresh;
	pthread_mutex_init(&rings->lock, NULL);
	pthread_cond_init(&rings->came, NULL);
	r = rings->bell < 0 ? -errno : rings_open_all(rings, wish, true);
	*ret_kernel = r == 0;
	if (r == -EACCES || r == -EPERM) {
		rings_close_all(rings);
		r = rings_open_all(rings, wish, false);
	}
	if (r < 0) {
		fx_rings_close(rings);
		return r;
	}
	*ret = rings;
	return 0;
}

void fx_rings_close(struct fx_rings *rings)
{
	struct fx_ring_record *next;

	if (!rings)
		return;
	if (rings->is_started) {
		fx_rings_finish(rings);
		pthread_join(rings->thread, NULL);
	}
	rings_close_all(rings);
	for (; rings->fresh; rings->fresh = next) {
		next = rings->fresh->next;
		free(rings->fresh);
	}
	while (rings->heap_count)
		free(rings->heap[--rings->heap_count]);
	free(rings->heap);
	if (rings->bell >= 0)
		close(rings->bell);
	pthread_cond_destroy(&rings->came);
	pthread_mutex_destroy(&rings->lock);
	free(rings);
}

/* --- Reading ------------------------------------------------------------------------------------ */

/* Bytes of a ring from a position on; they may go round. */
static void ring_copy(const struct ring *ring, uint64_t at, void *to, size_t size)
{
	uint64_t offset = at & (ring->size - 1);
	size_t first = size < ring->size - offset ? size : (size_t)(ring->size - offset);

	memcpy(to, ring->data + offset, first);
	memcpy((uint8_t *)to + first, ring->data, size - first);
}

/* What stands at the end of every record but samples: whose it is, when, and on which processor. */
struct trailer {
	uint32_t pid, tid;
	uint64_t ns;
	uint32_t cpu, reserved;
};

/* And at the begin of samples. */
struct sample_begin {
	uint64_t ip;
	struct trailer trailer;
};

/* How much of a sample is of use: its stack is as long as it is, whatever it was given room for. The places of the two
 * sizes, at which the kernel says so. */
static size_t sample_used(const struct ring *ring, uint64_t at, size_t size)
{
	size_t place = sizeof(struct sample_begin);
	uint64_t word = 0, room = 0, used = 0;

	if (size < place + 8)
		return size;
	ring_copy(ring, at + place, &word, 8);
	if (word >= (size - place) / 8)
		return size;
	place += 8 + 8 * (size_t)word;
	ring_copy(ring, at + place, &word, 8);
	place += 8 + (word ? 8 * FX_REGISTER_COUNT : 0);
	if (size < place + 8)
		return size;
	ring_copy(ring, at + place, &room, 8);
	place += 8;
	if (!room || size < place + room + 8)
		return size;
	ring_copy(ring, at + place + room, &used, 8);
	return used < room ? place + (size_t)used : place + (size_t)room;
}

/* That it takes. */
static uint64_t ring_record_bytes(const struct fx_ring_record *record)
{
	return sizeof(*record) + record->size;
}

static void rings_push(struct fx_rings *rings, struct fx_ring_record *record)
{
	pthread_mutex_lock(&rings->lock);
	if (record && rings->waiting + ring_record_bytes(record) <= WAITING_BYTES) {
		rings->waiting += ring_record_bytes(record);
		*rings->fresh_end = record;
		rings->fresh_end = &record->next;
		record = NULL;
	} else {
		rings->lost++;
	}
	pthread_mutex_unlock(&rings->lock);
	free(record);
}

static void rings_count_lost(struct fx_rings *rings, const struct ring *ring, uint64_t body)
{
	uint64_t lost[2]; /* id, how many */

	ring_copy(ring, body, lost, sizeof(lost));
	pthread_mutex_lock(&rings->lock);
	rings->lost += lost[1];
	pthread_mutex_unlock(&rings->lock);
}

/* A record without its header; -1: it is none of ours. */
static ssize_t body_size(const struct ring *ring, uint64_t body, uint32_t type, size_t size)
{
	size_t least =
	    type == PERF_RECORD_SAMPLE ? sizeof(struct sample_begin) : sizeof(struct trailer);

	if (size < least)
		return -1;
	if (type == PERF_RECORD_SAMPLE)
		return (ssize_t)(ring->is_tracepoints ? size : sample_used(ring, body, size));
	return (ssize_t)(size - sizeof(struct trailer));
}

static void rings_take(struct fx_rings *rings, const struct ring *ring,
		       const struct perf_event_header *header, uint64_t body)
{
	size_t whole = header->size - sizeof(*header);
	ssize_t size = body_size(ring, body, header->type, whole);
	bool is_sample = header->type == PERF_RECORD_SAMPLE;
	struct fx_ring_record *record;
	struct trailer trailer;

	if (header->type == PERF_RECORD_LOST && whole >= 16)
		rings_count_lost(rings, ring, body);
	if (header->type == PERF_RECORD_LOST || size < 0)
		return;
	record = malloc(sizeof(*record) + (size_t)size);
	if (record) {
		ring_copy(ring, body, record->body, (size_t)size);
		ring_copy(ring, is_sample ? body + 8 : body + (uint64_t)size, &trailer,
			  sizeof(trailer));
		record->next = NULL;
		record->type = header->type;
		record->misc = header->misc;
		record->is_tracepoint = is_sample && ring->is_tracepoints;
		record->size = (size_t)size;
		record->pid = trailer.pid;
		record->tid = trailer.tid;
		record->ns = trailer.ns + (uint64_t)ring->clock;
		record->cpu = trailer.cpu;
	}
	rings_push(rings, record);
}

static void ring_read(struct fx_rings *rings, struct ring *ring)
{
	/* acquire: pairs with the kernel's store behind the records (perf_event_open(2), data_head) */
	uint64_t head = fx_load_acquire(&ring->page->data_head), at = ring->page->data_tail;

	while (at < head) {
		struct perf_event_header header;

		ring_copy(ring, at, &header, sizeof(header));
		if (header.size < sizeof(header))
			break;
		rings_take(rings, ring, &header, at + sizeof(header));
		at += header.size;
	}
	/* release: what was read is read. Pairs with the kernel's load before it writes there */
	fx_store_release(&ring->page->data_tail, at);
}

/*
 * All rings are read, one after another. What was written before that began is then in the list, so all that is older
 * is in order; but the kernel takes the time of a record before it writes it.
 */
#define WRITING_NS UINT64_C(2000000)

static void rings_turn(struct fx_rings *rings, bool last)
{
	uint64_t began = fx_boottime_ns();

	for (unsigned i = 0; i < rings->count; i++) {
		/* The two differ by how long the machine has slept. */
		if (rings->rings[i].is_tracepoints)
			rings->rings[i].clock = (int64_t)(fx_boottime_ns() - fx_monotonic_ns());
		ring_read(rings, &rings->rings[i]);
	}
	pthread_mutex_lock(&rings->lock);
	rings->safe = last ? UINT64_MAX : began - WRITING_NS;
	rings->over = last;
	pthread_cond_signal(&rings->came);
	pthread_mutex_unlock(&rings->lock);
}

static void ring_disable(const struct ring *ring)
{
	ioctl(ring->fd, PERF_EVENT_IOC_DISABLE, 0);
	for (unsigned i = 0; i < ring->other_count; i++)
		ioctl(ring->others[i], PERF_EVENT_IOC_DISABLE, 0);
}

static void *rings_main(void *opaque)
{
	struct fx_rings *rings = opaque;

	/* acquire: nothing depends on it but the loop's end; pairs with fx_rings_finish() */
	while (!fx_load_acquire(&rings->finish)) {
		poll(rings->polled, rings->count + 1, TURN_MS);
		rings_turn(rings, false);
	}
	for (unsigned i = 0; i < rings->count; i++)
		ring_disable(&rings->rings[i]);
	rings_turn(rings, true);
	return NULL;
}

int fx_rings_start(struct fx_rings *rings)
{
	int r = pthread_create(&rings->thread, NULL, rings_main, rings);

	rings->is_started = r == 0;
	return -r;
}

void fx_rings_finish(struct fx_rings *rings)
{
	fx_store_release(&rings->finish, true); /* pairs with the load in rings_main() */
	eventfd_write(rings->bell, 1);
}

/* --- In order ----------------------------------------------------------------------------------- */

static bool heap_before(const struct fx_ring_record *a, const struct fx_ring_record *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->serial < b->serial);
}

static void heap_swap(struct fx_rings *rings, size_t i, size_t j)
{
	struct fx_ring_record *record = rings->heap[i];

	rings->heap[i] = rings->heap[j];
	rings->heap[j] = record;
}

static int heap_put(struct fx_rings *rings, struct fx_ring_record *record)
{
	size_t i = rings->heap_count;

	if (i == rings->heap_room) {
		size_t room = rings->heap_room ? 2 * rings->heap_room : 1024;
		void *more = realloc(rings->heap, room * sizeof(struct fx_ring_record *));

		if (!more)
			return -ENOMEM;
		rings->heap = more;
		rings->heap_room = room;
	}
	record->serial = rings->serial++;
	rings->heap[rings->heap_count++] = record;
	for (; i && heap_before(rings->heap[i], rings->heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap_swap(rings, i, (i - 1) / 2);
	return 0;
}

static struct fx_ring_record *heap_take(struct fx_rings *rings)
{
	struct fx_ring_record *first = rings->heap[0];
	size_t i = 0;

	rings->heap[0] = rings->heap[--rings->heap_count];
	for (;;) {
		size_t least = i, left = 2 * i + 1;

		for (size_t j = left; j < left + 2 && j < rings->heap_count; j++) {
			if (heap_before(rings->heap[j], rings->heap[least]))
				least = j;
		}
		if (least == i)
			break;
		heap_swap(rings, i, least);
		i = least;
	}
	return first;
}

static bool heap_is_ready(const struct fx_rings *rings)
{
	return rings->heap_count && rings->heap[0]->ns <= rings->heap_safe;
}

/* Takes what was read into the heap; waits for it if need be. */
static void heap_fill(struct fx_rings *rings, unsigned wait_ms)
{
	struct fx_ring_record *record, *next;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)wait_ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&rings->lock);
	if (!rings->over && rings->safe == rings->heap_safe)
		pthread_cond_timedwait(&rings->came, &rings->lock, &until);
	record = rings->fresh;
	rings->fresh = NULL;
	rings->fresh_end = &rings->fresh;
	rings->heap_safe = rings->safe;
	pthread_mutex_unlock(&rings->lock);
	for (; record; record = next) {
		next = record->next;
		if (heap_put(rings, record) < 0) {
			free(record);
			pthread_mutex_lock(&rings->lock);
			rings->lost++;
			pthread_mutex_unlock(&rings->lock);
		}
	}
}

struct fx_ring_record *fx_rings_next(struct fx_rings *rings, unsigned wait_ms)
{
	struct fx_ring_record *record;

	if (!heap_is_ready(rings))
		heap_fill(rings, wait_ms);
	if (!heap_is_ready(rings))
		return NULL;
	record = heap_take(rings);
	record->next = NULL;
	pthread_mutex_lock(&rings->lock);
	rings->waiting -= ring_record_bytes(record);
	pthread_mutex_unlock(&rings->lock);
	return record;
}

bool fx_rings_have_tracepoints(const struct fx_rings *rings)
{
	return rings->has_tracepoints;
}

bool fx_rings_is_over(struct fx_rings *rings)
{
	bool over;

	pthread_mutex_lock(&rings->lock);
	over = rings->over && !rings->fresh && !rings->heap_count;
	pthread_mutex_unlock(&rings->lock);
	return over;
}

uint64_t fx_rings_lost(struct fx_rings *rings)
{
	uint64_t lost;

	pthread_mutex_lock(&rings->lock);
	lost = rings->lost;
	rings->lost = 0;
	pthread_mutex_unlock(&rings->lock);
	return lost;
}

/* --- Samples ------------------------------------------------------------------------------------ */

bool fx_ring_sample(const struct fx_ring_record *record, struct fx_sample *ret)
{
	const uint64_t *at = record->body + sizeof(struct sample_begin) / 8;
	const uint64_t *end = record->body + record->size / 8;

	if (record->type != PERF_RECORD_SAMPLE || record->is_tracepoint ||
	    record->size < sizeof(struct sample_begin))
		return false;
	*ret = (struct fx_sample){
	    .ip = record->body[0],
	    .in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL,
	};
	if (at >= end || *at >= (uint64_t)(end - at))
		return true;
	ret->kernel_count = *at++;
	ret->kernel = at;
	at += ret->kernel_count;
	if (at >= end || *at++ != PERF_SAMPLE_REGS_ABI_64 || end - at < FX_REGISTER_COUNT + 1)
		return true;
	ret->registers = at;
	at += FX_REGISTER_COUNT + 1;
	ret->stack = (const uint8_t *)at;
	ret->stack_size =
	    record->size - (size_t)((const uint8_t *)at - (const uint8_t *)record->body);
	return true;
}

/* Behind the begin stand a size of four bytes and so many bytes. */
const uint8_t *fx_ring_tracepoint(const struct fx_ring_record *record, size_t *ret_size)
{
	const uint8_t *at = (const uint8_t *)record->body + sizeof(struct sample_begin);
	uint32_t size;

	if (!record->is_tracepoint || record->size < sizeof(struct sample_begin) + sizeof(size))
		return NULL;
	memcpy(&size, at, sizeof(size));
	if (size > record->size - sizeof(struct sample_begin) - sizeof(size) || size < 2)
		return NULL;
	*ret_size = size;
	return at + sizeof(size);
}

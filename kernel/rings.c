/* SPDX-License-Identifier: MIT */
#include "kernel/rings.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "kernel/ring-order.h"
#include "kernel/ring-queue.h"
#include "kernel/ring-read.h"
#include "kernel/ring.h"

/* How often the rings are looked into, if none is full enough to say so. */
#define TURN_MS 20

/*
 * The priority of the thread that reads, of the real-time class. A low nice value would be bought with the program's processors: fair
 * groups (sched_autogroup, cpu cgroups) spread a group's share over the processors by weight, and such a thread weighs as much as
 * 28 of the program's, so that where it last ran the group has nearly all of it, and waits elsewhere.
 */
#define READING_PRIORITY 1

/*
 * The priority of the thread that works on what was read: whoever is traced has the processor first. But it is not to fall behind by
 * more than so much, since what has ended can be asked for less, and at the end it is waited for.
 */
#define WORKING_NICE 10
#define BEHIND_BYTES (UINT64_C(32) << 20)
#define BEHIND_NS    UINT64_C(500000000)
#define CAUGHT_UP_NS UINT64_C(100000000)

/* The kernel takes the time of a record before it writes it: this long before, at most. */
#define WRITING_NS UINT64_C(2000000)

struct fx_rings {
	struct fx_ring *rings;
	unsigned count;
	unsigned late_first, late_count; /* those for tracepoints that come later */
	bool has_tracepoints;
	struct pollfd *polled; /* the rings, and the bell */
	int bell;
	bool finish; /* atomic: set by fx_rings_finish(), read by the reading thread */
	bool is_started;
	pthread_t thread;
	bool
	    everyone; /* of whom records are of interest is asked for while they are worked on, which is not to come late */
	pid_t worker; /* the working thread, */
	int working_nice;	    /* the priority that it was given, */
	uint64_t reached;	    /* and, atomic, the time (ns) of what it works on */
	bool may_give_way;	    /* a priority can be taken back */
	struct fx_ring_queue queue; /* from the reading thread to the working one */
	/* The working thread's: */
	struct fx_ring_order order;
	uint64_t safe; /* ns; nothing older will come into the order */
};

/* --- Opening ------------------------------------------------------------------------------------ */

static void rings_poll(struct fx_rings *rings)
{
	rings->polled[rings->count] =
	    (struct pollfd){.fd = rings->rings[rings->count].fd, .events = POLLIN};
	rings->count++;
}

/* All of them, or none. */
static void rings_open_tracepoints(struct fx_rings *rings, const struct fx_kernel_wish *wish)
{
	unsigned usual = rings->count;

	rings->has_tracepoints = wish->point_count > 0;
	for (unsigned i = 0; rings->has_tracepoints && i < usual; i++) {
		rings->has_tracepoints = fx_ring_open_tracepoints(&rings->rings[rings->count], wish,
								  rings->rings[i].cpu) == 0;
		if (rings->has_tracepoints)
			rings_poll(rings);
	}
	while (!rings->has_tracepoints && rings->count > usual)
		fx_ring_close(&rings->rings[--rings->count]);
}

/* All of them, or none. */
static void rings_open_late(struct fx_rings *rings, unsigned usual)
{
	int r = 0;

	rings->late_first = rings->count;
	for (unsigned i = 0; r == 0 && i < usual; i++) {
		r = fx_ring_open_late(&rings->rings[rings->count], rings->rings[i].cpu);
		if (r == 0)
			rings_poll(rings);
	}
	while (r < 0 && rings->count > rings->late_first)
		fx_ring_close(&rings->rings[--rings->count]);
	rings->late_count = rings->count - rings->late_first;
}

static int rings_open_all(struct fx_rings *rings, const struct fx_kernel_wish *wish, bool kernel)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned usual;

	rings->rings = calloc(3 * (size_t)cpus, sizeof(*rings->rings));
	rings->polled = calloc(3 * (size_t)cpus + 1, sizeof(*rings->polled));
	if (!rings->rings || !rings->polled)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		int r = fx_ring_open(&rings->rings[rings->count], wish, kernel, cpu);

		if (r == -ENODEV)
			continue;
		if (r < 0)
			return r;
		rings_poll(rings);
	}
	usual = rings->count;
	if (kernel)
		rings_open_tracepoints(rings, wish);
	if (kernel && wish->late)
		rings_open_late(rings, usual);
	rings->polled[rings->count] = (struct pollfd){.fd = rings->bell, .events = POLLIN};
	return rings->count ? 0 : -ENODEV;
}

static void rings_close_all(struct fx_rings *rings)
{
	while (rings->count)
		fx_ring_close(&rings->rings[--rings->count]);
	free(rings->rings);
	free(rings->polled);
	rings->rings = NULL;
	rings->polled = NULL;
}

int fx_rings_open(const struct fx_kernel_wish *wish, struct fx_rings **ret, bool *ret_kernel)
{
	struct fx_rings *rings = calloc(1, sizeof(*rings));
	int r;

	if (!rings)
		return -ENOMEM;
	fx_ring_queue_init(&rings->queue);
	rings->everyone = wish->everyone;
	rings->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
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
	if (!rings)
		return;
	if (rings->is_started) {
		fx_rings_finish(rings);
		pthread_join(rings->thread, NULL);
	}
	rings_close_all(rings);
	fx_ring_order_clear(&rings->order);
	fx_ring_queue_destroy(&rings->queue);
	if (rings->bell >= 0)
		close(rings->bell);
	free(rings);
}

bool fx_rings_have_tracepoints(const struct fx_rings *rings)
{
	return rings->has_tracepoints;
}

unsigned fx_rings_late(const struct fx_rings *rings)
{
	return rings->late_count;
}

int fx_rings_add_late(const struct fx_rings *rings, unsigned ring, uint32_t number)
{
	return fx_ring_add_late(&rings->rings[rings->late_first + ring], number);
}

/* --- The reading thread ------------------------------------------------------------------------- */

/*
 * All rings are read, one after another. What was written before that began is then in the queue, so that all that is older
 * can be put in order.
 */
static void rings_turn(struct fx_rings *rings, bool last)
{
	uint64_t began = fx_boottime_ns();

	for (unsigned i = 0; i < rings->count; i++)
		fx_ring_read(&rings->rings[i], &rings->queue);
	fx_ring_queue_advance(&rings->queue, last ? UINT64_MAX : began - WRITING_NS);
}

static void rings_give_way(struct fx_rings *rings, int nice)
{
	if (rings->may_give_way && rings->working_nice != nice &&
	    setpriority(PRIO_PROCESS, (id_t)rings->worker, nice) == 0)
		rings->working_nice = nice;
}

/* How far the working thread is behind decides whether it gives way to others. */
static void rings_pace(struct fx_rings *rings)
{
	uint64_t waiting = fx_ring_queue_waiting(&rings->queue);
	/* relaxed: an estimate; pairs with fx_rings_next() */
	uint64_t reached = fx_load_relaxed(&rings->reached), now = fx_boottime_ns();
	uint64_t behind = waiting && reached && reached < now ? now - reached : 0;

	if (waiting > BEHIND_BYTES || behind > BEHIND_NS)
		rings_give_way(rings, 0);
	else if (waiting < BEHIND_BYTES / 8 && behind < CAUGHT_UP_NS)
		rings_give_way(rings, WORKING_NICE);
}

/* It has little to do, and must not come too late; who may not ask for that goes without. */
static void reading_hurry(void)
{
	const struct sched_param hurry = {.sched_priority = READING_PRIORITY};

	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &hurry);
}

/* Whether this thread could take back what it has given: tried on itself. */
static bool can_take_back(void)
{
	return setpriority(PRIO_PROCESS, (id_t)gettid(), 1) == 0 &&
	       setpriority(PRIO_PROCESS, (id_t)gettid(), 0) == 0;
}

/* An event that has nobody left to tell of, or whose processor was switched off, is ready at any time from then on: it is not asked any more, and
 * its ring is read as the others are. */
static void rings_wait(struct fx_rings *rings)
{
	poll(rings->polled, rings->count + 1, TURN_MS);
	for (unsigned i = 0; i < rings->count; i++) {
		if (rings->polled[i].revents & (POLLHUP | POLLERR))
			rings->polled[i].fd = -1;
	}
}

static void *rings_main(void *opaque)
{
	struct fx_rings *rings = opaque;

	rings->may_give_way = !rings->everyone && can_take_back();
	reading_hurry();
	/* acquire: nothing depends on it but the loop's end; pairs with fx_rings_finish() */
	while (!fx_load_acquire(&rings->finish)) {
		rings_wait(rings);
		rings_turn(rings, false);
		rings_pace(rings);
	}
	rings_give_way(rings, 0);
	for (unsigned i = 0; i < rings->count; i++)
		fx_ring_disable(&rings->rings[i]);
	rings_turn(rings, true);
	return NULL;
}

int fx_rings_start(struct fx_rings *rings)
{
	int r;

	rings->worker = gettid();
	r = pthread_create(&rings->thread, NULL, rings_main, rings);
	rings->is_started = r == 0;
	return -r;
}

void fx_rings_finish(struct fx_rings *rings)
{
	fx_store_release(&rings->finish, true); /* pairs with the load in rings_main() */
	eventfd_write(rings->bell, 1);
}

/* --- The working thread ------------------------------------------------------------------------- */

/* Puts what was read in order; waits for it if need be. */
static void rings_fill(struct fx_rings *rings, unsigned wait_ms)
{
	struct fx_ring_record *record, *next;

	record = fx_ring_queue_take(&rings->queue, wait_ms, &rings->safe);
	for (; record; record = next) {
		next = record->next;
		record->next = NULL;
		if (fx_ring_order_put(&rings->order, record) == 0)
			continue;
		fx_ring_queue_work(&rings->queue, record);
		fx_ring_queue_lose(&rings->queue, 1);
		free(record);
	}
}

struct fx_ring_record *fx_rings_next(struct fx_rings *rings, unsigned wait_ms)
{
	struct fx_ring_record *record = fx_ring_order_take(&rings->order, rings->safe);

	if (!record) {
		rings_fill(rings, wait_ms);
		record = fx_ring_order_take(&rings->order, rings->safe);
	}
	if (record) {
		fx_ring_queue_work(&rings->queue, record);
		fx_store_relaxed(&rings->reached, record->ns); /* for rings_pace() */
	}
	return record;
}

bool fx_rings_is_over(struct fx_rings *rings)
{
	return !rings->order.heap.count && fx_ring_queue_is_over(&rings->queue);
}

uint64_t fx_rings_lost(struct fx_rings *rings)
{
	return fx_ring_queue_lost(&rings->queue);
}

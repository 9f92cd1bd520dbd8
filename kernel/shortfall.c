/* SPDX-License-Identifier: MIT */
#include "kernel/shortfall.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/event-record.h"
#include "kernel/follow.h"

#define PERIOD_NS UINT64_C(200000000) /* asks the kernel for each program */

/* Whoever has started the session may be gone, so that nobody reads a message: it is an event of this process. */
static void shortfall_record(const char *name, uint64_t count)
{
	struct fx_kernel_event event = {
	    .task = {(uint32_t)getpid(), (uint32_t)getpid()},
	    .ns = fx_boottime_ns(),
	    .category = "sched",
	    .name = {name, strlen(name)},
	};

	fx_event_uint(&event, "count", count);
	fx_kernel_record_event(&event);
}

/* What has come to `told' of it since. (Nothing is written while tracing does not run: then it is still to be told.) */
static void shortfall_take(uint64_t *told, uint64_t count, const char *name)
{
	if (count <= *told || !fx_kernel_event_has_room())
		return;
	shortfall_record(name, count - *told);
	*told = count;
}

/* The kernel counts before a program looks whose thread it is: whether any was one of the traced program's nobody knows, so that it is no loss. */
static void shortfall_take_all(struct fx_shortfall *told, const struct fx_follow *follow)
{
	shortfall_take(&told->unfollowed, fx_follow_unfollowed(follow), "threads not followed");
	shortfall_take(&told->missed, fx_follow_missed(follow), "records may be missing");
}

void fx_shortfall_look(struct fx_shortfall *told, const struct fx_follow *follow)
{
	uint64_t now = fx_monotonic_ns();

	if (!follow || now < told->next_ns)
		return;
	told->next_ns = now + PERIOD_NS;
	shortfall_take_all(told, follow);
}

void fx_shortfall_tell(struct fx_shortfall *told, const struct fx_follow *follow)
{
	uint64_t count;

	if (!follow)
		return;
	shortfall_take_all(told, follow);
	count = fx_follow_unfollowed(follow);
	if (count)
		fprintf(stderr,
			"fxtrace: %" PRIu64
			" threads beyond the first %u at a time are not followed by --kernel\n",
			count, FX_FOLLOW_THREADS_MAX);
	count = fx_follow_missed(follow);
	if (count)
		fprintf(stderr,
			"fxtrace: up to %" PRIu64
			" records of --kernel may be missing: so often the kernel did not run a "
			"program of BPF in the middle of another, for all threads of the machine\n",
			count);
}

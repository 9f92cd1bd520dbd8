/* SPDX-License-Identifier: MIT */
#include "kernel/shortfall.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/event-record.h"
#include "kernel/follow.h"

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

static void unfollowed_tell(uint64_t count)
{
	if (!count)
		return;
	fprintf(stderr,
		"fxtrace: %" PRIu64
		" threads beyond the first %u at a time are not followed by --kernel\n",
		count, FX_FOLLOW_THREADS_MAX);
	shortfall_record("threads not followed", count);
}

/* The kernel counts before a program looks whose thread it is: whether any was one of the traced program's nobody knows, so that it is no loss. */
static void missed_tell(uint64_t count)
{
	if (!count)
		return;
	fprintf(stderr,
		"fxtrace: up to %" PRIu64
		" records of --kernel may be missing: so often the kernel did not run a "
		"program of BPF in the middle of another, for all threads of the machine\n",
		count);
	shortfall_record("records may be missing", count);
}

/* At the end, since they may have been very many. */
void fx_shortfall_tell(const struct fx_follow *follow)
{
	if (!follow)
		return;
	unfollowed_tell(fx_follow_unfollowed(follow));
	missed_tell(fx_follow_missed(follow));
}

/* SPDX-License-Identifier: MIT */
#include "manager/session/standstill.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "manager/process/kin.h"

/* It is looked so often in the time that a standstill takes, but in such periods. */
#define LOOKS_OF_LIMIT 8u
#define PERIOD_MIN_NS  UINT64_C(10000000)
#define PERIOD_MAX_NS  UINT64_C(1000000000)

/* What it costs a thread to be stopped and go on, at most. */
#define STOP_COSTS_NS UINT64_C(500000)

void fx_standstill_init(struct fx_standstill *ret, uint64_t limit_ns)
{
	*ret = (struct fx_standstill){.limit_ns = limit_ns, .next = limit_ns ? 0 : UINT64_MAX};
}

static uint64_t still_period(const struct fx_standstill *still)
{
	uint64_t period = still->limit_ns / LOOKS_OF_LIMIT;

	if (period < PERIOD_MIN_NS)
		return PERIOD_MIN_NS;
	return period > PERIOD_MAX_NS ? PERIOD_MAX_NS : period;
}

/* --- Processes ---------------------------------------------------------------------------------- */

static struct fx_work work_of(const pid_t *pids, size_t count)
{
	struct fx_work work = {0};

	for (size_t i = 0; i < count; i++) {
		struct timespec used;
		clockid_t clock;

		if (clock_getcpuclockid(pids[i], &clock) != 0 || clock_gettime(clock, &used) < 0)
			continue; /* it has ended, which changes who there is */
		work.ns += (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
		work.who += (uint64_t)pids[i] * UINT64_C(0x9e3779b97f4a7c15);
	}
	return work;
}

static int pids_add(struct fx_pids *pids, pid_t pid)
{
	if (fx_vector_reserve(pids, 1) < 0)
		return -ENOMEM;
	pids->items[pids->count++] = pid;
	return 0;
}

static bool pids_have(const struct fx_pids *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->count; i++) {
		if (pids->items[i] == pid)
			return true;
	}
	return false;
}

static bool pids_is_head(void *opaque, pid_t pid)
{
	return pids_have(opaque, pid);
}

int fx_pids_add_descendants(struct fx_pids *pids)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	int r = 0;

	while (r == 0 && processes && (entry = readdir(processes))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && !pids_have(pids, pid) && fx_kin_descends(pid, pids_is_head, pids))
			r = pids_add(pids, pid);
	}
	if (processes)
		closedir(processes);
	return r;
}

/* --- Standing still ----------------------------------------------------------------------------- */

/* Whether something was done from `before` on, beyond what may be `excused`. */
static bool work_went_on(const struct fx_work *before, const struct fx_work *after,
			 uint64_t excused)
{
	return after->who != before->who || after->ns < before->ns ||
	       after->ns - before->ns > excused;
}

static void still_begin(struct fx_standstill *still, uint64_t now)
{
	still->since = now;
	still->is_told = false;
	still->excuse_ns = 0;
	still->others = (struct fx_work){0};
}

/* The others are looked at only while the traced processes stand still. */
static bool others_went_on(struct fx_standstill *still, struct fx_pids *pids)
{
	size_t traced = pids->count;
	struct fx_work work;
	bool went_on;

	if (fx_pids_add_descendants(pids) < 0)
		return true;
	work = work_of(pids->items + traced, pids->count - traced);
	went_on = work_went_on(&still->others, &work, 0);
	still->others = work;
	return went_on;
}

bool fx_standstill_look(struct fx_standstill *still, uint64_t now, struct fx_pids *pids)
{
	struct fx_work work;
	bool slept;

	if (now < still->next)
		return false;
	still->next = now + still_period(still);
	/* Nobody looked meanwhile: this process was stopped, and the others may have been. */
	slept = now - still->looked > still->limit_ns / 2 + PERIOD_MAX_NS;
	still->looked = now;
	work = work_of(pids->items, pids->count);
	if (slept || !pids->count || work_went_on(&still->traced, &work, still->excuse_ns)) {
		still->traced = work;
		still_begin(still, now);
		return false;
	}
	if (still->is_told)
		return false;
	if (others_went_on(still, pids))
		still->since = now;
	still->is_told = now - still->since >= still->limit_ns;
	return still->is_told;
}

void fx_standstill_excuse(struct fx_standstill *still, uint32_t stopped)
{
	still->excuse_ns += stopped * STOP_COSTS_NS;
}

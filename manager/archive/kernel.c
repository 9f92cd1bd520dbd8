/* SPDX-License-Identifier: MIT */
#include "manager/archive/kernel.h"

#include <errno.h>

#include "manager/process/identity.h"

static bool is_number(uint64_t id)
{
	return id > 0 && id <= INT32_MAX;
}

/* What the archive calls the newest process that has this number, or a thread with a number of its own. */
static uint64_t kernel_shown(const struct fx_rewriting *w, uint64_t id)
{
	const struct fx_identities *ids = w->s->shared->ids;

	return ids ? fx_identity_newest(ids, (uint32_t)id) : id;
}

int fx_kernel_thread(struct fx_rewriting *w)
{
	uint64_t *ids = &w->words[w->at];

	if (!is_number(ids[0]) || !is_number(ids[1]))
		return -EINVAL;
	ids[0] = kernel_shown(w, ids[0]);
	ids[1] = kernel_shown(w, ids[1]);
	w->thread = NULL;
	w->at += 2;
	return 0;
}

int fx_kernel_tid(struct fx_rewriting *w)
{
	uint64_t *id = &w->words[w->at++];

	if (*id == 0)
		return 0;
	if (!is_number(*id))
		return -EINVAL;
	*id = kernel_shown(w, *id);
	return 0;
}

/* A thread's only argument is its process. */
bool fx_kernel_object(struct fx_rewriting *w)
{
	uint64_t type = FXT_GET(w->words[0], KERNEL_OBJECT_TYPE);
	uint64_t count = FXT_GET(w->words[0], KERNEL_OBJECT_NARGS);
	uint64_t *process = &w->words[w->size - 1];

	if (!is_number(w->words[1]))
		return false;
	if (type == FXT_OBJECT_PROCESS && count == 0) {
		w->words[1] = kernel_shown(w, w->words[1]);
		return true;
	}
	if (type != FXT_OBJECT_THREAD || count != 1 || w->size < 4 ||
	    FXT_GET(process[-1], ARG_TYPE) != FXT_ARG_KOID || !is_number(*process))
		return false;
	fx_kernel_tasks_know(&w->s->shared->kernel_tasks, *process, w->words[1]);
	w->words[1] = kernel_shown(w, w->words[1]);
	*process = kernel_shown(w, *process);
	return true;
}

bool fx_kernel_is_provider(const struct fx_rewriting *w)
{
	const struct fx_identities *ids = w->s->shared->ids;

	return ids && FXT_GET(w->words[0], KERNEL_OBJECT_TYPE) == FXT_OBJECT_PROCESS &&
	       is_number(w->words[1]) && fx_identity_is_known(ids, (uint32_t)w->words[1]);
}

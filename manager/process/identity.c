/* SPDX-License-Identifier: MIT */
#include "manager/process/identity.h"

#include <stdlib.h>

/* Larger pids there are none: PID_MAX_LIMIT of the kernel. */
#define PIDS (UINT32_C(1) << 22)

#define AGAIN	  UINT32_C(10000000)
#define AGAIN_MAX 99u
#define MORE	  UINT32_C(1000000000)

_Static_assert(PIDS < AGAIN && (AGAIN_MAX + 1) * AGAIN <= MORE, "no number has two meanings");

void fx_identities_init(struct fx_identities *ids)
{
	/* Of the large array only the pages in use become resident. */
	*ids = (struct fx_identities){.newest = calloc(PIDS, sizeof(*ids->newest))};
}

void fx_identities_destroy(struct fx_identities *ids)
{
	free(ids->newest);
	ids->newest = NULL;
}

uint32_t fx_identity_thread(struct fx_identities *ids)
{
	ids->more = ids->more % (INT32_MAX - MORE) + 1;
	return MORE + ids->more;
}

uint32_t fx_identity_process(struct fx_identities *ids, uint32_t pid, bool exec)
{
	uint32_t *newest = ids->newest && pid < PIDS ? &ids->newest[pid] : NULL;

	if (!newest)
		return pid;
	if (*newest == 0)
		*newest = pid;
	else if (!exec)
		*newest = *newest / AGAIN < AGAIN_MAX ? *newest + AGAIN : fx_identity_thread(ids);
	return *newest;
}

bool fx_identity_is_known(const struct fx_identities *ids, uint32_t pid)
{
	return ids->newest && pid < PIDS && ids->newest[pid];
}

uint32_t fx_identity_newest(const struct fx_identities *ids, uint32_t pid)
{
	return fx_identity_is_known(ids, pid) ? ids->newest[pid] : pid;
}

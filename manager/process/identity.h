/* SPDX-License-Identifier: MIT */
/*
 * The numbers by which an archive tells processes and threads apart. The first process with a pid has that pid; what the
 * kernel gives the same number later has one of its own, which no kernel gives: the pid and so many times ten million
 * as others have had it before, so that it is still to be read. Threads are numbered on from a thousand million.
 */
#ifndef FX_MANAGER_IDENTITY_H
#define FX_MANAGER_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

struct fx_identities {
	uint32_t *newest; /* [pid]: of the newest process that had it, 0 none */
	uint32_t more;	  /* numbers given beyond a thousand million */
};

/* Without memory for it, pids are all that there is. */
void fx_identities_init(struct fx_identities *ids);
void fx_identities_destroy(struct fx_identities *ids);

/* Of a new process, or of one that has become another program. */
uint32_t fx_identity_process(struct fx_identities *ids, uint32_t pid, bool exec);

/* Of the newest process that had this pid; the pid itself if there was none. */
uint32_t fx_identity_newest(const struct fx_identities *ids, uint32_t pid);

/* Whether a process with this pid was ever one of the archive's. */
bool fx_identity_is_known(const struct fx_identities *ids, uint32_t pid);

/* Of a thread that has no number of its own. */
uint32_t fx_identity_thread(struct fx_identities *ids);

#endif

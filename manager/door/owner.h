/* SPDX-License-Identifier: MIT */
/*
 * The page that all providers share: the word that the kernel marks when the manager dies, and the
 * doorbell.
 *
 * The word is a robust futex that the control thread owns. It is never waited for; a provider looks
 * at it and stops recording when FUTEX_OWNER_DIED stands in it, which the kernel writes even if
 * the manager was killed. (Where there are no robust futexes the page says so; then a provider goes on into a buffer that
 * nobody saves, and waits for space for some seconds at most.) The doorbell is a futex word that providers wake when a half of theirs
 * is full; a thread of its own waits there and passes it on to an eventfd, which can be polled.
 */
#ifndef FX_MANAGER_OWNER_H
#define FX_MANAGER_OWNER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/layout.h"

struct fx_owner {
	int fd;	     /* of the common page, sealed; for sending */
	int bell_fd; /* eventfd: readable after a provider rang */
	struct fx_common *page;
	pthread_t bell;
	bool bell_runs, ending;
};

/* Makes the page; the calling thread becomes the owner, until it ends. 0 or -errno. */
int fx_owner_init(struct fx_owner *ret);

/* Starts to listen to the doorbell. 0 or -errno. */
int fx_owner_listen(struct fx_owner *owner);

/* Marks the page as the manager's death would, and lets go of everything. By the owner's thread. */
void fx_owner_destroy(struct fx_owner *owner);

#endif

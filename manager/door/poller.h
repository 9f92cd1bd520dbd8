/* SPDX-License-Identifier: MIT */
/*
 * Descriptors to be watched, and the function that is told when one becomes readable.
 */
#ifndef FX_MANAGER_POLLER_H
#define FX_MANAGER_POLLER_H

#include <stdbool.h>
#include <stdint.h>

/* Lives in the structure that it belongs to; that may be freed after fx_poller_remove(). */
struct fx_watch {
	void (*ready)(void *opaque);
	void *opaque;
};

struct fx_poller {
	int fd;
};

/* 0 or -errno. */
int fx_poller_init(struct fx_poller *ret);
void fx_poller_destroy(struct fx_poller *p);

int fx_poller_add(struct fx_poller *p, int fd, struct fx_watch *watch);
void fx_poller_remove(struct fx_poller *p, int fd);

/* Waits at most `timeout_ns` and tells at most one watch. True if it did. */
bool fx_poller_wait(struct fx_poller *p, uint64_t timeout_ns);

#endif

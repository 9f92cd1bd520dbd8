/* SPDX-License-Identifier: MIT */
/*
 * What the control thread of every manager stands on: the poller that all its work comes from, the page
 * common to all providers with its doorbell, signals, and the limits of the process.
 */
#ifndef FX_MANAGER_GROUND_H
#define FX_MANAGER_GROUND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>

#include "manager/door/owner.h"
#include "manager/door/poller.h"

struct fx_ground {
	struct fx_poller poller;
	struct fx_owner owner;
	bool rang; /* a half was full; to be put back by the code that looks at the buffers */
	int signal_fd;
	sigset_t old_mask;
	void (*signal)(void *opaque, const struct signalfd_siginfo *info);
	void *opaque;
	struct fx_watch bell_watch, signal_watch;
};

/* Nothing yet: may be destroyed. */
void fx_ground_clear(struct fx_ground *ret);

/* Makes poller and page; the calling thread becomes the page's owner. Raises the limits of the process. On failure *ret_what, a static
 * text, says what could not be done. 0 or -errno. The ground must not move. */
int fx_ground_init(struct fx_ground *ret, const char **ret_what);

/* From here on the doorbell is heard, and `signal` is told of SIGINT, SIGTERM, SIGHUP, SIGQUIT and
 * SIGUSR2. 0 or -errno. */
int fx_ground_listen(struct fx_ground *ground,
		     void (*signal)(void *opaque, const struct signalfd_siginfo *info),
		     void *opaque);

/* Gives signals back; those that came and were not told of are forgotten. */
void fx_ground_destroy(struct fx_ground *ground);

#endif

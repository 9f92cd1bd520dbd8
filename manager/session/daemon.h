/* SPDX-License-Identifier: MIT */
/*
 * The daemon: providers register whether a session runs or not, and clients control sessions, one at a
 * time. One thread does everything but write archives.
 *
 *	daemon.c            the loop, and what providers are let in for
 *	daemon-session.c    the session: its states, and what leads from one to another
 *	daemon-begin.c      its beginning
 *	daemon-requests.c   what may be asked of it
 *	daemon-snapshots.c  its snapshots
 *	daemon-alerts.c     alerts while it runs
 *	clients.c           connections of clients, and what they ask
 */
#ifndef FX_MANAGER_DAEMON_H
#define FX_MANAGER_DAEMON_H

#include "manager/settings/settings.h"

/* Clients at one time; more are refused. */
#define FX_CLIENTS_MAX 64u

struct fx_daemon;

/*
 * Listens at `socket`; `listener` is a socket that does so already and becomes the daemon's, or -1. Of `defaults` the sizes of buffers count, and `verbose`; it must outlive the
 * daemon. On failure *ret_what, a static text, says what could not be done. 0 or -errno.
 */
int fx_daemon_create(const char *socket, int listener, const struct fx_session_config *defaults,
		     struct fx_daemon **ret, const char **ret_what);

/* Serves until SIGTERM, SIGINT, SIGHUP or SIGQUIT; then ends the session, with results, and frees
 * everything. SIGUSR2 takes a snapshot. */
void fx_daemon_run(struct fx_daemon *d);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * fxtrace manager, run by hand: the daemon that clients talk to.
 */
#ifndef FX_CLIENT_DAEMON_H
#define FX_CLIENT_DAEMON_H

#include <stdbool.h>

#include "client/options.h"

/*
 * Serves at `socket`, NULL for the user's usual place, until a signal ends it. Unless `foreground`, this
 * process returns as soon as the daemon listens. The exit status.
 */
int fx_daemon_main(const char *command, const char *socket, bool foreground,
		   const struct fx_options *options);

/* Ends the manager that listens at `socket`, NULL the usual one, and waits for that. The exit status. */
int fx_daemon_stop(const char *command, const char *socket);

#endif

/* SPDX-License-Identifier: MIT */
/* The kernel provider beside a running manager, which a command starts, for as long as it runs itself or longer. */
#ifndef FX_CLIENT_ACCOMPANY_H
#define FX_CLIENT_ACCOMPANY_H

#include "client/options.h"
#include "client/remote.h"
#include "manager/session/companion.h"

/*
 * Has the kernel's events recorded, if the options ask for any: of a program that has not begun (0, NULL: there is none), and, where
 * that is permitted, of all processes that are traced. A line says what is not.
 */
void fx_accompany(const struct fx_remote *remote, const struct fx_options *options,
		  const char *socket, pid_t program, char *const *command,
		  struct fx_companion *companion);

/*
 * The same without a program, until tracing is stopped, also when this command has ended: once what goes on from then on is recorded. 0,
 * or FX_EXIT_FAILURE after a line that says why nothing is.
 */
int fx_accompany_session(const struct fx_remote *remote, const struct fx_options *options,
			 struct fx_link *link);

/* Before tracing is stopped: all that the kernel has said till now is recorded, and its provider ends. Returns what fx_link_call() does. */
int fx_accompany_end(struct fx_link *link);

#endif

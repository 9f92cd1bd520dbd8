/* SPDX-License-Identifier: MIT */
/*
 * The manager of a single session, from the first provider to the finished archive: of `fxtrace run`, or of a program that
 * was preloaded by hand.
 *
 * The thread that creates it is the control thread: it owns the common page, answers providers,
 * watches for deaths and saves buffers, all in one loop. The writer thread makes the archive.
 *
 *	create -> (start the program) -> begin -> run -> finish
 */
#ifndef FX_MANAGER_SINGLE_H
#define FX_MANAGER_SINGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "manager/session/result.h"
#include "manager/settings/settings.h"

struct fx_single;

/*
 * Opens the output without touching what is there, and listens. The configuration must outlive the
 * session. On failure *ret_what, a static text, says what could not be done. 0 or -errno.
 */
int fx_single_create(const struct fx_session_config *config, struct fx_single **ret,
		     const char **ret_what);

/* The socket's path. */
const char *fx_single_socket(const struct fx_single *s);

/* Empties the output and starts the clock and the writer. 0 or -errno, with *ret_what as above; then the session can
 * only be cancelled. */
int fx_single_begin(struct fx_single *s, const char **ret_what);

struct fx_look_answer;

/* Somebody looks where everybody stands, for --watchdog and triggers: see fx_look_function. */
void fx_single_let_look(struct fx_single *s,
			void (*look)(const pid_t *pids, size_t count, struct fx_look_answer *ret));

struct fx_companion;

/* The session has a kernel provider, which ends with it and is to outlive it. */
void fx_single_accompany(struct fx_single *s, struct fx_companion *companion);

/* Runs until the program, a child of this process, has ended, or a signal says so. */
void fx_single_run_program(struct fx_single *s, pid_t pid);

/* Serves process `pid` at the other end of `fd`, and all processes that connect; until none has been left for a short while,
 * or a signal says so. */
void fx_single_run_private(struct fx_single *s, int fd, pid_t pid);

/* A process that runs already, of user `uid`, is to be traced, and no other: before fx_single_begin(). */
void fx_single_expect(struct fx_single *s, pid_t pid, uid_t uid);

/* Serves it until it has ended, a signal says so, or the configured time is over; then tracing has ended. `helper` is a child of this
 * process, which has the process register; false: it could not. */
bool fx_single_run_attached(struct fx_single *s, pid_t helper);

/* Whether it has. */
bool fx_single_has_ended(const struct fx_single *s);

/* Ends tracing of a session that has begun, writes the rest, frees everything. */
void fx_single_finish(struct fx_single *s, struct fx_session_result *ret);

/* Drops a session that has not begun; an output that was made for it goes away again. */
void fx_single_cancel(struct fx_single *s);

#endif

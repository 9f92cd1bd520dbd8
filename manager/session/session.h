/* SPDX-License-Identifier: MIT */
/*
 * A session: from the first provider to the finished archive.
 *
 * The thread that creates it is the control thread: it owns the common page, answers providers,
 * watches for deaths and saves buffers, all in one loop. The writer thread makes the archive.
 *
 *	create -> (start the program) -> begin -> run -> finish
 */
#ifndef FX_MANAGER_SESSION_H
#define FX_MANAGER_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/settings/settings.h"
#include "manager/archive/writer.h"

struct fx_session;

struct fx_session_result {
	int output_error;    /* first error of the archive, negative errno; 0 none */
	int wait_status;     /* of the program, as waitpid() gives it */
	bool has_status;     /* the program has ended */
	int signal;	     /* that ended the wait for the program; 0 none */
	uint32_t left_alive; /* traced processes that went on when the program had ended */
	uint32_t refused;    /* processes that could not be traced */
	uint64_t matched;    /* functions whose arguments or results were wanted, in all files */
	uint64_t left_out;   /* functions that are not recorded, the same */
	uint64_t unknown;    /* those of the former that nothing is known of */
	bool is_cut;	     /* there was no room for what is known of some */
	struct fx_totals totals;
};

/*
 * Opens the output without touching what is there, and listens. The configuration must outlive the
 * session. On failure *ret_what, a static text, says what could not be done. 0 or -errno.
 */
int fx_session_create(const struct fx_session_config *config, struct fx_session **ret,
		      const char **ret_what);

/* The socket's path. */
const char *fx_session_socket(const struct fx_session *s);

/* Empties the output and starts the clock and the writer. 0 or -errno, with *ret_what as above; then the session can
 * only be cancelled. */
int fx_session_begin(struct fx_session *s, const char **ret_what);

/* Runs until the program, a child of this process, has ended, or a signal says so. */
void fx_session_run_program(struct fx_session *s, pid_t pid);

/* Serves process `pid` at the other end of `fd`, and all processes that connect; until none has been left for a short while,
 * or a signal says so. */
void fx_session_run_private(struct fx_session *s, int fd, pid_t pid);

/* Ends tracing of a session that has begun, writes the rest, frees everything. */
void fx_session_finish(struct fx_session *s, struct fx_session_result *ret);

/* Drops a session that has not begun; an output that was made for it goes away again. */
void fx_session_cancel(struct fx_session *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the files of a single session share. Everything here is the control thread's.
 *
 *	single.c	 its life: made, begun, finished; the providers that ask to take part
 *	single-runs.c	 its loop, from the first turn to the stop; the program's end
 *	single-looks.c	 what is done beside recording: snapshots, alerts, looks where everybody stands
 */
#ifndef FX_MANAGER_SINGLE_INTERNAL_H
#define FX_MANAGER_SINGLE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/door/roster.h"
#include "manager/session/companion.h"
#include "manager/session/look.h"
#include "manager/session/single.h"
#include "manager/session/snapshot.h"
#include "manager/session/standstill.h"

#define MS UINT64_C(1000000) /* ns */

/* The program that is traced, a child of this process. */
struct single_program {
	pid_t pid; /* 0: there is none */
	int pidfd; /* -1: none */
	struct fx_watch watch;
	bool is_watched; /* the poller tells of its end */
	bool is_foreign; /* it is no child, and ran already */
	bool has_ended;
	bool has_status; /* wait_status says how */
	int wait_status;
};

struct fx_single {
	const struct fx_session_config *config;
	struct fx_output *output; /* until the writer has it */
	struct fx_writer *writer; /* NULL before begin */
	struct fx_ground ground;
	struct fx_roster roster;
	struct single_program program;
	struct fx_policy policy;
	uint32_t epoch;
	struct fx_companion *companion; /* borrowed; NULL: none */
	bool stopped;			/* tracing has ended for good */
	uint64_t stop_at;		/* CLOCK_MONOTONIC ns; 0: when the program ends */
	uint32_t left_alive;		/* processes that were traced when the program had ended */
	uint32_t refused;		/* processes that could not be traced, */
	uint64_t untraced[FX_CAUSES];	/* and why */
	int signal;			/* that told the session to end; 0: none has */
	bool give_up; /* one has again, or there is no program: nothing is waited for any more */
	struct fx_snapshots snapshots;
	unsigned snapshot_count; /* taken so far */
	struct fx_look look;
	const char *look_name; /* of the events of the newest look */
	struct fx_standstill still;
};

/* --- single-looks.c --------------------------------------------------------------------------- */

/* A circular session's, beside the archive. */
void fx_single_take_snapshot(struct fx_single *s);

/* An alert of process `pid`: what its trigger says is done. `opaque`: the session, as below. */
void fx_single_alert(void *opaque, pid_t pid, const char *name);

/* The answer to a look has come. */
void fx_single_looked(void *opaque);

/* Looks where everybody stands if nothing has progressed for too long. */
void fx_single_watch_standstill(struct fx_single *s);

/* --- single-runs.c ---------------------------------------------------------------------------- */

/* Has the poller tell of the end of the program, process `pid`, if that can be. */
void fx_single_watch_program(struct fx_single *s, pid_t pid);

/* Stops tracing, gives threads a moment to finish their records, and takes what there is. */
void fx_single_stop(struct fx_single *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * fxtrace doctor: what would keep a trace from being whole.
 *
 *	doctor.c          the command: a line for each finding
 *	doctor-program.c  what the program's files tell
 *	doctor-system.c   what the environment and the machine have, and a trial run
 */
#ifndef FX_CLIENT_DOCTOR_H
#define FX_CLIENT_DOCTOR_H

#include <stdbool.h>

#include "base/loadable.h"

enum fx_fact_level {
	FX_FACT_NOTHING, /* nothing can be recorded */
	FX_FACT_PART,	 /* something will be missing */
	FX_FACT_NOTE,	 /* good to know */
	FX_FACT_LEVELS,
};

enum fx_fact {
#define FX_FACT(id, level, what, cure) FX_FACT_##id,
#include "client/facts.def"
#undef FX_FACT
};

struct fx_doctor {
	unsigned found[FX_FACT_LEVELS]; /* findings of each level */
	bool unsure;			/* only a run tells how much is missing */
	bool json;
};

/* Prints a finding about `subject`, a file or "this system"; `detail` may be NULL. */
void fx_doctor_tell(struct fx_doctor *d, const char *subject, enum fx_fact fact,
		    const char *detail);

/* The same for what stands in the way of a program. */
void fx_doctor_tell_obstacle(struct fx_doctor *d, const char *subject, enum fx_loadable obstacle);

/* The program `name`, looked for in PATH: its file, its interpreter, its libraries. */
void fx_doctor_program(struct fx_doctor *d, const char *name);

void fx_doctor_system(struct fx_doctor *d);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Which threads write to a pipe, and which read from it, as far as calls say it: those that made such calls, and those that made the
 * pipe their standard input or output, as a shell does before it becomes another program. What a thread waits for at a pipe without
 * an arrow is perhaps the one at the other end, if it is one alone.
 */
#ifndef FX_WHY_PARTIES_H
#define FX_WHY_PARTIES_H

#include "convert/export.h"
#include "report/keys.h"

#define FX_WHY_NOBODY UINT32_MAX

enum fx_why_side { FX_WHY_READS, FX_WHY_WRITES, FX_WHY_SIDES };

/* Two of them, since one may be the thread that waits. */
struct fx_why_party {
	uint32_t threads[2]; /* numbers */
	uint32_t count;	     /* 3: more than two */
};

/* All zeros is none. */
struct fx_why_parties {
	struct fx_keys pipes;		      /* numbers of their names */
	FX_VECTOR(struct fx_why_party) sides; /* two of each */
	FX_VECTOR(uint8_t) names; /* of calls: 1 + what they do with a pipe; 0: not looked at */
};

/* A call of a thread's. Returns 0 or -ENOMEM. */
int fx_why_parties_see(struct fx_why_parties *parties, const struct fx_event *event);

/*
 * The only thread but this one that has that side of the pipe that the event is about; FX_WHY_NOBODY: there are none or several, or
 * it is about no pipe, or does neither.
 */
uint32_t fx_why_parties_other(struct fx_why_parties *parties, const struct fx_event *event,
			      uint32_t thread);

void fx_why_parties_free(struct fx_why_parties *parties);

#endif

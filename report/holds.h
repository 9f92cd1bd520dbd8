/* SPDX-License-Identifier: MIT */
/*
 * How long locks were held, and where they had been taken. Known where takes and releases are recorded though nobody
 * waits, which is category pthread:all. Threads are shown one after the other, each in order of time. All zeros is an
 * empty one.
 */
#ifndef FX_REPORT_HOLDS_H
#define FX_REPORT_HOLDS_H

#include "report/deeds.h"
#include "report/keys.h"
#include "report/section.h"
#include "report/shares.h"

/* A lock that the thread which is being shown holds. */
struct fx_hold {
	uint64_t since;
	size_t lock;
	uint32_t place;
	uint32_t times; /* that it has taken it, and not released it */
};

/* How long one lock was held, by all threads, and the place where it was taken that this was longest. */
struct fx_held {
	uint64_t time, longest; /* in all; from that place */
	uint32_t place;		/* number of a text; 0: that one is not known */
};

struct fx_holds {
	struct fx_keys locks;		/* address; process */
	FX_VECTOR(struct fx_held) held; /* by number of the lock */
	struct fx_shares places;	/* of locks: texts */
	const struct fx_thread *thread;
	FX_VECTOR(struct fx_hold) open;
	struct fx_deeds deeds;
	bool has_releases;
};

/* To be shown each call of kind PTHREAD; `place' is the number of a text. Returns 0 or -ENOMEM. */
int fx_holds_enter(struct fx_holds *holds, struct fx_report *report,
		   const struct fx_open_call *call, const struct fx_event *event, uint32_t place);

/* When all have been shown. Returns 0 or -ENOMEM. */
int fx_holds_finish(struct fx_holds *holds, const struct fx_report *report);

/* Whether anything is known. */
bool fx_holds_any(const struct fx_holds *holds);

/* NULL: nothing is known of this lock. */
const struct fx_held *fx_holds_of(struct fx_holds *holds, uint64_t address, uint32_t process);

void fx_holds_free(struct fx_holds *holds);

#endif

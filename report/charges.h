/* SPDX-License-Identifier: MIT */
/*
 * Who waited for whom, and how long. A wait for a lock is charged to the thread that had it then: the one that had it as
 * the wait began, until another one took it, and so on; between a release and the next take, to the one that had it last.
 *
 *	member0 has it  |---------|
 *	member1          waits     |has it----|
 *	member2          waits                 |has it      is charged to member0, then to member1
 *
 * Where that is not known, and with all else that is waited for, it is charged to the thread that ended the wait. All zeros, but
 * for the range, is an empty one.
 */
#ifndef FX_REPORT_CHARGES_H
#define FX_REPORT_CHARGES_H

#include "report/keys.h"
#include "report/uses.h"

/* The waits of one thread for one object that another thread had. */
struct fx_charge {
	uint64_t total, count, longest, longest_at;
};

/* A use that is not over yet, of an object at which somebody waits. */
struct fx_charge_open {
	uint64_t end, since;
	uint32_t thread;
	uint32_t from; /* 1 + number of the thread whose arrow ends it; 0: none */
	bool waits, takes;
};

struct fx_charge_state {
	uint32_t holder; /* 1 + number of the thread; 0: not known */
	FX_VECTOR(struct fx_charge_open) open;
};

struct fx_charges {
	uint64_t from, to;   /* the range whose time is charged */
	struct fx_keys keys; /* address: the object; numbers: waiter, 1 + the one waited for or 0 */
	FX_VECTOR(struct fx_charge) items;	  /* by number of the key */
	FX_VECTOR(struct fx_charge_state) states; /* by object */
};

/* The uses of all objects, in order of time; `waits': it is a wait. Return 0 or -ENOMEM. */
int fx_charges_add(struct fx_charges *charges, uint32_t object, const struct fx_use *use,
		   uint32_t from, bool waits);
int fx_charges_finish(struct fx_charges *charges);

void fx_charges_free(struct fx_charges *charges);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The arrows of a barrier in memory of several processes: from the arrival that filled a round to the others of it.
 *
 * A thread knows which round it is in at the least: so many were full when it came. Only where more threads come than a round is of may it be in
 * a later one. But if, of all that came, as many as it takes are in each of the first rounds by what they know, then that is so: each is in
 * its own round or in a later one, and as many must be in each.
 *
 *	rounds of 2, three threads	A: 0, filled it		B: 0	C: 0		three say that they are in the first round: nothing is known
 *	rounds of 2, two threads	A: 0, filled it		B: 0	A: 1	B: 1, filled it
 */
#ifndef FX_MANAGER_SHARE_BARRIER_H
#define FX_MANAGER_SHARE_BARRIER_H

#include "manager/archive/share.h"

/* Counts what is drawn, and what is not. */
void fx_share_barrier(struct fx_shares *shares, struct fx_share *share);

#endif

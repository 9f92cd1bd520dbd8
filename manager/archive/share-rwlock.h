/* SPDX-License-Identifier: MIT */
/*
 * The arrows of a read-write lock in memory of several processes.
 *
 * A writer has it alone: so its releases are in the order of their times with all that others do. Who waited to read was let in by the newest
 * of them before the end of the wait; who waited to write, by the newest release of all. Readers may release it at the same time:
 *
 *	A	reads ====|r.......|		r: is about to release it; then it is over
 *	B	reads =======|r...|		A or B: nothing is drawn
 *	C	reads ================|r..|	C: the others were over
 *	D	    |....waits to write....h==	from C
 */
#ifndef FX_MANAGER_SHARE_RWLOCK_H
#define FX_MANAGER_SHARE_RWLOCK_H

#include "manager/archive/share.h"

/* Counts what is drawn, and what is not. */
void fx_share_rwlock(struct fx_shares *shares, struct fx_share *share);

#endif

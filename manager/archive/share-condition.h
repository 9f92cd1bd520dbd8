/* SPDX-License-Identifier: MIT */
/*
 * The arrows of a condition in memory of several processes: from the signal or broadcast to who was woken by it.
 *
 * Each wait has a place in the row of all that there ever were, and each signal says how long the row was as it began: whoever stands in it
 * waited then. What can have woken a thread is whatever began before its wait ended, and either found it in the row or was not over when it
 * began to wait. It was woken by no later one than the first that must have woken somebody if it was still there: a broadcast; or a signal
 * that found nobody else who was not awake yet. A signal wakes one thread: one that a thread is known to be woken by has woken no other.
 *
 *	A	  |0......waits......|		B	     |1.............waits......|
 *	C		       |signal, row of 2|		   D	     |signal, row of 2|
 *
 * A can only have been woken by C, since D began after A's wait; so B was woken by D. Had A ended later, either might be either's.
 */
#ifndef FX_MANAGER_SHARE_CONDITION_H
#define FX_MANAGER_SHARE_CONDITION_H

#include "manager/archive/share.h"

/* Counts what is drawn, and what is not. */
void fx_share_condition(struct fx_shares *shares, struct fx_share *share);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A process that is killed may have done to a semaphore what it could not tell any more, from what it told last until its end:
 *
 *	A	|post|   |takes|  |post...		killed: whether that unit was added is not known,
 *	B	      |......waits.......|..h		nor which B got
 */
#ifndef FX_MANAGER_SHARE_CUT_H
#define FX_MANAGER_SHARE_CUT_H

#include "manager/archive/share.h"

/* Until when all that was done is told: ns; UINT64_MAX: to the end. */
uint64_t fx_share_cut(const struct fx_shares *shares, const struct fx_share *share);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Between the files of the roster:
 *
 *	roster.c            turns of the control thread: which providers are polled, have died, are finished
 *	roster-admission.c  from an applicant to a provider
 *	roster-memory.c     the memory that all take, against its limits
 */
#ifndef FX_MANAGER_ROSTER_INTERNAL_H
#define FX_MANAGER_ROSTER_INTERNAL_H

#include "manager/door/roster.h"

/* What the registry asks of its owner (struct fx_registry_owner); `opaque` is the roster. */
int fx_roster_admit(void *opaque, const struct fx_applicant *applicant, struct fx_admission *ret);
void fx_roster_admitted(void *opaque, struct fx_admission *admission, int result);
void fx_roster_turned_away(void *opaque, const struct fx_applicant *applicant, int error);

/* The process of provider `opaque` has died. */
void fx_roster_death_ready(void *opaque);

#endif

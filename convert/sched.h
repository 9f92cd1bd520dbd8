/* SPDX-License-Identifier: MIT */
/*
 * Scheduling records, in order of time, with the names of the threads that they have only numbers
 * of.
 */
#ifndef FX_CONVERT_SCHED_H
#define FX_CONVERT_SCHED_H

#include "convert/export.h"

/* Exports all scheduling records of the exporter's timeline. Returns 0 or -ENOMEM. */
int fx_sched_export(struct fx_exporter *exporter);

#endif

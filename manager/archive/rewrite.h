/* SPDX-License-Identifier: MIT */
/*
 * Records of a provider's buffer made into records of the archive, each kind by its fields. A record keeps its size:
 * only references, times and process ids in it change. Strings that it needs are written meanwhile.
 */
#ifndef FX_MANAGER_REWRITE_H
#define FX_MANAGER_REWRITE_H

#include "manager/archive/rewriting.h"

/* 1: the record goes into the archive, 0: it has served its purpose, -errno: it is left out. */
int fx_rewrite_record(struct fx_rewriting *w);

#endif

/* SPDX-License-Identifier: MIT */
/* What `fxtrace snapshot --await' says once it waits, on standard error: who started it by ssh looks for it. */
#ifndef FX_CLIENT_SNAPSHOT_H
#define FX_CLIENT_SNAPSHOT_H

#define FX_SNAPSHOT_WAITS "fxtrace snapshot: waiting"

#endif

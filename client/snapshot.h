/* SPDX-License-Identifier: MIT */
/* What `fxtrace snapshot --await' says on standard error: who started it by ssh looks for it. */
#ifndef FX_CLIENT_SNAPSHOT_H
#define FX_CLIENT_SNAPSHOT_H

#define FX_SNAPSHOT_WAITS  "fxtrace snapshot: waiting"
#define FX_SNAPSHOT_NONE   "fxtrace snapshot: there is no session with circular buffers"
#define FX_SNAPSHOT_OVER   "fxtrace snapshot: the session has ended"
#define FX_SNAPSHOT_CALLED "fxtrace snapshot: one is called for"
/* Before a number: of the session's snapshots before this one is waited for, and in the end with it. */
#define FX_SNAPSHOT_SO_FAR "fxtrace snapshot: of this session so far: "

#endif

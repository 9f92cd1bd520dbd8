/* SPDX-License-Identifier: MIT */
/* What the streams of an archive share, for tests that have no writer thread. */
#ifndef FX_TESTS_MANAGER_SHARED_H
#define FX_TESTS_MANAGER_SHARED_H

#include "manager/archive/stream.h"
#include "manager/archive/ties.h"

/* The archive is archive_path(); a tick is a nanosecond. */
void shared_begin(struct fx_stream_shared *ret, struct fx_ties *ties);

#endif

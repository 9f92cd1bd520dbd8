/* SPDX-License-Identifier: MIT */
/* For sources that were written for Fuchsia: -I.../include/fxtrace/fuchsia. */
#ifndef FXTRACE_FUCHSIA_TRACE_EVENT_H
#define FXTRACE_FUCHSIA_TRACE_EVENT_H

#include <fxtrace/event.h>

/* What its ids and scopes are called. */
typedef uint64_t trace_async_id_t;
typedef uint64_t trace_flow_id_t;
typedef uint64_t trace_counter_id_t;
typedef unsigned trace_scope_t;

#endif

/* SPDX-License-Identifier: MIT */
/* Asynchronous operations that are open: what their begins say, until their ends come, as one event then. */
#ifndef FX_MEASURE_OPERATIONS_H
#define FX_MEASURE_OPERATIONS_H

#include "convert/export.h"
#include "lists/vector.h"

struct fx_operation; /* a begin that was kept */

/* Operations belong to a process, and to no thread: one without a name, its id 0, stands for it. */
struct fx_thread fx_operation_thread(const struct fx_async_track *track);

struct fx_operation_track {
	FX_VECTOR(struct fx_operation *) open; /* the innermost last */
};

struct fx_operations {
	FX_VECTOR(struct fx_operation_track) tracks; /* by number */
};

/* Keeps a begin. Returns 0 or -ENOMEM. All zeros is none. */
int fx_operations_open(struct fx_operations *operations, const struct fx_async_track *track,
		       const struct fx_event *begin);

/* Takes out the innermost begin of a track; NULL: there is none. To be freed. */
struct fx_operation *fx_operations_close(struct fx_operations *operations,
					 const struct fx_async_track *track);

/* Takes out any begin; NULL: there is none. */
struct fx_operation *fx_operations_take(struct fx_operations *operations);

/* The whole, with its end and what the end says; NULL: it did not finish. It lives as long as the operation. */
const struct fx_event *fx_operation_event(struct fx_operation *operation,
					  const struct fx_event *end);

void fx_operation_free(struct fx_operation *operation);

/* With what is open. */
void fx_operations_free(struct fx_operations *operations);

#endif

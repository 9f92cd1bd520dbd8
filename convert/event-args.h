/* SPDX-License-Identifier: MIT */
/* Arguments of events by their names. */
#ifndef FX_CONVERT_EVENT_ARGS_H
#define FX_CONVERT_EVENT_ARGS_H

#include "convert/export.h"

/* An argument of an event, or of its end; NULL: it has none of this name. */
const struct fxt_arg *fx_event_arg(const struct fx_event *event, const char *name);

/* An argument as an integer; false: it has none of this name, or it is no integer. */
bool fx_event_integer(const struct fx_event *event, const char *name, int64_t *ret);

#endif

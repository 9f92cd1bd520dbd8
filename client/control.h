/* SPDX-License-Identifier: MIT */
/*
 * Sessions of a running manager, as `fxtrace record' and `fxtrace start' begin them.
 */
#ifndef FX_CLIENT_CONTROL_H
#define FX_CLIENT_CONTROL_H

#include "client/link.h"
#include "client/options.h"
#include "manager/archive/destination.h"

/*
 * Opens the output and initializes a session with these options; `detached`: it outlives the link. 0, or
 * FX_EXIT_FAILURE after a line that says why.
 */
int fx_control_initialize(struct fx_link *link, const struct fx_options *options, bool detached);

/* Starts tracing; the categories of `more`, NULL none, are added to those of the session. As above. */
int fx_control_start(struct fx_link *link, enum fx_disposition disposition,
		     const struct fx_options *more, struct fx_msg_result *ret);

/* Has a session that goes on record the functions that these options choose, and no others. As above. */
int fx_control_choose(struct fx_link *link, const struct fx_options *options);

/* The manager has been sent the output's descriptor, and has taken it or not; here it is not needed any more. */
void fx_control_output_passed(struct fx_destination *output, bool taken);

#endif

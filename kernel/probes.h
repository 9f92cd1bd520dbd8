/* SPDX-License-Identifier: MIT */
/* The probes of a session, from their names to their tracepoints. What cannot be had is said on standard error, a line each. */
#ifndef FX_KERNEL_PROBES_H
#define FX_KERNEL_PROBES_H

#include "kernel/probe.h"
#include "kernel/wish.h"

struct fx_probes {
	struct fx_probe_list list; /* empty: there are none */
	struct fx_kernel_point
	    *numbers; /* the wish's tracepoints, these among them; NULL: as they were */
};

/* Adds those that a list of categories asks for, of the programs that a command names, to what is wished. */
void fx_probes_begin(struct fx_probes *probes, const char *words, char *const *command,
		     struct fx_kernel_wish *wish);

/* The kernel would not record the tracepoints that were wished. */
void fx_probes_refused(const struct fx_probes *probes);

/* Takes them away; nobody records them any more. */
void fx_probes_end(struct fx_probes *probes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Probes of files that processes map while their probes are recorded: of libraries that are loaded later, of programs that children run, and
 * of all that those have who were there before. They are placed by a thread of their own, since the kernel takes its time for that; what passes by
 * one before is not recorded.
 */
#ifndef FX_KERNEL_PROBE_LATE_H
#define FX_KERNEL_PROBE_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/probe.h"
#include "kernel/ring-record.h"
#include "kernel/rings.h"

struct fx_late_probes;

/*
 * Those that a list of categories asks for, but for the files of `placed', which has them already. All three outlive it. 0, -ENOMEM, or
 * another -errno without a thread.
 */
int fx_late_probes_create(const char *words, const struct fx_probe_list *placed,
			  struct fx_rings *rings, struct fx_late_probes **ret);

/* Takes them away, when no records are read any more. NULL: nothing is done. */
void fx_late_probes_destroy(struct fx_late_probes *late);

/* A file of code was seen in a process, by its number, which tells it from others; the descriptor is duplicated if it is new. */
void fx_late_probes_see(struct fx_late_probes *late, const char *path, int fd);

/* Writes, once, which file's probes could not be placed. Of the thread that reads records; NULL: nothing is done. */
void fx_late_probes_tell(struct fx_late_probes *late);

/* Writes the record of a probe. False: it is none of these. Of the thread that reads records. */
bool fx_late_probes_record(const struct fx_late_probes *late, const struct fx_ring_record *record);

#endif

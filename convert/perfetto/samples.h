/* SPDX-License-Identifier: MIT */
/*
 * Samples of running threads as Perfetto's own of perf: one sequence, which is one profile, in order of time. They are kept
 * until then, 24 bytes each.
 */
#ifndef FX_CONVERT_PERFETTO_SAMPLES_H
#define FX_CONVERT_PERFETTO_SAMPLES_H

#include "convert/export.h"
#include "convert/perfetto/packet.h"
#include "lists/vector.h"

struct fx_samples_entry {
	uint64_t ts;
	uint32_t pid, tid;
	uint32_t stack; /* number of its text */
};

struct fx_samples {
	FX_VECTOR(struct fx_samples_entry) list;
	int error; /* 0 or -ENOMEM */
};

/* Takes an instant; false: it is no sample, or one of a thread that has no number of Linux's. */
bool fx_samples_take(struct fx_samples *samples, const struct fx_event *event);

/* Writes what was taken. */
void fx_samples_write(struct fx_samples *samples, struct fx_packets *packets);
void fx_samples_free(struct fx_samples *samples);

#endif

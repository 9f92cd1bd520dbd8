/* SPDX-License-Identifier: MIT */
/*
 * The events of a thread, handed to an exporter one by one: from the first, or from a place that was noted before.
 *
 *     r = fx_stepper_begin(&stepper, thread, NULL);
 *     while (r >= 0 && (r = fx_stepper_next(&stepper)) > 0)
 *             ...
 *     fx_stepper_end_slices(&stepper);
 *     fx_stepper_end(&stepper);
 */
#ifndef FX_CONVERT_STEPPER_H
#define FX_CONVERT_STEPPER_H

#include "convert/arrange.h"
#include "convert/export.h"
#include "convert/flows.h"

struct fx_stepper {
	/* Set by the caller, and borrowed. */
	struct fx_exporter *exporter;
	struct fx_flows *flows; /* resolved */

	const struct fx_exporter_ops *ops;
	struct fx_timeline *timeline;
	/* The event at hand. */
	struct fx_thread *thread;
	struct fx_walk walk;
	struct fx_event event;
	bool is_blank; /* but for what each complete event sets in it */
	struct fxt_record record;
	struct fxt_record end_record;
};

/* Begins an arranged thread; @place is of fx_walk_note_place(), or NULL. A caller that goes back to what was before has to seek
 * the flows, too. Returns 0 or -errno; fx_stepper_end() must follow either way. */
int fx_stepper_begin(struct fx_stepper *stepper, struct fx_thread *thread,
		     const struct fx_walk_place *place);

/* Hands over the next event, and the ends of the slices before it. Returns 1, 0 behind the last, or -errno. */
int fx_stepper_next(struct fx_stepper *stepper);

/* Behind the last event: hands over the ends of what is open, and counts what was left out. */
void fx_stepper_end_slices(struct fx_stepper *stepper);

void fx_stepper_end(struct fx_stepper *stepper);

#endif

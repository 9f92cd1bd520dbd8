/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>

#include "archives/align-internal.h"

bool fx_align_may_move(const struct fx_aligned *a)
{
	return !a->leader &&
	       (a->how == FX_ALIGN_DATES || a->how == FX_ALIGN_BOTH || a->how == FX_ALIGN_MESSAGES);
}

/* Makes an archive's clock known. */
static int align_first(const struct fx_align_work *work, struct fx_aligned *a)
{
	struct fx_bounds bounds;
	struct fx_line line;
	int r = fx_align_gather(work, a, false, &bounds);

	if (r == 0 && bounds.count > 0) {
		fx_bounds_solve(&bounds, &line);
		r = fx_align_by_offset(a, line.base, FX_ALIGN_MESSAGES);
		/* The line was found by times that have not been moved yet. */
		if (r == 0)
			fx_clockmap_tilt(&a->map, line.constant, line.slope,
					 fx_align_moved(line.at, line.base));
	}
	fx_bounds_free(&bounds);
	return r;
}

/* Moves a clock that is nearly right so that its messages are in order, if they are not. */
static int align_move(const struct fx_align_work *work, struct fx_aligned *a)
{
	struct fx_bounds bounds;
	struct fx_line line;
	int r = fx_align_gather(work, a, false, &bounds);

	if (r == 0 && bounds.count > 0 && !fx_bounds_are_kept(&bounds)) {
		fx_bounds_solve(&bounds, &line);
		a->how = FX_ALIGN_BOTH;
		fx_clockmap_tilt(&a->map, line.constant, line.slope, line.at);
	}
	fx_bounds_free(&bounds);
	return r;
}

/* What a clock may be wrong by, as those may of which its messages tell. */
static int align_error(const struct fx_align_work *work, struct fx_aligned *a, bool *improves)
{
	struct fx_bounds bounds;
	struct fx_line line = {0};
	int r = fx_align_gather(work, a, true, &bounds);

	if (r == 0 && bounds.count > 0) {
		double error;

		line.at = bounds.items[0].at;
		error = fx_bounds_error(&bounds, &line) + fx_clockmap_bend(&a->map);
		*improves |= error < a->error * 0.99;
		if (error < a->error)
			a->error = error;
	}
	fx_bounds_free(&bounds);
	return r;
}

/* --- All of them ------------------------------------------------------------------------------- */

/* Says of whom messages are out of order after all. */
static int align_contradict(struct fx_align_work *work)
{
	int r = 0;

	for (size_t i = 1; i < work->count && r == 0; i++) {
		struct fx_aligned *a = &work->archives[i];
		struct fx_bounds bounds;

		if (!fx_align_may_move(a))
			continue;
		r = fx_align_gather(work, a, false, &bounds);
		a->is_contradicted = bounds.count > 0 && !fx_bounds_are_kept(&bounds);
		fx_bounds_free(&bounds);
	}
	return r;
}

/* So often what is found of one clock may tell more of its neighbours. */
#define ALIGN_TURNS 100

static int fx_align_errors(const struct fx_align_work *work)
{
	bool goes_on = true;
	int r = 0;

	for (int turn = 0; turn < ALIGN_TURNS && goes_on && r == 0; turn++) {
		goes_on = false;
		for (size_t i = 1; i < work->count && r == 0; i++) {
			if (fx_align_may_move(&work->archives[i]))
				r = align_error(work, &work->archives[i], &goes_on);
		}
	}
	return r;
}

/* Those that nothing else has aligned wait for one another; then all are brought into order. */
int fx_align_by_messages(struct fx_align_work *work)
{
	bool found = true;
	int r = 0;

	for (size_t i = 1; i < work->count && r == 0; i++) {
		if (work->archives[i].how == FX_ALIGN_DATES && !work->archives[i].leader)
			r = align_move(work, &work->archives[i]);
	}

	while (found && r == 0) {
		found = false;
		for (size_t i = 1; i < work->count && r == 0; i++) {
			struct fx_aligned *a = &work->archives[i];

			if (a->how != FX_ALIGN_NONE || a->leader)
				continue;
			r = align_first(work, a);
			found |= a->how != FX_ALIGN_NONE;
		}
	}
	if (r == 0)
		r = fx_align_settle(work);
	if (r == 0)
		r = align_contradict(work);
	return r == 0 ? fx_align_errors(work) : r;
}

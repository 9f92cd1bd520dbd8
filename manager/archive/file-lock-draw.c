/* SPDX-License-Identifier: MIT */
#include "manager/archive/file-lock-draw.h"

#include <errno.h>
#include <stdlib.h>

#include "manager/archive/file-lock-holds.h"
#include "manager/archive/own.h"

static bool is_same_owner(const struct fx_file_told *a, const struct fx_file_told *b)
{
	return a->pid == b->pid && a->owner == b->owner;
}

static bool is_had(const struct fx_file_told *told)
{
	return told->kind == FX_FILE_LOCK_HAS || told->kind == FX_FILE_LOCK_HAS_WAITED;
}

/* --- Who let whom go on ------------------------------------------------------------------------ */

/* What is known of how one got a lock. */
struct had {
	const struct fx_file_hold
	    *last; /* what was given back last of that which was in the way; NULL: nothing was */
	uint64_t others; /* when the others were gone at the latest */
	bool is_unseen;	 /* something went in a way that nobody told */
};

static bool is_in_the_way(const struct fx_file_hold *hold, const struct fx_file_told *told,
			  bool is_shared)
{
	return !is_same_owner(hold->has, told) && !(is_shared && hold->is_shared) &&
	       fx_file_bytes_meet(hold->first, hold->last, told->first, told->last);
}

/* What one has that could not be had beside this one is gone by then. False: it matters no more. */
static bool had_see(struct had *had, struct fx_file_hold *hold, const struct fx_file_told *told)
{
	const struct fx_file_hold *last = had->last;

	if (hold->replaced && hold->replaced < told->end && !hold->is_lost)
		return false;
	if (!hold->end || hold->begin >= told->end) {
		if (!hold->gone)
			hold->gone = hold->replaced && hold->replaced < told->end ? hold->replaced
										  : told->end;
		had->is_unseen |= hold->gone >= told->begin;
		return true;
	}
	if (hold->end < told->begin)
		return true;
	if (last && !(hold->freed && hold->freed == last->freed)) {
		const struct fx_file_hold *earlier = hold->begin < last->begin ? hold : last;

		if (earlier->end > had->others)
			had->others = earlier->end;
		if (earlier == hold)
			return true;
	}
	had->last = hold;
	return true;
}

/* Whether one that has ended since may have had it in between. */
static bool is_doubtful(const struct fx_file_work *work, const struct fx_file_told *told)
{
	for (size_t i = 0; i < work->asking.count; i++) {
		const struct fx_file_told *wants = work->asking.items[i].wants;

		if (wants->begin < told->end && work->asking.items[i].until > told->begin &&
		    fx_file_bytes_meet(wants->first, wants->last, told->first, told->last))
			return true;
	}
	return false;
}

/* Whether somebody else may have given back what was in the way. */
static bool is_strange(const struct fx_file_work *work, const struct fx_file_told *told)
{
	for (size_t i = 0; i < work->strange.count; i++) {
		const struct fx_file_told *frees = work->strange.items[i];

		if (frees->begin < told->end && frees->end > told->begin &&
		    fx_file_bytes_meet(frees->first, frees->last, told->first, told->last))
			return true;
	}
	return false;
}

static void had_draw(struct fx_file_locks *locks, const struct fx_file_hold *hold,
		     const struct fx_file_told *told)
{
	const struct fx_point to = {told->provider, told->pid, told->shown, told->end};
	struct fx_point from = {0};
	const char *name = told->owner & FX_FILE_LOCK_OF_FLOCK ? "flock" : "fcntl";
	bool is_closed = hold->freed && hold->freed->kind == FX_FILE_LOCK_CLOSES;
	struct fxt_arg receiver = fx_own_pid("pid", told->pid), sender;

	if (hold->freed) {
		from = (struct fx_point){hold->freed->provider, hold->freed->pid,
					 hold->freed->shown, hold->begin};
	} else {
		from = (struct fx_point){hold->ended->provider, hold->ended->pid, hold->ended->pid,
					 hold->end};
		if (from.ns >= told->end)
			from.ns = told->end - 1;
		name = "ends with its locks";
	}
	name = is_closed ? "close" : name;
	sender = fx_own_pid("pid", from.pid);
	fx_arrow_draw_in(locks->arrows, "syscall", &from, name, &receiver, &to, "gets", &sender);
	locks->counts->arrows++;
}

static void had_tell(const struct fx_file_work *work, const struct had *had,
		     const struct fx_file_told *told)
{
	uint64_t *left = work->locks->counts->left;

	if (told->kind != FX_FILE_LOCK_HAS_WAITED || (!had->last && !had->is_unseen))
		return;
	if (had->is_unseen)
		left[FX_TRANSFER_LEFT_UNTRACED]++;
	else if (is_doubtful(work, told))
		left[FX_TRANSFER_LEFT_LOST]++;
	else if (had->others >= had->last->begin || is_strange(work, told))
		left[FX_TRANSFER_LEFT_ORDER]++;
	else if (had->last->begin > told->begin)
		had_draw(work->locks, had->last, told);
	else if (had->last->ended) /* before it was asked for, or after that */
		left[FX_TRANSFER_LEFT_ORDER]++;
}

/* Holds `first' up to `last' are those that one call got. */
static int had_take(struct fx_file_work *work, size_t first, size_t last, uint64_t earliest)
{
	const struct fx_file_told *told = work->holds.items[first].has;
	bool is_shared = work->holds.items[first].is_shared;
	struct had had = {0};
	size_t kept = 0;

	for (size_t i = 0; i < work->active.count; i++) {
		struct fx_file_hold *hold = &work->holds.items[work->active.items[i]];
		bool stays =
		    hold->gone ? hold->gone >= earliest : !hold->end || hold->end >= earliest;

		if (is_in_the_way(hold, told, is_shared))
			stays &= had_see(&had, hold, told);
		if (stays)
			work->active.items[kept++] = work->active.items[i];
	}
	work->active.count = kept;
	had_tell(work, &had, told);
	if (fx_vector_reserve(&work->active, last - first) < 0)
		return -ENOMEM;
	for (size_t i = first; i < last; i++)
		work->active.items[work->active.count++] = i;
	return 0;
}

static int compare_holds(const void *a, const void *b)
{
	const struct fx_file_hold *left = a, *right = b;

	if (left->has->end != right->has->end)
		return left->has->end < right->has->end ? -1 : 1;
	return left->has < right->has ? -1 : left->has > right->has;
}

static int compare_file_told(const void *a, const void *b)
{
	const struct fx_file_told *left = a, *right = b;

	if (left->end != right->end)
		return left->end < right->end ? -1 : 1;
	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

/* When the earliest of all that come from there on began, for each of them. NULL: there is no memory. */
static uint64_t *earliest_find(const struct fx_file_work *work)
{
	uint64_t *earliest = malloc((work->holds.count + 1) * sizeof(*earliest));

	if (!earliest)
		return NULL;
	earliest[work->holds.count] = UINT64_MAX;
	for (size_t i = work->holds.count; i-- > 0;) {
		uint64_t begin = work->holds.items[i].has->begin;

		earliest[i] = begin < earliest[i + 1] ? begin : earliest[i + 1];
	}
	return earliest;
}

static int holds_draw(struct fx_file_work *work)
{
	uint64_t *earliest;
	int r = 0;

	if (work->holds.count == 0)
		return 0;
	qsort(work->holds.items, work->holds.count, sizeof(*work->holds.items), compare_holds);
	earliest = earliest_find(work);
	if (!earliest)
		return -ENOMEM;
	for (size_t i = 0, next; i < work->holds.count && r == 0; i = next) {
		for (next = i + 1; next < work->holds.count &&
				   work->holds.items[next].has == work->holds.items[i].has;
		     next++)
			;
		r = had_take(work, i, next, earliest[i]);
	}
	free(earliest);
	return r;
}

/* --- A file ------------------------------------------------------------------------------------ */

static int file_draw_kind(struct fx_file_locks *locks, const struct fx_file *file, bool is_flock)
{
	struct fx_file_work work = {.locks = locks, .is_flock = is_flock};
	int r = 0;

	for (size_t i = 0; i < file->told.count && r == 0; i++) {
		const struct fx_file_told *told = &file->told.items[i];

		if (is_flock == ((told->owner & FX_FILE_LOCK_OF_FLOCK) != 0))
			r = fx_file_work_hear(&work, told);
	}
	fx_file_work_end(&work);
	if (r == 0 && !work.is_odd)
		r = holds_draw(&work);
	for (size_t i = 0; work.is_odd && i < file->told.count; i++)
		locks->counts->left[FX_TRANSFER_LEFT_ORDER] +=
		    is_had(&file->told.items[i]) &&
		    file->told.items[i].kind == FX_FILE_LOCK_HAS_WAITED;
	fx_file_work_free(&work);
	return r;
}

int fx_file_draw(struct fx_file_locks *locks, struct fx_file *file)
{
	int r;

	if (file->told.count)
		qsort(file->told.items, file->told.count, sizeof(*file->told.items),
		      compare_file_told);
	r = file_draw_kind(locks, file, true);
	return r < 0 ? r : file_draw_kind(locks, file, false);
}

/* SPDX-License-Identifier: MIT */
#include "manager/archive/file-lock-draw.h"

#include <errno.h>
#include <stdlib.h>

#include "lists/vector.h"
#include "manager/archive/own.h"

/* So much of a file as one has a lock of, until it is given back. */
struct hold {
	const struct fx_file_told *has;
	uint64_t first, last; /* bytes */
	bool is_shared;
	/* It was given back between these; end 0: nothing tells that. By whom: NULL: by the end of the process. */
	uint64_t begin, end;
	const struct fx_file_told *freed;
	const struct fx_file_end *ended;
	uint64_t replaced; /* by another one of the same owner, ns; 0: it was not */
};

/* Those that one owner has. */
struct holder {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	struct holder_key {
		uint32_t pid;
		int32_t owner;
	} key;
	FX_VECTOR(size_t) holds; /* numbers */
};

/* A thread that has asked for one. */
struct asking {
	const struct fx_file_told *wants;
	uint64_t until; /* it may have it since, ns; 0: it has got an answer */
};

struct file_work {
	struct fx_file_locks *locks;
	bool is_flock;		/* those of flock() and the others know nothing of each other */
	bool is_odd;		/* one was given back before it was had */
	struct holder *holders; /* uthash */
	FX_VECTOR(struct hold) holds;
	FX_VECTOR(struct asking) asking;
	FX_VECTOR(const struct fx_file_told *)
	strange; /* given back by who is not known to have it: by another's descriptor, perhaps */
	FX_VECTOR(size_t) active; /* numbers of holds that may matter yet */
};

static bool bytes_meet(uint64_t first, uint64_t last, uint64_t other_first, uint64_t other_last)
{
	return first <= other_last && other_first <= last;
}

static bool is_same_owner(const struct fx_file_told *a, const struct fx_file_told *b)
{
	return a->pid == b->pid && a->owner == b->owner;
}

static bool is_had(const struct fx_file_told *told)
{
	return told->kind == FX_FILE_LOCK_HAS || told->kind == FX_FILE_LOCK_HAS_WAITED;
}

/* --- Who had what ------------------------------------------------------------------------------ */

static struct holder *holder_get(struct file_work *work, const struct fx_file_told *told)
{
	struct holder_key key = {told->pid, told->owner};
	struct holder *holder;

	HASH_FIND(hh, work->holders, &key, sizeof(key), holder);
	if (holder)
		return holder;
	holder = calloc(1, sizeof(*holder));
	if (!holder)
		return NULL;
	holder->key = key;
	HASH_ADD(hh, work->holders, key, sizeof(holder->key), holder);
	if (holder->lost) {
		free(holder);
		return NULL;
	}
	return holder;
}

static int hold_add(struct file_work *work, struct holder *holder, const struct hold *hold)
{
	if (fx_vector_reserve(&work->holds, 1) < 0 || fx_vector_reserve(&holder->holds, 1) < 0)
		return -ENOMEM;
	holder->holds.items[holder->holds.count++] = work->holds.count;
	work->holds.items[work->holds.count++] = *hold;
	return 0;
}

/* Leaves of a hold what lies within; its other parts are holds of their own. */
static int hold_cut(struct file_work *work, struct holder *holder, size_t number, uint64_t first,
		    uint64_t last)
{
	struct hold part = work->holds.items[number];
	int r = 0;

	if (part.first < first) {
		part.last = first - 1;
		r = hold_add(work, holder, &part);
		work->holds.items[number].first = first;
	}
	part = work->holds.items[number];
	if (r == 0 && part.last > last) {
		part.first = last + 1;
		r = hold_add(work, holder, &part);
		work->holds.items[number].last = last;
	}
	return r;
}

/* Something is done with bytes that the holder has: what was there ends, or, being replaced by what is as strong, goes on. */
static int holds_end(struct file_work *work, struct holder *holder, const struct fx_file_told *told,
		     bool has, bool is_shared)
{
	size_t count = holder->holds.count, kept = 0;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		size_t number = holder->holds.items[i];
		struct hold *hold = &work->holds.items[number];

		if (!bytes_meet(hold->first, hold->last, told->first, told->last)) {
			holder->holds.items[kept++] = number;
			continue;
		}
		r = hold_cut(work, holder, number, told->first, told->last);
		hold = &work->holds.items[number];
		work->is_odd |= told->begin < hold->has->end;
		if (has && !work->is_flock && (hold->is_shared || !is_shared)) {
			hold->replaced = told->end;
		} else {
			hold->begin = told->begin;
			hold->end = told->end;
			hold->freed = told;
		}
	}
	/* Cutting may have added some. */
	for (size_t i = count; i < holder->holds.count; i++)
		holder->holds.items[kept++] = holder->holds.items[i];
	holder->holds.count = kept;
	return r;
}

/* flock() does nothing if what is asked for is there already. */
static bool has_it_already(const struct file_work *work, const struct holder *holder,
			   bool is_shared)
{
	return work->is_flock && holder->holds.count > 0 &&
	       work->holds.items[holder->holds.items[0]].is_shared == is_shared;
}

static int hold_begin(struct file_work *work, const struct fx_file_told *told, bool is_shared)
{
	const struct hold hold = {
	    .has = told, .first = told->first, .last = told->last, .is_shared = is_shared};
	struct holder *holder = holder_get(work, told);
	int r;

	if (!holder)
		return -ENOMEM;
	if (has_it_already(work, holder, is_shared))
		return 0;
	r = holds_end(work, holder, told, true, is_shared);
	return r < 0 ? r : hold_add(work, holder, &hold);
}

static int asking_add(struct file_work *work, const struct fx_file_told *told)
{
	if (fx_vector_reserve(&work->asking, 1) < 0)
		return -ENOMEM;
	work->asking.items[work->asking.count++] = (struct asking){told, UINT64_MAX};
	return 0;
}

/* What the thread has asked for; NULL: nothing. It is asking no more. */
static const struct fx_file_told *asking_take(struct file_work *work,
					      const struct fx_file_told *answer)
{
	for (size_t i = work->asking.count; i-- > 0;) {
		const struct fx_file_told *wants = work->asking.items[i].wants;

		if (wants->shown != answer->shown || wants->provider != answer->provider)
			continue;
		work->asking.items[i] = work->asking.items[--work->asking.count];
		return wants;
	}
	return NULL;
}

/* `may_be_strange': several may lead to what has it. */
static int holds_free(struct file_work *work, const struct fx_file_told *told, bool may_be_strange)
{
	struct holder *holder = holder_get(work, told);

	if (!holder)
		return -ENOMEM;
	if (holder->holds.count > 0 || !may_be_strange)
		return holds_end(work, holder, told, false, false);
	if (fx_vector_reserve(&work->strange, 1) < 0)
		return -ENOMEM;
	work->strange.items[work->strange.count++] = told;
	return 0;
}

static int holds_hear(struct file_work *work, const struct fx_file_told *told)
{
	const struct fx_file_told *wants;

	switch (told->kind) {
	case FX_FILE_LOCK_WANTS:
	case FX_FILE_LOCK_WANTS_SHARED:
		return asking_add(work, told);
	case FX_FILE_LOCK_FAILS:
		asking_take(work, told);
		return work->is_flock ? holds_free(work, told, false) : 0;
	case FX_FILE_LOCK_HAS_WAITED:
	case FX_FILE_LOCK_HAS:
		wants = asking_take(work, told);
		work->is_odd |= !wants;
		return hold_begin(work, told, wants && wants->kind == FX_FILE_LOCK_WANTS_SHARED);
	case FX_FILE_LOCK_FREES:
		return holds_free(work, told, told->owner != FX_FILE_LOCK_OF_PROCESS);
	default:
		return 0;
	}
}

/* The end of a process gives back what it has; and one that was asking may have got it just before. */
static void holds_die(struct file_work *work, const struct fx_file_end *end)
{
	struct holder_key key = {end->pid, FX_FILE_LOCK_OF_PROCESS};
	struct holder *holder;

	for (size_t i = 0; i < work->asking.count; i++) {
		if (work->asking.items[i].wants->provider == end->provider)
			work->asking.items[i].until = end->heard;
	}
	HASH_FIND(hh, work->holders, &key, sizeof(key), holder);
	for (size_t i = 0; end->is_death && holder && i < holder->holds.count; i++) {
		struct hold *hold = &work->holds.items[holder->holds.items[i]];

		if (hold->end || hold->has->begin > end->heard)
			continue;
		hold->begin = end->alive > hold->has->end ? end->alive : hold->has->end;
		hold->end = end->heard > hold->begin ? end->heard : hold->begin;
		hold->ended = end;
	}
}

/* --- Who let whom go on ------------------------------------------------------------------------ */

/* What is known of how one got a lock. */
struct had {
	const struct hold
	    *last; /* what was given back last of that which was in the way; NULL: nothing was */
	uint64_t others; /* when the others were gone at the latest */
	bool is_unseen;	 /* something went in a way that nobody told */
};

static bool is_in_the_way(const struct hold *hold, const struct fx_file_told *told, bool is_shared)
{
	return !is_same_owner(hold->has, told) && !(is_shared && hold->is_shared) &&
	       bytes_meet(hold->first, hold->last, told->first, told->last);
}

/* What one has that could not be had beside this one is gone by then. False: it matters no more. */
static bool had_see(struct had *had, const struct hold *hold, const struct fx_file_told *told)
{
	const struct hold *last = had->last;

	if (hold->replaced && hold->replaced < told->end)
		return false;
	if (!hold->end || hold->begin >= told->end) {
		had->is_unseen = true;
		return false;
	}
	if (hold->end < told->begin)
		return true;
	if (last && !(hold->freed && hold->freed == last->freed)) {
		const struct hold *earlier = hold->begin < last->begin ? hold : last;

		if (earlier->end > had->others)
			had->others = earlier->end;
		if (earlier == hold)
			return true;
	}
	had->last = hold;
	return true;
}

/* Whether one that has ended since may have had it in between. */
static bool is_doubtful(const struct file_work *work, const struct fx_file_told *told)
{
	for (size_t i = 0; i < work->asking.count; i++) {
		const struct fx_file_told *wants = work->asking.items[i].wants;

		if (wants->begin < told->end && work->asking.items[i].until > told->begin &&
		    bytes_meet(wants->first, wants->last, told->first, told->last))
			return true;
	}
	return false;
}

/* Whether somebody else may have given back what was in the way. */
static bool is_strange(const struct file_work *work, const struct fx_file_told *told)
{
	for (size_t i = 0; i < work->strange.count; i++) {
		const struct fx_file_told *frees = work->strange.items[i];

		if (frees->begin < told->end && frees->end > told->begin &&
		    bytes_meet(frees->first, frees->last, told->first, told->last))
			return true;
	}
	return false;
}

static void had_draw(struct fx_file_locks *locks, const struct hold *hold,
		     const struct fx_file_told *told)
{
	const struct fx_point to = {told->provider, told->pid, told->shown, told->end};
	struct fx_point from = {0};
	const char *name = told->owner & FX_FILE_LOCK_OF_FLOCK ? "flock" : "fcntl";
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
	sender = fx_own_pid("pid", from.pid);
	fx_arrow_draw_in(locks->arrows, "syscall", &from, name, &receiver, &to, "gets", &sender);
	locks->counts->arrows++;
}

static void had_tell(const struct file_work *work, const struct had *had,
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
static int had_take(struct file_work *work, size_t first, size_t last, uint64_t earliest)
{
	const struct fx_file_told *told = work->holds.items[first].has;
	bool is_shared = work->holds.items[first].is_shared;
	struct had had = {0};
	size_t kept = 0;

	for (size_t i = 0; i < work->active.count; i++) {
		const struct hold *hold = &work->holds.items[work->active.items[i]];
		bool stays = !hold->end || hold->end >= earliest;

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
	const struct hold *left = a, *right = b;

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
static uint64_t *earliest_find(const struct file_work *work)
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

static int holds_draw(struct file_work *work)
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

static void work_free(struct file_work *work)
{
	struct holder *holder, *next;

	HASH_ITER (hh, work->holders, holder, next) {
		HASH_DEL(work->holders, holder);
		fx_vector_free(&holder->holds);
		free(holder);
	}
	fx_vector_free(&work->holds);
	fx_vector_free(&work->asking);
	fx_vector_free(&work->strange);
	fx_vector_free(&work->active);
}

static int file_draw_kind(struct fx_file_locks *locks, const struct fx_file *file, bool is_flock)
{
	struct file_work work = {.locks = locks, .is_flock = is_flock};
	int r = 0;

	for (size_t i = 0; i < file->told.count && r == 0; i++) {
		const struct fx_file_told *told = &file->told.items[i];

		if (is_flock == ((told->owner & FX_FILE_LOCK_OF_FLOCK) != 0))
			r = holds_hear(&work, told);
	}
	for (size_t i = 0; i < locks->ends.count; i++)
		holds_die(&work, &locks->ends.items[i]);
	if (r == 0 && !work.is_odd)
		r = holds_draw(&work);
	for (size_t i = 0; work.is_odd && i < file->told.count; i++)
		locks->counts->left[FX_TRANSFER_LEFT_ORDER] +=
		    is_had(&file->told.items[i]) &&
		    file->told.items[i].kind == FX_FILE_LOCK_HAS_WAITED;
	work_free(&work);
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

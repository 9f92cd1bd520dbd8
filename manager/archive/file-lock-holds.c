/* SPDX-License-Identifier: MIT */
#include "manager/archive/file-lock-holds.h"

#include <errno.h>
#include <stdlib.h>

static struct fx_file_holder *holder_get(struct fx_file_work *work, const struct fx_file_told *told)
{
	struct fx_file_holder_key key = {told->pid, told->owner};
	struct fx_file_holder *holder;

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

static int hold_add(struct fx_file_work *work, struct fx_file_holder *holder,
		    const struct fx_file_hold *hold)
{
	if (fx_vector_reserve(&work->holds, 1) < 0 || fx_vector_reserve(&holder->holds, 1) < 0)
		return -ENOMEM;
	holder->holds.items[holder->holds.count++] = work->holds.count;
	work->holds.items[work->holds.count++] = *hold;
	return 0;
}

/* Leaves of a hold what lies within; its other parts are holds of their own. */
static int hold_cut(struct fx_file_work *work, struct fx_file_holder *holder, size_t number,
		    uint64_t first, uint64_t last)
{
	struct fx_file_hold part = work->holds.items[number];
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

/* Whether what the holder has got now says that what was there matters no more. */
static bool holds_on(const struct fx_file_work *work, const struct fx_file_hold *hold,
		     bool is_shared)
{
	if (hold->is_lost)
		return !(hold->is_shared && is_shared);
	return work->is_flock ? hold->is_shared == is_shared : hold->is_shared || !is_shared;
}

/* Something is done with bytes that the holder has: what was there ends, or, being replaced by what is as strong, goes on. */
static int holds_end(struct fx_file_work *work, struct fx_file_holder *holder,
		     const struct fx_file_told *told, bool has, bool is_shared)
{
	size_t count = holder->holds.count, kept = 0;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		size_t number = holder->holds.items[i];
		struct fx_file_hold *hold = &work->holds.items[number];

		if (!fx_file_bytes_meet(hold->first, hold->last, told->first, told->last)) {
			holder->holds.items[kept++] = number;
			continue;
		}
		r = hold_cut(work, holder, number, told->first, told->last);
		hold = &work->holds.items[number];
		work->is_odd |= told->begin < hold->has->end;
		/* flock() lets go of what it has before it takes the other kind; the same again may be had anew, by another description. */
		if (has && holds_on(work, hold, is_shared)) {
			hold->replaced = told->end;
		} else if (!hold->is_lost) {
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

static int hold_begin(struct fx_file_work *work, const struct fx_file_told *told, bool is_shared)
{
	const struct fx_file_hold hold = {
	    .has = told, .first = told->first, .last = told->last, .is_shared = is_shared};
	struct fx_file_holder *holder = holder_get(work, told);
	int r;

	if (!holder)
		return -ENOMEM;
	r = holds_end(work, holder, told, true, is_shared);
	return r < 0 ? r : hold_add(work, holder, &hold);
}

static int asking_add(struct fx_file_work *work, const struct fx_file_told *told)
{
	if (fx_vector_reserve(&work->asking, 1) < 0)
		return -ENOMEM;
	work->asking.items[work->asking.count++] = (struct fx_file_asking){told, UINT64_MAX};
	return 0;
}

/* What the thread has asked for; NULL: nothing. It is asking no more. */
static const struct fx_file_told *asking_take(struct fx_file_work *work,
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
static int holds_free(struct fx_file_work *work, const struct fx_file_told *told,
		      bool may_be_strange)
{
	struct fx_file_holder *holder = holder_get(work, told);

	if (!holder)
		return -ENOMEM;
	if (holder->holds.count > 0 || !may_be_strange)
		return holds_end(work, holder, told, false, false);
	if (fx_vector_reserve(&work->strange, 1) < 0)
		return -ENOMEM;
	work->strange.items[work->strange.count++] = told;
	return 0;
}

/* When what it has goes is not known. */
static int holds_lose(struct fx_file_work *work, const struct fx_file_told *told)
{
	struct fx_file_holder *holder = holder_get(work, told);

	if (!holder)
		return -ENOMEM;
	for (size_t i = 0; i < holder->holds.count; i++)
		work->holds.items[holder->holds.items[i]].is_lost = true;
	return 0;
}

int fx_file_work_hear(struct fx_file_work *work, const struct fx_file_told *told)
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
	case FX_FILE_LOCK_CLOSES:
	case FX_FILE_LOCK_FREES:
		return holds_free(work, told,
				  told->kind == FX_FILE_LOCK_FREES &&
				      told->owner != FX_FILE_LOCK_OF_PROCESS);
	case FX_FILE_LOCK_MAY_GO:
		return holds_lose(work, told);
	default:
		return 0;
	}
}

static bool party_has_spread(const struct fx_file_party *party, uint32_t provider)
{
	for (size_t i = 0; i < party->spread.count; i++) {
		if (party->spread.items[i] == provider)
			return true;
	}
	return false;
}

/* Whether it goes with the process that has it: nobody else has what it is of. */
static bool hold_ends(const struct fx_file_hold *hold, const struct fx_file_party *party)
{
	return hold->has->owner == FX_FILE_LOCK_OF_PROCESS ||
	       (hold->has->is_alone && !party_has_spread(party, hold->has->provider));
}

static void holder_die(struct fx_file_work *work, const struct fx_file_holder *holder,
		       const struct fx_file_party *party, const struct fx_file_end *end)
{
	for (size_t i = 0; i < holder->holds.count; i++) {
		struct fx_file_hold *hold = &work->holds.items[holder->holds.items[i]];

		if (hold->end || hold->has->begin > end->heard || !hold_ends(hold, party))
			continue;
		/* What an exec() closes is not told. */
		hold->is_lost |= !end->is_death;
		if (hold->is_lost)
			continue;
		hold->begin = end->alive > hold->has->end ? end->alive : hold->has->end;
		hold->end = end->heard > hold->begin ? end->heard : hold->begin;
		hold->ended = end;
	}
}

static const struct fx_file_party *party_find(const struct fx_file_work *work, uint32_t pid)
{
	const struct fx_file_party *party;

	HASH_FIND(hh, work->locks->parties, &pid, sizeof(pid), party);
	return party;
}

void fx_file_work_end(struct fx_file_work *work)
{
	struct fx_file_holder *holder, *next;
	const struct fx_file_party *party;

	HASH_ITER (hh, work->holders, holder, next) {
		party = party_find(work, holder->key.pid);
		for (size_t i = 0; party && i < party->ends.count; i++)
			holder_die(work, holder, party, &party->ends.items[i]);
	}
	for (size_t i = 0; i < work->asking.count; i++) {
		struct fx_file_asking *asking = &work->asking.items[i];

		party = party_find(work, asking->wants->pid);
		for (size_t k = 0; party && k < party->ends.count; k++) {
			if (party->ends.items[k].provider == asking->wants->provider)
				asking->until = party->ends.items[k].heard;
		}
	}
}

void fx_file_work_free(struct fx_file_work *work)
{
	struct fx_file_holder *holder, *next;

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

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>

#include "report/history-counts.h"
#include "report/report.h"
#include "report/show.h"

enum { LIVES_MAX = 200000 };

const struct fx_thread *fx_history_thread(const struct fx_history_telling *telling, uint64_t number)
{
	return fx_report_timeline(telling->report)->threads.items[number];
}

/* NULL: there is no room. */
struct fx_history_life *fx_history_life_of(struct fx_history_telling *telling,
					   const struct fx_use *use)
{
	const struct fx_history_object *object = &telling->history->objects.items[use->object];
	uint32_t *newest = &telling->newest[use->object];
	struct fx_history_life *life = *newest ? &telling->lives.items[*newest - 1] : NULL;
	bool is_over = life && object->kind == FX_WANTED_FD &&
		       (life->is_closed || (use->flags & FX_USE_OPENS));

	if (life && !is_over)
		return life;
	if (telling->lives.count == LIVES_MAX)
		return NULL;
	if (fx_vector_reserve(&telling->lives, 1) < 0) {
		fx_report_fail(telling->report, -ENOMEM);
		return NULL;
	}
	telling->lives.items[telling->lives.count++] =
	    (struct fx_history_life){.object = use->object};
	*newest = (uint32_t)telling->lives.count;
	return &telling->lives.items[*newest - 1];
}

/* Of calls that are recorded though they wait for nobody, those that waited say so. */
bool fx_history_is_wait(const struct fx_history_telling *telling, const struct fx_use *use,
			uint32_t from)
{
	const struct fx_history *history = telling->history;
	const struct fx_history_object *object = &history->objects.items[use->object];

	if (use->wait == FX_WAIT_NONE)
		return false;
	if (!history->has_releases || object->kind != FX_WANTED_LOCK ||
	    object->process == FX_HISTORY_NO_PROCESS || (use->flags & FX_USE_WAITED) || from)
		return true;
	if (use->wait == FX_WAIT_LOCK)
		return use->deed == FX_DEED_TAKE && !(use->flags & FX_USE_TAKES);
	return use->wait != FX_WAIT_SEMAPHORE;
}

static void tally_add(struct fx_history_tally *tally, const struct fx_use *use, bool waits)
{
	uint64_t time = use->end - use->begin;

	tally->uses++;
	tally->time += time;
	tally->read += use->read;
	tally->written += use->written;
	if (!waits)
		return;
	if (tally->waits++ == 0 || time > tally->longest) {
		tally->longest = time;
		tally->longest_at = use->begin;
	}
	tally->waited += time;
}

/* What is known of it by any use, whether that is shown or not. */
void fx_history_know_life(struct fx_history_telling *telling, struct fx_history_life *life,
			  const struct fx_use *use)
{
	life->is_closed |= (use->flags & FX_USE_CLOSES) != 0;
	if (use->text && (!life->text || fx_report_text(telling->report, use->text)->length >
					     fx_report_text(telling->report, life->text)->length))
		life->text = use->text;
}

void fx_history_count_life(struct fx_history_telling *telling, struct fx_history_life *life,
			   const struct fx_use *use, bool waits)
{
	if (!life->number) {
		life->number = ++telling->numbers;
		life->first = use->at;
	}
	if (use->end > life->last)
		life->last = use->end;
	life->opens += (use->flags & FX_USE_OPENS) != 0;
	life->closes += (use->flags & FX_USE_CLOSES) != 0;
	tally_add(&life->tally, use, waits);
}

void fx_history_count_user(struct fx_history_telling *telling, uint32_t life,
			   const struct fx_use *use, bool waits)
{
	struct fx_key key = {.address = life, .numbers = {use->thread}};
	size_t number;

	if (fx_vector_reserve(&telling->users, 1) < 0) {
		fx_report_fail(telling->report, -ENOMEM);
		return;
	}
	number = fx_keys_number(&telling->user_keys, key);
	if (number == FX_KEY_NONE)
		return;
	if (number == telling->users.count)
		telling->users.items[telling->users.count++] = (struct fx_history_tally){0};
	tally_add(&telling->users.items[number], use, waits);
}

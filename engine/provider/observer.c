/* SPDX-License-Identifier: MIT */
#include "engine/provider/observer.h"

#include <errno.h>
#include <linux/futex.h>

#include "base/clock.h"
#include "base/syscall.h"
#include "engine/provider/turn.h"

/* Nobody wakes us when the manager dies: looked for this often. */
#define LOOK_NS 100000000u

static struct fx_observer *first;

/* Of the thread that goes through the list. */
static struct fx_turn list_turn;

/* The word of the phase; that of an unattached process is 0, stopped. */
static uint32_t phase_word(void)
{
	return fx_load_acquire(&fx_control()->phase);
}

/* The phase that an observer of `*seen` has to hear of next. False: none. */
static bool phase_next(uint32_t *seen, uint32_t now, enum fx_phase *ret)
{
	static const enum fx_phase after[] = {
	    [FX_PHASE_STOPPED] = FX_PHASE_STARTED,
	    [FX_PHASE_STARTED] = FX_PHASE_STOPPING,
	    [FX_PHASE_STOPPING] = FX_PHASE_STOPPED,
	};

	if (*seen == now)
		return false;
	*ret = after[FX_PHASE_OF(*seen) % FX_ARRAY_LEN(after)];
	/* The last step takes the count along. */
	*seen = *ret == FX_PHASE_OF(now) ? now : (*seen & ~FX_PHASE_MASK) | *ret;
	return true;
}

static void list_tell(void)
{
	uint32_t now = phase_word();
	enum fx_phase phase;

	for (struct fx_observer *o = first; o; o = o->next) {
		while (o->changed && phase_next(&o->seen, now, &phase))
			o->changed(o, phase);
	}
}

int fx_observer_add(struct fx_observer *o)
{
	int r = fx_turn_take(&list_turn);

	if (r < 0)
		return r;
	for (struct fx_observer *at = first; at && r == 0; at = at->next) {
		if (at == o)
			r = -EEXIST;
	}
	if (r == 0) {
		o->seen = FX_PHASE_STOPPED;
		if (FX_PHASE_OF(phase_word()) == FX_PHASE_STOPPED)
			o->seen = phase_word();
		o->next = first;
		/* relaxed: the thread that goes through the list has the turn */
		fx_store_relaxed(&first, o);
	}
	fx_turn_give(&list_turn);
	return r;
}

int fx_observer_remove(struct fx_observer *o)
{
	int r = fx_turn_take(&list_turn);

	if (r < 0)
		return r;
	r = -ENOENT;
	for (struct fx_observer **at = &first; *at; at = &(*at)->next) {
		if (*at != o)
			continue;
		fx_store_relaxed(at, o->next);
		r = 0;
		break;
	}
	fx_turn_give(&list_turn);
	return r;
}

void fx_observers_move(int (*add)(struct fx_observer *o))
{
	struct fx_observer *o;

	if (fx_turn_take(&list_turn) < 0)
		return;
	while ((o = first)) {
		fx_store_relaxed(&first, o->next);
		add(o);
	}
	fx_turn_give(&list_turn);
}

bool fx_observers_notify(void)
{
	/* relaxed: an observer that is being added looks for itself */
	if (!fx_load_relaxed(&first) || !fx_engine_may(FX_ASK_SELF))
		return false;
	if (fx_turn_try(&list_turn) != 0)
		return true;
	list_tell();
	fx_turn_give(&list_turn);
	return FX_PHASE_OF(phase_word()) == FX_PHASE_STOPPING;
}

int fx_observer_wait(struct fx_observer *o, uint64_t timeout_ns, enum fx_phase *ret)
{
	uint64_t begin = fx_monotonic_ns(), passed;

	for (;;) {
		const struct fx_control *control = fx_control();
		bool dead = fx_load_relaxed(&fx_common()->owner) & FX_OWNER_DIED;
		/* A thread that found the manager dead has detached the process. */
		bool over = dead || !fx_load_relaxed(&control->magic);
		uint32_t now = over ? FX_PHASE_STOPPED : fx_load_acquire(&control->phase);
		struct timespec nap = {0};

		/* Then nothing counts but that tracing has ended. */
		if (!(over && FX_PHASE_OF(o->seen) == FX_PHASE_STOPPED) &&
		    phase_next(&o->seen, now, ret))
			return 0;
		if (over)
			return dead ? -EOWNERDEAD : -ENOTCONN;
		passed = fx_monotonic_ns() - begin;
		if (passed >= timeout_ns)
			return -ETIMEDOUT;
		nap.tv_nsec =
		    timeout_ns - passed < LOOK_NS ? (long)(timeout_ns - passed) : (long)LOOK_NS;
		fx_syscall4(SYS_futex, &control->phase, FUTEX_WAIT, now, &nap);
	}
}

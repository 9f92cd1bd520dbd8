/* SPDX-License-Identifier: MIT */
#include "engine/provider/turn.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/syscall.h"

static uint64_t turn_self(void)
{
	return (uint64_t)(uint32_t)fx_getpid() << 32 | (uint32_t)fx_gettid();
}

int fx_turn_try(struct fx_turn *turn)
{
	uint64_t me = turn_self(), found = fx_load_relaxed(&turn->owner);

	if (found == me)
		return -EDEADLK;
	if (found && found >> 32 == me >> 32)
		return -EBUSY;
	/* Pairs with fx_turn_give(). */
	return fx_cas_acq_rel(&turn->owner, &found, me) ? 0 : -EBUSY;
}

int fx_turn_take(struct fx_turn *turn)
{
	int r;

	while ((r = fx_turn_try(turn)) == -EBUSY)
		fx_syscall0(SYS_sched_yield);
	return r;
}

void fx_turn_give(struct fx_turn *turn)
{
	fx_store_release(&turn->owner, 0); /* pairs with the next one's exchange */
}

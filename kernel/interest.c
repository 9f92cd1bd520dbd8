/* SPDX-License-Identifier: MIT */
#include "kernel/interest.h"

#include "base/clock.h"
#include "kernel/mates.h"

/* How often, and for how long, the manager is asked whether a process has registered. */
#define ASK_EVERY_NS UINT64_C(20000000)
#define ASK_FOR_NS   UINT64_C(1000000000)

bool fx_interest_has(const struct fx_interest *interest, uint32_t pid)
{
	const struct fx_space *space;

	if (interest->alone)
		return pid == interest->alone;
	if (!interest->everyone && !interest->machine)
		return true;
	space = fx_space_known(interest->spaces, pid);
	return space && space->is_own;
}

bool fx_interest_has_switches(const struct fx_interest *interest, uint32_t pid)
{
	return interest->machine || fx_interest_has(interest, pid);
}

static void interest_follow(const struct fx_interest *interest, struct fx_space *space)
{
	if (!interest->everyone || !interest->follow)
		return;
	fx_follow_process(interest->follow, space->pid);
	space->followed_ns = fx_boottime_ns();
}

static void interest_see(void *opaque, struct fx_space *space)
{
	const struct fx_interest *interest = opaque;

	interest_follow(interest, space);
	interest->see(interest->opaque, space->pid);
}

/* It is followed from its begin on (fx_follow_create()). */
static void program_see(void *opaque, struct fx_space *space)
{
	(void)opaque, (void)space;
}

void fx_interest_begin(struct fx_interest *interest, uint32_t pid)
{
	fx_space_own(interest->spaces, pid, program_see, NULL);
}

static void interest_mate(void *opaque, uint32_t pid)
{
	struct fx_interest *interest = opaque;
	const struct fx_space *space = fx_space_known(interest->spaces, pid);

	if (space && space->is_preloaded)
		fx_space_own(interest->spaces, pid, interest_see, interest);
}

void fx_interest_arrive(struct fx_interest *interest, uint32_t pid)
{
	interest_mate(interest, pid);
}

void fx_interest_await(struct fx_interest *interest, uint32_t pid)
{
	const struct fx_space *space = fx_space_known(interest->spaces, pid);

	if (interest->everyone && space && !space->is_own)
		interest->ask_until = fx_monotonic_ns() + ASK_FOR_NS;
}

void fx_interest_ask(struct fx_interest *interest)
{
	fx_mates_each(interest->manager, interest_mate, interest);
}

void fx_interest_ask_in_time(struct fx_interest *interest)
{
	uint64_t now = interest->ask_until ? fx_monotonic_ns() : 0;

	if (!interest->ask_until || now < interest->asked_ns + ASK_EVERY_NS)
		return;
	interest->asked_ns = now;
	if (now >= interest->ask_until)
		interest->ask_until = 0;
	fx_interest_ask(interest);
}

/* Its maker may have been followed only after that. */
void fx_interest_fork(struct fx_interest *interest, uint32_t pid, uint64_t ns)
{
	struct fx_space *space = fx_space_of(interest->spaces, pid);

	if (space && space->is_own && ns <= space->followed_ns)
		interest_follow(interest, space);
}

/* SPDX-License-Identifier: MIT */
/* The memory that the providers take, against --max-memory and --max-user-memory. */
#include "manager/door/roster.h"

#include "manager/settings/policy.h"

uint64_t fx_roster_memory(const struct fx_roster *roster)
{
	uint64_t sum = 0;

	for (const struct fx_provider *p = roster->providers; p; p = p->next)
		sum += p->reserve + fx_provider_excess(p);
	return sum;
}

static uint64_t memory_of_user(const struct fx_roster *roster, uid_t uid)
{
	uint64_t sum = 0;

	for (const struct fx_provider *p = roster->providers; p; p = p->next) {
		if (p->uid == uid)
			sum += p->reserve + fx_provider_excess(p);
	}
	return sum;
}

static bool roster_has_room(uint64_t limit, uint64_t taken, uint64_t size)
{
	return taken <= limit && size <= limit - taken;
}

const char *fx_roster_limit_exceeded(const struct fx_roster *roster, uid_t uid, uint64_t size)
{
	if (roster->max_memory &&
	    !roster_has_room(roster->max_memory, fx_roster_memory(roster), size))
		return "--max-memory";
	if (roster->max_user_memory && !fx_policy_is_own(uid) &&
	    !roster_has_room(roster->max_user_memory, memory_of_user(roster, uid), size))
		return "--max-user-memory";
	return NULL;
}

bool fx_roster_is_limited(const struct fx_roster *roster)
{
	return roster->max_memory || roster->max_user_memory;
}

struct fx_provider *fx_roster_greediest(const struct fx_roster *roster, bool by_user)
{
	struct fx_provider *worst = NULL;
	uint64_t most = 0;

	for (struct fx_provider *p = roster->providers; p; p = p->next) {
		uint64_t excess = fx_provider_excess(p);

		if (p->phase != FX_PROVIDER_LIVE || excess <= most)
			continue;
		if (by_user && (fx_policy_is_own(p->uid) ||
				memory_of_user(roster, p->uid) <= roster->max_user_memory))
			continue;
		most = excess;
		worst = p;
	}
	return worst;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/apart.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "archives/align.h"

/* An odd number whose multiples differ in all bits: the ids that tracers give are small, in fields. */
#define APART_MASK UINT64_C(0x9e3779b97f4a7c15)

/* --- Processes and threads -------------------------------------------------------------------- */

static bool apart_is_same_recording(const struct fx_facts *a, const struct fx_facts *b)
{
	return a->has_clock && b->has_clock && a->clock.session == b->clock.session;
}

/* Whether a number of the one is the same process in the other: both kernels count alike. */
static bool apart_counts_alike(const struct fx_facts *a, const struct fx_facts *b)
{
	return fx_align_is_same_machine(a, b) && a->clock.pids != 0 &&
	       a->clock.pids == b->clock.pids;
}

static bool apart_names_agree(const struct fx_facts_id *a, const struct fx_facts_id *b)
{
	if (a->is_process != b->is_process)
		return false;
	if (!a->names[0] || !b->names[0])
		return true;
	return a->names[0] == b->names[0] || a->names[0] == b->names[1] ||
	       a->names[1] == b->names[0] || a->names[1] == b->names[1];
}

/* Whether the ids of two archives are apart, those of the first moved by `shift`. */
static bool apart_is_free(const struct fx_apart *a, uint64_t shift, const struct fx_apart *other)
{
	bool alike = apart_counts_alike(a->facts, other->facts) && shift == other->shift;
	const struct fx_facts_id *id, *next;

	HASH_ITER (hh, a->facts->ids, id, next) {
		uint64_t there = id->id + shift - other->shift;
		const struct fx_facts_id *found;

		if (id->id + shift < other->shift)
			continue;
		found = fx_facts_find(other->facts, there);
		if (found && !(alike && apart_names_agree(id, found)))
			return false;
	}
	return true;
}

static uint64_t apart_shift(const struct fx_apart *archives, size_t at)
{
	for (uint64_t shift = 0;; shift += FX_APART_STEP) {
		bool is_free = true;

		for (size_t i = 0; i < at && is_free; i++)
			is_free = apart_is_free(&archives[at], shift, &archives[i]);
		if (is_free)
			return shift;
	}
}

void fx_apart(struct fx_apart *archives, size_t count)
{
	uint64_t recordings = 0;

	for (size_t i = 0; i < count; i++) {
		struct fx_apart *a = &archives[i];

		a->group = i;
		for (size_t j = 0; j < i && a->group == i; j++) {
			if (apart_is_same_recording(a->facts, archives[j].facts))
				a->group = archives[j].group;
		}
		if (a->group != i) {
			a->shift = archives[a->group].shift;
			a->mask = archives[a->group].mask;
			continue;
		}
		a->mask = recordings++ * APART_MASK;
		a->shift = apart_shift(archives, i);
	}
}

/* --- Providers -------------------------------------------------------------------------------- */

static struct fx_apart_provider *apart_find(struct fx_apart_provider *table, uint32_t id)
{
	struct fx_apart_provider *found;

	HASH_FIND(hh, table, &id, sizeof(id), found);
	return found;
}

static struct fx_apart_provider *apart_add(struct fx_apart_provider **table, uint32_t id)
{
	struct fx_apart_provider *added = calloc(1, sizeof(*added));

	if (!added)
		return NULL;
	added->id = id;
	HASH_ADD(hh, *table, id, sizeof(added->id), added);
	return added;
}

int fx_apart_provider(struct fx_apart *group, struct fx_apart_numbers *numbers, uint32_t id,
		      uint32_t *ret)
{
	struct fx_apart_provider *provider = apart_find(group->providers, id);

	if (!provider) {
		uint32_t to = id;

		while (apart_find(numbers->taken, to))
			to = ++numbers->next;
		provider = apart_add(&group->providers, id);
		if (!provider || !apart_add(&numbers->taken, to))
			return -ENOMEM;
		provider->to = to;
	}
	*ret = provider->to;
	return 0;
}

static void apart_clear(struct fx_apart_provider **table)
{
	struct fx_apart_provider *provider, *next;

	HASH_ITER (hh, *table, provider, next) {
		HASH_DEL(*table, provider);
		free(provider);
	}
}

void fx_apart_free(struct fx_apart *archives, size_t count, struct fx_apart_numbers *numbers)
{
	for (size_t i = 0; i < count; i++)
		apart_clear(&archives[i].providers);
	apart_clear(&numbers->taken);
}

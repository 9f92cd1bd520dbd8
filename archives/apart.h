/* SPDX-License-Identifier: MIT */
/*
 * Ids of several archives in one, kept apart. Parts of one recording share all of theirs. Archives of one machine share
 * the numbers of processes and threads, as long as the names agree; else those of the later archive are moved by so
 * many times FX_APART_STEP that none is another's. Ids of arrows and of asynchronous operations are changed in all
 * recordings but the first, and providers get numbers that are free.
 */
#ifndef FX_ARCHIVES_APART_H
#define FX_ARCHIVES_APART_H

#include <stddef.h>
#include <stdint.h>

#include "archives/facts.h"

#define FX_APART_STEP UINT64_C(10000000)

/* A provider of an archive and its number in the new one. */
struct fx_apart_provider {
	uint32_t id;
	uint32_t to;
	UT_hash_handle hh;
};

struct fx_apart {
	const struct fx_facts *facts; /* borrowed */
	size_t group;		      /* the first archive of the same recording */
	uint64_t shift;		      /* of processes and threads */
	uint64_t mask; /* ids of arrows and of operations are changed by exclusive or */
	struct fx_apart_provider *providers; /* of a group's first archive */
};

/* The numbers of new providers. All zeros: none is taken. */
struct fx_apart_numbers {
	struct fx_apart_provider *taken;
	uint32_t next;
};

/* Finds groups, shifts and masks. */
void fx_apart(struct fx_apart *archives, size_t count);

static inline uint64_t fx_apart_id(const struct fx_apart *a, uint64_t id)
{
	return id ? id + a->shift : 0;
}

/* The number of a provider of a group. 0 or -ENOMEM. */
int fx_apart_provider(struct fx_apart *group, struct fx_apart_numbers *numbers, uint32_t id,
		      uint32_t *ret);

void fx_apart_free(struct fx_apart *archives, size_t count, struct fx_apart_numbers *numbers);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the index remembers of one provider: every meaning of each of its string indices. An index
 * may be given a new meaning at any place of an archive; the meaning that counts for a record is
 * the last one that stands before it.
 */
#ifndef FX_CONVERT_PROVIDER_H
#define FX_CONVERT_PROVIDER_H

#include <stdint.h>

#include <fxtrace/reader.h>

#include "lists/vector.h"

struct fx_process;
struct fx_text;

struct fx_string_meaning {
	uint64_t word; /* holds for records from here on */
	const struct fx_text *text;
};

struct fx_string_slot {
	FX_VECTOR(struct fx_string_meaning) meanings; /* by word, ascending */
};

struct fx_timeline_provider {
	const struct fxt_provider *source;
	struct fx_process *process; /* of its first event; NULL: none yet */
	uint64_t last_ts;
	FX_VECTOR(struct fx_string_slot) slots; /* by string index */
};

void fx_timeline_provider_free(struct fx_timeline_provider *provider);

/* Words must not descend from call to call. Returns 0 or -ENOMEM. */
int fx_timeline_provider_define(struct fx_timeline_provider *provider, uint16_t index,
				uint64_t word, const struct fx_text *text);

const struct fx_text *fx_string_slot_search_(const struct fx_string_slot *slot, uint64_t word);

/* The text that an index means for the record at @word; NULL: none was defined. */
static inline const struct fx_text *
fx_timeline_provider_lookup(const struct fx_timeline_provider *provider, uint16_t index,
			    uint64_t word)
{
	const struct fx_string_slot *slot;

	if (index >= provider->slots.count)
		return NULL;
	slot = &provider->slots.items[index];
	if (slot->meanings.count == 1 && slot->meanings.items[0].word <= word)
		return slot->meanings.items[0].text;
	return fx_string_slot_search_(slot, word);
}

#endif

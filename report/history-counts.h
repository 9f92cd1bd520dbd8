/* SPDX-License-Identifier: MIT */
/* What is counted of the objects that were asked for: their lives, and who used them. */
#ifndef FX_REPORT_HISTORY_COUNTS_H
#define FX_REPORT_HISTORY_COUNTS_H

#include "report/charges.h"
#include "report/history-state.h"
#include "report/table.h"

struct fx_history_tally {
	uint64_t uses, time, waits, waited, longest, longest_at, read, written;
};

/* An object from its begin to its end: a descriptor's number has several. */
struct fx_history_life {
	uint32_t object;
	uint32_t number; /* counts from 1, of those that are told of; 0: no use of it was shown */
	uint32_t text;	 /* what it was called, as it was told at most length; 0: not told */
	uint64_t first, last, opens, closes;
	bool is_closed;
	struct fx_history_tally tally;
};

struct fx_history_telling {
	struct fx_history *history;
	struct fx_report *report;
	FX_VECTOR(struct fx_history_life) lives;
	uint32_t *newest;	  /* by object: 1 + its last life; 0: it has none */
	struct fx_keys user_keys; /* address: life; thread */
	FX_VECTOR(struct fx_history_tally) users;
	struct fx_charges charges;
	struct fx_table *table; /* of the uses */
	size_t rows;		/* that it may have */
	uint32_t numbers;	/* given out to lives */
	uint64_t beyond;	/* uses of lives for which there was no room */
	bool has_bytes;
};

/* Of this number. */
const struct fx_thread *fx_history_thread(const struct fx_history_telling *telling,
					  uint64_t number);

/* The life in which a use falls. NULL: there is no room. */
struct fx_history_life *fx_history_life_of(struct fx_history_telling *telling,
					   const struct fx_use *use);

/* Whether a use has waited; from: 1 + the thread that let it go on, or 0. */
bool fx_history_is_wait(const struct fx_history_telling *telling, const struct fx_use *use,
			uint32_t from);

/* What is known of it by any use, whether that is shown or not. */
void fx_history_know_life(struct fx_history_telling *telling, struct fx_history_life *life,
			  const struct fx_use *use);

/* Counts a use of it that is shown, */
void fx_history_count_life(struct fx_history_telling *telling, struct fx_history_life *life,
			   const struct fx_use *use, bool waits);

/* and of the thread, by the number of the life. */
void fx_history_count_user(struct fx_history_telling *telling, uint32_t life,
			   const struct fx_use *use, bool waits);

#endif

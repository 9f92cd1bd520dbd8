/* SPDX-License-Identifier: MIT */
/*
 * Causes of loss: what each is called, and what would have kept what was lost. The table is losses.def.
 */
#ifndef FX_MANAGER_LOSSES_H
#define FX_MANAGER_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/layout.h"
#include "manager/settings/settings.h"

#define LOSS(sym, word, one, many, sentence, cure) FX_CAUSE_##sym,
enum fx_cause {
#include "manager/settings/losses.def"
	FX_CAUSES,
};
#undef LOSS

/* The causes that providers count: enum fx_loss, and the same values here. */
_Static_assert((unsigned)FX_CAUSE_FOREIGN == (unsigned)FX_LOSS_FOREIGN &&
		   (unsigned)FX_CAUSE_DEEP == FX_LOSSES,
	       "losses.def begins as enum fx_loss");

_Static_assert(FX_CAUSES <= FX_CAUSES_ROOM, "RESULT has room for all");

/* What it is called on the timeline and in JSON: a word with dashes. */
const char *fx_loss_word(enum fx_cause cause);

/* What would help in a session of this kind (NULL: of the usual kind); "" if nothing would. At most
 * FX_LOSS_CURE_MAX bytes. */
#define FX_LOSS_CURE_MAX 128
void fx_loss_cure(enum fx_cause cause, const struct fx_session_config *config,
		  char ret[FX_LOSS_CURE_MAX]);

/* A line on stderr for each cause that has lost something. With `quiet`, what nobody can help is left out. */
void fx_losses_report(const uint64_t lost[FX_CAUSES], const struct fx_session_config *config,
		      bool quiet);

/* Adds `n` to *sum, but not beyond what can be said. */
static inline void fx_loss_add(uint64_t *sum, uint64_t n)
{
	*sum = n > UINT64_MAX - *sum ? UINT64_MAX : *sum + n;
}

#endif

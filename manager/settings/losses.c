/* SPDX-License-Identifier: MIT */
#include "manager/settings/losses.h"

#include <inttypes.h>
#include <stdio.h>

#include "manager/settings/report.h"
#include "manager/settings/terms.h"

static const struct cause {
	const char *word, *one, *many, *sentence, *cure;
} causes[] = {
#define LOSS(sym, word, one, many, sentence, cure) {word, one, many, sentence, cure},
#include "manager/settings/losses.def"
#undef LOSS
};

const char *fx_loss_word(enum fx_cause cause)
{
	return causes[cause].word;
}

/* What helps depends on how the buffer is used. */
static const char *cure_in(enum fx_cause cause, const struct fx_session_config *config)
{
	if (cause == FX_CAUSE_FULL && config && config->mode == FX_MODE_ONESHOT)
		return "--buffer-size %s or --buffering-mode streaming keeps more";
	if (cause == FX_CAUSE_FULL && config && config->mode == FX_MODE_CIRCULAR)
		return "--buffer-size %s keeps more";
	return causes[cause].cure;
}

/* The next size worth trying. */
static void size_worth_trying(const struct fx_session_config *config, char *ret, size_t size)
{
	uint64_t larger = config ? config->buffer_size * 4 : 0;

	if (larger > FX_BUFFER_MAX)
		larger = FX_BUFFER_MAX;
	if (!config)
		snprintf(ret, size, "SIZE");
	else
		snprintf(ret, size, "%" PRIu64 "M", larger >> 20 ? larger >> 20 : 1);
}

void fx_loss_cure(enum fx_cause cause, const struct fx_session_config *config,
		  char ret[FX_LOSS_CURE_MAX])
{
	const char *cure = cure_in(cause, config), *place = cure;
	char larger[32];

	size_worth_trying(config, larger, sizeof(larger));
	while (*place && (place[0] != '%' || place[1] != 's'))
		place++;
	snprintf(ret, FX_LOSS_CURE_MAX, "%.*s%s%s", (int)(place - cure), cure, *place ? larger : "",
		 *place ? place + 2 : "");
}

void fx_losses_report(const uint64_t lost[FX_CAUSES], const struct fx_session_config *config,
		      bool quiet)
{
	for (unsigned i = 0; i < FX_CAUSES; i++) {
		char cure[FX_LOSS_CURE_MAX];

		/* What was asked for is no loss. */
		if (!lost[i] || (i == FX_CAUSE_DEEP && fx_terms_max_depth(config)))
			continue;
		fx_loss_cure(i, config, cure);
		/* Neither is a program's own doing, which it may well mean. */
		if (quiet && (!*cure || i == FX_CAUSE_UNFOLLOWED))
			continue;
		fx_report("%" PRIu64 " %s %s%s%s", lost[i],
			  lost[i] == 1 ? causes[i].one : causes[i].many, causes[i].sentence,
			  *cure ? "; " : "", cure);
	}
}

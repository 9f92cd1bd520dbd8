/* SPDX-License-Identifier: MIT */
/* Whether the counters of this machine are sound: looked at again and again, the answer is one. */
#include <string.h>

#include <criterion/criterion.h>

#include "manager/settings/counter.h"

Test(counter, one_machine_one_answer)
{
	enum fx_counter_verdict first = FX_COUNTER_UNSEEN;

	for (int i = 0; i < 20; i++) {
		enum fx_counter_verdict verdict = fx_counter_measure();

		if (verdict == FX_COUNTER_UNSEEN)
			continue;
		if (first == FX_COUNTER_UNSEEN)
			first = verdict;
		cr_assert_eq(verdict, first, "%s, and then: %s", fx_counter_text(first),
			     fx_counter_text(verdict));
	}
}

Test(counter, verdicts_have_words)
{
	for (unsigned i = 0; i < FX_COUNTER_VERDICT_COUNT; i++) {
		cr_assert_gt(strlen(fx_counter_text((enum fx_counter_verdict)i)), 10);
		cr_assert_lt(strlen(fx_counter_text((enum fx_counter_verdict)i)), 70);
	}
}

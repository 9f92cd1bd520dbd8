/* SPDX-License-Identifier: MIT */
#include "manager/settings/clock.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "manager/settings/counter.h"
#include "manager/settings/counter-kept.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* That the counters of all processors are one (counter.h). */
#if defined(__aarch64__)
#define ARCHITECTURE_PROMISES true
#else
#define ARCHITECTURE_PROMISES false
#endif

/* What the kernel calls its source of time; "": it does not say. */
static void clock_find_source(char *ret, size_t size)
{
	FILE *f = fopen(CLOCKSOURCE, "re");

	if (!f || !fgets(ret, (int)size, f))
		ret[0] = 0;
	ret[strcspn(ret, "\n")] = 0;
	if (f)
		fclose(f);
}

static void clock_set(struct fx_clock_choice *ret, enum fx_clock_kind kind, const char *why)
{
	static const char *const names[] = {
	    [FX_CLOCK_BOOTTIME] = "CLOCK_BOOTTIME", [FX_CLOCK_COUNTER] = "the processor's counter"};

	ret->kind = kind;
	snprintf(ret->text, sizeof(ret->text), "%s: %s", names[kind], why);
}

/* What was found before, or is found now. */
static enum fx_counter_verdict clock_look_at_counter(void)
{
	bool is_test = FX_FAULT_IS_SET(counter_look) || FX_FAULT_IS_SET(counter_rate);
	enum fx_counter_verdict verdict;

	if (!is_test && fx_counter_recall(&verdict))
		return verdict;
	verdict = fx_counter_measure();
	if (verdict != FX_COUNTER_UNSEEN && verdict != FX_COUNTER_UNTRIED && !is_test)
		fx_counter_keep(verdict);
	return verdict;
}

static void clock_judge(struct fx_clock_choice *ret)
{
	char source[32];
	enum fx_counter_verdict verdict;

	clock_find_source(source, sizeof(source));
	if (strcmp(source, "tsc") == 0) {
		clock_set(ret, FX_CLOCK_COUNTER, "the kernel's clock source is tsc");
		return;
	}
	verdict = clock_look_at_counter();
	clock_set(ret, verdict == FX_COUNTER_SOUND ? FX_CLOCK_COUNTER : FX_CLOCK_BOOTTIME,
		  fx_counter_text(verdict));
	if (source[0])
		snprintf(ret->text + strlen(ret->text), sizeof(ret->text) - strlen(ret->text),
			 " (%s)", source);
}

void fx_clock_choose(enum fx_clock_wish wish, struct fx_clock_choice *ret)
{
	switch (wish) {
	case FX_CLOCK_WISH_COUNTER:
		clock_set(ret, FX_CLOCK_COUNTER, "asked for");
		return;
	case FX_CLOCK_WISH_BOOTTIME:
		clock_set(ret, FX_CLOCK_BOOTTIME, "asked for");
		return;
	case FX_CLOCK_WISH_AUTO:
		break;
	}
	if (ARCHITECTURE_PROMISES)
		clock_set(ret, FX_CLOCK_COUNTER, "the architecture's");
	else
		clock_judge(ret);
}

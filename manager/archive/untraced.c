/* SPDX-License-Identifier: MIT */
#include "manager/archive/untraced.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "manager/settings/report.h"

static enum fx_loadable verdict_of(const char *why, size_t length)
{
	for (unsigned v = FX_LOADABLE + 1; v < FX_LOADABLE_COUNT; v++) {
		const char *text = fx_loadable_why(v);

		if (strlen(text) == length && memcmp(text, why, length) == 0)
			return v;
	}
	return FX_LOADABLE;
}

static void path_copy(char ret[FX_UNTRACED_PATH], const char *path, size_t length)
{
	if (length >= FX_UNTRACED_PATH)
		length = FX_UNTRACED_PATH - 1;
	memcpy(ret, path, length);
	ret[length] = 0;
}

void fx_untraced_add(struct fx_untraced *u, const char *path, size_t path_length, const char *why,
		     size_t why_length)
{
	enum fx_loadable verdict = verdict_of(why, why_length);
	struct fx_untraced_program new = {.verdict = verdict, .times = 1};

	if (verdict == FX_LOADABLE)
		return;
	path_copy(new.path, path, path_length);
	for (unsigned i = 0; i < u->count; i++) {
		struct fx_untraced_program *p = &u->programs[i];

		if (p->verdict == verdict && strcmp(p->path, new.path) == 0) {
			p->times++;
			return;
		}
	}
	if (u->count == FX_UNTRACED_PROGRAMS)
		u->others++;
	else
		u->programs[u->count++] = new;
}

void fx_untraced_report(const struct fx_untraced *u)
{
	for (unsigned i = 0; i < u->count; i++) {
		const struct fx_untraced_program *p = &u->programs[i];
		char times[32] = "";

		if (p->times > 1)
			snprintf(times, sizeof(times), " (%" PRIu64 " times)", p->times);
		fx_report("not traced: %s%s: %s; %s", p->path, times, fx_loadable_why(p->verdict),
			  fx_loadable_cure(p->verdict));
	}
	if (u->others)
		fx_report("not traced: %" PRIu64 " start%s of other programs", u->others,
			  u->others == 1 ? "" : "s");
}

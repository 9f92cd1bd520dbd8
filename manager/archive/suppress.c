/* SPDX-License-Identifier: MIT */
#include "manager/archive/suppress.h"

#include <string.h>

#include "engine/recipe.h"
#include "manager/archive/own.h"

/* The timeline says so. */
static void suppress_mark(struct fx_stream *s, const char *function, uint64_t calls)
{
	struct fx_stream_thread *t = fx_stream_thread(s, s->first_tid);
	struct fxt_record record;

	if (!t)
		return;
	record = fx_stream_event(s, t, FXT_EVENT_INSTANT, fx_boottime_ns());
	record.event.name = fx_own_text("function left out");
	record.nargs = 3;
	record.args[0] = fx_own_string("function", function);
	record.args[1] = fx_own_uint64("calls", calls);
	record.args[2] = fx_own_string("why", "--auto-suppress");
	fx_archive_record(&s->shared->archive, &record);
}

static void suppress(struct fx_stream *s, uint32_t ref)
{
	const struct fx_name *name = fx_names_find(&s->names, NULL, ref);
	struct fx_crowd *crowd = &s->shared->crowd;
	char line[FX_PATTERN_MAX];
	uint64_t calls;

	if (!name || name->kind != FX_NAME_ADDRESS || name->out ||
	    !fx_modules_function(&s->modules, name->moment, name->address, line, sizeof(line)))
		return;
	calls = fx_crowd_take_all(&s->crowd, ref);
	if (fx_crowd_add(crowd, &s->shared->functions, line, calls))
		suppress_mark(s, strchr(line, '/') + 1, calls);
}

void fx_suppress_note(struct fx_stream *s, struct fx_stream_thread *t, uint32_t ref, uint64_t start,
		      uint64_t end)
{
	if (ref >= FX_STRING_LOCAL || !fx_crowd_note(&s->crowd, &t->crowd, ref, start, end))
		return;
	for (uint32_t i = 0; i < s->crowd.room; i++) {
		if (fx_crowd_drowns(&s->shared->crowd, &s->crowd, i, end))
			suppress(s, i);
	}
	fx_crowd_go_on(&s->crowd);
}

/* For how many calls a record stands. */
static uint64_t stands_for(const struct fx_stream *s, const uint64_t *words, size_t size)
{
	const struct fx_name *name;

	if (FXT_GET(words[0], EVENT_NARGS) != 1 || size != 4 ||
	    FXT_GET(words[2], ARG_TYPE) != FXT_ARG_UINT32 || words[2] >> 32 != FX_SUPPRESSED_PERIOD)
		return 1;
	name = fx_names_find(&s->names, NULL, (uint32_t)FXT_GET(words[2], ARG_NAME));
	return name && name->kind == FX_NAME_TEXT && strcmp(name->text, "calls") == 0
		   ? FX_SUPPRESSED_PERIOD
		   : 1;
}

void fx_suppress_count(struct fx_stream *s, uint32_t ref, const uint64_t *words, size_t size)
{
	const struct fx_name *name = fx_names_find(&s->names, NULL, ref);
	struct fx_crowd *crowd = &s->shared->crowd;
	uint64_t start, end;

	if (!name || !name->suppressed || name->suppressed > crowd->count ||
	    FXT_GET(words[0], EVENT_TYPE) != FXT_EVENT_DURATION_COMPLETE)
		return;
	start = fx_timebase_ns(&s->shared->timebase, words[1]);
	end = fx_timebase_ns(&s->shared->timebase, words[size - 1]);
	fx_crowd_count(crowd, name->suppressed, end > start ? end - start : 0,
		       stands_for(s, words, size));
	/* Here, too, there were some before. */
	crowd->functions[name->suppressed - 1].recorded += fx_crowd_take_all(&s->crowd, ref);
}

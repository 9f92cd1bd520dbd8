/* SPDX-License-Identifier: MIT */
#include "preload/call/untraced.h"

#include <string.h>

#include "preload/call/call.h"

#define INSTANT_WORDS 2

/* What a vfork child tells its parent, by the memory that they share. */
static __thread struct {
	enum fx_loadable verdict;
	char path[FX_TEXT_MAX + 1];
} pending;

static void write_instant(struct fx_thread *t, const char *path, enum fx_loadable verdict)
{
	const char *why = fx_loadable_why(verdict);
	uint64_t words[INSTANT_WORDS + 2 * FX_TEXT_WORDS(FX_TEXT_MAX)];
	struct fx_call instant = {.record = words, .next = words + INSTANT_WORDS};
	unsigned count;

	words[1] = fx_thread_now(t);
	fx_arg_readable_text(&instant, FX_STR_path, path);
	fx_arg_readable_text(&instant, FX_STR_why, why);
	count = (unsigned)(instant.next - words);
	fx_words_write(t, words, count,
		       FX_EVENT_HEADER(FX_EVENT_INSTANT, count, instant.nargs, FX_STR_process,
				       FX_STR_not_traced));
}

static void leave_to_parent(const char *path, enum fx_loadable verdict)
{
	size_t length = strnlen(path, FX_TEXT_MAX);

	memcpy(pending.path, path, length);
	pending.path[length] = 0;
	pending.verdict = verdict;
}

fx_cold void fx_untraced_note(const char *path, enum fx_loadable verdict)
{
	struct fx_thread *t = fx_thread_on(UINT32_MAX);

	if (t)
		write_instant(t, path, verdict);
	else if (fx_engine_has_children() && fx_category_on(UINT32_MAX) && fx_is_own())
		leave_to_parent(path, verdict);
}

void fx_untraced_write_pending(void)
{
	struct fx_thread *t;

	if (fx_likely(pending.verdict == FX_LOADABLE))
		return;
	t = fx_thread_on(UINT32_MAX);
	if (t)
		write_instant(t, pending.path, pending.verdict);
	pending.verdict = FX_LOADABLE;
}

/* SPDX-License-Identifier: MIT */
/*
 * Calls of chosen functions of which all that is wanted is close by (quick.h): less than the slow halves do, more than the
 * usual ways. False: nothing has happened, and the slow half is to do it. What the hook has looked at is not looked at again.
 * (No vectors: the slow half, if it is taken then, finds them as they were.)
 */
#include "base/fault.h"
#include "engine/provider/frame.h"
#include "engine/provider/function.h"
#include "engine/provider/record.h"
#include "engine/provider/stash.h"
#include "preload/host/caller.h"
#include "preload/hooks/hooks-internal.h"
#include "preload/hooks/quick.h"

/* Called by the assembly of kept.c. */
bool fx_hooks_enter_quick_kept(uint64_t function, const struct fx_kept *kept, uint64_t sp,
			       uint64_t key, const struct fx_quick *quick)
    __attribute__((used, visibility("hidden")));
bool fx_hooks_leave_quick_kept(uint64_t function, uint64_t sp, const struct fx_kept *kept,
			       bool tail, const struct fx_quick *quick, uint64_t end)
    __attribute__((used, visibility("hidden")));

#if defined(__x86_64__)

bool fx_hooks_enter_quick_kept(uint64_t function, const struct fx_kept *kept, uint64_t sp,
			       uint64_t key, const struct fx_quick *quick)
{
	struct fx_thread *t = fx_self;
	struct fx_stash_entry *e = NULL;
	struct fx_frame *f = t->top;
	uint64_t words[FX_QUICK_WORDS];
	unsigned size;
	uint64_t now;

	if (fx_unlikely(
		!fx_caller_is_known(&f[-1], key ^ FX_CALLER_APART, (uint32_t)(key >> 32), sp) ||
		f >= t->usual_limit || !fx_quick_read(quick, kept, sp, words, &size)))
		return false;
	if (fx_unlikely(!fx_frame_take(t, f, function, sp, key))) {
		fx_frame_take_back(t, f);
		return false;
	}
	if (fx_likely(size != 0))
		e = fx_stash_put(t, f, words, size, quick->count);
	now = fx_thread_time(t, fx_counter());
	/* Both pair with reader/slots.c. The code that closes the call finds what it was called with. */
	if (fx_likely(e != NULL))
		fx_store_release(&e->start, now);
	fx_store_release(&f->start, now);
	FX_FAULT(frame_pushed);
	return true;
}

bool fx_hooks_leave_quick_kept(uint64_t function, uint64_t sp, const struct fx_kept *kept,
			       bool tail, const struct fx_quick *quick, uint64_t end)
{
	uint64_t words[FX_QUICK_WORDS];
	unsigned size;

	(void)function;
	(void)tail;
	return fx_quick_read(quick, kept, sp, words, &size) &&
	       fx_hooks_leave_with(quick, (struct fx_argument_words){words, size, quick->count},
				   end);
}

#endif

fx_hot uint64_t *words_copy(uint64_t *to, const uint64_t *from, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		fx_store_relaxed(to++, from[i]);
	return to;
}

bool fx_hooks_leave_with(const struct fx_quick *quick, struct fx_argument_words result,
			 uint64_t end)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = t->top - 1;
	struct fx_claim claim = {.time = fx_load_relaxed(&f->start), .at = 1};
	struct fx_open o = {f, claim.time};
	struct fx_stash_entry *e;
	unsigned words = result.size, count = result.count;
	uint32_t before = 0, at = t->stashed;
	uint64_t *p, *to;

	if (fx_unlikely(!fx_stash_find_newest(t, o, &e)))
		return false;
	if (fx_likely(e != NULL)) {
		words += e->words;
		count += e->count;
		before = e->before;
	}
	if (fx_unlikely(count > 15 || !fx_record_reserve_at_hand(t, 3 + words, claim, &p)))
		return false;
	if (fx_unlikely(!fx_open_stands(o))) {
		fx_record_disclaim(t, p, claim, 0);
		return true;
	}
	FX_FAULT(record_half);
	to = p + 2;
	if (fx_likely(e != NULL))
		to = words_copy(to, e->args, words - result.size);
	to = words_copy(to, result.words, result.size);
	*to = end;
	fx_record_publish(p, fx_function_header + ((uint64_t)words << 4 | (uint64_t)count << 20 |
						   (uint64_t)quick->index << 48));
	fx_frame_done(t, f, 0);
	/* What was stashed is dropped at once. */
	if (fx_likely(e != NULL && t->stashed == at))
		t->stashed = before;
	return true;
}

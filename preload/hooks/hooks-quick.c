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
bool fx_hooks_enter_plain_kept(uint64_t function, const struct fx_kept *kept, uint64_t sp,
			       uint64_t key, const struct fx_quick *quick, uint64_t now)
    __attribute__((used, visibility("hidden")));
bool fx_hooks_enter_quick_kept(uint64_t function, const struct fx_kept *kept, uint64_t sp,
			       uint64_t key, const struct fx_quick *quick, uint64_t now)
    __attribute__((used, visibility("hidden")));
bool fx_hooks_leave_quick_kept(uint64_t function, uint64_t sp, const struct fx_kept *kept,
			       bool tail, const struct fx_quick *quick, uint64_t end)
    __attribute__((used, visibility("hidden")));

#if defined(__x86_64__)

/* The next frame is taken for a call; its place has all but the values. NULL: nothing has happened. (Values are read last, so that few
 * registers are in use meanwhile.) */
fx_hot struct fx_frame *quick_take(struct fx_thread *t, uint64_t function, uint64_t sp,
				   uint64_t key, const struct fx_quick *quick)
{
	struct fx_frame *f = t->top;
	struct fx_stash_place *p = fx_stash_place(t, f);

	if (fx_unlikely(f >= t->usual_limit || !t->places))
		return NULL;
	if (fx_unlikely(!fx_frame_take(t, f, function, sp, key))) {
		fx_frame_take_back(t, f);
		return NULL;
	}
	fx_store_relaxed(&p->start, 0);
	fx_barrier();
	fx_store_relaxed(&p->header, quick->header);
	return f;
}

/* It begins. */
fx_hot void quick_begin(struct fx_thread *t, struct fx_frame *f, uint64_t now)
{
	/* Both pair with reader/slots.c. The code that closes the call finds what it was called with. */
	fx_store_release(&fx_stash_place(t, f)->start, now);
	fx_store_release(&f->start, now);
	FX_FAULT(frame_pushed);
}

bool fx_hooks_enter_plain_kept(uint64_t function, const struct fx_kept *kept, uint64_t sp,
			       uint64_t key, const struct fx_quick *quick, uint64_t now)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = quick_take(t, function, sp, key, quick);

	if (fx_unlikely(!f))
		return false;
	if (fx_unlikely(!fx_quick_read_plain(quick, kept, fx_stash_place(t, f)->args))) {
		fx_frame_take_back(t, f);
		return false;
	}
	quick_begin(t, f, now);
	return true;
}

bool fx_hooks_enter_quick_kept(uint64_t function, const struct fx_kept *kept, uint64_t sp,
			       uint64_t key, const struct fx_quick *quick, uint64_t now)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = quick_take(t, function, sp, key, quick);

	if (fx_unlikely(!f))
		return false;
	if (fx_unlikely(!fx_quick_read(quick, kept, fx_stash_place(t, f)->args))) {
		fx_frame_take_back(t, f);
		return false;
	}
	quick_begin(t, f, now);
	return true;
}

bool fx_hooks_leave_quick_kept(uint64_t function, uint64_t sp, const struct fx_kept *kept,
			       bool tail, const struct fx_quick *quick, uint64_t end)
{
	uint64_t words[FX_QUICK_WORDS];

	(void)function;
	(void)sp;
	(void)tail;
	return fx_quick_read(quick, kept, words) &&
	       fx_hooks_leave_with(quick,
				   (struct fx_argument_words){
				       words, fx_stash_place_words(quick->header), quick->count},
				   end);
}

#endif

bool fx_hooks_leave_with(const struct fx_quick *quick, struct fx_argument_words result,
			 uint64_t end)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = t->top - 1;
	struct fx_claim claim = {.time = fx_load_relaxed(&f->start), .at = 1};
	struct fx_open o = {f, claim.time};
	struct fx_argument_words args = fx_stash_placed(t, o);
	unsigned words, count;
	uint64_t *p, *to;

	if (!args.size)
		args = fx_stash_find(t, o);
	words = args.size + result.size;
	count = args.count + result.count;
	if (fx_unlikely(count > 15 || !fx_record_reserve_at_hand(t, 3 + words, claim, &p)))
		return false;
	if (fx_unlikely(!fx_open_stands(o))) {
		fx_record_disclaim(t, p, claim, 0);
		return true;
	}
	FX_FAULT(record_half);
	to = p + 2;
	for (unsigned i = 0; i < args.size; i++)
		fx_store_relaxed(to++, args.words[i]);
	for (unsigned i = 0; i < result.size; i++)
		fx_store_relaxed(to++, result.words[i]);
	*to = end;
	fx_record_publish(p, fx_function_header + ((uint64_t)words << 4 | (uint64_t)count << 20 |
						   (uint64_t)quick->index << 48));
	fx_frame_done(t, f, 0);
	return true;
}

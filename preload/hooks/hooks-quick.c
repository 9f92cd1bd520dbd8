/* SPDX-License-Identifier: MIT */
/*
 * Calls of chosen functions of which all that is wanted is close by (quick.h): less than the slow halves do, more than the
 * usual ways. False: nothing has happened, and the slow half is to do it. What the hook has looked at is not looked at again.
 * (No vectors: the slow half, if it is taken then, finds them as they were.)
 */
#include <stddef.h>

#include "base/fault.h"
#include "engine/provider/frame.h"
#include "engine/provider/function.h"
#include "engine/provider/record.h"
#include "engine/provider/stash.h"
#include "preload/host/caller.h"
#include "preload/hooks/hooks-internal.h"
#include "preload/hooks/quick.h"

/* Called by the assembly of kept.c, or jumped to. */
bool fx_hooks_enter_registers_kept(struct fx_kept *kept, uint64_t site, uint64_t sp, uint64_t key,
				   const struct fx_quick *quick, uint64_t now)
    __attribute__((used, visibility("hidden")));
bool fx_hooks_enter_plain_kept(struct fx_kept *kept, uint64_t site, uint64_t sp, uint64_t key,
			       const struct fx_quick *quick, uint64_t now)
    __attribute__((used, visibility("hidden")));
bool fx_hooks_enter_quick_kept(struct fx_kept *kept, uint64_t site, uint64_t sp, uint64_t key,
			       const struct fx_quick *quick, uint64_t now)
    __attribute__((used, visibility("hidden")));
void fx_hooks_enter_frame_at(uint64_t frame, uint64_t site, uint64_t sp, uint64_t key,
			     const struct fx_quick *quick, uint64_t now)
    __attribute__((used, visibility("hidden")));
bool fx_hooks_leave_quick_kept(uint64_t start, uint64_t sp, const struct fx_kept *kept, bool tail,
			       const struct fx_quick *quick, uint64_t end)
    __attribute__((used, visibility("hidden")));

#if defined(__x86_64__)
_Static_assert(offsetof(struct fx_quick, function) == 0, "the assembly of kept.c reads it");

/* The next frame is taken for a call. False: the slow half is to do it; *ret is NULL, or a frame to be taken back. (Values are read last, so
 * that few registers are in use meanwhile.) */
fx_hot bool quick_take(struct fx_thread *t, uint64_t sp, uint64_t key, const struct fx_quick *quick,
		       struct fx_frame **ret)
{
	struct fx_frame *f = t->top;

	if (fx_unlikely(f >= t->usual_limit || !t->places))
		return false;
	*ret = f;
	return fx_frame_take(t, f, quick->function, sp, key);
}

/* Its values stand; it begins. */
fx_hot void quick_begin(struct fx_frame *f, struct fx_stash_place *p, const struct fx_quick *quick,
			uint64_t now)
{
	fx_store_relaxed(&p->header, quick->header);
	/* Both pair with reader/slots.c. The code that closes the call finds what it was called with. */
	fx_store_release(&p->start, now);
	fx_store_release(&f->start, now);
	FX_FAULT(frame_pushed);
}

/* The slow half is to do it, and has its arguments where kept.c gets them. `f': is taken back; NULL: none is taken. */
static fx_cold bool quick_fails(struct fx_kept *kept, uint64_t site, uint64_t key,
				const struct fx_quick *quick, struct fx_frame *f)
{
	kept->registers[2] = key;
	kept->registers[4] = site;
	kept->registers[5] = quick->function;
	if (f)
		fx_frame_take_back(fx_self, f);
	return false;
}

bool fx_hooks_enter_registers_kept(struct fx_kept *kept, uint64_t site, uint64_t sp, uint64_t key,
				   const struct fx_quick *quick, uint64_t now)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = NULL;
	struct fx_stash_place *p;

	if (fx_unlikely(!quick_take(t, sp, key, quick, &f)))
		return quick_fails(kept, site, key, quick, f);
	p = fx_stash_place(t, f);
	fx_quick_read_registers(quick, kept, p->args);
	quick_begin(f, p, quick, now);
	return true;
}

bool fx_hooks_enter_plain_kept(struct fx_kept *kept, uint64_t site, uint64_t sp, uint64_t key,
			       const struct fx_quick *quick, uint64_t now)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = NULL;
	struct fx_stash_place *p;

	if (fx_unlikely(!quick_take(t, sp, key, quick, &f)))
		return quick_fails(kept, site, key, quick, f);
	p = fx_stash_place(t, f);
	if (fx_unlikely(!fx_quick_read_plain(quick, kept, p->args)))
		return quick_fails(kept, site, key, quick, f);
	quick_begin(f, p, quick, now);
	return true;
}

bool fx_hooks_enter_quick_kept(struct fx_kept *kept, uint64_t site, uint64_t sp, uint64_t key,
			       const struct fx_quick *quick, uint64_t now)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = NULL;
	struct fx_stash_place *p;

	if (fx_unlikely(!quick_take(t, sp, key, quick, &f)))
		return quick_fails(kept, site, key, quick, f);
	p = fx_stash_place(t, f);
	if (fx_unlikely(!fx_quick_read(quick, kept, p->args)))
		return quick_fails(kept, site, key, quick, f);
	quick_begin(f, p, quick, now);
	return true;
}

/* All is on the stack, so nothing is saved, and the slow half is jumped to from here. */
void fx_hooks_enter_frame_at(uint64_t frame, uint64_t site, uint64_t sp, uint64_t key,
			     const struct fx_quick *quick, uint64_t now)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = NULL;
	struct fx_stash_place *p;

	if (fx_unlikely(frame + (uint64_t)(int64_t)quick->low - sp > quick->near)) {
		fx_hooks_enter(quick->function, site, sp, key);
		return;
	}
	if (fx_unlikely(!quick_take(t, sp, key, quick, &f))) {
		if (f)
			fx_hooks_enter_again(quick->function, site, sp, key, f);
		else
			fx_hooks_enter(quick->function, site, sp, key);
		return;
	}
	p = fx_stash_place(t, f);
	fx_quick_read_frame(quick, frame, p->args);
	quick_begin(f, p, quick, now);
}

bool fx_hooks_leave_quick_kept(uint64_t start, uint64_t sp, const struct fx_kept *kept, bool tail,
			       const struct fx_quick *quick, uint64_t end)
{
	uint64_t words[FX_QUICK_WORDS];

	(void)sp;
	(void)tail;
	return fx_quick_read(quick, kept, words) &&
	       fx_hooks_leave_with(quick,
				   (struct fx_argument_words){
				       words, fx_stash_place_words(quick->header), quick->count},
				   start, end);
}

#endif

bool fx_hooks_leave_with(const struct fx_quick *quick, struct fx_argument_words result,
			 uint64_t start, uint64_t end)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = t->top - 1;
	struct fx_claim claim = {.time = start, .at = 1};
	struct fx_open o = {f, start};
	struct fx_argument_words args = fx_stash_placed(t, o);
	unsigned words, count;
	uint64_t *p, *to;

	if (!args.size)
		args = fx_stash_find(t, o);
	words = args.size + result.size;
	count = args.count + result.count;
	if (fx_unlikely(!fx_open_stands(o) || count > 15 ||
			!fx_record_reserve_at_hand(t, 3 + words, claim, &p)))
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

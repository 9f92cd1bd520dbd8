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

_Static_assert(sizeof(struct fx_quick_value) == 16 && offsetof(struct fx_quick_value, base) == 12,
	       "values");
_Static_assert(offsetof(struct fx_quick, header) == 24 && offsetof(struct fx_quick, count) == 44 &&
		   offsetof(struct fx_quick, values) == 48,
	       "what is known of a function");
_Static_assert(offsetof(struct fx_stash_place, start) == 0 &&
		   offsetof(struct fx_stash_place, header) == 8 &&
		   offsetof(struct fx_stash_place, args) == 16,
	       "place");
_Static_assert(offsetof(struct fx_frame, start) == 0, "frame");

/* clang-format off */ /* (a line is an instruction) */

/* Halves that are registers as they are, two by two: values from rdi + `from' on, to rsi + `to'. */
#define FX_TWO_REGISTERS(from, to) \
	"	movzbl 12+" from "(%rdi), %eax\n" \
	"	movzbl 28+" from "(%rdi), %r8d\n" \
	"	movq -128(%rsp,%rax,8), %rax\n" \
	"	movq -128(%rsp,%r8,8), %r8\n" \
	"	shlq $32, %rax\n" \
	"	shlq $32, %r8\n" \
	"	orq " from "(%rdi), %rax\n" \
	"	orq 16+" from "(%rdi), %r8\n" \
	"	movq %rax, " to "(%rsi)\n" \
	"	movq %r8, 8+" to "(%rsi)\n"

/*
 * fx_hooks_begin_registers(quick, place, frame, now): what is kept stands below the stack pointer, where handlers leave it alone. The
 * start goes behind all that it tells of, into the place and the frame (both pair with reader/slots.c).
 */
__asm__(".text\n"
	".p2align 4\n"
	".globl fx_hooks_begin_registers\n"
	".hidden fx_hooks_begin_registers\n"
	".type fx_hooks_begin_registers, @function\n"
	"fx_hooks_begin_registers:\n"
	".cfi_startproc\n"
	"	movq %rbx, -104(%rsp)\n"
	"	movq %rbp, -80(%rsp)\n"
	"	movq %r12, -32(%rsp)\n"
	"	movq %r13, -24(%rsp)\n"
	"	movq %r14, -16(%rsp)\n"
	"	movq %r15, -8(%rsp)\n"
	"	movq 24(%rdi), %r9\n"
	"	movq %r9, 8(%rsi)\n"
	FX_TWO_REGISTERS("48", "16")
	"	cmpw $2, 44(%rdi)\n"
	"	ja 2f\n"
	"1:	movq %rcx, (%rsi)\n"
	"	movq %rcx, (%rdx)\n"
	"	ret\n"
	"2:\n"
	FX_TWO_REGISTERS("80", "32")
	"	cmpw $4, 44(%rdi)\n"
	"	jbe 1b\n"
	FX_TWO_REGISTERS("112", "48")
	"	jmp 1b\n"
	".cfi_endproc\n"
	".size fx_hooks_begin_registers, .-fx_hooks_begin_registers\n");

/* clang-format on */
_Static_assert(FX_QUICK_VALUES == 6, "three times two");

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

bool fx_hooks_enter_plain_kept(struct fx_kept *kept, uint64_t site, uint64_t sp, uint64_t key,
			       const struct fx_quick *quick, uint64_t now)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = NULL;
	struct fx_stash_place *p;

	if (fx_unlikely(!fx_hooks_quick_take(t, sp, key, quick, &f)))
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

	if (fx_unlikely(!fx_hooks_quick_take(t, sp, key, quick, &f)))
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
	if (fx_unlikely(!fx_hooks_quick_take(t, sp, key, quick, &f))) {
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

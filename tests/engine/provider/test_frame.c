/* SPDX-License-Identifier: MIT */
/*
 * Open calls: whatever way a function is left, the tree of the recorded calls is that of the calls
 * made. The hooks are the real ones; expected trees are worked out by hand, or come from the called
 * functions' own log.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "engine/provider/frame.h"
#include "engine/provider/record.h"
#include "preload/hooks/hooks.h"
#include "preload/host/found.h"
#include "tests/engine/calls.h"
#include "tests/engine/fake_manager.h"

#define CALLS_MAX  200000u
#define RECORDED   (FX_FRAMES - 1u) /* calls that can be open */
#define STACK_SIZE (1u << 20)

struct call {
	uint64_t start, end;
	const char *name;
	uint32_t order, tid;
};

static struct fm_manager m;
static uint64_t addresses[FX_STRING_LOCAL];
static struct call calls[CALLS_MAX];
static uint32_t call_count;
static char tree[1 << 20];

static void start(void)
{
	fx_found_init();
	fm_start(&m, &(struct fm_config){.size = 16 << 20});
}

static const char *name_in(const struct test_function *list, uint64_t address)
{
	for (; list->name; list++) {
		if ((uint64_t)(uintptr_t)list->function == address)
			return list->name;
	}
	return NULL;
}

static const char *name_of(uint64_t address)
{
	const char *name = name_in(calls_functions, address);

	if (!name)
		name = name_in(calls_inline_functions, address);
	if (!name)
		name = name_in(throws_functions, address);
	return name ? name : "?";
}

static void take_address(const uint64_t *words, void *context)
{
	(void)context;
	addresses[words[0] >> 16 & 0x7fff] = words[1];
}

static void take_call(const struct fm_record *r, void *context)
{
	(void)context;
	if ((r->words[0] & 0xf) != 4)
		return;
	if ((r->words[0] >> 16 & 0xf) == 0)
		return; /* the mark where calls begin to be left out */
	cr_assert_eq(r->words[0] >> 16 & 0xf, 4);
	cr_assert_leq(r->words[1], r->words[2], "a call ends before it begins");
	cr_assert_lt(call_count, CALLS_MAX);
	calls[call_count] = (struct call){
	    r->words[1], r->words[2], name_of(addresses[r->words[0] >> 48]), call_count, r->tid};
	call_count++;
}

static int by_start(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : 1;
}

static void read_calls(void)
{
	call_count = 0;
	fm_each_durable(&m, take_address, NULL);
	fm_each(&m, take_call, NULL);
	qsort(calls, call_count, sizeof calls[0], by_start);
}

static void append(const char *text)
{
	static size_t length;

	if (!tree[0])
		length = 0;
	cr_assert_lt(length + strlen(text) + 1, sizeof tree);
	length += (size_t)(stpcpy(tree + length, text) - (tree + length));
}

/* Writes the calls from *at on that lie inside `end`: a(b(c) d). */
static void tree_write(uint32_t *at, uint64_t end)
{
	bool first = true;

	while (*at < call_count && calls[*at].start < end) {
		const struct call *c = &calls[(*at)++];

		cr_assert_leq(c->end, end, "%s ends behind its caller", c->name);
		if (!first)
			append(" ");
		first = false;
		append(c->name);
		if (*at < call_count && calls[*at].start < c->end) {
			append("(");
			tree_write(at, c->end);
			append(")");
		}
	}
}

static const char *read_tree(void)
{
	uint32_t at = 0;

	tree[0] = 0;
	read_calls();
	tree_write(&at, UINT64_MAX);
	return tree;
}

#define NESTED	    "nested(middle(leaf leaf) leaf middle(leaf leaf))"
#define WITH_ALLOCA "with_alloca(leaf touch leaf)"

static void check_tree(const char *expected)
{
	const char *is = read_tree();

	cr_assert_str_eq(is, expected, "\n  is        %.1000s\n  should be %.1000s", is, expected);
	cr_assert_eq(fm_dropped(&m), 0);
	/* What follows nests as if nothing had been. */
	tree[0] = 0;
	cr_assert_eq(fx_self->top, &fx_self->slot->frames[1], "frames are left open");
}

Test(frame, calls_nest)
{
	start();
	nested();
	leaf();
	check_tree(NESTED " leaf");
	cr_assert_eq(fm_unwound(&m), 0);
}

Test(frame, longjmp_over_several_calls)
{
	start();
	jump_over_three();
	nested();
	check_tree("jump_over_three(jump_from_deepest(jump_from_deeper(leaf jump)) leaf) " NESTED);
	cr_assert_eq(fm_unwound(&m), 3);
}

Test(frame, longjmp_out_of_the_same_call_again_and_again)
{
	start();
	jump_in_loop(3);
	nested();
	check_tree("jump_in_loop(jump_from_deeper(leaf jump) jump_from_deeper(leaf jump) "
		   "jump_from_deeper(leaf jump) leaf) " NESTED);
}

Test(frame, longjmp_to_the_caller_in_a_loop)
{
	start();
	jump_to_itself_in_loop(4);
	nested();
	check_tree("jump_to_itself_in_loop(jump jump jump jump leaf) " NESTED);
}

Test(frame, many_jumps_leave_nothing_open)
{
	start();
	jump_in_loop(20000);
	nested();
	read_calls();
	cr_assert_eq(call_count, 1 + 3 * 20000 + 1 + 8);
	cr_assert_eq(fm_too_deep(&m), 0);
}

Test(frame, functions_called_through_one_pointer_are_left_by_jumps)
{
	start();
	pointers_in_loop(6);
	nested();
	check_tree("pointers_in_loop(jump_by_pointer leaf_by_pointer(leaf) "
		   "jump_otherwise_by_pointer(leaf) jump_by_pointer leaf_by_pointer(leaf) "
		   "jump_otherwise_by_pointer(leaf)) " NESTED);
}

Test(frame, alloca_moves_the_exit_below_the_entry)
{
	start();
	with_alloca(5000);
	nested();
	check_tree(WITH_ALLOCA " " NESTED);
	cr_assert_eq(fm_unwound(&m), 0);
}

Test(frame, alloca_after_a_jump)
{
	start();
	with_vla_and_jump(3000);
	nested();
	check_tree("with_vla_and_jump(alloca_and_jump(touch jump) touch leaf) " NESTED);
}

#define LARGE "large(touch leaf)"

/* The hook sees the stack below the frame of its function: a large one begins below the call that was left. */
Test(frame, a_large_call_after_a_jump)
{
	start();
	jump_then_large();
	jump_over_three_then_large();
	nested();
	check_tree(
	    "jump_then_large(jump " LARGE " leaf) "
	    "jump_over_three_then_large(jump_from_deepest(jump_from_deeper(leaf jump)) " LARGE
	    " leaf) " NESTED);
	cr_assert_eq(fm_unwound(&m), 4);
}

Test(frame, a_jump_within_recursion)
{
	start();
	jump_within_recursion(1);
	jump_within_recursion(1);
	nested();
	check_tree("jump_within_recursion(jump_within_recursion " LARGE ") "
		   "jump_within_recursion(jump_within_recursion " LARGE ") " NESTED);
}

Test(frame, a_call_with_arguments_on_the_stack_after_a_jump)
{
	start();
	jump_then_arguments();
	nested();
	check_tree("jump_then_arguments(jump with_arguments(leaf)) " NESTED);
}

/* AddressSanitizer compares what is to be sorted once more, before it is. */
#ifdef __SANITIZE_ADDRESS__
#define LOOK " compare(leaf)"
#else
#define LOOK ""
#endif

Test(frame, a_jump_out_of_a_callback)
{
	start();
	jump_out_of_sorting();
	nested();
	check_tree("jump_out_of_sorting(compare(leaf)" LOOK " jump_from_compare " LARGE
		   " compare(leaf)" LOOK ") " NESTED);
}

Test(frame, frames_of_all_sizes_at_one_place)
{
	start();
	large_pointers_in_loop(10);
	nested();
	check_tree("large_pointers_in_loop(jump " LARGE
		   " jump_from_deepest(jump_from_deeper(leaf jump)) "
		   "leaf " LARGE " jump " LARGE " jump_from_deepest(jump_from_deeper(leaf jump)) "
		   "leaf " LARGE ") " NESTED);
}

Test(frame, hooks_reached_by_a_tail_jump)
{
	start();
	tail_caller(2);
	nested();
	check_tree("tail_caller(tail_middle(leaf tail_target(leaf)) "
		   "tail_middle(leaf tail_target(leaf))) " NESTED);
	cr_assert_eq(fm_unwound(&m), 0);
}

Test(frame, random_calls_equal_their_own_log)
{
	uint32_t at = 0, depth = 0;

	start();
	for (uint32_t seed = 1; seed < 400; seed++)
		random_calls(seed, 9);
	read_calls();
	cr_assert_gt(call_count, 5000);
	cr_assert_leq(random_log_length, sizeof random_log);
	cr_assert_eq(random_log_length, 2 * call_count);
	for (uint32_t i = 0; i < random_log_length; i++) {
		static uint64_t ends[16];

		if (random_log[i] > 0) {
			cr_assert_str_eq(calls[at].name, "random_calls");
			if (depth)
				cr_assert_leq(calls[at].end, ends[depth - 1]);
			ends[depth++] = calls[at++].end;
		} else if (--depth, at < call_count) {
			cr_assert_leq(ends[depth], calls[at].start, "call %u nests too deep", at);
		}
	}
	cr_assert_eq(fm_unwound(&m), 0);
}

/* --- More calls than frames ------------------------------------------------------------------- */

/* open(name) n times, what is inside the innermost, and the closing of n - 1. */
static const char *deep_tree(const char *prefix, const char *name, uint32_t n, const char *suffix)
{
	static char text[1 << 20];
	char *p = stpcpy(text, prefix);

	for (uint32_t i = 0; i < n; i++)
		p += sprintf(p, i + 1 < n ? "%s(" : "%s", name);
	for (uint32_t i = 1; i < n; i++)
		*p++ = ')';
	strcpy(p, suffix);
	return text;
}

Test(frame, recursion_beyond_the_frames)
{
	start();
	recurse(2000);
	nested();
	check_tree(deep_tree("", "recurse", RECORDED, " " NESTED));
	cr_assert_eq(fm_too_deep(&m), 2001 - RECORDED);
	cr_assert_eq(fm_unwound(&m), 0);
}

Test(frame, longjmp_out_of_the_depths)
{
	start();
	recurse_and_jump(2000);
	nested();
	check_tree(deep_tree("recurse_and_jump(", "recurse_to_jump", RECORDED - 1,
			     " leaf " WITH_ALLOCA ") " NESTED));
	cr_assert_eq(fm_too_deep(&m), 2001 - (RECORDED - 1));
	cr_assert_eq(fm_unwound(&m), RECORDED - 1);
}

static const char *halfway_tree(void)
{
	static char text[1 << 20];
	char *p = text;

	/* The innermost of the calls that are recorded has no room for any of its own. */
	for (uint32_t i = 1; i < RECORDED; i++)
		p += sprintf(p, "recurse_and_jump_halfway(touch ");
	p += sprintf(p, "recurse_and_jump_halfway with_alloca)");
	for (uint32_t i = 2; i < RECORDED; i++)
		p += sprintf(p, " " WITH_ALLOCA ")");
	sprintf(p, " " NESTED);
	return text;
}

Test(frame, longjmp_within_the_depths)
{
	uint32_t depth, total;

	start();
	for (depth = 501; depth < 560; depth += 3) {
		recurse_and_jump_halfway(depth, 1);
		nested();
		total = 6 * depth + 51 + 4 + 8;
		read_calls();
		if (depth > RECORDED) {
			const char *is = read_tree(), *expected = halfway_tree();

			cr_assert_str_eq(is, expected, "depth %u\n%s", depth, is + 25 * 490);
		}
		cr_assert_eq(call_count + fm_too_deep(&m), total, "depth %u", depth);
		cr_assert_eq(fx_self->top, &fx_self->slot->frames[1], "frames are left open");
		fx_thread_exit();
		fm_destroy(&m);
		start();
	}
}

Test(frame, max_depth_leaves_the_deeper_calls_out)
{
	fm_start(&m, &(struct fm_config){.max_depth = 2});
	nested();
	jump_over_three();
	nested();
	check_tree("nested(middle leaf middle) jump_over_three(jump_from_deepest leaf) "
		   "nested(middle leaf middle)");
	cr_assert_eq(fm_too_deep(&m), 3 + 4 + 4);
}

Test(frame, min_duration_leaves_the_shorter_calls_out)
{
	fm_start(&m, &(struct fm_config){.min_duration = 1ull << 40});
	nested();
	read_calls();
	cr_assert_eq(call_count, 0);
	cr_assert_eq(fm_slot(&m, 0)->too_short, 8);
}

static void *nested_thread(void *context)
{
	nested();
	return context;
}

Test(frame, calls_of_a_thread_without_slot_are_counted_once)
{
	pthread_t thread;

	fm_start(&m, &(struct fm_config){.thread_count = 1});
	nested();
	pthread_create(&thread, NULL, nested_thread, NULL);
	pthread_join(thread, NULL);
	cr_assert_eq(fm_dropped(&m), 8);
}

/* --- Inlined functions ------------------------------------------------------------------------ */

#define OUTER "outer(two_small(small small) small)"

Test(frame, inlined_calls_nest)
{
	start();
	inlined_calls(2);
	nested();
	check_tree("inlined_calls(" OUTER " " OUTER " two_small(small small)) " NESTED);
	cr_assert_eq(fm_unwound(&m), 0);
}

/* A limit: what is inlined behind a call that was left lies in the same stack frame, and looks like a
 * part of it, until the left call is made again or the function returns. */
Test(frame, inlined_calls_are_left_by_jumps)
{
	start();
	inlined_jump_in_loop(3);
	nested();
	check_tree("inlined_jump_in_loop(leaping(leap small) leaping(leap small) "
		   "leaping(leap small)) " NESTED);
}

Test(frame, nested_inlined_calls_are_left_by_jumps)
{
	start();
	inlined_nest_jump_in_loop(3);
	nested();
	check_tree("inlined_nest_jump_in_loop(leaping_from_deeper(small leaping(leap)) "
		   "leaping_from_deeper(small leaping(leap)) "
		   "leaping_from_deeper(small leaping(leap small))) " NESTED);
}

/* --- Exceptions ------------------------------------------------------------------------------- */

Test(frame, exceptions)
{
	start();
	throw_over_three();
	throw_in_loop(2);
	rethrow_through();
	throw_then_large();
	nested();
	check_tree("throw_over_three(throw_deepest(throw_deeper(throw_one)) plain plain) "
		   "throw_in_loop(throw_deeper(throw_one) throw_deeper(throw_one) plain) "
		   "rethrow_through(catch_and_rethrow(throw_deeper(throw_one) plain) plain) "
		   "throw_then_large(throw_deeper(throw_one) large_plain(plain) large_plain(plain) "
		   "throw_deeper(throw_one) large_plain(plain) large_plain(plain)) " NESTED);
}

/* --- Other stacks ----------------------------------------------------------------------------- */

static pthread_key_t at_end;

static void end_thread(void *unused)
{
	(void)unused;
	fx_thread_exit();
}

static void *exiting_thread(void *context)
{
	pthread_setspecific(at_end, context);
	exit_thread_from_three();
	return NULL;
}

Test(frame, pthread_exit_from_nested_calls)
{
	pthread_t thread;

	start();
	nested();
	pthread_key_create(&at_end, end_thread);
	pthread_create(&thread, NULL, exiting_thread, &at_end);
	pthread_join(thread, NULL);
	check_tree(NESTED " exit_thread_from_three(exit_thread_from_deeper(exit_thread(leaf)))");
	cr_assert_eq(fm_slot(&m, 1)->tid, 0);
}

struct on_stack {
	uint8_t *alternate;
};

static void *raising_thread(void *context)
{
	stack_t alternate = {.ss_sp = context, .ss_size = STACK_SIZE};

	cr_assert_eq(sigaltstack(&alternate, NULL), 0);
	nested();
	raise_inside(SIGUSR1);
	raise_inside(SIGUSR1);
	nested();
	cr_assert_eq(fx_self->top, &fx_self->slot->frames[1], "frames are left open");
	return NULL;
}

/* In a thread whose alternate stack lies above or below its own. */
static void raise_on_stack(bool alternate_above, int flags)
{
	struct sigaction sa = {.sa_handler = run_on_signal, .sa_flags = flags};
	uint8_t *both =
	    mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	start();
	cr_assert_eq(sigaction(SIGUSR1, &sa, NULL), 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, both + (alternate_above ? 0 : STACK_SIZE), STACK_SIZE);
	pthread_create(&thread, &attr, raising_thread, both + (alternate_above ? STACK_SIZE : 0));
	pthread_join(thread, NULL);
	leaf();
	check_tree(NESTED " raise_inside(leaf run_on_signal(" NESTED ") leaf) "
			  "raise_inside(leaf run_on_signal(" NESTED ") leaf) " NESTED " leaf");
	cr_assert_eq(fm_unwound(&m), 0);
}

Test(frame, handlers_on_the_threads_stack)
{
	raise_on_stack(true, 0);
}

Test(frame, handlers_on_a_stack_above)
{
	raise_on_stack(true, SA_ONSTACK);
}

Test(frame, handlers_on_a_stack_below)
{
	raise_on_stack(false, SA_ONSTACK);
}

/*
 * Coroutines have no place in one tree. A coroutine that is entered on a higher stack ends the calls of
 * the one below; what is called after a switch nests in what is open. The thread's own calls around
 * them are right, and so is what follows.
 */
Test(frame, coroutines_disturb_nothing_around_them)
{
	start();
	nested();
	run_coroutines();
	nested();
	check_tree(NESTED " run_coroutines(first_main(leaf) second_main(middle(leaf leaf) " NESTED
			  " leaf) leaf) " NESTED);
}

/* --- Wrappers' frames ------------------------------------------------------------------------- */

/* Frame ids of wrappers are headers; any with a name will do. */
#define WRAPPER(n) FX_EVENT_HEADER(FX_EVENT_COMPLETE, 3, 0, FM_STRING_FUNCTION, (n))

Test(frame, a_frame_that_was_closed_by_others_is_not_popped_again)
{
	struct fx_thread *t;
	struct fx_frame *low, *high;

	start();
	leaf();
	t = fx_self;
	low = fx_frame_push(t, WRAPPER(1), 0x7000, 0);
	high = fx_frame_push(t, WRAPPER(2), 0x6000, 0);
	fx_frame_unwind_above(t, low, low->sp);
	cr_assert_eq(t->top, high);
	fx_frame_pop(t, low);
	fx_frame_pop(t, high);
	cr_assert_eq(t->top, low, "the frame below came back to life");
}

/* A wrapper reads the clock before it looks for calls that were left open. */
Test(frame, a_call_begins_after_what_it_closes)
{
	struct fx_thread *t;
	struct fx_frame *f;
	uint64_t early, closed;

	start();
	leaf();
	t = fx_self;
	early = fx_now();
	fx_frame_push(t, WRAPPER(1), 0x7000, 0);
	fx_frame_unwind(t, 0x7000);
	closed = t->now;
	fx_frame_push(t, WRAPPER(2), 0x7000, 0);
	f = fx_frame_push_at(t, WRAPPER(3), 0x7000, 0, early);
	cr_assert_gt(f->start, closed + fx_engine.tick_step, "the second was closed later still");
}

Test(frame, a_silent_frame_is_unwound_by_an_equal_stack_address)
{
	struct fx_thread *t;
	struct fx_frame *f;

	start();
	leaf();
	t = fx_self;
	f = fx_frame_push(t, WRAPPER(1), 0x7000, 0);
	f->sp |= FX_FRAME_SILENT;
	cr_assert_eq(fx_frame_push(t, WRAPPER(2), 0x7000, 0), f);
}

Test(frame, a_wrapper_beyond_the_frames_upsets_no_function)
{
	start();
	leaf();
	fx_self->limit = fx_self->top;
	for (int i = 0; i < 3; i++)
		cr_assert_null(fx_frame_push(fx_self, WRAPPER(1), 0x7000, 0));
	cr_assert_eq(fx_self->deep, 0, "nothing will ever count it down");
	cr_assert_eq(fm_too_deep(&m), 3);
}

/* Two hooks of one call of the compiler's: `outer` at one place, then `inner` at another. */
static __attribute__((noinline, no_instrument_function)) void enter_two(uint64_t outer,
									uint64_t inner)
{
	static char site;

	__cyg_profile_func_enter((void *)(uintptr_t)outer, &site);
	__cyg_profile_func_enter((void *)(uintptr_t)inner, &site);
	__asm__ __volatile__("" ::: "memory"); /* not a jump: the stack addresses are equal */
}

/* How many of the two are open. All are closed then. */
static unsigned count_open(uint64_t outer, uint64_t inner)
{
	struct fx_frame *bottom = &fx_self->slot->frames[1];
	unsigned open;

	enter_two(outer, inner);
	open = (unsigned)(fx_self->top - bottom);
	fx_frame_unwind(fx_self, bottom->sp);
	cr_assert_eq(fx_self->top, bottom);
	return open;
}

/* A hook far behind a function's address is not at its beginning: it is that of an inlined copy, in a
 * part of another function that was moved behind it. */
Test(frame, a_hook_far_from_its_function_is_inlined)
{
	const uint64_t limit = 4096; /* PROLOGUE_MAX of preload/hooks/hooks.c */
	uint64_t place;

	start();
	cr_assert_not_null(fx_thread_on(FX_CAT_FUNCTION));
	enter_two(1, 2);
	cr_assert_eq(fx_self->top - &fx_self->slot->frames[1], 2);
	place = (uintptr_t)enter_two & ~UINT64_C(0xffffffff);
	place |= fx_self->top[-1].key >> 32;
	fx_frame_unwind(fx_self, fx_self->slot->frames[1].sp);
	cr_assert_eq(count_open(place - 2 * limit, place - limit + 1), 1, "made anew");
	cr_assert_eq(count_open(place - 2 * limit, place - limit), 2, "inlined");
	cr_assert_eq(count_open(place - 2 * limit, place - limit - 100), 2, "inlined");
	cr_assert_eq(count_open(place - 100, place - 200), 2, "the outer one is nearer");
}

/* SPDX-License-Identifier: MIT */
/* Which of several engines has the process, with another whose claim stands in a note of this program. */
#include <pthread.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "engine/provider/category.h"
#include "preload/events/engines.h"

#define PID 1000u

/* Tables are told apart by what `control' points to. */
static const void *const ours = &ours, *const theirs = &theirs;

static const char *described[4];
static unsigned described_count, yielded_count;
static const struct fxtrace_events *yielded_to;

static void describe(const char *category, const char *description)
{
	(void)description;
	if (described_count < 4)
		described[described_count++] = category;
}

const struct fxtrace_events fx_events_table = {
    .size = sizeof(fx_events_table), .control = &ours, .describe = describe};
static struct fxtrace_events their_table = {
    .size = sizeof(their_table), .control = &theirs, .describe = describe};

static void yields(const struct fxtrace_events *to)
{
	yielded_count++;
	yielded_to = to;
}

#define NOTE(name)                                                                                 \
	__asm__(".pushsection .note.fxtrace.engine,\"a\",%note\n"                                  \
		"\t.balign 4\n"                                                                    \
		"\t.long 8, 4, 3\n"                                                                \
		"\t.asciz \"fxtrace\"\n"                                                           \
		"\t.long " #name " - .\n"                                                          \
		"\t.popsection\n")

/* Another engine, as a library of its own would bring one. */
__attribute__((used, visibility("hidden"))) struct fx_engine_entry test_engine = {
    .size = sizeof(test_engine), .events = &their_table, .yield = yields};
NOTE(test_engine);
/* A third, whose entry lies behind ours, where that of the other one lies before it. */
static void hears_nothing(const struct fxtrace_events *to)
{
	(void)to;
}
static struct fxtrace_events third_table = {
    .size = sizeof(third_table), .control = &theirs, .describe = describe};
__attribute__((used, visibility("hidden"),
	       section("third_engine"))) struct fx_engine_entry test_third = {
    .size = sizeof(test_third), .events = &third_table, .yield = hears_nothing};
NOTE(test_third);
/* One that is cut off. */
__attribute__((used, visibility("hidden"))) struct fx_engine_entry test_damaged = {
    .size = 8, .claim = FX_CLAIM_HAS};
NOTE(test_damaged);

/* Tables differ by the compiler's leave: it has made them constants. */
static const void *const *control_of(const struct fxtrace_events *events)
{
	__asm__("" : "+r"(events));
	return events->control;
}

static void claim_by_other(uint32_t claim)
{
	fx_store_release(&test_engine.claim, claim);
}

static uint32_t own_claim(void)
{
	extern struct fx_engine_entry fx_engine_own;

	return fx_load_acquire(&fx_engine_own.claim);
}

TestSuite(engines, .timeout = 30);

Test(engines, alone)
{
	cr_expect_not(fx_engines_is_ours());
	cr_assert(fx_engines_claim(PID));
	cr_expect_not(fx_engines_is_ours());
	cr_expect_eq(own_claim(), FX_CLAIM_TRIES | PID << FX_CLAIM_PID_SHIFT);
	fx_engines_waive();
	cr_expect_eq(own_claim(), FX_CLAIM_NONE);
	cr_assert(fx_engines_claim(0));
	fx_engines_settle();
	cr_expect(fx_engines_is_ours());
	cr_expect(fx_engines_claim(PID)); /* it stays ours */
	/* Another that is there leads to ours from now on. */
	cr_expect_eq(control_of(&their_table), &ours);
	cr_expect_eq(yielded_count, 1);
	cr_expect_eq(yielded_to, &fx_events_table);
	cr_expect_eq(control_of(&fx_events_table), &ours);
}

Test(engines, another_has_it)
{
	fx_category_know("known before", NULL);
	claim_by_other(FX_CLAIM_HAS);
	cr_assert_not(fx_engines_claim(PID));
	cr_expect_not(fx_engines_is_ours());
	cr_expect_eq(own_claim(), FX_CLAIM_NONE);
	cr_expect_eq(control_of(&fx_events_table), &theirs);
	cr_expect_eq(control_of(&their_table), &theirs);
	/* What was made known to ours, it hears. */
	cr_expect_eq(described_count, 1);
	cr_expect_str_eq(described[0], "known before");
	cr_assert_not(fx_engines_claim(PID)); /* once more */
	cr_expect_eq(control_of(&fx_events_table), &theirs);
}

/* What a parent's thread was at when it forked does not concern its child. */
Test(engines, another_tries_in_another_process)
{
	claim_by_other(FX_CLAIM_TRIES | (PID + 1) << FX_CLAIM_PID_SHIFT);
	cr_expect(fx_engines_claim(PID));
}

static uint32_t outcome;

static void *decides(void *unused)
{
	(void)unused;
	usleep(50000);
	claim_by_other(outcome);
	return NULL;
}

/* What ours gets, when the other one's attempt ends so after a while. */
static bool claim_while_other_tries(uint32_t other, uint32_t ends)
{
	pthread_t thread;
	bool got;

	outcome = ends;
	claim_by_other(other);
	cr_assert_eq(pthread_create(&thread, NULL, decides, NULL), 0);
	got = fx_engines_claim(PID);
	cr_expect_eq(fx_load_acquire(&test_engine.claim), ends, "it was not waited for");
	cr_assert_eq(pthread_join(thread, NULL), 0);
	return got;
}

Test(engines, another_tries_and_has_it)
{
	cr_expect_not(
	    claim_while_other_tries(FX_CLAIM_TRIES | PID << FX_CLAIM_PID_SHIFT, FX_CLAIM_HAS));
	cr_expect_eq(control_of(&fx_events_table), &theirs);
}

Test(engines, another_tries_in_vain)
{
	cr_expect(
	    claim_while_other_tries(FX_CLAIM_TRIES | PID << FX_CLAIM_PID_SHIFT, FX_CLAIM_NONE));
	cr_expect_eq(control_of(&fx_events_table), &ours);
}

static void *comes_later(void *unused)
{
	(void)unused;
	while (own_claim() != (FX_CLAIM_TRIES | PID << FX_CLAIM_PID_SHIFT))
		usleep(1000);
	usleep(50000); /* ours waits for the third */
	claim_by_other(FX_CLAIM_TRIES | PID << FX_CLAIM_PID_SHIFT);
	while (own_claim() != FX_CLAIM_NONE)
		usleep(1000);
	claim_by_other(FX_CLAIM_HAS);
	return NULL;
}

/* Two wait for one another otherwise: ours, which tries while the third does, and the other one, which goes before ours. */
Test(engines, another_comes_while_a_third_tries)
{
	extern struct fx_engine_entry fx_engine_own;
	pthread_t thread;

	cr_assert(&test_engine < &fx_engine_own && &fx_engine_own < &test_third);
	fx_store_release(&test_third.claim, FX_CLAIM_TRIES | PID << FX_CLAIM_PID_SHIFT);
	cr_assert_eq(pthread_create(&thread, NULL, comes_later, NULL), 0);
	cr_expect_not(fx_engines_claim(PID));
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_expect_eq(control_of(&fx_events_table), &theirs);
}

/* Who does not know its process may be in ours. */
Test(engines, another_tries_that_does_not_say_where)
{
	cr_expect_not(claim_while_other_tries(FX_CLAIM_TRIES, FX_CLAIM_HAS));
}

Test(engines, of_an_older_release)
{
	/* It knows fewer functions: more are not written into its table, and it says how many it has. */
	their_table.size = offsetof(struct fxtrace_events, put);
	their_table.put = NULL;
	cr_assert(fx_engines_claim(PID));
	fx_engines_settle();
	cr_expect_eq(control_of(&their_table), &ours);
	cr_expect_eq(their_table.size, offsetof(struct fxtrace_events, put));
	cr_expect_null(their_table.put);
}

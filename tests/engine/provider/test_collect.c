/* SPDX-License-Identifier: MIT */
/*
 * Lossless: two threads take the chunks of idle ones at the same time, while one of these is not idle. Every order
 * of their steps is tried, one after another: the test makes the steps itself, at the points of base/fault.def in
 * engine/provider/idle.c. A thread's first store is seen as late as can be.
 */
#include <semaphore.h>
#include <string.h>

#include <criterion/criterion.h>

#include "engine/provider/chunk.h"
#include "engine/provider/idle.h"
#include "engine/provider/record.h"
#include "tests/engine/fake_manager.h"

#define WORDS 2u

/* Seconds, of tests that wait. */
#define LONG 60

static struct fm_manager m;

/* --- The writer: a thread that sleeps, so that the test can go its way for it ------------------ */

static struct {
	struct fx_thread *t;
	uint64_t *at; /* of its record under way; NULL none */
	uint64_t *moves_to;
	bool
	    mark_is_late; /* its mark is stored, and nobody sees it before its processor passes a barrier */
	uint32_t count; /* of its records */
} writer;

static pthread_barrier_t start_line, finish_line;

static void *sleep_till_the_end(void *ret)
{
	*(struct fx_thread **)ret = fx_thread_on(FX_CAT_USER);
	pthread_barrier_wait(&start_line);
	pthread_barrier_wait(&finish_line);
	return NULL;
}

static void writer_passes_barrier(void)
{
	if (writer.mark_is_late)
		writer.t->busy[0] = 1;
	writer.mark_is_late = false;
}

/* fx_record_reserve(), but that the position is yet to be moved. */
static void writer_begins(void)
{
	struct fx_cursor *c = &writer.t->cursor[0];

	if (writer.at)
		return;
	writer.mark_is_late = true;
	writer.at = c->pos;
	writer.moves_to = c->pos + WORDS;
	if (c->end - c->pos < (ptrdiff_t)WORDS) {
		writer_passes_barrier();
		writer.at = fx_record_reserve_slow(writer.t, WORDS, 0, (struct fx_claim){0});
		cr_assert_not_null(writer.at);
		writer.moves_to = c->pos;
	}
}

/* The rest of it, and fx_record_commit(). */
static void writer_ends(void)
{
	if (!writer.at)
		return;
	writer_passes_barrier();
	writer.t->cursor[0].pos = writer.moves_to;
	writer.at[1] = ++writer.count;
	writer.at[0] =
	    FX_EVENT_HEADER(FX_EVENT_INSTANT, WORDS, 0, FM_STRING_FUNCTION, FM_STRING_FUNCTION);
	writer.t->busy[0] = 0;
	writer.at = NULL;
}

/* --- The other collector ----------------------------------------------------------------------- */

static struct {
	pthread_t thread;
	sem_t go, came;
	bool at_point; /* it has closed cursors, and passed no barrier */
	bool ends;
} other;

static __thread bool is_other;

static void *other_main(void *unused)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);

	(void)unused;
	is_other = true;
	for (;;) {
		sem_post(&other.came);
		sem_wait(&other.go);
		if (other.ends)
			return NULL;
		fx_chunks_collect(t);
	}
}

static void other_moves(void)
{
	/* It closes, or has a barrier made and goes on. */
	if (other.at_point)
		writer_passes_barrier();
	sem_post(&other.go);
	sem_wait(&other.came);
	other.at_point = !other.at_point;
}

/* --- Orders ------------------------------------------------------------------------------------ */

/* What happens at each of the points that the collector comes to: one step at most, at the last two two. */
#define POINTS	  4u
#define STEPS_MAX 2u
#define STEP_KINDS                                                                                 \
	3u /* the writer begins or ends a record, the other collector closes or goes on */
#define SHORT_ROWS (1 + 3)
#define ROWS	   (1 + 3 + 9)

struct order {
	char steps[POINTS][STEPS_MAX + 1];
};

static const struct order *under_way;
static unsigned cursors; /* that it has come to in this round */

static void row_spell(unsigned row, char ret[STEPS_MAX + 1])
{
	unsigned length = 0, rows = 1;

	while (row >= rows) {
		row -= rows;
		rows *= STEP_KINDS;
		length++;
	}
	memset(ret, 0, STEPS_MAX + 1);
	for (unsigned i = 0; i < length; i++) {
		ret[i] = "bec"[row % STEP_KINDS];
		row /= STEP_KINDS;
	}
}

static void step(char kind)
{
	if (kind == 'b')
		writer_begins();
	else if (kind == 'e')
		writer_ends();
	else
		other_moves();
}

int fx_fault_pass(enum fx_fault_point point)
{
	unsigned number = point - FX_FAULT_collect_idle;

	if (is_other && point == FX_FAULT_collect_closed) {
		sem_post(&other.came);
		sem_wait(&other.go);
	}
	if (is_other || !under_way || number >= POINTS)
		return 0;
	/* Of the cursors, the writer's first one is met first. */
	if (point == FX_FAULT_collect_closed)
		cursors = 0;
	if (point == FX_FAULT_collect_idle || point == FX_FAULT_collect_cursor)
		cursors++;
	if (cursors > 1)
		return 0;
	if (point == FX_FAULT_collect_cursor)
		writer_passes_barrier();
	for (const char *s = under_way->steps[number]; *s; s++)
		step(*s);
	return 0;
}

/* The numbers of the records are those from 1 on, in their order. */
static void take(const struct fm_record *r, void *context)
{
	uint32_t *last = context;

	cr_assert_eq(r->count, WORDS);
	cr_assert_eq(r->words[1], *last + 1, "record %u is followed by %u", *last,
		     (unsigned)r->words[1]);
	(*last)++;
}

static unsigned taken; /* how often that took the writer's chunk */

static void go_through(const struct order *order, struct fx_thread *self)
{
	const struct fx_cursor *c = &writer.t->cursor[0];

	under_way = order;
	cursors = 0;
	fx_chunks_collect(self);
	under_way = NULL;
	taken += c->chunk && !fx_chunk_is_held(writer.t, c);
	if (other.at_point)
		other_moves();
	writer_ends();
	writer_begins();
	writer_ends();
	fm_save(&m);
}

static void begin(void)
{
	pthread_t thread;

	fm_start(&m, &(struct fm_config){
			 .size = 64 << 10, .mode = FX_MODE_STREAMING, .on_full = FX_ON_FULL_BLOCK});
	pthread_barrier_init(&start_line, NULL, 2);
	pthread_barrier_init(&finish_line, NULL, 2);
	sem_init(&other.go, 0, 0);
	sem_init(&other.came, 0, 0);
	pthread_create(&thread, NULL, sleep_till_the_end, &writer.t);
	pthread_barrier_wait(&start_line);
	pthread_create(&other.thread, NULL, other_main, NULL);
	sem_wait(&other.came);
}

Test(collect, two_at_once_lose_nothing, .timeout = LONG)
{
	struct fx_thread *self;
	uint32_t last = 0;

#ifdef FX_TSAN
	cr_skip_test("ThreadSanitizer knows of no membarrier()");
#endif
	begin();
	self = fx_thread_on(FX_CAT_USER);
	for (unsigned busy = 0; busy < 2; busy++) {
		for (unsigned i = 0; i < SHORT_ROWS * SHORT_ROWS * ROWS * ROWS; i++) {
			struct order order;
			uint32_t before = writer.count;

			row_spell(i % SHORT_ROWS, order.steps[0]);
			row_spell(i / SHORT_ROWS % SHORT_ROWS, order.steps[1]);
			row_spell(i / SHORT_ROWS / SHORT_ROWS % ROWS, order.steps[2]);
			row_spell(i / SHORT_ROWS / SHORT_ROWS / ROWS, order.steps[3]);
			if (busy)
				writer_begins();
			writer_passes_barrier();
			go_through(&order, self);
			cr_assert_gt(writer.count, before);
		}
	}
	fm_read(&m);
	fm_each(&m, take, &last);
	cr_assert_null(m.broken);
	cr_assert_eq(last, writer.count);
	cr_assert_gt(taken, ROWS);
	cr_assert_eq(fm_dropped(&m), 0);
}

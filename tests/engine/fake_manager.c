/* SPDX-License-Identifier: MIT */
#include "tests/engine/fake_manager.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/syscall.h"
#include "engine/provider/function.h"

#define NEVER	     UINT64_MAX
#define TYPE(header) ((header)&0xf)
#define SIZE(header) ((uint32_t)((header) >> 4 & 0xfff))

static void *map(int fd, size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED | MAP_NORESERVE, fd, 0);

	cr_assert_neq(p, MAP_FAILED, "cannot map %zu bytes", size);
	return p;
}

/*
 * Two views of new shared memory. ThreadSanitizer knows memory by its address: for its sake the two are one,
 * so that it sees which access pairs with which.
 */
static void memory_make(size_t size, int manager_prot, void *ret_manager, int provider_prot,
			void *ret_provider)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	void *view;

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)size), 0);
#ifdef FX_TSAN
	manager_prot = provider_prot = PROT_READ | PROT_WRITE;
#endif
	view = map(fd, size, manager_prot);
	memcpy(ret_manager, &view, sizeof view);
#ifndef FX_TSAN
	view = map(fd, size, provider_prot);
#endif
	memcpy(ret_provider, &view, sizeof view);
	close(fd);
}

static void control_fill(struct fm_manager *m, const struct fm_config *c)
{
	struct fx_control *control = m->control;

	control->magic = FX_CONTROL_MAGIC;
	control->version = FX_LAYOUT_VERSION;
	control->clock_kind = FX_CLOCK_COUNTER;
	control->buffering_mode = c->mode ? c->mode : FX_MODE_ONESHOT;
	control->on_full = c->on_full;
	control->tick_step = 1;
	control->max_depth = c->max_depth;
	control->min_duration = c->min_duration;
	control->half_enough = c->half_enough;
	control->provider_id = 7;
	control->layout = m->layout;
	control->builtin_id = c->builtin_id;
}

static uint32_t chunk_total(const struct fm_manager *m)
{
	return m->layout.halves * m->layout.chunks_per_half;
}

void fm_start(struct fm_manager *m, const struct fm_config *c)
{
	static const uint64_t records[] = {
	    2ull | 2ull << 4 | FM_STRING_FUNCTION << 16 | 8ull << 32,
	    0x6e6f6974636e7566ull,
	};
	static const struct fx_builtin builtin = {
	    .records = records, .words = 2, .next = FM_FIRST_STRING, .id = FM_BUILTIN_ID};
	uint64_t size = c->size ? c->size : 1u << 20, stash = 0;
	const uint8_t *buffer;

	memset(m, 0, sizeof *m);
	cr_assert_eq(fx_layout_compute(&m->layout, size, c->mode ? c->mode : FX_MODE_ONESHOT), 0);
	if (c->thread_count)
		m->layout.thread_count = c->thread_count;
	if (c->stash)
		stash = fx_layout_add_stash(&m->layout);
	memory_make(fx_control_size(&m->layout), PROT_READ | PROT_WRITE, &m->control, PROT_READ,
		    &m->shared);
	memory_make(FX_PAGE, PROT_READ | PROT_WRITE, &m->common, PROT_READ, &m->common_shared);
	memory_make(m->layout.total_size, PROT_READ, &buffer, PROT_READ | PROT_WRITE, &m->header);
	m->buffer = buffer;
	m->open = calloc(chunk_total(m), sizeof *m->open);
	m->done = calloc(chunk_total(m), sizeof *m->done);
	m->pending = calloc(chunk_total(m), sizeof *m->pending);
	m->common->owner = (uint32_t)fx_gettid();
	control_fill(m, c);
	m->control->stash_offset = stash;
	fx_function_set_category(FM_STRING_FUNCTION);
	cr_assert_eq(fx_engine_attach(fx_getpid(), m->shared, m->common_shared, m->header,
				      m->layout.total_size, &builtin),
		     0);
	if (!c->stopped)
		fm_state(m, 1, UINT32_MAX & ~FX_CAT_PAIRS);
}

void fm_destroy(struct fm_manager *m)
{
	fx_engine_detach();
	for (uint32_t i = 0; i < m->chunk_count; i++)
		free(m->chunks[i].words);
	for (uint32_t i = 0; i < chunk_total(m); i++)
		free(m->open[i].words);
	free(m->chunks);
	free(m->open);
	free(m->done);
	free(m->pending);
}

void fm_state(struct fm_manager *m, uint32_t epoch, uint32_t categories)
{
	fm_phase(m, categories ? FX_PHASE_STARTED : FX_PHASE_STOPPING);
	fx_store_release(&m->control->state, (uint64_t)epoch << 32 | categories);
}

void fm_phase(struct fm_manager *m, enum fx_phase phase)
{
	uint32_t word = m->control->phase;

	if (FX_PHASE_OF(word) == phase)
		return;
	fx_store_release(&m->control->phase, (word & ~FX_PHASE_MASK) + FX_PHASE_COUNT + phase);
	fx_syscall3(SYS_futex, &m->control->phase, FUTEX_WAKE, INT32_MAX);
}

void fm_die(struct fm_manager *m)
{
	__atomic_fetch_or(&m->common->owner, FX_OWNER_DIED, __ATOMIC_RELEASE);
}

static uint32_t chunk_number(const struct fm_manager *m, uint64_t serial)
{
	uint32_t n = m->layout.chunks_per_half;

	return (uint32_t)(serial / n % m->layout.halves * n + serial % n);
}

static const uint64_t *chunk_data(const struct fm_manager *m, uint32_t number)
{
	uint32_t n = m->layout.chunks_per_half;

	return (const uint64_t *)(m->buffer + m->layout.rolling_offset[number / n] +
				  (uint64_t)(number % n) * m->layout.chunk_size);
}

uint64_t fm_table(const struct fm_manager *m, uint32_t number)
{
	return fx_load_acquire((const uint64_t *)(m->buffer + m->layout.table_offset) + number);
}

/* Whole records from word `from` on. Returns the word behind the last one. */
static uint32_t walk(const uint64_t *p, uint32_t from, uint32_t room)
{
	while (from < room) {
		uint64_t header = fx_load_acquire(&p[from]);

		if (!header || !SIZE(header) || from + SIZE(header) > room)
			break;
		from += SIZE(header);
	}
	return from;
}

static void keep(struct fm_manager *m, struct fm_chunk *c)
{
	if (m->chunk_count == m->chunk_room) {
		m->chunk_room = m->chunk_room ? 2 * m->chunk_room : 64;
		m->chunks = realloc(m->chunks, m->chunk_room * sizeof *m->chunks);
	}
	m->chunks[m->chunk_count++] = *c;
	memset(c, 0, sizeof *c);
}

static void chunk_read(struct fm_manager *m, uint32_t number, uint64_t word)
{
	struct fm_chunk *c = &m->open[number];
	uint32_t room = m->layout.chunk_size / 8, end;
	const uint64_t *data = chunk_data(m, number);

	if (!c->words) {
		c->words = calloc(room, 8);
		c->serial = FX_CHUNK_SERIAL(word);
	}
	if (c->serial != FX_CHUNK_SERIAL(word))
		m->broken = "a chunk has a new owner, and the old one never gave it back";
	if (word & FX_CHUNK_RELEASED)
		room = FX_CHUNK_END(word) / 8;
	end = walk(data, c->count, room);
	memcpy(&c->words[c->count], &data[c->count], (end - c->count) * 8);
	c->count = end;
	if (!(word & FX_CHUNK_RELEASED))
		return;
	if (end != room)
		m->broken = "a released chunk is not whole";
	c->released = true;
	m->done[number] = word;
	m->pending[number] = false;
	keep(m, c);
}

void fm_read(struct fm_manager *m)
{
	uint64_t state =
	    fx_load_acquire(&((const struct fx_buffer_header *)m->buffer)->rolling_state);
	uint64_t limit = (state >> 32) * m->layout.chunks_per_half + (uint32_t)state;

	for (uint32_t i = 0; i < chunk_total(m); i++) {
		uint64_t word = fm_table(m, i);

		if (word == m->done[i] || FX_CHUNK_SERIAL(word) >= limit)
			continue;
		if (!(word & FX_CHUNK_HELD) == !(word & FX_CHUNK_RELEASED) ||
		    chunk_number(m, FX_CHUNK_SERIAL(word)) != i)
			m->broken = "a word of the chunk table makes no sense";
		else
			chunk_read(m, i, word);
	}
}

/* Whether the provider has left a wrap before it came to this index. */
static bool was_left_before(const struct fm_manager *m, uint32_t wrap, uint32_t index)
{
	const struct fx_buffer_header *h = (const struct fx_buffer_header *)m->buffer;
	uint64_t ended = fx_load_relaxed(&h->half_ended[wrap % 2]);

	return ended >> 32 == wrap + 1 && index >= (uint32_t)ended;
}

/* What chunk `i` may be reused after. Its half is not in use: every index of it was claimed, or
 * skipped since saved[] was another than its word, or lies behind where the half was left. */
static uint64_t saved_word(struct fm_manager *m, uint32_t i, uint32_t wrap)
{
	uint64_t done = m->done[i];
	uint64_t serial =
	    (uint64_t)wrap * m->layout.chunks_per_half + i % m->layout.chunks_per_half;

	if (fm_table(m, i) != done)
		return NEVER; /* held */
	if (done && FX_CHUNK_SERIAL(done) == serial)
		return done;
	/* Was free to be claimed in this wrap: claimed, and its owner has not said so yet. */
	if (m->control->saved[i] == done &&
	    !was_left_before(m, wrap, i % m->layout.chunks_per_half))
		m->pending[i] = true;
	return m->pending[i] ? NEVER : done;
}

bool fm_save(struct fm_manager *m)
{
	uint64_t state =
	    fx_load_acquire(&((const struct fx_buffer_header *)m->buffer)->rolling_state);
	uint32_t saved = m->control->wraps_saved, n = m->layout.chunks_per_half;

	fm_read(m);
	if ((uint32_t)(state >> 32) <= saved)
		return false;
	for (uint32_t i = (saved & 1) * n; i < (saved & 1) * n + n; i++)
		fx_store_release(&m->control->saved[i], saved_word(m, i, saved));
	fx_store_release(&m->control->wraps_saved, saved + 1);
	__atomic_fetch_add(&m->control->space_word, 1, __ATOMIC_RELEASE);
	fx_syscall3(SYS_futex, &m->control->space_word, FUTEX_WAKE, INT32_MAX);
	return true;
}

static void *saver_main(void *context)
{
	struct fm_manager *m = context;

	while (!fx_load_acquire(&m->saver_stop)) {
		if (!fm_save(m))
			usleep(m->saver_pause);
	}
	return NULL;
}

void fm_saver_start(struct fm_manager *m, uint32_t pause_us)
{
	m->saver_pause = pause_us;
	m->saver_stop = 0;
	cr_assert_eq(pthread_create(&m->saver, NULL, saver_main, m), 0);
}

void fm_saver_stop(struct fm_manager *m)
{
	fx_store_release(&m->saver_stop, 1);
	pthread_join(m->saver, NULL);
}

static int by_serial(const void *a, const void *b)
{
	const struct fm_chunk *const *x = a, *const *y = b;

	return (*x)->serial < (*y)->serial ? -1 : (*x)->serial > (*y)->serial;
}

static void chunk_each(const struct fm_chunk *c,
		       void (*each)(const struct fm_record *r, void *context), void *context)
{
	struct fm_record r = {.serial = c->serial, .chunk = c};

	if (c->released && !c->count)
		return; /* a handler jumped out of the claim */
	cr_assert_geq(c->count, 3);
	cr_assert_eq(c->words[0] & ~FX_THREAD_BEGINS,
		     (3ull | 3ull << 4 | FX_CHUNK_THREAD_INDEX << 16));
	cr_assert_eq(c->words[1], (uint64_t)getpid());
	r.tid = (uint32_t)c->words[2];
	for (uint32_t at = 3; at < c->count; at += SIZE(c->words[at])) {
		r.words = &c->words[at];
		r.count = SIZE(c->words[at]);
		each(&r, context);
	}
}

void fm_each(struct fm_manager *m, void (*each)(const struct fm_record *r, void *context),
	     void *context)
{
	const struct fm_chunk **all;
	uint32_t count = 0;

	fm_read(m);
	cr_assert_null(m->broken, "%s", m->broken);
	all = calloc(m->chunk_count + chunk_total(m), sizeof(struct fm_chunk *));
	for (uint32_t i = 0; i < m->chunk_count; i++)
		all[count++] = &m->chunks[i];
	for (uint32_t i = 0; i < chunk_total(m); i++) {
		if (m->open[i].words)
			all[count++] = &m->open[i];
	}
	qsort(all, count, sizeof(struct fm_chunk *), by_serial);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			cr_assert_lt(all[i - 1]->serial, all[i]->serial,
				     "a serial was given twice");
		chunk_each(all[i], each, context);
	}
	free(all);
}

uint32_t fm_each_durable(struct fm_manager *m, void (*each)(const uint64_t *words, void *context),
			 void *context)
{
	const uint64_t *p = (const uint64_t *)(m->buffer + m->layout.durable_offset);
	uint32_t room = (uint32_t)(m->layout.durable_size / 8), at = 0, claims = 0;

	while (at < room) {
		uint64_t header = fx_load_acquire(&p[at]);

		if (!header)
			break;
		cr_assert(SIZE(header) && at + SIZE(header) <= room,
			  "a durable record has no size");
		if (TYPE(header) == 5)
			claims++;
		else
			each(&p[at], context);
		at += SIZE(header);
	}
	for (; at < room; at++)
		cr_assert_eq(p[at], 0, "something stands behind the end of the durable area");
	return claims;
}

const struct fx_thread_slot *fm_slot(const struct fm_manager *m, uint32_t i)
{
	return (const struct fx_thread_slot *)(m->buffer + m->layout.threads_offset) + i;
}

static uint64_t slots_sum(const struct fm_manager *m, size_t offset)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->layout.thread_count; i++)
		sum += fx_load_relaxed((const uint64_t *)((const uint8_t *)fm_slot(m, i) + offset));
	return sum;
}

uint64_t fm_dropped(const struct fm_manager *m)
{
	return slots_sum(m, offsetof(struct fx_thread_slot, dropped)) +
	       ((const struct fx_buffer_header *)m->buffer)->dropped_unslotted;
}

uint64_t fm_lost(const struct fm_manager *m, enum fx_loss why)
{
	const struct fx_buffer_header *header = (const struct fx_buffer_header *)m->buffer;
	uint64_t in_slots = slots_sum(m, offsetof(struct fx_thread_slot, lost[0]) + 8 * why);

	if (why != FX_LOSS_THREADS)
		return in_slots + header->lost_unslotted[why];
	for (unsigned i = 0; i < FX_LOSSES_ROOM; i++)
		in_slots -= header->lost_unslotted[i];
	return in_slots + header->dropped_unslotted;
}

uint64_t fm_too_deep(const struct fm_manager *m)
{
	return slots_sum(m, offsetof(struct fx_thread_slot, too_deep));
}

uint64_t fm_unwound(const struct fm_manager *m)
{
	return slots_sum(m, offsetof(struct fx_thread_slot, unwound));
}

uint64_t fm_checksum(const struct fm_manager *m)
{
	const uint64_t *p = (const uint64_t *)m->buffer;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < m->layout.total_size / 8; i++)
		sum = (sum ^ p[i]) * 0x100000001b3ull + (sum >> 29);
	return sum;
}

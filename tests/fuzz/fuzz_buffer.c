/* SPDX-License-Identifier: MIT */
/*
 * The shared buffer, as the manager reads it. Two providers are in a session: one that keeps the rules,
 * and one that does what the input says, in its buffer and at the very moments at which the manager
 * looks at a word. The input also says when the manager looks, saves, stops, starts, and begins
 * another session.
 *
 * What must hold: all that the first one recorded is in the archive, the archive is in order, and the
 * queue keeps within its bound.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "manager/door/provider.h"
#include "manager/archive/writer.h"
#include "tests/fuzz/alone.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/honest.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/valid.h"
#include "tests/fuzz/verdict.h"

#define HONEST_PID 100
#define LIAR_PID   200

#define QUEUE_LIMIT (1u << 20)
#define STEPS_MAX   400u
#define CHANGES	    8u

#define WORDS_MAX 64u

struct party {
	pid_t pid;
	const char *name;
	struct fx_provider *provider;
	uint8_t *memory; /* its own mapping of the buffer */
	bool over;
};

/* A word that changes under the manager's eyes. */
struct change {
	uint32_t looks; /* until then; 0: none */
	uint8_t how;
	uint64_t value;
};

struct world {
	struct input in;
	struct fx_provider_terms terms;
	struct fx_prepared prepared;
	struct fx_writer *writer;
	int archive;
	uint32_t next_id;
	uint64_t epoch;
	bool running;
	struct party honest, liar;
	struct honest good;	   /* how the honest one records */
	struct fake_provider fake; /* how the liar does */
	uint64_t recorded;	   /* honest events that must be in the archive */
	struct fake_chunk chunks[4];
	struct change changes[CHANGES];
};

static struct world w;

/* --- The liar's memory, while it is looked at ------------------------------------------------ */

static void word_change(uint64_t *word, const struct change *c)
{
	switch (c->how % 4) {
	case 0:
		*word = c->value;
		break;
	case 1:
		*word += c->value;
		break;
	case 2:
		*word ^= c->value;
		break;
	default:
		*word = 0;
	}
}

/* `word` lies in the manager's mapping; the provider has another of the same memory. */
static void on_look(const volatile void *word)
{
	const struct fx_provider *p = w.liar.provider;
	uint64_t at, size;

	if (!p)
		return;
	at = (uint64_t)((const volatile uint8_t *)word - (const uint8_t *)p->buffer);
	size = p->drain.layout.total_size;
	if (at >= size)
		return;
	for (unsigned i = 0; i < CHANGES; i++) {
		struct change *c = &w.changes[i];

		if (c->looks && --c->looks == 0)
			word_change((uint64_t *)(w.liar.memory + (at & ~UINT64_C(7))), c);
	}
}

static void change_plan(void)
{
	struct change *c = &w.changes[input_below(&w.in, CHANGES)];

	c->looks = input_u8(&w.in);
	c->how = input_u8(&w.in);
	c->value = input_u64(&w.in);
}

/* --- Providers ------------------------------------------------------------------------------- */

static void party_enter(struct party *p, pid_t pid, const char *name)
{
	int fds[2];

	*p = (struct party){.pid = pid, .name = name};
	w.terms.epoch = (uint32_t)w.epoch;
	if (fx_provider_create(&w.terms, w.next_id, pid, name, &w.prepared, &p->provider, fds) < 0)
		abort();
	p->memory = alone_memory_map(fds[1], true);
	close(fds[0]);
	close(fds[1]);
	if (w.terms.resident && fx_provider_join(p->provider, &w.terms, NULL) < 0)
		abort();
	w.next_id++;
	p->provider->inlet = fx_provider_enlist(p->provider, w.writer, false);
}

static void party_leave(struct party *p)
{
	if (!p->provider)
		return;
	alone_munmap(p->memory, p->provider->drain.layout.total_size);
	fx_provider_destroy(p->provider);
	p->provider = NULL;
}

static void party_finish(struct party *p)
{
	if (p->over)
		return;
	fx_provider_end(p->provider, alone_now());
	while (!fx_provider_finish(p->provider, fx_writer_queue(w.writer)))
		alone_step();
	p->over = true;
}

/* --- The honest one -------------------------------------------------------------------------- */

static void honest_events(unsigned count)
{
	if (!w.running || w.honest.over)
		return;
	count = honest_record(&w.good, count);
	/* In circular mode they may be overwritten. */
	if (w.terms.mode != FX_MODE_CIRCULAR)
		w.recorded += count;
}

/* --- What the liar writes -------------------------------------------------------------------- */

/* Offset of an area of the buffer, its size in *ret_size. */
static uint64_t area_choose(uint64_t *ret_size)
{
	const struct fx_layout *l = &w.fake.layout;
	uint8_t which = input_u8(&w.in);

	switch (which % 8) {
	case 0:
		*ret_size = FX_PAGE;
		return 0;
	case 1:
		*ret_size = FX_PACKETS * sizeof(struct fx_packet_slot);
		return offsetof(struct fx_buffer_header, packets);
	case 2:
		*ret_size = FX_BUILTIN_SIZE;
		return l->builtin_offset;
	case 3:
		*ret_size = 256;
		return l->threads_offset + (uint64_t)(which / 8) * sizeof(struct fx_thread_slot);
	case 4:
		*ret_size = 16 * sizeof(struct fx_frame);
		return l->threads_offset + (uint64_t)(which / 8) * sizeof(struct fx_thread_slot) +
		       offsetof(struct fx_thread_slot, frames);
	case 5:
		*ret_size = 8ull * l->halves * l->chunks_per_half;
		return l->table_offset;
	case 6:
		*ret_size = l->durable_size;
		return l->durable_offset;
	default:
		if (w.liar.provider->stash_offset && which / 8 % 4 == 3) {
			*ret_size = 32ull * 8;
			return w.liar.provider->stash_offset + which / 32 * (uint64_t)FX_STASH_SIZE;
		}
		*ret_size = (uint64_t)l->chunks_per_half * l->chunk_size;
		return l->rolling_offset[which / 8 % l->halves];
	}
}

static void liar_patch(void)
{
	uint64_t size, offset = area_choose(&size), at = input_u16(&w.in) * 8ull % size;
	uint64_t count = input_u8(&w.in) % 128;

	if (count > size - at)
		count = size - at;
	input_take(&w.in, w.liar.memory + offset + at, count);
}

static struct fake_chunk *liar_chunk(void)
{
	return &w.chunks[input_below(&w.in, 4)];
}

static void liar_claim(void)
{
	struct fake_provider *f = &w.fake;
	struct fake_chunk *c = liar_chunk();
	uint32_t tid = LIAR_PID + input_below(&w.in, 4);

	if (f->half_used == f->layout.chunks_per_half && !honest_switch(f))
		return;
	*c = fp_show_claim(f, fp_count_claim(f), tid);
}

/* A record of the input's words, of which the first is given a size that may be. */
static size_t record_take(uint64_t words[WORDS_MAX])
{
	size_t count = 1 + input_below(&w.in, 12);

	input_take(&w.in, words, count * 8);
	words[0] = (words[0] & ~UINT64_C(0xfff0)) | count << 4;
	return count;
}

static void liar_put(struct fake_chunk *c, const uint64_t *words, size_t count)
{
	if (c->words && (c->used + count) * 8 <= c->owner->layout.chunk_size)
		fp_put(c, words, (uint32_t)count);
}

static void liar_record(void)
{
	struct fake_chunk *c = liar_chunk();
	uint64_t words[WORDS_MAX];
	size_t count = record_take(words);

	liar_put(c, words, count);
}

/* An event of any kind whose names are known. */
static void liar_event(void)
{
	struct fake_chunk *c = liar_chunk();
	uint8_t type = input_u8(&w.in), span = input_u8(&w.in);
	uint64_t now = alone_now() + input_u8(&w.in);
	uint64_t words[3] = {4 | 3 << 4 | (uint64_t)(type % 16) << 16 | 1 << 24 | 1ull << 32 |
				 2ull << 48,
			     now, now + span};

	liar_put(c, words, 3);
}

static void liar_release(void)
{
	struct fake_chunk *c = liar_chunk();

	if (c->words)
		fp_release(c);
	c->words = NULL;
}

static void liar_durable(void)
{
	struct fake_provider *f = &w.fake;
	uint64_t words[WORDS_MAX], *to;
	size_t count = record_take(words);

	if (f->durable_used + count * 8 > f->layout.durable_size)
		return;
	to = fp_durable_claim(f, (uint32_t)count);
	memcpy(to + 1, words + 1, (count - 1) * 8);
	if (words[0] & 1ull << 63)
		return; /* stays a claim */
	fx_store_release(to, words[0]);
}

static void liar_string(void)
{
	struct fake_provider *f = &w.fake;
	unsigned index = input_u8(&w.in) % 4 + 1;
	char text[9] = "";

	input_take(&w.in, text, 8);
	if (f->durable_used + 24 <= f->layout.durable_size)
		fp_durable_string(f, index, text);
}

static void liar_slot(void)
{
	unsigned i = input_below(&w.in, 8);
	struct fx_thread_slot *slot = fp_slot(&w.fake, i, LIAR_PID + i, "thread");

	slot->dropped += input_u8(&w.in);
	slot->dropped_first = input_u16(&w.in);
	slot->dropped_last = alone_now();
	fp_frame(slot, input_below(&w.in, 4), alone_now() + input_u8(&w.in), input_u64(&w.in));
}

/* --- What the manager does ------------------------------------------------------------------- */

static void bound_check(void)
{
	/* One turn of saving may exceed the limit, by what the two buffers hold at most. */
	const struct fx_queue *q = fx_writer_queue(w.writer);
	uint64_t most = QUEUE_LIMIT + 4 * w.honest.provider->drain.layout.total_size;

	if (q->bytes > most)
		abort();
}

static void manager_poll(struct party *p, bool held)
{
	struct fx_packet packet;

	if (p->over || !w.running)
		return;
	fx_provider_poll(p->provider, fx_writer_queue(w.writer), held);
	for (unsigned i = 0; i < FX_PACKETS && fx_provider_packet(p->provider, &packet); i++) {
		char name[FX_ALERT_NAME_MAX + 1];

		fx_packet_alert_name(&packet, name);
	}
	bound_check();
}

/* --- What the liar writes by the rules ------------------------------------------------------- */

/* A chunk to write to: one is claimed if need be, after a look of the manager's if there is none. */
static struct fake_chunk *liar_open_chunk(size_t count)
{
	struct fake_provider *f = &w.fake;
	struct fake_chunk *c = &w.chunks[0];
	bool looked = false;

	if (c->words && (c->used + count) * 8 <= f->layout.chunk_size)
		return c;
	if (c->words)
		fp_release(c);
	c->words = NULL;
	while (f->half_used == f->layout.chunks_per_half && !honest_switch(f)) {
		if (looked)
			return NULL;
		manager_poll(&w.liar, false);
		alone_step();
		looked = true;
	}
	*c = fp_show_claim(f, fp_count_claim(f), LIAR_PID);
	return c;
}

static void liar_write(const uint64_t *words, size_t count)
{
	struct fake_chunk *c = count ? liar_open_chunk(count) : NULL;

	if (c)
		liar_put(c, words, count);
}

static void liar_write_durable(const uint64_t *words, size_t count)
{
	struct fake_provider *f = &w.fake;
	uint64_t *to;

	if (!count || f->durable_used + count * 8 > f->layout.durable_size)
		return;
	to = fp_durable_claim(f, (uint32_t)count);
	memcpy(to + 1, words + 1, (count - 1) * 8);
	fx_store_release(to, words[0]);
}

/* A record in fragments, of which the input may leave out one or tell one twice. */
static void liar_fragments(const struct valid *v)
{
	static uint64_t words[VALID_WORDS_MAX], fragment[FX_CHUNK_MAX / 8];
	uint64_t total = valid_large(v, &w.in, words), at = 0, number = input_below(&w.in, 3);
	uint64_t most = w.fake.layout.chunk_size / 8 - 3 - FX_FRAGMENT_HEAD;
	uint8_t wrong = input_u8(&w.in);

	for (unsigned i = 0; at < total; i++) {
		uint64_t count = total - at < most ? total - at : most;

		if (i == wrong / 4u) {
			if (wrong % 4 == 1)
				at += count;
			if (wrong % 4 == 2 && at)
				at -= at < most ? at : most;
			if (wrong % 4 == 3)
				total++;
			if (at >= total)
				break;
			count = total - at < most ? total - at : most;
		}
		if (at + count > VALID_WORDS_MAX)
			break;
		fragment[0] =
		    15 | (FX_FRAGMENT_HEAD + count) << 4 | (uint64_t)FX_FRAGMENT_TYPE << 36;
		fragment[1] = number | total << 32;
		fragment[2] = at;
		memcpy(fragment + FX_FRAGMENT_HEAD, words + at, count * 8);
		liar_write(fragment, FX_FRAGMENT_HEAD + count);
		at += count;
	}
}

static void liar_valid(void)
{
	static uint64_t words[VALID_WORDS];
	struct valid v = {.tid = LIAR_PID,
			  .now = w.terms.clock_kind ? alone_counter() : alone_now(),
			  .pids = {LIAR_PID, HONEST_PID, LIAR_PID + 1, UINT32_MAX}};
	uint8_t how = input_u8(&w.in), index = how / 8 % 4;

	switch (how % 8) {
	case 4:
		liar_write(words, valid_string(&w.in, FX_STRING_LOCAL + index, words));
		break;
	case 5:
		liar_write_durable(words, valid_string(&w.in, how < 0xe0 ? index + 1 : 0, words));
		break;
	case 6:
		liar_write_durable(words, valid_record(&v, &w.in, words));
		break;
	case 7:
		liar_fragments(&v);
		break;
	default:
		liar_write(words, valid_record(&v, &w.in, words));
	}
}

/* --- Sessions -------------------------------------------------------------------------------- */

static void party_stop(struct party *p)
{
	if (p->over)
		return;
	fx_provider_stop(p->provider, (uint32_t)w.epoch, 0);
	fx_provider_pause(p->provider, alone_now());
	while (!fx_provider_settle(p->provider, fx_writer_queue(w.writer)))
		alone_step();
}

static void manager_stop(void)
{
	if (!w.terms.resident || !w.running)
		return;
	party_stop(&w.honest);
	party_stop(&w.liar);
	w.running = false;
}

/* As for a client who asks what was recorded so far. */
static void manager_flush(void)
{
	if (w.liar.over || !w.running)
		return;
	fx_provider_dropped(w.liar.provider);
	while (!fx_provider_flush(w.liar.provider, fx_writer_queue(w.writer)))
		alone_step();
}

static void party_start(struct party *p, unsigned disposition)
{
	if (p->over)
		return;
	if (disposition == FX_CLEAR_ENTIRE)
		fx_drain_retell(&p->provider->drain);
	if (disposition != FX_RETAIN && w.terms.mode == FX_MODE_CIRCULAR)
		fx_drain_forget(&p->provider->drain);
	if (disposition != FX_RETAIN && w.terms.mode == FX_MODE_ONESHOT)
		fx_provider_refill(p->provider);
	p->provider->settled = false;
	fx_provider_start(p->provider, (uint32_t)w.epoch);
}

static void manager_start(unsigned disposition)
{
	if (!w.terms.resident || w.running)
		return;
	w.epoch++;
	honest_release(&w.good);
	w.running = true;
	party_start(&w.honest, disposition);
	party_start(&w.liar, disposition);
}

static void party_rejoin(struct party *p)
{
	struct fx_provider *provider = p->provider;

	if (p->over)
		return;
	fx_provider_leave(provider, fx_writer_queue(w.writer));
	if (fx_provider_join(provider, &w.terms, NULL) < 0)
		return; /* a liar that was found out */
	provider->id = w.next_id++;
	provider->inlet = fx_provider_enlist(provider, w.writer, false);
}

/* Another session, of another mode. */
static void manager_rejoin(uint8_t mode)
{
	if (!w.terms.resident)
		return;
	manager_stop();
	honest_release(&w.good);
	w.terms.mode = (enum fx_buffering_mode)(FX_MODE_ONESHOT + mode % 3);
	party_rejoin(&w.honest);
	party_rejoin(&w.liar);
	manager_start(FX_CLEAR_ENTIRE);
}

/* A second reader of a circular buffer, whose archive is another one. */
static void manager_snapshot(void)
{
	struct fx_provider view, named = {.id = w.next_id, .pid = LIAR_PID, .name = "view"};
	struct fx_inlet *inlet;

	if (w.terms.mode != FX_MODE_CIRCULAR || w.liar.over || !w.liar.provider->inlet)
		return;
	w.next_id++;
	inlet = fx_provider_enlist(&named, w.writer, false);
	if (fx_provider_view(w.liar.provider, alone_now(), inlet, &view) < 0)
		return;
	while (!fx_provider_finish(&view, fx_writer_queue(w.writer)))
		alone_step();
	fx_provider_view_release(&view);
}

/* --- One input ------------------------------------------------------------------------------- */

static void step(void)
{
	uint8_t what = input_u8(&w.in);

	if (what >= 0xe0) {
		liar_valid();
		return;
	}
	switch (what % 20) {
	case 0:
	case 1:
		liar_patch();
		break;
	case 2:
		liar_claim();
		break;
	case 3:
	case 4:
		liar_record();
		break;
	case 5:
		liar_event();
		break;
	case 6:
		liar_release();
		break;
	case 7:
		honest_switch(&w.fake);
		break;
	case 8:
		liar_durable();
		break;
	case 9:
		liar_string();
		break;
	case 10:
		liar_slot();
		break;
	case 11:
		change_plan();
		break;
	case 12:
	case 13:
		manager_poll(&w.liar, what & 0x80);
		manager_poll(&w.honest, what & 0x80);
		break;
	case 14:
		if (what & 0x80)
			manager_flush();
		alone_step();
		break;
	case 15:
		honest_events(input_u8(&w.in) % 64);
		break;
	case 16:
		manager_stop();
		break;
	case 17:
		manager_start(FX_CLEAR_ENTIRE + input_below(&w.in, 3));
		break;
	case 18:
		manager_rejoin(input_u8(&w.in));
		break;
	default:
		manager_snapshot();
	}
}

static void terms_choose(void)
{
	static const uint64_t sizes[] = {FX_BUFFER_MIN, 8192, 16384, 65536};
	static const struct fx_session_config config = {.categories = FX_CAT_FUNCTION};
	uint8_t how = input_u8(&w.in);

	w.terms = (struct fx_provider_terms){
	    .clock_kind = how & 1 ? FX_CLOCK_COUNTER : FX_CLOCK_BOOTTIME,
	    .mode = (enum fx_buffering_mode)(FX_MODE_ONESHOT + (how >> 1) % 3),
	    .tick_step = 1,
	    .config = &config,
	    .running = true,
	    .buffer_size = sizes[how >> 3 & 3],
	    .reserve = sizes[how >> 3 & 3],
	    .resident = how & 0x20,
	};
}

static void writer_begin(bool pairs)
{
	static struct fx_clock_choice clock;
	struct fx_writer_config config = {
	    .path = "fuzz.fxt",
	    .clock = &clock,
	    .queue_limit = QUEUE_LIMIT,
	    .pairs = pairs,
	    .done_fd = -1,
	};
	int fd = memfd_create("archive", MFD_CLOEXEC);

	clock.kind = w.terms.clock_kind;
	alone_advance(5000000); /* so that the clocks have a slope */
	config.first_anchor = (struct fx_anchor){.ticks = 3, .ns = 1};
	w.archive = dup(fd);
	if (w.archive < 0 || fx_output_adopt(fd, config.path, &config.output) < 0 ||
	    fx_writer_start(&config, &w.writer) < 0)
		abort();
}

static void begin(const uint8_t *data, size_t size)
{
	uint8_t more;

	alone_reset();
	memset(&w, 0, sizeof(w));
	w.in = (struct input){data, data + size};
	w.next_id = 1;
	w.epoch = 1;
	w.running = true;
	terms_choose();
	more = input_u8(&w.in);
	w.terms.recipes = more & 2;
	writer_begin(more & 1);
	party_enter(&w.honest, HONEST_PID, "honest");
	honest_attach(&w.good, w.honest.provider->control, w.honest.memory, HONEST_PID + 1);
	party_enter(&w.liar, LIAR_PID, "liar");
	fp_attach(&w.fake, w.liar.provider->control, w.liar.memory);
	alone_hooks.look = on_look;
}

static void end(void)
{
	struct fx_totals totals;
	uint64_t found;

	party_finish(&w.liar);
	party_finish(&w.honest);
	alone_hooks.look = NULL;
	party_leave(&w.liar);
	party_leave(&w.honest);
	if (fx_writer_finish(w.writer, &totals) != 0 || totals.broken > w.next_id)
		abort();
	found = verdict_read(w.archive, HONEST_PID);
	close(w.archive);
	if (found < w.recorded)
		abort();
	alone_memory_check();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	begin(data, size);
	for (unsigned i = 0; i < STEPS_MAX && !input_is_over(&w.in); i++)
		step();
	end();
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "tests/engine/fake_provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomic.h"

static void give_up(const char *what)
{
	fprintf(stderr, "fake provider: %s\n", what);
	abort();
}

static void *memory(uint64_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		give_up("no memory");
	return p;
}

void fp_init(struct fake_provider *p, uint64_t size, enum fx_buffering_mode mode)
{
	struct fx_layout layout;
	struct fx_control *control;

	if (fx_layout_compute(&layout, size, mode) < 0)
		give_up("no such layout");
	control = memory(fx_control_size(&layout));
	control->layout = layout;
	fp_attach(p, control, memory(layout.total_size));
}

void fp_destroy(struct fake_provider *p)
{
	munmap(p->header, p->layout.total_size);
	munmap(p->control, fx_control_size(&p->layout));
}

void fp_attach(struct fake_provider *p, const struct fx_control *control, void *buffer)
{
	*p = (struct fake_provider){
	    .layout = control->layout,
	    .control = (struct fx_control *)control,
	    .header = buffer,
	};
	p->header->version = FX_LAYOUT_VERSION;
	p->header->pid = FP_PID;
	fx_store_release(&p->header->magic, FX_BUFFER_MAGIC);
}

static char *at(const struct fake_provider *p, uint64_t offset)
{
	return (char *)p->header + offset;
}

uint64_t *fp_table(struct fake_provider *p, uint32_t chunk)
{
	return (uint64_t *)at(p, p->layout.table_offset) + chunk;
}

uint64_t *fp_durable(struct fake_provider *p)
{
	return (uint64_t *)at(p, p->layout.durable_offset);
}

static uint32_t number_of(const struct fake_provider *p, uint64_t serial)
{
	uint32_t n = p->layout.chunks_per_half;

	return (uint32_t)(serial / n % p->layout.halves * n + serial % n);
}

uint64_t fp_count_claim(struct fake_provider *p)
{
	uint64_t serial = (uint64_t)p->wrap * p->layout.chunks_per_half + p->half_used;

	if (p->half_used == p->layout.chunks_per_half)
		give_up("the half is full");
	p->half_used++;
	fx_store_release(&p->header->rolling_state, (uint64_t)p->wrap << 32 | p->half_used);
	return serial;
}

struct fake_chunk fp_show_claim(struct fake_provider *p, uint64_t serial, uint32_t tid)
{
	uint32_t number = number_of(p, serial), n = p->layout.chunks_per_half;
	struct fake_chunk c = {.owner = p, .serial = serial, .used = 3};

	c.words = (uint64_t *)at(p, p->layout.rolling_offset[number / n] +
					(uint64_t)(number % n) * p->layout.chunk_size);
	memset(c.words, 0, p->layout.chunk_size);
	c.words[1] = FP_PID;
	c.words[2] = tid;
	/* Thread Record, three words, index 1 */
	c.words[0] = 3 | 3 << 4 | 1 << 16;
	fx_store_release(fp_table(p, number), FX_CHUNK_WORD(serial, FX_CHUNK_HELD, 0));
	return c;
}

struct fake_chunk fp_claim(struct fake_provider *p, uint32_t tid)
{
	return fp_show_claim(p, fp_count_claim(p), tid);
}

void fp_leave(struct fake_provider *p)
{
	fx_store_relaxed(&p->header->half_ended[p->wrap % 2],
			 (uint64_t)(p->wrap + 1) << 32 | p->half_used);
	p->wrap++;
	p->half_used = 0;
	fx_store_release(&p->header->rolling_state, (uint64_t)p->wrap << 32);
}

void fp_wrap(struct fake_provider *p)
{
	while (p->half_used < p->layout.chunks_per_half) {
		struct fake_chunk c = fp_claim(p, 1);

		fp_release(&c);
	}
	p->wrap++;
	p->half_used = 0;
	fx_store_release(&p->header->rolling_state, (uint64_t)p->wrap << 32);
}

void fp_release(struct fake_chunk *c)
{
	fx_store_release(fp_table(c->owner, number_of(c->owner, c->serial)),
			 FX_CHUNK_WORD(c->serial, FX_CHUNK_RELEASED, c->used * 8));
}

void fp_put(struct fake_chunk *c, const uint64_t *words, uint32_t count)
{
	if ((c->used + count) * 8 > c->owner->layout.chunk_size)
		give_up("the chunk is full");
	memcpy(c->words + c->used + 1, words + 1, (count - 1) * 8);
	fx_store_release(c->words + c->used, words[0]);
	c->used += count;
}

void fp_complete(struct fake_chunk *c, unsigned category, unsigned name, uint64_t start,
		 uint64_t end)
{
	/* Event Record, three words, type 4, thread 1 */
	const uint64_t words[3] = {4 | 3 << 4 | 4 << 16 | 1 << 24 | (uint64_t)category << 32 |
				       (uint64_t)name << 48,
				   start, end};

	fp_put(c, words, 3);
}

uint64_t *fp_durable_claim(struct fake_provider *p, uint32_t words)
{
	uint64_t *to = fp_durable(p) + p->durable_used / 8;

	if (p->durable_used + words * 8 > p->layout.durable_size)
		give_up("the durable area is full");
	p->durable_used += words * 8;
	fx_store_release(to, 5 | (uint64_t)words << 4);
	return to;
}

static uint32_t string_record(uint64_t *to, unsigned index, const char *text)
{
	uint32_t length = (uint32_t)strlen(text), words = 1 + (length + 7) / 8;

	memset(to, 0, words * 8);
	memcpy(to + 1, text, length);
	to[0] = 2 | words << 4 | (uint64_t)index << 16 | (uint64_t)length << 32;
	return words;
}

void fp_durable_string(struct fake_provider *p, unsigned index, const char *text)
{
	uint64_t words[64];
	uint32_t count = string_record(words, index, text);
	uint64_t *to = fp_durable_claim(p, count);

	memcpy(to + 1, words + 1, (count - 1) * 8);
	fx_store_release(to, words[0]);
}

void fp_durable_address(struct fake_provider *p, unsigned index, uint64_t address)
{
	uint64_t *to = fp_durable_claim(p, 2);

	to[1] = address;
	fx_store_release(to, 2 | 2 << 4 | (uint64_t)index << 16 | 8ull << 32 | 1ull << 48);
}

void fp_string(struct fake_chunk *c, unsigned index, const char *text)
{
	uint64_t words[64];

	fp_put(c, words, string_record(words, index, text));
}

struct fx_thread_slot *fp_slot(struct fake_provider *p, uint32_t i, uint32_t tid, const char *name)
{
	struct fx_thread_slot *slot = (struct fx_thread_slot *)at(p, p->layout.threads_offset) + i;

	slot->incarnation++;
	memset(slot->name, 0, sizeof(slot->name));
	memcpy(slot->name, name, strnlen(name, sizeof(slot->name) - 1));
	slot->frames[0] = (struct fx_frame){.start = 1, .sp = UINT64_MAX};
	slot->last_tid = tid;
	fx_store_release(&slot->tid, tid);
	return slot;
}

void fp_frame(struct fx_thread_slot *slot, uint32_t depth, uint64_t start, uint64_t id)
{
	struct fx_frame *f = &slot->frames[1 + depth];

	f->id = id;
	f->sp = 0x7fff0000 - 64 * depth;
	fx_store_release(&f->start, start);
}

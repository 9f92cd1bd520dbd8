/* SPDX-License-Identifier: MIT */
#include "tests/engine/produce.h"

#include <stdlib.h>

#include <criterion/criterion.h>

#include "engine/provider/record.h"

#define CATEGORY 0x55u /* marks the records of this file */

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 31) * 0x9e3779b97f4a7c15ull;
	return v ^ v >> 29;
}

unsigned produce_words(uint32_t number)
{
	return PRODUCE_WORDS_MIN +
	       (unsigned)(mix(number) % (PRODUCE_WORDS_MAX - PRODUCE_WORDS_MIN + 1));
}

bool produce_sized(uint32_t writer, uint32_t number, unsigned words)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	uint64_t id = (uint64_t)writer << 32 | number, sum = id;
	struct fx_reservation r;
	uint64_t *p;

	if (!t)
		return false;
	p = fx_record_reserve(t, words, &r);
	if (!p)
		return false;
	p[1] = id;
	for (unsigned i = 2; i < words - 1; i++) {
		p[i] = mix(id + i);
		sum = mix(sum ^ p[i]);
	}
	p[words - 1] = sum;
	fx_record_commit(t, p, FX_EVENT_HEADER(FX_EVENT_INSTANT, words, 0, CATEGORY, 0), &r);
	return true;
}

bool produce(uint32_t writer, uint32_t number)
{
	return produce_sized(writer, number, produce_words(number));
}

void produced_init(struct produced_all *p, uint32_t writers, uint32_t limit)
{
	p->writers = calloc(writers, sizeof *p->writers);
	p->count = writers;
	p->total = p->names = 0;
	for (uint32_t i = 0; i < writers; i++) {
		p->writers[i].seen = calloc(limit / 8 + 1, 1);
		p->writers[i].limit = limit;
		p->writers[i].ordered = true;
	}
}

void produced_destroy(struct produced_all *p)
{
	for (uint32_t i = 0; i < p->count; i++)
		free(p->writers[i].seen);
	free(p->writers);
}

static void record_check(const struct fm_record *r)
{
	uint64_t sum = r->words[1];

	cr_assert_geq(r->count, PRODUCE_WORDS_MIN);
	cr_assert_eq(r->words[0], FX_EVENT_HEADER(FX_EVENT_INSTANT, r->count, 0, CATEGORY, 0));
	for (uint32_t i = 2; i < r->count - 1; i++)
		sum = mix(sum ^ r->words[i]);
	cr_assert_eq(r->words[r->count - 1], sum, "a record is torn");
}

void produced_take(struct produced_all *p, const struct fm_record *r)
{
	uint32_t number = (uint32_t)r->words[1], writer = (uint32_t)(r->words[1] >> 32);
	struct produced *w;

	if ((r->words[0] & 0xf) == 7) {
		p->names++;
		return;
	}
	record_check(r);
	cr_assert_lt(writer, p->count);
	w = &p->writers[writer];
	cr_assert_lt(number, w->limit);
	cr_assert_not(w->seen[number / 8] & 1 << number % 8, "a record is there twice");
	w->seen[number / 8] |= (uint8_t)(1 << number % 8);
	if (w->count && number <= w->last)
		w->ordered = false;
	w->last = number;
	w->count++;
	p->total++;
}

static void record_take(const struct fm_record *r, void *context)
{
	produced_take(context, r);
}

void produced_read(struct produced_all *p, struct fm_manager *m)
{
	fm_each(m, record_take, p);
}

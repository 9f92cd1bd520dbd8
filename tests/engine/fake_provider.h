/* SPDX-License-Identifier: MIT */
/*
 * A provider made by hand, word by word, for the tests of those who read it: it keeps the rules of
 * engine/layout.h or breaks them as the test says. It shares no code with the engine.
 */
#ifndef FX_TESTS_ENGINE_FAKE_PROVIDER_H
#define FX_TESTS_ENGINE_FAKE_PROVIDER_H

#include <stdint.h>

#include "engine/layout.h"

#define FP_PID 4000u

struct fake_provider {
	struct fx_layout layout;
	struct fx_control *control;
	struct fx_buffer_header *header; /* the buffer */
	uint64_t durable_used;		 /* bytes */
	uint32_t half_used;		 /* chunks claimed in the half in use */
	uint32_t wrap;
};

/* A chunk in the provider's hands. */
struct fake_chunk {
	struct fake_provider *owner;
	uint64_t *words;
	uint64_t serial;
	uint32_t used; /* words */
};

/* Buffer and control page in memory of the test's own. Ends the test on failure. */
void fp_init(struct fake_provider *p, uint64_t size, enum fx_buffering_mode mode);
void fp_destroy(struct fake_provider *p);

/* The same over memory that somebody else has made. */
void fp_attach(struct fake_provider *p, const struct fx_control *control, void *buffer);

/* Takes the next chunk of the half in use for `tid` and says so. Ends the test if the half is full. */
struct fake_chunk fp_claim(struct fake_provider *p, uint32_t tid);

/* The two halves of a claim: counting it, and saying whose it is. */
uint64_t fp_count_claim(struct fake_provider *p);
struct fake_chunk fp_show_claim(struct fake_provider *p, uint64_t serial, uint32_t tid);

/* Counts the rest of the half as claimed and goes on in the other one. */
void fp_wrap(struct fake_provider *p);

/* Moves to the other half with what is claimed in this one, and says so. */
void fp_leave(struct fake_provider *p);

void fp_release(struct fake_chunk *c);

/* Appends a record; `words[0]` is its header. */
void fp_put(struct fake_chunk *c, const uint64_t *words, uint32_t count);

/* Appends a Duration Complete record with names by reference. */
void fp_complete(struct fake_chunk *c, unsigned category, unsigned name, uint64_t start,
		 uint64_t end);

/* Room in the durable area, claimed and not filled. */
uint64_t *fp_durable_claim(struct fake_provider *p, uint32_t words);

/* A String Record in the durable area, and one that stands for a code address. */
void fp_durable_string(struct fake_provider *p, unsigned index, const char *text);
void fp_durable_address(struct fake_provider *p, unsigned index, uint64_t address);

/* A String Record in a chunk. */
void fp_string(struct fake_chunk *c, unsigned index, const char *text);

/* Words of the chunk table and of the durable area, for breaking them. */
uint64_t *fp_table(struct fake_provider *p, uint32_t chunk);
uint64_t *fp_durable(struct fake_provider *p);

/* Slot `i` of the thread area, with an owner. */
struct fx_thread_slot *fp_slot(struct fake_provider *p, uint32_t i, uint32_t tid, const char *name);

/* Puts an open call on a slot. */
void fp_frame(struct fx_thread_slot *slot, uint32_t depth, uint64_t start, uint64_t id);

#endif

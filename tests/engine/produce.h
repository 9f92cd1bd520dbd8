/* SPDX-License-Identifier: MIT */
/*
 * Records that can be told from all others, and that show when they are torn: writer, number, filler
 * and a checksum; 4 to 19 words.
 */
#ifndef FX_TESTS_ENGINE_PRODUCE_H
#define FX_TESTS_ENGINE_PRODUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/engine/fake_manager.h"

#define PRODUCE_WORDS_MIN 4u
#define PRODUCE_WORDS_MAX 19u

/* Size of record `number`, in words. */
unsigned produce_words(uint32_t number);

/* Writes it, if the thread records now. False: it does not, or the record is lost and counted. */
bool produce(uint32_t writer, uint32_t number);

/* Writes a record of `words` words (4 or more). */
bool produce_sized(uint32_t writer, uint32_t number, unsigned words);

/* What one writer did, as the records say. */
struct produced {
	uint64_t count;
	uint8_t *seen;	/* a bit per number */
	uint32_t limit; /* numbers are below it */
	uint32_t last;
	bool ordered; /* each number was above the one before */
};

struct produced_all {
	struct produced *writers;
	uint32_t count;
	uint64_t total;
	uint64_t names; /* of threads that ended */
};

/* For `writers` writers of up to `limit` records each. */
void produced_init(struct produced_all *p, uint32_t writers, uint32_t limit);
void produced_destroy(struct produced_all *p);

/* Checks one record; ends the test if it is torn, alien or there twice. */
void produced_take(struct produced_all *p, const struct fm_record *r);

/* Checks every record of the rolling area; ends the test at one that is torn, alien or there twice. */
void produced_read(struct produced_all *p, struct fm_manager *m);

#endif

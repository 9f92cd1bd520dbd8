/* SPDX-License-Identifier: MIT */
/*
 * Records that a provider may write, as the input chooses: what a fuzzer would not find by chance, and a
 * word of one that is changed now and then.
 */
#ifndef FX_TESTS_FUZZ_VALID_H
#define FX_TESTS_FUZZ_VALID_H

#include <stdint.h>

#include "tests/fuzz/input.h"

#define VALID_PIDS 4u

/* Who writes, and whom else its records may tell of. */
struct valid {
	uint32_t tid;
	uint64_t now;		   /* ticks */
	uint64_t pids[VALID_PIDS]; /* its own first */
};

/* For any record but large ones. */
#define VALID_WORDS 512u

/* For all: what is beyond the twelve bits that viewers read of a size, and more. */
#define VALID_WORDS_MAX 6144u

/* Each returns words written. */
size_t valid_record(const struct valid *v, struct input *in, uint64_t words[VALID_WORDS]);
size_t valid_string(struct input *in, uint16_t index, uint64_t words[VALID_WORDS]);
size_t valid_large(const struct valid *v, struct input *in, uint64_t words[VALID_WORDS_MAX]);

#endif /* FX_TESTS_FUZZ_VALID_H */

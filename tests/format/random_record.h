/* SPDX-License-Identifier: MIT */
/* Records with random contents, reproducible from a seed. */
#ifndef FX_TESTS_RANDOM_RECORD_H
#define FX_TESTS_RANDOM_RECORD_H

#include <stdint.h>

#include <fxtrace/reader.h>

struct random_source {
	uint64_t state; /* never 0 */
};

uint64_t random_next(struct random_source *random);

/* 0 .. @n - 1 */
uint64_t random_below(struct random_source *random, uint64_t n);

/*
 * A valid record of this kind, any but FXT_KIND_UNKNOWN. Its strings and bytes point into static
 * memory; its provider is set, so that it can be dumped.
 */
void random_record(struct random_source *random, enum fxt_kind kind, struct fxt_record *ret);

#endif /* FX_TESTS_RANDOM_RECORD_H */

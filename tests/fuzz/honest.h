/* SPDX-License-Identifier: MIT */
/*
 * A provider that keeps the rules of engine/layout.h, as far as one thread needs them, over buffers of
 * any mode, in one session or in several.
 */
#ifndef FX_TESTS_FUZZ_HONEST_H
#define FX_TESTS_FUZZ_HONEST_H

#include <stdbool.h>

#include "tests/engine/fake_provider.h"

struct honest {
	struct fake_provider fake;
	uint32_t tid;
	struct fake_chunk chunk; /* words is NULL without one */
};

/* Writes the header and the names. The memory is the caller's. */
void honest_attach(struct honest *h, const struct fx_control *control, void *buffer, uint32_t tid);

/* Records at most `count` events of the name VERDICT_HONEST; returns for how many there was room. */
unsigned honest_record(struct honest *h, unsigned count);

/* Gives its chunk back, as a thread that ends does, or finds another epoch. */
void honest_release(struct honest *h);

/* Goes on in the other half, if that is allowed. */
bool honest_switch(struct fake_provider *f);

#endif /* FX_TESTS_FUZZ_HONEST_H */

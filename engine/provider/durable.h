/* SPDX-License-Identifier: MIT */
/*
 * The durable area: records that must not be lost, since others refer to them.
 *
 * A claim puts a blob header of the record's size where a zero was, by one compare-and-exchange; so
 * the area is a row of whole records at every moment, and a thread that is killed between claim and
 * commit leaves a blob that every reader skips.
 */
#ifndef FX_ENGINE_DURABLE_H
#define FX_ENGINE_DURABLE_H

#include <stdint.h>

/* Space for a record of `words` words (its first word is the claim); NULL: the area is full. */
uint64_t *fx_durable_reserve(unsigned words);

/* The payload stands: publishes the true header, which must have the size that was claimed. */
void fx_durable_commit(uint64_t *p, uint64_t header);

#endif

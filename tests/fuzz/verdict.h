/* SPDX-License-Identifier: MIT */
/*
 * What an archive must be, whatever the providers in it did.
 */
#ifndef FX_TESTS_FUZZ_VERDICT_H
#define FX_TESTS_FUZZ_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/* The name of the events that a provider which keeps the rules records, and count on. */
#define VERDICT_HONEST "honest"

/*
 * Aborts unless the file is an archive without an error in its structure. What may be wrong is the
 * sense of a liar's own events: slices that cross, ends without begins. Returns how many events
 * process `pid` has by the name above; each event of that name must be its own.
 */
uint64_t verdict_read(int fd, uint64_t pid);

#endif /* FX_TESTS_FUZZ_VERDICT_H */

/* SPDX-License-Identifier: MIT */
/*
 * Small archives for the tests of convert/, each for one rule. They have one provider, whose
 * ticks are nanoseconds.
 */
#ifndef TESTS_CONVERT_SAMPLE_H
#define TESTS_CONVERT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

/* X(NAME): what it shows is said at its maker in sample.c. */
#define SAMPLES(X)                                                                                 \
	X(nesting)                                                                                 \
	X(equal_starts)                                                                            \
	X(zero_lengths)                                                                            \
	X(pairs)                                                                                   \
	X(unmatched)                                                                               \
	X(overlap)                                                                                 \
	X(crossing_pair)                                                                           \
	X(deep)                                                                                    \
	X(many_instants)                                                                           \
	X(arguments)                                                                               \
	X(stacks)                                                                                  \
	X(bad_text)                                                                                \
	X(flow_slices)                                                                             \
	X(flow_anchors)                                                                            \
	X(flow_backwards)                                                                          \
	X(flow_processes)                                                                          \
	X(flow_alone)                                                                              \
	X(asyncs)                                                                                  \
	X(async_crossing)                                                                          \
	X(counters)                                                                                \
	X(scopes)                                                                                  \
	X(logs)                                                                                    \
	X(large_event)                                                                             \
	X(scheduling)                                                                              \
	X(sched_gap)                                                                               \
	X(legacy_scheduling)                                                                       \
	X(redefined)                                                                               \
	X(two_providers)                                                                           \
	X(names)                                                                                   \
	X(objects)                                                                                 \
	X(foreign_ids)                                                                             \
	X(buffer_full)                                                                             \
	X(embedded)                                                                                \
	X(bad_embedded)                                                                            \
	X(bad_times)                                                                               \
	X(late)                                                                                    \
	X(truncated)                                                                               \
	X(hostile)                                                                                 \
	X(processor)                                                                               \
	X(nothing)

struct sample {
	const char *name;
	uint64_t *words;
	size_t size; /* bytes */
};

/* Makes a sample by name; NULL words: there is none of this name. Free it with sample_free(). */
struct sample sample_make(const char *name);
void sample_free(struct sample *sample);

#endif

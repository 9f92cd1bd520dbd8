/* SPDX-License-Identifier: MIT */
/* The times of a record of whatever kind, in ticks. */
#ifndef FX_ARCHIVES_TIMES_H
#define FX_ARCHIVES_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include <fxtrace/reader.h>

/* When it was, and until when: the same, but of complete events. False: the record has no time. */
bool fx_record_times(const struct fxt_record *record, uint64_t *ret_begin, uint64_t *ret_end);

/* Gives other times to a record that has some. */
void fx_record_set_times(struct fxt_record *record, uint64_t begin, uint64_t end);

#endif

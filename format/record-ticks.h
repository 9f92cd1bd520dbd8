/* SPDX-License-Identifier: MIT */
/* Where a record has its time. */
#ifndef FX_FORMAT_RECORD_TICKS_H
#define FX_FORMAT_RECORD_TICKS_H

#include <stdint.h>

#include <fxtrace/reader.h>

/* NULL: it has none. */
const uint64_t *fx_record_ticks(const struct fxt_record *record);

#endif

/* SPDX-License-Identifier: MIT */
/* One record as one line, for people or as a JSON object. */
#ifndef FX_FORMAT_DUMP_H
#define FX_FORMAT_DUMP_H

#include <stdio.h>

#include <fxtrace/reader.h>

enum fx_dump_style { FX_DUMP_TEXT, FX_DUMP_JSON };

/*
 * Writes the line, its end included. Text goes out as valid UTF-8 whatever the record holds, with
 * control characters escaped. Errors stay in @out, as ferror() tells.
 */
void fx_record_dump(FILE *out, const struct fxt_record *record, enum fx_dump_style style);

#endif /* FX_FORMAT_DUMP_H */

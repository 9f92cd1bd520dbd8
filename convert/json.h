/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format, as Perfetto and chrome://tracing read it.
 *
 * Slices are complete events (X), never B and E: of several events of one time the readers take
 * an E first, even before its own B. Times are microseconds with three decimals.
 */
#ifndef FX_CONVERT_JSON_H
#define FX_CONVERT_JSON_H

#include "convert/export.h"

/* NULL: no memory. The timeline and the output are borrowed. */
struct fx_exporter *fx_json_make(struct fx_timeline *timeline, struct fx_sink *sink);
void fx_json_free(struct fx_exporter *exporter);

#endif

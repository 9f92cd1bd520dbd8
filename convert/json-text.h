/* SPDX-License-Identifier: MIT */
/*
 * Pieces of JSON. They are put together by the caller; only what stands inside quotation marks is
 * made safe here.
 */
#ifndef FX_CONVERT_JSON_TEXT_H
#define FX_CONVERT_JSON_TEXT_H

#include <stdint.h>

#include "convert/sink.h"

/* As it is. */
void fx_json_raw(struct fx_sink *sink, const char *text);

/* With quotation marks, escaped; what is not UTF-8 becomes U+FFFD. */
void fx_json_string(struct fx_sink *sink, const char *data, size_t length);

void fx_json_uint(struct fx_sink *sink, uint64_t value);
void fx_json_int(struct fx_sink *sink, int64_t value);

/* A number with 17 significant digits; what JSON has no number for, as a string. */
void fx_json_double(struct fx_sink *sink, double value);

/* "0x..." with quotation marks. */
void fx_json_hex(struct fx_sink *sink, uint64_t value);

/* Nanoseconds, as microseconds with three decimals. */
void fx_json_time(struct fx_sink *sink, uint64_t ns);

#endif

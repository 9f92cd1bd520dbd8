/* SPDX-License-Identifier: MIT */
/* Names in formats of lines. */
#ifndef FX_CONVERT_PICTURES_PLAIN_H
#define FX_CONVERT_PICTURES_PLAIN_H

#include "convert/sink.h"
#include "convert/texts.h"

/* What a call without a name is called. */
#define FX_UNNAMED "[unnamed]"

/* As it is. */
void fx_plain_raw(struct fx_sink *sink, const char *text);

/* On one line: control characters become \xNN, and @separator a colon (0: there is none). */
void fx_plain_name(struct fx_sink *sink, const struct fx_text *name, char separator);

void fx_plain_uint(struct fx_sink *sink, uint64_t value);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Attributes of OpenTelemetry's protocol, as JSON: what stands between the brackets of a list of them. `*has`, false at the list's begin,
 * says whether it has one already, and is set.
 */
#ifndef FX_CONVERT_OTLP_ATTRIBUTES_H
#define FX_CONVERT_OTLP_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "convert/sink.h"
#include "convert/texts.h"

/* An id of a span, as a field that others are in front of; no attribute. */
void fx_otlp_id(struct fx_sink *sink, const char *field, uint64_t id);

void fx_otlp_text(struct fx_sink *sink, bool *has, const char *key, const char *text,
		  size_t length);

/* The same; NULL: there is none. */
void fx_otlp_some_text(struct fx_sink *sink, bool *has, const char *key,
		       const struct fx_text *text);
void fx_otlp_number(struct fx_sink *sink, bool *has, const char *key, uint64_t value);

/* Arguments of an event, each as "fxtrace.arg." and its name. */
void fx_otlp_args(struct fx_sink *sink, bool *has, const struct fxt_arg *args, uint32_t count);

#endif

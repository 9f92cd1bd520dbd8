/* SPDX-License-Identifier: MIT */
/*
 * A look into Perfetto traces made by others, as far as it takes to put them among our own packets.
 */
#ifndef FX_CONVERT_PERFETTO_WIRE_H
#define FX_CONVERT_PERFETTO_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether these bytes are a sequence of whole trace packets. */
bool fx_packets_are_whole(const unsigned char *data, size_t size);

/* The largest packet sequence id in them; 0: there is none. */
uint32_t fx_packets_last_sequence(const unsigned char *data, size_t size);

#endif

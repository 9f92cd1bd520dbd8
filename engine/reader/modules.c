/* SPDX-License-Identifier: MIT */
/* The modules that a provider has recorded about itself, as its buffer says at any time; the provider is not trusted. */
#include "engine/reader/drain-internal.h"

size_t fx_drain_modules(const struct fx_drain *d, uint64_t *at,
			void (*each)(void *opaque, const uint64_t *record, size_t words),
			void *opaque)
{
	const uint8_t *area = d->buffer + d->layout.durable_offset;
	uint64_t record[FX_DRAIN_MODULE_WORDS];
	size_t count = 0;

	if (d->broken || !fx_drain_is_attached(d))
		return 0;
	while (*at < d->layout.durable_size) {
		/* acquire: the payload stands. Pairs with the release in durable.c. */
		uint64_t header = fx_load_acquire((const uint64_t *)(area + *at));
		uint64_t bytes = record_bytes(header);

		if (header == 0 || bytes == 0 || bytes % FXT_WORD_SIZE ||
		    bytes > d->layout.durable_size - *at || is_claim(header))
			break;
		if (FXT_GET(header, RECORD_TYPE) == FXT_RECORD_PROFILER &&
		    bytes <= sizeof(record)) {
			/* A copy: the provider may change it any time. */
			memcpy(record, area + *at, bytes);
			record[0] = header;
			each(opaque, record, bytes / FXT_WORD_SIZE);
			count++;
		}
		*at += bytes;
	}
	return count;
}

/* SPDX-License-Identifier: MIT */
#include "kernel/texts.h"

#include <string.h>

#include "kernel/call-table.h"

bool fx_text_read(const uint8_t *bytes, size_t size, struct fx_text_found *ret)
{
	uint16_t numbers[2]; /* none of a tracepoint, and the argument */
	uint32_t length;     /* with its end */
	uint64_t address;

	if (size < FX_TEXTS_HEAD)
		return false;
	memcpy(numbers, bytes, sizeof(numbers));
	memcpy(&length, bytes + 4, sizeof(length));
	memcpy(&address, bytes + 8, sizeof(address));
	if (numbers[0] != 0 || !length || length > size - FX_TEXTS_HEAD)
		return false;
	*ret = (struct fx_text_found){
	    .argument = numbers[1] & (FX_TEXTS_AT_END - 1),
	    .at_end = numbers[1] & FX_TEXTS_AT_END,
	    .address = address,
	    .data = (const char *)bytes + FX_TEXTS_HEAD,
	    .length = length - 1,
	};
	return ret->argument < FX_CALL_ARGS;
}

bool fx_text_is_arrival(const uint8_t *bytes, size_t size)
{
	const uint16_t arrives[2] = {0, FX_TEXTS_ARRIVES};

	return size >= FX_TEXTS_HEAD && memcmp(bytes, arrives, sizeof(arrives)) == 0;
}

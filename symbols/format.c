/* SPDX-License-Identifier: MIT */
/* A symbol as text. */
#include "symbols/symbols.h"

#include <inttypes.h>
#include <stdio.h>

static int print_symbol(const struct fx_symbol *symbol, char *buffer, size_t size)
{
	switch (symbol->kind) {
	case FX_SYMBOL_NAMED:
		if (!symbol->offset)
			return snprintf(buffer, size, "%s", symbol->name);
		return snprintf(buffer, size, "%s+0x%" PRIx64, symbol->name, symbol->offset);
	case FX_SYMBOL_IN_MODULE:
		return snprintf(buffer, size, "%s+0x%" PRIx64, symbol->module, symbol->offset);
	case FX_SYMBOL_UNKNOWN:
		break;
	}
	return snprintf(buffer, size, "0x%" PRIx64, symbol->offset);
}

size_t fx_symbol_format(const struct fx_symbol *symbol, char *buffer, size_t size)
{
	int length;

	if (!size)
		return 0;
	length = print_symbol(symbol, buffer, size);
	if (length < 0) {
		buffer[0] = '\0';
		return 0;
	}
	return (size_t)length < size ? (size_t)length : size - 1;
}

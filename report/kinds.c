/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "report/kinds.h"

enum fx_call_kind fx_call_kind_of(const char *category)
{
	static const char *const names[] = {
#define FX_CALL_KIND_TEXT_(name, text) [FX_CALL_##name] = (text),
	    FX_CALL_KINDS(FX_CALL_KIND_TEXT_)
#undef FX_CALL_KIND_TEXT_
	};
	size_t length = strcspn(category, ":");

	for (int kind = FX_CALL_OTHER + 1; kind < FX_CALL_KIND_COUNT; kind++) {
		if (strlen(names[kind]) == length && memcmp(names[kind], category, length) == 0)
			return (enum fx_call_kind)kind;
	}
	return FX_CALL_OTHER;
}

/* SPDX-License-Identifier: MIT */
#include "format/violations.h"

#include <stdarg.h>
#include <stdio.h>

static void violations_add(struct fx_violations *violations, enum fx_severity severity,
			   uint64_t offset, const char *format, va_list args)
{
	char text[256];

	vsnprintf(text, sizeof(text), format, args);
	if (violations->handler)
		violations->handler(violations->opaque, severity, offset, text);
}

void fx_violations_error(struct fx_violations *violations, uint64_t offset, const char *format, ...)
{
	va_list args;

	violations->errors++;
	va_start(args, format);
	violations_add(violations, FX_SEVERITY_ERROR, offset, format, args);
	va_end(args);
}

void fx_violations_warning(struct fx_violations *violations, uint64_t offset, const char *format,
			   ...)
{
	va_list args;

	violations->warnings++;
	va_start(args, format);
	violations_add(violations, FX_SEVERITY_WARNING, offset, format, args);
	va_end(args);
}

/* SPDX-License-Identifier: MIT */
/* Where the checks of an archive put what they find. */
#ifndef FX_FORMAT_VIOLATIONS_H
#define FX_FORMAT_VIOLATIONS_H

#include <stdint.h>

/*
 * An error breaks the format, or makes a viewer drop or misplace events. A warning is allowed by
 * the format, but is hardly what the writer meant.
 */
enum fx_severity { FX_SEVERITY_ERROR, FX_SEVERITY_WARNING };

/* @text is one line without its end, and lives during the call. */
typedef void fx_violation_handler(void *opaque, enum fx_severity severity, uint64_t offset,
				  const char *text);

struct fx_violations {
	fx_violation_handler *handler;
	void *opaque;
	uint64_t errors;
	uint64_t warnings;
};

/* @offset: in bytes, of the record at fault. */
__attribute__((format(printf, 3, 4))) void
fx_violations_error(struct fx_violations *violations, uint64_t offset, const char *format, ...);
__attribute__((format(printf, 3, 4))) void
fx_violations_warning(struct fx_violations *violations, uint64_t offset, const char *format, ...);

#endif /* FX_FORMAT_VIOLATIONS_H */

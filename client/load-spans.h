/* SPDX-License-Identifier: MIT */
/* fxtrace load --otlp: archives as spans, to a collector. */
#ifndef FX_CLIENT_LOAD_SPANS_H
#define FX_CLIENT_LOAD_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/filter.h"

struct fx_load_spans {
	const char *program;
	const char *url;
	struct fx_filter filter;
	uint64_t least; /* ns; what is shorter is no span */
	const char **files;
	size_t count;
	bool quiet;
};

/* Returns the exit status; what is wrong is said. */
int fx_load_spans(const struct fx_load_spans *spans);

#endif

/* SPDX-License-Identifier: MIT */
/* What was measured, and whether the limits hold, as text for people, as JSON or as CSV. */
#ifndef FX_MEASURE_PRINT_H
#define FX_MEASURE_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "measure/collect.h"
#include "measure/spec.h"
#include "report/print.h"

struct fx_measure_print {
	FILE *out;
	enum fx_print_style style;
	bool color;
	bool whole; /* the archive has no fault */
};

/* Returns whether all limits hold. */
bool fx_measure_print(const struct fx_measure_print *print, const struct fx_spec *spec,
		      struct fx_measurements *measurements);

#endif

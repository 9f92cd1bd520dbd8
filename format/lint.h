/* SPDX-License-Identifier: MIT */
/*
 * What a reader ignores and a writer should still keep clean: reserved bits and padding are
 * zero, index 0 is not defined, texts are UTF-8 and hold no NUL.
 */
#ifndef FX_FORMAT_LINT_H
#define FX_FORMAT_LINT_H

#include <fxtrace/reader.h>

#include "format/violations.h"

/* Adds a warning for each. Looks at what the record itself holds, not at its table strings. */
void fx_record_lint(const struct fxt_record *record, struct fx_violations *violations);

#endif /* FX_FORMAT_LINT_H */

/* SPDX-License-Identifier: MIT */
/*
 * Records that do not go into the archive as they were rewritten: those with text to be escaped (base/escape.h), and
 * blobs that are too large to be one record.
 */
#ifndef FX_MANAGER_ESCAPED_H
#define FX_MANAGER_ESCAPED_H

#include "manager/archive/rewriting.h"

/* Each writes the record of w->words, rewritten. 0 or -errno. */

/* With its texts escaped; shortened, if it would else be too large. */
int fx_escaped_write(struct fx_rewriting *w);

/* As several. `name`: the blob's; NULL: it stands in the record. */
int fx_escaped_write_parts(struct fx_rewriting *w, const struct fx_name *name);

#endif

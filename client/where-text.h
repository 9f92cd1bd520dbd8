/* SPDX-License-Identifier: MIT */
/* What `fxtrace where' and --watchdog say of threads, in words for a person. */
#ifndef FX_CLIENT_WHERE_TEXT_H
#define FX_CLIENT_WHERE_TEXT_H

#include <stdio.h>

#include "where/where.h"

/* All of it: the circles first, then the threads of each process. */
void fx_where_text(FILE *to, const struct fx_where *where);

/* One thread: what it does, in a line that begins with `indent` spaces, and its stack below that. */
void fx_where_text_thread(FILE *to, const struct fx_where *where,
			  const struct fx_where_thread *thread, int indent);

#endif

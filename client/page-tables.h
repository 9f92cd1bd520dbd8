/* SPDX-License-Identifier: MIT */
/* A page has the tables of the report in it, made of the same walk through the archive. */
#ifndef FX_CLIENT_PAGE_TABLES_H
#define FX_CLIENT_PAGE_TABLES_H

#include "convert/convert.h"

/* As fx_convert() does, with an exporter that takes tables. */
int fx_convert_with_tables(struct fx_exporter *exporter, fx_progress *progress, void *opaque);

#endif

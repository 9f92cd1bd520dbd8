/* SPDX-License-Identifier: MIT */
/* The tables of the reader's newest batch. */
#ifndef FX_FORMAT_ROWS_H
#define FX_FORMAT_ROWS_H

struct fx_rows;

/* NULL is allowed. */
void fx_rows_free(struct fx_rows *rows);

#endif /* FX_FORMAT_ROWS_H */

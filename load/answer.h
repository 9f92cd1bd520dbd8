/* SPDX-License-Identifier: MIT */
/*
 * An answer of any size, a row at a time: it lies in a file without a name, and a row in memory.
 */
#ifndef FX_LOAD_ANSWER_H
#define FX_LOAD_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "load/clickhouse.h"

struct fx_answer;

enum { FX_ANSWER_FIELDS_MAX = 20 };

/* Asks; the answer is to be in TabSeparated. *ret is NULL after an error: -errno, of which -EIO is the server's. */
int fx_answer_open(struct fx_clickhouse *server, struct fx_answer **ret, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* NULL is allowed. */
void fx_answer_close(struct fx_answer *answer);

/* The fields of the next row, until the one after it; those that are not there are "". NULL: there are no more, or the file
 * cannot be read (fx_answer_error()). */
char **fx_answer_next(struct fx_answer *answer);

/* 0 or -errno. */
int fx_answer_error(const struct fx_answer *answer);

#endif

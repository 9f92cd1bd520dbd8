/* SPDX-License-Identifier: MIT */
/*
 * A ClickHouse server, by its HTTP interface. Its URL is http://[USER[:PASSWORD]@]HOST:8123[/DATABASE]; what does not stand there
 * is taken from CLICKHOUSE_USER and CLICKHOUSE_PASSWORD, as by its own client, and the database is "fxtrace".
 */
#ifndef FX_LOAD_CLICKHOUSE_H
#define FX_LOAD_CLICKHOUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fx_clickhouse;

/*
 * Nothing is asked of the server yet. Returns 0; -EINVAL: it is no such URL; or -errno. *ret is set but for -ENOMEM, and says
 * why (fx_clickhouse_fault()).
 */
int fx_clickhouse_open(const char *url, struct fx_clickhouse **ret);

/* NULL is allowed. */
void fx_clickhouse_close(struct fx_clickhouse *server);

const char *fx_clickhouse_database(const struct fx_clickhouse *server);

/* A line on the last error: the server's own words, if it has said something. */
const char *fx_clickhouse_fault(const struct fx_clickhouse *server);

/* The number of the last error, of those that servers have; 0: it was none of a server's. */
enum { FX_CLICKHOUSE_RUNS_ALREADY = 216 };
int fx_clickhouse_code(const struct fx_clickhouse *server);

/* A statement. Returns 0 or -errno. *ret (which may be NULL) is what it answers, terminated, until the next one. */
int fx_clickhouse_ask(struct fx_clickhouse *server, const char **ret, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for an answer of any size, which goes into a file. */
int fx_clickhouse_ask_to(struct fx_clickhouse *server, FILE *to, const char *statement);

/* The same without a database, which may not be there. */
int fx_clickhouse_ask_server(struct fx_clickhouse *server, const char **ret, const char *statement);

/* Rows of RowBinary for "INSERT INTO ... FORMAT RowBinary", which is done whole or not at all where they are no more than
 * `block' says. `id' is the request's: there are no two of one at a time. */
int fx_clickhouse_insert(struct fx_clickhouse *server, const char *statement, const char *id,
			 const void *rows, size_t size);

/*
 * Goes through an answer of TabSeparated: the fields of the next row, unescaped in place; fields that are not there are "".
 * Returns false at the end.
 */
bool fx_clickhouse_row(char **at, char **fields, size_t count);

#endif

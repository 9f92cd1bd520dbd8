/* SPDX-License-Identifier: MIT */
/*
 * The tables on a server (schema.def): made where they are not there, and looked at where they are.
 *
 * With a cluster, each is two: NAME_local has the rows of a shard, and NAME is Distributed over them. An archive's rows are
 * all on one shard.
 */
#ifndef FX_LOAD_SCHEMA_H
#define FX_LOAD_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "load/clickhouse.h"

#define FX_LOAD_ENUM_(id, name, source, key, columns) FX_LOAD_##id,
enum fx_load_table {
#define FX_LOAD_TABLE FX_LOAD_ENUM_
#include "load/schema.def"
#undef FX_LOAD_TABLE
	FX_LOAD_TABLE_COUNT
};

const char *fx_load_table_name(enum fx_load_table table);
const char *fx_load_table_source(enum fx_load_table table);  /* NULL: none */
const char *fx_load_table_columns(enum fx_load_table table); /* without the common ones */

struct fx_schema_terms {
	const char *cluster; /* NULL: none */
	uint64_t
	    days; /* after which rows are dropped, from the day of their archive on; 0: never */
};

/* Makes the database and what is not there of its tables, and looks at them. Returns 0; -EBADF: a table has other columns;
 * or -errno. *ret_fault is what is wrong, to be freed. */
int fx_schema_make(struct fx_clickhouse *server, const struct fx_schema_terms *terms,
		   char **ret_fault);

#endif

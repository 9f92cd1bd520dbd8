/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists/vector.h"

static const struct {
	const char *name;
	const char *source;
	const char *key;
	const char *columns;
} load_tables[] = {
#define FX_LOAD_TABLE(id, name, source, key, columns) {name, source, key, columns},
#include "load/schema.def"
#undef FX_LOAD_TABLE
};

static const struct {
	const char *name;
	const char *select;
} load_views[] = {
#define FX_LOAD_VIEW(name, select) {name, select},
#include "load/views.def"
#undef FX_LOAD_VIEW
};

const char *fx_load_table_name(enum fx_load_table table)
{
	return load_tables[table].name;
}

const char *fx_load_table_source(enum fx_load_table table)
{
	return load_tables[table].source;
}

const char *fx_load_table_columns(enum fx_load_table table)
{
	return load_tables[table].columns;
}

/* A schema that is made, and the statement in work. */
struct schema {
	struct fx_clickhouse *server;
	const struct fx_schema_terms *terms;
	const char *text_type; /* that the type Text stands for */
	bool everywhere;       /* the server can tell the others of its cluster */
	FX_VECTOR(char) text;
};

static void schema_add(struct schema *schema, const char *text, size_t length)
{
	if (fx_vector_reserve(&schema->text, length + 1) < 0)
		return;
	memcpy(schema->text.items + schema->text.count, text, length);
	schema->text.count += length;
	schema->text.items[schema->text.count] = '\0';
}

static void schema_add_text(struct schema *schema, const char *text)
{
	schema_add(schema, text, strlen(text));
}

static int schema_run(struct schema *schema)
{
	int r = schema->text.count > 0
		    ? fx_clickhouse_ask(schema->server, NULL, "%s", schema->text.items)
		    : -ENOMEM;

	schema->text.count = 0;
	return r;
}

/* Names of few different values are numbers on the disk; where that is only tried out yet, they are not. */
static int schema_ask_text_type(struct schema *schema)
{
	const char *answer;
	int r = fx_clickhouse_ask(schema->server, &answer,
				  "SELECT count() FROM system.settings WHERE name = "
				  "'allow_experimental_low_cardinality_type' AND value = '0'");

	schema->text_type = r == 0 && atoi(answer) > 0 ? "String" : "LowCardinality(String)";
	return r;
}

/* Statements for a whole cluster go by way of ZooKeeper. */
static int schema_ask_everywhere(struct schema *schema)
{
	const char *answer;
	int r = fx_clickhouse_ask_server(
	    schema->server, &answer,
	    "SELECT count() FROM system.tables WHERE database = 'system' AND name = 'zookeeper'");

	schema->everywhere = r == 0 && atoi(answer) > 0;
	return r;
}

/* The columns, with a type for Text. */
static void schema_add_columns(struct schema *schema, const char *columns)
{
	static const char mark[] = " Text";
	const char *at = columns, *found;

	while ((found = strstr(at, mark))) {
		schema_add(schema, at, (size_t)(found - at) + 1);
		schema_add_text(schema, schema->text_type);
		at = found + strlen(mark);
	}
	schema_add_text(schema, at);
}

static void schema_add_on_cluster(struct schema *schema)
{
	if (!schema->terms->cluster || !schema->everywhere)
		return;
	schema_add_text(schema, " ON CLUSTER ");
	schema_add_text(schema, schema->terms->cluster);
}

static void schema_add_ttl(struct schema *schema)
{
	char text[64];

	snprintf(text, sizeof(text), "day + INTERVAL %llu DAY",
		 (unsigned long long)schema->terms->days);
	schema_add_text(schema, text);
}

static void schema_add_name(struct schema *schema, size_t table, bool local)
{
	schema_add_text(schema, load_tables[table].name);
	schema_add_text(schema, local && schema->terms->cluster ? "_local" : "");
	schema_add_on_cluster(schema);
}

static int schema_make_table(struct schema *schema, size_t table)
{
	schema_add_text(schema, "CREATE TABLE IF NOT EXISTS ");
	schema_add_name(schema, table, true);
	schema_add_text(schema, " (");
	schema_add_columns(schema, load_tables[table].columns);
	schema_add_columns(schema, ", " FX_LOAD_COMMON);
	/* Rows that came twice have all that they are sorted by in common, and become one. */
	schema_add_text(schema, ") ENGINE = ReplacingMergeTree() PARTITION BY toYYYYMM(day) "
				"ORDER BY (archive, ");
	schema_add_text(schema, load_tables[table].key);
	schema_add_text(schema, ")");
	if (schema->terms->days > 0) {
		schema_add_text(schema, " TTL ");
		schema_add_ttl(schema);
	}
	return schema_run(schema);
}

static int schema_make_distributed(struct schema *schema, size_t table)
{
	schema_add_text(schema, "CREATE TABLE IF NOT EXISTS ");
	schema_add_name(schema, table, false);
	schema_add_text(schema, " (");
	schema_add_columns(schema, load_tables[table].columns);
	schema_add_columns(schema, ", " FX_LOAD_COMMON);
	schema_add_text(schema, ") ENGINE = Distributed(");
	schema_add_text(schema, schema->terms->cluster);
	schema_add_text(schema, ", ");
	schema_add_text(schema, fx_clickhouse_database(schema->server));
	schema_add_text(schema, ", ");
	schema_add_text(schema, load_tables[table].name);
	schema_add_text(schema, "_local, intHash64(archive))");
	return schema_run(schema);
}

/* Of a table that was there before. */
static int schema_change_ttl(struct schema *schema, size_t table)
{
	schema_add_text(schema, "ALTER TABLE ");
	schema_add_name(schema, table, true);
	schema_add_text(schema, " MODIFY TTL ");
	schema_add_ttl(schema);
	return schema_run(schema);
}

static int schema_make_view(struct schema *schema, size_t view)
{
	schema_add_text(schema, "CREATE VIEW IF NOT EXISTS ");
	schema_add_text(schema, load_views[view].name);
	schema_add_on_cluster(schema);
	schema_add_text(schema, " AS ");
	schema_add_text(schema, load_views[view].select);
	return schema_run(schema);
}

/* --- Looking at what is there ----------------------------------------------------------------- */

/* Whether the next of `columns' has this name; *columns goes on to the one behind it. */
static bool schema_is_next(const char **columns, const char *name)
{
	size_t length = strcspn(*columns, " ");
	bool same = strlen(name) == length && memcmp(*columns, name, length) == 0;
	int depth = 0;

	for (; **columns && (**columns != ',' || depth > 0); ++*columns)
		depth += (**columns == '(') - (**columns == ')');
	*columns += strspn(*columns, ", ");
	return same;
}

static int schema_look(struct schema *schema, size_t table, char **ret_fault)
{
	char columns[2048], *at, *name;
	const char *expected = columns, *answer;
	bool same = true;
	int r = fx_clickhouse_ask(schema->server, &answer,
				  "SELECT name FROM system.columns WHERE database = '%s' AND table "
				  "= '%s' FORMAT TabSeparated",
				  fx_clickhouse_database(schema->server), load_tables[table].name);

	if (r < 0)
		return r;
	snprintf(columns, sizeof(columns), "%s, " FX_LOAD_COMMON, load_tables[table].columns);
	at = (char *)answer;
	while (same && fx_clickhouse_row(&at, &name, 1))
		same = schema_is_next(&expected, name);
	if (same && !*expected)
		return 0;
	if (asprintf(ret_fault,
		     "table %s of database %s has other columns than this release makes (load into "
		     "another: .../DATABASE)",
		     load_tables[table].name, fx_clickhouse_database(schema->server)) < 0)
		*ret_fault = NULL;
	return -EBADF;
}

/* --- The whole -------------------------------------------------------------------------------- */

static int schema_make_database(struct schema *schema)
{
	int r;

	schema_add_text(schema, "CREATE DATABASE IF NOT EXISTS ");
	schema_add_text(schema, fx_clickhouse_database(schema->server));
	schema_add_on_cluster(schema);
	r = schema->text.count > 0
		? fx_clickhouse_ask_server(schema->server, NULL, schema->text.items)
		: -ENOMEM;
	schema->text.count = 0;
	return r;
}

static int schema_make_all(struct schema *schema, char **ret_fault)
{
	bool cluster = schema->terms->cluster;
	int made, r = schema_make_database(schema);

	if (r == 0)
		r = schema_ask_text_type(schema);
	for (size_t i = 0; i < FX_LOAD_TABLE_COUNT && r == 0; i++) {
		r = schema_make_table(schema, i);
		if (r == 0 && cluster)
			r = schema_make_distributed(schema, i);
		if (r == 0)
			r = schema_look(schema, i, ret_fault);
		if (r == 0 && schema->terms->days > 0)
			r = schema_change_ttl(schema, i);
	}
	made = r;
	/* Those of a cluster cannot be made before all of its servers have the tables; then the next load makes them. */
	for (size_t i = 0; i < sizeof(load_views) / sizeof(load_views[0]) && r == 0; i++)
		r = schema_make_view(schema, i);
	return cluster && r == -EIO && fx_clickhouse_code(schema->server) ? made : r;
}

int fx_schema_make(struct fx_clickhouse *server, const struct fx_schema_terms *terms,
		   char **ret_fault)
{
	struct schema schema = {.server = server, .terms = terms};
	int r = 0;

	*ret_fault = NULL;
	if (terms->cluster)
		r = schema_ask_everywhere(&schema);
	if (r == 0)
		r = schema_make_all(&schema, ret_fault);
	fx_vector_free(&schema.text);
	if (r < 0 && !*ret_fault)
		*ret_fault = strdup(fx_clickhouse_fault(server));
	return r;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "query/rules.h"

static bool query_is_one_of(const char *name, const char *const names[])
{
	for (; name && *names; names++) {
		if (sqlite3_stricmp(name, *names) == 0)
			return true;
	}
	return false;
}

static bool query_may_call(struct fx_query_rules *rules, const char *function)
{
	static const char *const refused[] = {"load_extension", "fts3_tokenizer", "readfile",
					      "writefile",	"edit",		  NULL};

	if (query_is_one_of(function, (const char *const[]){"extract_arg", NULL})) {
		fx_sql_want(&rules->wants, "args", "arg_set_id");
		return true;
	}
	return !query_is_one_of(function, refused);
}

/* What tells about the tables. */
static bool query_may_ask(const char *pragma)
{
	static const char *const allowed[] = {"table_info", "table_xinfo", "table_list", NULL};

	return query_is_one_of(pragma, allowed);
}

static int query_judge(void *opaque, int action, const char *first, const char *second,
		       const char *schema, const char *inner)
{
	struct fx_query_rules *rules = opaque;
	bool allowed = false;

	(void)schema, (void)inner;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		allowed = true;
		break;
	case SQLITE_READ:
		fx_sql_want(&rules->wants, first, second ? second : "");
		allowed = true;
		break;
	case SQLITE_FUNCTION:
		allowed = query_may_call(rules, second);
		break;
	case SQLITE_PRAGMA:
		allowed = query_may_ask(first);
		break;
	default:
		break;
	}
	if (!allowed)
		rules->refused = true;
	return allowed ? SQLITE_OK : SQLITE_DENY;
}

void fx_query_rules_enter(struct fx_query_rules *rules, sqlite3 *db)
{
	sqlite3_set_authorizer(db, query_judge, rules);
}

static bool is_of_name(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

void fx_query_rules_names(struct fx_query_rules *rules, const char *sql)
{
	char name[64];

	while (*sql) {
		size_t length = 0;

		while (is_of_name(sql[length]))
			length++;
		if (length && length < sizeof(name)) {
			memcpy(name, sql, length);
			name[length] = 0;
			fx_sql_want(&rules->wants, name, "");
		}
		sql += length ? length : 1;
	}
}

void fx_query_rules_leave(sqlite3 *db)
{
	sqlite3_set_authorizer(db, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/server-archives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/usage.h"
#include "convert/convert.h"
#include "convert/indexer.h"
#include "lists/vector.h"
#include "load/clickhouse.h"
#include "load/fetch.h"
#include "manager/settings/report.h"
#include "report/ask.h"

bool fx_server_option(struct fx_server_archives *archives, int key, const char *arg)
{
	switch (key) {
	case FX_SERVER_CLICKHOUSE:
		archives->url = arg;
		return true;
	case FX_SERVER_JOB:
		archives->job = arg;
		return true;
	case FX_SERVER_HOST:
		archives->host = arg;
		return true;
	case FX_SERVER_RANK:
		archives->rank = arg;
		return true;
	case FX_SERVER_ARCHIVE:
		archives->archive = arg;
		return true;
	default:
		return false;
	}
}

bool fx_server_check(const struct fx_server_archives *archives, const char *program,
		     const char *file)
{
	const char *const given = archives->job	      ? "--job"
				  : archives->host    ? "--host"
				  : archives->rank    ? "--rank"
				  : archives->archive ? "--archive"
						      : NULL;

	if (!archives->url && given)
		fx_usage_error(program, given, "an option of --clickhouse alone");
	if (archives->url && file)
		fx_usage_error(program, "--clickhouse", "there is a FILE, too");
	if (archives->rank && strspn(archives->rank, "0123456789") != strlen(archives->rank))
		fx_usage_error(program, "not a rank", archives->rank);
	return archives->url;
}

/* --- Which archives --------------------------------------------------------------------------- */

/* A condition: text behind text. */
struct condition {
	FX_VECTOR(char) text;
	bool failed;
};

static void condition_add(struct condition *condition, const char *text)
{
	size_t length = strlen(text);

	if (fx_vector_reserve(&condition->text, length + 1) < 0) {
		condition->failed = true;
		return;
	}
	memcpy(condition->text.items + condition->text.count, text, length + 1);
	condition->text.count += length;
}

/* A text as a statement has it. */
static void condition_add_quoted(struct condition *condition, const char *text)
{
	condition_add(condition, "'");
	for (; *text; text++) {
		char letters[3] = {*text, 0, 0};

		if (*text == '\'' || *text == '\\') {
			letters[0] = '\\';
			letters[1] = *text;
		}
		condition_add(condition, letters);
	}
	condition_add(condition, "'");
}

static void condition_add_equal(struct condition *condition, const char *what, const char *value)
{
	if (!value)
		return;
	condition_add(condition, what);
	condition_add_quoted(condition, value);
}

static void server_choose(const struct fx_server_archives *server, struct condition *condition)
{
	condition_add(condition, "1");
	condition_add_equal(condition, " AND job = ", server->job);
	condition_add_equal(condition, " AND host = ", server->host);
	condition_add_equal(condition, " AND toString(rank) = ", server->rank);
	if (!server->archive)
		return;
	condition_add_equal(condition, " AND (file = ", server->archive);
	condition_add_equal(condition, " OR uuid = ", server->archive);
	condition_add_equal(condition, " OR toString(archive) = ", server->archive);
	condition_add(condition, ")");
}

/* --- Asking ----------------------------------------------------------------------------------- */

/* Each question is of the archives' rows; GLOBAL: the list of these is made once, and sent to all shards. */
#define SERVER_ARCHIVES "archive GLOBAL IN (SELECT archive FROM archives WHERE %s)"

static int server_ask(struct fx_clickhouse *server, const struct condition *condition,
		      const struct fx_ask *ask, struct fx_report *report, size_t number)
{
	char *fields[FX_ASK_FIELDS_MAX], *at;
	const char *answer;
	int r = fx_clickhouse_ask(server, &answer,
				  "SELECT %s FROM slice WHERE " SERVER_ARCHIVES
				  " AND %s FORMAT TabSeparated",
				  ask->select, condition->text.items, ask->where);

	at = (char *)answer;
	while (r == 0 && fx_clickhouse_row(&at, fields, ask->fields))
		fx_report_take(report, number, fields);
	return r;
}

/* What the recorder says that it has lost. */
static int server_ask_lost(struct fx_clickhouse *server, const struct condition *condition,
			   struct fx_report *report)
{
	char *fields[2], *at;
	const char *answer;
	int r = fx_clickhouse_ask(server, &answer,
				  "SELECT sumIf(int_value, key = 'count'), anyIf(string_value, key "
				  "= 'cure') FROM args WHERE " SERVER_ARCHIVES
				  " AND (archive, arg_set_id) GLOBAL IN (SELECT archive, "
				  "assumeNotNull(arg_set_id) FROM slice WHERE "
				  "form = 'instant' AND category = 'fxtrace' AND name = 'records "
				  "dropped') FORMAT TabSeparated",
				  condition->text.items);

	at = (char *)answer;
	if (r == 0 && fx_clickhouse_row(&at, fields, 2))
		fx_report_set_lost(report, strtoull(fields[0], NULL, 10),
				   strcmp(fields[1], "N") == 0 ? "" : fields[1]);
	return r;
}

/* Returns 0, 1: there is none, which is said; or -errno. */
static int server_count(struct fx_clickhouse *server, const struct condition *condition,
			const char *program)
{
	const char *answer;
	int r = fx_clickhouse_ask(server, &answer, "SELECT count() FROM archives WHERE %s",
				  condition->text.items);

	if (r < 0 || atoi(answer) > 0)
		return r;
	fx_report_as(program, "database %s has no archive of this job, host, rank and name",
		     fx_clickhouse_database(server));
	return 1;
}

/* Opens the server, and finds out which archives are meant. 0, or 1: what was wrong is said. Both are to be released either way. */
static int server_open(const struct fx_server_archives *archives, const char *program,
		       struct fx_clickhouse **ret, struct condition *condition)
{
	int r = fx_clickhouse_open(archives->url, ret);

	if (r == -EINVAL)
		fx_usage_error(program, fx_clickhouse_fault(*ret), archives->url);
	if (r < 0) {
		fx_report_as(program, "%s", *ret ? fx_clickhouse_fault(*ret) : strerror(-r));
		return 1;
	}
	server_choose(archives, condition);
	return condition->failed ? -ENOMEM : server_count(*ret, condition, program);
}

/* Releases both, and says what was wrong if it was: then it is 1. */
static int server_close(struct fx_clickhouse *server, struct condition *condition,
			const char *program, int r)
{
	if (r == -EIO)
		fx_report_as(program, "the ClickHouse server: %s", fx_clickhouse_fault(server));
	else if (r < 0 && r != -ENOENT)
		fx_report_as(program, "%s", strerror(-r));
	fx_vector_free(&condition->text);
	fx_clickhouse_close(server);
	return r < 0 && r != -ENOENT ? 1 : r;
}

int fx_server_fetch(const struct fx_server_archives *archives, const char *program,
		    struct fx_timeline *ret)
{
	struct condition condition = {0};
	struct fx_clickhouse *server;
	int r = server_open(archives, program, &server, &condition);

	if (r == 0)
		r = fx_fetch(server, &(struct fx_fetch_order){condition.text.items, 0}, ret);
	return server_close(server, &condition, program, r);
}

static int server_questions(struct fx_clickhouse *server, const struct condition *condition,
			    struct fx_report *report)
{
	const struct fx_ask *ask;
	int r = 0;

	for (size_t i = 0; r == 0 && (ask = fx_report_ask(report, i)); i++)
		r = server_ask(server, condition, ask, report, i);
	return r;
}

/* Makes the report, once the timeline is there; has_walk: it has events. */
static int server_tell(struct fx_clickhouse *server, const struct condition *condition,
		       struct fx_report *report, bool has_walk)
{
	int r = has_walk ? fx_convert(fx_report_exporter(report), NULL, NULL)
			 : server_ask_lost(server, condition, report);

	if (r == 0)
		r = server_questions(server, condition, report);
	return r < 0 ? r : fx_report_fill(report);
}

int fx_server_report(const struct fx_server_archives *archives, const char *program,
		     const struct fx_report_order *order, struct fx_timeline *timeline,
		     struct fx_report **ret)
{
	struct condition condition = {0};
	struct fx_clickhouse *server;
	unsigned kinds;
	bool has_walk = fx_report_walks(order, &kinds);
	int r = server_open(archives, program, &server, &condition);

	*ret = NULL;
	if (r == 0)
		r = has_walk
			? fx_fetch(server, &(struct fx_fetch_order){condition.text.items, kinds},
				   timeline)
			: fx_timeline_open_empty(timeline);
	if (r != 0)
		return server_close(server, &condition, program, r);
	r = fx_report_open(timeline, order, ret);
	if (r == 0)
		r = server_tell(server, &condition, *ret, has_walk);
	if (r < 0 && r != -ENOENT) {
		fx_report_free(*ret);
		*ret = NULL;
		fx_timeline_close(timeline);
	}
	return server_close(server, &condition, program, r);
}

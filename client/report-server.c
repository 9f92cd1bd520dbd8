/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/report-server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/usage.h"
#include "load/clickhouse.h"
#include "manager/settings/report.h"
#include "report/ask.h"

static const char *const server_sections[] = {
#define FX_SECTION(name, is_usual, help) "--" #name,
#include "report/sections.def"
#undef FX_SECTION
};

void fx_report_server_check(const struct fx_report_server *server, const char *program,
			    struct fx_report_order *order)
{
	bool any = false;

	if (server->rank && strspn(server->rank, "0123456789") != strlen(server->rank))
		fx_usage_error(program, "not a rank", server->rank);
	if (order->functions.count > 0 || order->objects.count > 0)
		fx_usage_error(program, "--clickhouse",
			       "--function, --lock, --fd, --file and --peer are of a FILE alone");
	for (size_t i = 0; i < FX_SECTION_COUNT; i++) {
		any |= order->sections[i];
		if (order->sections[i] && !fx_report_can_ask(i))
			fx_usage_error(program, server_sections[i],
				       "a section of a FILE alone, not of --clickhouse");
	}
	for (size_t i = 0; i < FX_SECTION_COUNT && !any; i++)
		order->sections[i] = fx_report_can_ask(i);
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

static void server_choose(const struct fx_report_server *server, struct condition *condition)
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

static int server_fill(const struct fx_report_server *options, const char *program,
		       struct fx_clickhouse *server, struct fx_report *report)
{
	struct condition condition = {0};
	const struct fx_ask *ask;
	int r;

	server_choose(options, &condition);
	r = condition.failed ? -ENOMEM : server_count(server, &condition, program);
	if (r == 0)
		r = server_ask_lost(server, &condition, report);
	for (size_t i = 0; r == 0 && (ask = fx_report_ask(report, i)); i++)
		r = server_ask(server, &condition, ask, report, i);
	fx_vector_free(&condition.text);
	if (r == -EIO) {
		fx_report_as(program, "the ClickHouse server: %s", fx_clickhouse_fault(server));
		return 1;
	}
	return r;
}

int fx_report_server_fill(const struct fx_report_server *options, const char *program,
			  struct fx_report *report)
{
	struct fx_clickhouse *server;
	int r = fx_clickhouse_open(options->url, &server);

	if (r == -EINVAL)
		fx_usage_error(program, fx_clickhouse_fault(server), options->url);
	if (r < 0) {
		fx_report_as(program, "%s", server ? fx_clickhouse_fault(server) : strerror(-r));
		r = 1;
	} else {
		r = server_fill(options, program, server, report);
	}
	fx_clickhouse_close(server);
	return r == 0 ? fx_report_fill(report) : r;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/clickhouse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/http.h"

#define CLICKHOUSE_DATABASE "fxtrace"

/* What a server says of an error is a line of it. */
enum { CLICKHOUSE_FAULT_SHOWN = 300 };

struct fx_clickhouse {
	struct fx_http *http;
	struct fx_http_url url;
	const char *database;
	struct fx_http_answer answer;
	fx_http_text request;
	int code;
	char fault[FX_HTTP_FAULT_MAX];
};

static int clickhouse_fail(struct fx_clickhouse *server, int error, const char *what)
{
	snprintf(server->fault, sizeof(server->fault), "%s", what);
	return error;
}

/* What the URL does not say. */
static void clickhouse_take_environment(struct fx_clickhouse *server)
{
	const char *user = getenv("CLICKHOUSE_USER"), *password = getenv("CLICKHOUSE_PASSWORD");

	if (!server->url.user && user && *user)
		server->url.user = strdup(user);
	if (!server->url.password && password && *password)
		server->url.password = strdup(password);
}

/* A name that needs no quotation marks. */
static bool clickhouse_is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return strspn(name, letters) > 0 && name[strcspn(name, "/")] == '\0' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
		   strlen(name);
}

int fx_clickhouse_open(const char *url, struct fx_clickhouse **ret)
{
	struct fx_clickhouse *server = calloc(1, sizeof(*server));
	int r;

	*ret = server;
	if (!server)
		return -ENOMEM;
	r = fx_http_open(&server->http, server->fault);
	if (r < 0)
		return r;
	if (fx_http_split(server->http, url, &server->url) < 0)
		return clickhouse_fail(server, -EINVAL,
				       "not a URL, such as http://localhost:8123/fxtrace");
	clickhouse_take_environment(server);
	server->database = server->url.path[1] ? server->url.path + 1 : CLICKHOUSE_DATABASE;
	if (!clickhouse_is_name(server->database))
		return clickhouse_fail(server, -EINVAL,
				       "the database's name is not of letters, digits and _");
	return 0;
}

void fx_clickhouse_close(struct fx_clickhouse *server)
{
	if (!server)
		return;
	fx_http_url_release(&server->url);
	fx_http_answer_release(&server->answer);
	fx_vector_free(&server->request);
	fx_http_close(server->http);
	free(server);
}

const char *fx_clickhouse_database(const struct fx_clickhouse *server)
{
	return server->database;
}

const char *fx_clickhouse_fault(const struct fx_clickhouse *server)
{
	return server->fault;
}

int fx_clickhouse_code(const struct fx_clickhouse *server)
{
	return server->code;
}

/* --- Requests --------------------------------------------------------------------------------- */

static bool clickhouse_add(struct fx_clickhouse *server, const char *text)
{
	size_t length = strlen(text);

	if (fx_vector_reserve(&server->request, length + 1) < 0)
		return false;
	memcpy(server->request.items + server->request.count, text, length + 1);
	server->request.count += length;
	return true;
}

static bool clickhouse_add_parameter(struct fx_clickhouse *server, const char *name,
				     const char *value)
{
	return clickhouse_add(server, name) &&
	       fx_http_escape(server->http, &server->request, value);
}

/* "Code: 60, e.displayText() = DB::Exception: Table x.y doesn't exist., e.what() = DB::Exception", and later ones without the
 * ends: its words are between, on one line. */
static int clickhouse_say_answer(struct fx_clickhouse *server)
{
	static const char mark[] = "DB::Exception: ";
	char *text = server->answer.text.count > 0 ? server->answer.text.items : NULL;
	char *begin = text ? strstr(text, mark) : NULL, *end;

	server->code = text && strncmp(text, "Code: ", 6) == 0 ? atoi(text + 6) : 0;
	if (!text || !*text) {
		snprintf(server->fault, sizeof(server->fault), "it answered with status %ld",
			 server->answer.status);
		return -EIO;
	}
	begin = begin ? begin + strlen(mark) : text;
	end = strstr(begin, ", e.what()");
	if (end)
		*end = '\0';
	begin[strcspn(begin, "\n")] = '\0';
	snprintf(server->fault, sizeof(server->fault), "it says: %.*s", CLICKHOUSE_FAULT_SHOWN,
		 begin);
	return -EIO;
}

static int clickhouse_post(struct fx_clickhouse *server, const void *body, size_t size, FILE *to)
{
	struct fx_http_post post = {
	    .url = server->request.items,
	    .user = server->url.user,
	    .password = server->url.password,
	    .body = body,
	    .size = size,
	    .to = to,
	};
	char fault[FX_HTTP_FAULT_MAX];
	int r;

	server->code = 0;
	r = fx_http_post(server->http, &post, &server->answer, fault);
	if (r < 0)
		return clickhouse_fail(server, r, fault);
	if (fx_vector_reserve(&server->answer.text, 1) < 0)
		return clickhouse_fail(server, -ENOMEM, strerror(ENOMEM));
	server->answer.text.items[server->answer.text.count] = '\0';
	return server->answer.status == 200 ? 0 : clickhouse_say_answer(server);
}

/* `database' NULL: none. */
static bool clickhouse_begin(struct fx_clickhouse *server, const char *database)
{
	server->request.count = 0;
	return clickhouse_add(server, server->url.base) && clickhouse_add(server, "/?") &&
	       (!database || clickhouse_add_parameter(server, "database=", database));
}

int fx_clickhouse_ask_server(struct fx_clickhouse *server, const char **ret, const char *statement)
{
	int r = clickhouse_begin(server, NULL)
		    ? clickhouse_post(server, statement, strlen(statement), NULL)
		    : clickhouse_fail(server, -ENOMEM, strerror(ENOMEM));

	if (ret)
		*ret = r == 0 ? server->answer.text.items : "";
	return r;
}

/* So that the status is that of the whole. */
static int clickhouse_ask_whole(struct fx_clickhouse *server, FILE *to, const char *statement)
{
	if (!clickhouse_begin(server, server->database) ||
	    !clickhouse_add(server, "&wait_end_of_query=1"))
		return clickhouse_fail(server, -ENOMEM, strerror(ENOMEM));
	return clickhouse_post(server, statement, strlen(statement), to);
}

int fx_clickhouse_ask_to(struct fx_clickhouse *server, FILE *to, const char *statement)
{
	return clickhouse_ask_whole(server, to, statement);
}

int fx_clickhouse_ask(struct fx_clickhouse *server, const char **ret, const char *format, ...)
{
	va_list args;
	char *statement;
	int r;

	va_start(args, format);
	r = vasprintf(&statement, format, args);
	va_end(args);
	if (r < 0)
		return clickhouse_fail(server, -ENOMEM, strerror(ENOMEM));
	r = clickhouse_ask_whole(server, NULL, statement);
	free(statement);
	if (ret)
		*ret = r == 0 ? server->answer.text.items : "";
	return r;
}

int fx_clickhouse_insert(struct fx_clickhouse *server, const char *statement, const char *id,
			 const void *rows, size_t size)
{
	if (!clickhouse_begin(server, server->database) ||
	    !clickhouse_add_parameter(server, "&query=", statement) ||
	    !clickhouse_add_parameter(server, "&query_id=", id) ||
	    /* A Distributed table is to hand the rows on before it answers. */
	    !clickhouse_add(server, "&insert_distributed_sync=1"))
		return clickhouse_fail(server, -ENOMEM, strerror(ENOMEM));
	return clickhouse_post(server, rows, size, NULL);
}

/* --- Answers ---------------------------------------------------------------------------------- */

static char clickhouse_unescape(char c)
{
	static const char from[] = "0btnfr", to[] = "\0\b\t\n\f\r";
	const char *at = c ? strchr(from, c) : NULL;

	return at ? to[at - from] : c;
}

/* Takes a field, up to the tab or the newline behind it. */
static char *clickhouse_field(char **at, bool *ret_last)
{
	char *begin = *at, *out = *at, *in = *at;

	for (; *in && *in != '\t' && *in != '\n'; in++) {
		if (*in == '\\' && in[1])
			*out++ = clickhouse_unescape(*++in);
		else
			*out++ = *in;
	}
	*ret_last = *in != '\t';
	*at = *in ? in + 1 : in;
	*out = '\0';
	return begin;
}

bool fx_clickhouse_row(char **at, char **fields, size_t count)
{
	static char none[1];
	bool last = !**at;
	size_t i = 0;

	if (last)
		return false;
	while (!last) {
		char *field = clickhouse_field(at, &last);

		if (i < count)
			fields[i++] = field;
	}
	while (i < count)
		fields[i++] = none;
	return true;
}

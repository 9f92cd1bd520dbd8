/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/http.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct http_request {
	const char *method;
	const char *target;
	const char *host;   /* NULL: none */
	const char *origin; /* NULL: none */
	bool is_bad;
};

/* --- What is asked ---------------------------------------------------------------------------- */

bool fx_http_is_whole(const char *head, size_t size)
{
	return memmem(head, size, "\r\n\r\n", 4) != NULL;
}

/* Takes the next line off `rest', without its end; NULL: it is the empty one. */
static char *http_line(char **rest)
{
	char *line = *rest, *end = strstr(line, "\r\n");

	if (!end || end == line)
		return NULL;
	*end = '\0';
	*rest = end + 2;
	return line;
}

/* Twice is once too often: which of the two would count? */
static void http_keep(struct http_request *request, const char **field, const char *value)
{
	if (*field)
		request->is_bad = true;
	*field = value;
}

static void http_field(struct http_request *request, char *line)
{
	char *value = strchr(line, ':'), *end;

	if (!value) {
		request->is_bad = true;
		return;
	}
	*value++ = '\0';
	value += strspn(value, " \t");
	for (end = value + strlen(value); end > value && (end[-1] == ' ' || end[-1] == '\t'); end--)
		end[-1] = '\0';
	if (strcasecmp(line, "Host") == 0)
		http_keep(request, &request->host, value);
	else if (strcasecmp(line, "Origin") == 0)
		http_keep(request, &request->origin, value);
}

static struct http_request http_parse(char *head)
{
	struct http_request request = {0};
	char *rest = head, *line = http_line(&rest), *version = NULL;

	request.method = line ? strsep(&line, " ") : NULL;
	request.target = line ? strsep(&line, " ") : NULL;
	version = line;
	if (!version || strncmp(version, "HTTP/1.", 7) != 0)
		request.is_bad = true;
	while ((line = http_line(&rest)))
		http_field(&request, line);
	return request;
}

/* --- Whether it may be given ------------------------------------------------------------------ */

/* A loopback host, with or without a port. */
static bool http_is_loopback(const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);

		if (strncasecmp(host, names[i], length) == 0 &&
		    (host[length] == '\0' || host[length] == ':'))
			return true;
	}
	return false;
}

static bool http_origin_may(const struct fx_http_page *page, const char *origin)
{
	char own[64];

	snprintf(own, sizeof(own), "http://127.0.0.1:%u", page->port);
	if (strcmp(origin, own) == 0)
		return true;
	return page->origin && strcmp(origin, page->origin) == 0;
}

static const char *http_status(const struct fx_http_page *page, const struct http_request *request)
{
	if (request->is_bad || !request->host)
		return "400 Bad Request";
	if (!http_is_loopback(request->host))
		return "403 Forbidden";
	if (request->origin && !http_origin_may(page, request->origin))
		return "403 Forbidden";
	if (strcmp(request->target, page->path) != 0)
		return "404 Not Found";
	if (strcmp(request->method, "OPTIONS") == 0)
		return "204 No Content";
	if (strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0)
		return "200 OK";
	return "405 Method Not Allowed";
}

/* --- The answer ------------------------------------------------------------------------------- */

static void http_say(char ret[FX_HTTP_ANSWER_MAX], const char *status, const char *fields)
{
	snprintf(ret, FX_HTTP_ANSWER_MAX,
		 "HTTP/1.1 %s\r\n"
		 "Connection: close\r\n"
		 "Cache-Control: no-store\r\n"
		 "X-Content-Type-Options: nosniff\r\n"
		 "Referrer-Policy: no-referrer\r\n"
		 "%s"
		 "\r\n",
		 status, fields);
}

void fx_http_refuse(char ret[FX_HTTP_ANSWER_MAX])
{
	http_say(ret, "431 Request Header Fields Too Large", "Content-Length: 0\r\n");
}

bool fx_http_answer(const struct fx_http_page *page, char *head, char ret[FX_HTTP_ANSWER_MAX])
{
	const struct http_request request = http_parse(head);
	const char *status = http_status(page, &request);
	char shared[256] = "", fields[640];
	bool is_page = *status == '2' && strcmp(request.method, "OPTIONS") != 0;

	if (page->origin && request.origin && *status != '4')
		snprintf(shared, sizeof(shared),
			 "Access-Control-Allow-Origin: %s\r\n"
			 "Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"
			 "Access-Control-Allow-Private-Network: true\r\n",
			 request.origin);
	if (is_page)
		snprintf(fields, sizeof(fields),
			 "%sVary: Origin\r\nContent-Type: %s\r\nContent-Length: %" PRIu64 "\r\n",
			 shared, page->type, page->size);
	else if (*status == '2')
		snprintf(fields, sizeof(fields), "%sAllow: GET, HEAD, OPTIONS\r\n", shared);
	else
		snprintf(fields, sizeof(fields),
			 "Allow: GET, HEAD, OPTIONS\r\n"
			 "Content-Length: 0\r\n");
	http_say(ret, status, fields);
	return is_page && strcmp(request.method, "GET") == 0;
}

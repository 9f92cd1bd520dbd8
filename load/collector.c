/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One that is busy (429, 502, 503, 504) is asked again, after 1, 2, 4 … s. */
enum { COLLECTOR_TRIES = 5, COLLECTOR_ANSWER_MAX = 4096, COLLECTOR_SHOWN = 200 };

struct fx_collector {
	struct fx_http *http;
	struct fx_http_url url;
	char *traces; /* URL of where they are posted to */
	struct fx_http_answer answer;
	uint64_t rejected;
	char fault[FX_HTTP_FAULT_MAX];
};

int fx_collector_open(const char *url, struct fx_collector **ret)
{
	struct fx_collector *collector = calloc(1, sizeof(*collector));
	int r;

	*ret = collector;
	if (!collector)
		return -ENOMEM;
	r = fx_http_open(&collector->http, collector->fault);
	if (r < 0)
		return r;
	if (fx_http_split(collector->http, url, &collector->url) < 0) {
		snprintf(collector->fault, sizeof(collector->fault),
			 "not a URL, such as http://localhost:4318");
		return -EINVAL;
	}
	if (asprintf(&collector->traces, "%s%s", collector->url.base,
		     collector->url.path[1] ? collector->url.path : "/v1/traces") < 0) {
		collector->traces = NULL;
		return -ENOMEM;
	}
	return 0;
}

void fx_collector_close(struct fx_collector *collector)
{
	if (!collector)
		return;
	free(collector->traces);
	fx_http_url_release(&collector->url);
	fx_http_answer_release(&collector->answer);
	fx_http_close(collector->http);
	free(collector);
}

const char *fx_collector_fault(const struct fx_collector *collector)
{
	return collector->fault;
}

uint64_t fx_collector_rejected(const struct fx_collector *collector)
{
	return collector->rejected;
}

static bool collector_is_busy(long status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

/* {"partialSuccess":{"rejectedSpans":"3",...}}, the number as a text or not. */
static void collector_count_rejected(struct fx_collector *collector, const char *text)
{
	static const char mark[] = "\"rejectedSpans\"";
	const char *at = strstr(text, mark);

	if (!at)
		return;
	at += strlen(mark);
	at += strspn(at, " \t:\"");
	collector->rejected += strtoull(at, NULL, 10);
}

static int collector_refuse(struct fx_collector *collector, const char *text)
{
	int shown = (int)strcspn(text, "\r\n");

	snprintf(collector->fault, sizeof(collector->fault), "it answered with status %ld%s%.*s",
		 collector->answer.status, shown > 0 ? ": " : "",
		 shown > COLLECTOR_SHOWN ? COLLECTOR_SHOWN : shown, text);
	return -EIO;
}

static int collector_post(struct fx_collector *collector, const char *line, size_t length)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	struct fx_http_post post = {
	    .url = collector->traces,
	    .user = collector->url.user,
	    .password = collector->url.password,
	    .headers = headers,
	    .body = line,
	    .size = length,
	    .most = COLLECTOR_ANSWER_MAX,
	};
	const char *text;
	int r = 0;

	for (int i = 0; i < COLLECTOR_TRIES; i++) {
		r = fx_http_post(collector->http, &post, &collector->answer, collector->fault);
		if (r < 0 || !collector_is_busy(collector->answer.status))
			break;
		if (i + 1 < COLLECTOR_TRIES)
			sleep(1u << i);
	}
	if (r < 0)
		return r;
	if (fx_vector_reserve(&collector->answer.text, 1) < 0)
		return -ENOMEM;
	collector->answer.text.items[collector->answer.text.count] = '\0';
	text = collector->answer.text.items;
	if (collector->answer.status / 100 != 2)
		return collector_refuse(collector, text);
	collector_count_rejected(collector, text);
	return 0;
}

int fx_collector_send(struct fx_collector *collector, int fd, uint64_t *ret_lines)
{
	FILE *file = fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int r = 0;

	*ret_lines = 0;
	if (!file) {
		r = -errno;
		close(fd);
		return r;
	}
	while (r == 0 && (length = getdelim(&line, &room, '\n', file)) > 0) {
		r = collector_post(collector, line, (size_t)length);
		*ret_lines += r == 0;
	}
	if (r == 0 && ferror(file))
		r = -EIO;
	free(line);
	fclose(file);
	return r;
}

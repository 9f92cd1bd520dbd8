/* SPDX-License-Identifier: MIT */
/*
 * Requests to servers, by libcurl. That is loaded when it is wanted first: no other command pays for it, and it need not be
 * there for them.
 */
#ifndef FX_LOAD_HTTP_H
#define FX_LOAD_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lists/vector.h"

/* Bytes of what is said of an error, with the NUL behind it. */
#define FX_HTTP_FAULT_MAX 512u

struct fx_http;

struct fx_http_answer {
	long status; /* 0: there was none */
	FX_VECTOR(char) text;
	bool is_cut; /* it was longer than may be */
};

/* Returns 0; -ENOTSUP: there is no libcurl, in this build or on this machine; -ENOMEM. `fault' says why. */
int fx_http_open(struct fx_http **ret, char fault[FX_HTTP_FAULT_MAX]);

/* NULL is allowed. */
void fx_http_close(struct fx_http *http);

/* A request. Texts and the body are borrowed for the call. */
struct fx_http_post {
	const char *url;
	const char *user, *password; /* NULL: none */
	const char *const *headers;  /* "Name: value", up to a NULL */
	const void *body;
	size_t size;
	size_t most; /* bytes that the answer may have; 0: any number */
	FILE *to;    /* takes the answer if its status is 200; NULL: it is kept in memory */
};

/* Whatever the status is, returns 0 if there is an answer; else -EIO, or -ENOMEM, and `fault' says why. The answer is to be
 * released either way, and may be used for the next call. */
int fx_http_post(struct fx_http *http, const struct fx_http_post *post,
		 struct fx_http_answer *answer, char fault[FX_HTTP_FAULT_MAX]);

void fx_http_answer_release(struct fx_http_answer *answer);

/* Puts `text' behind `ret', as it may stand in a query of a URL. False: no memory. */
typedef FX_VECTOR(char) fx_http_text;
bool fx_http_escape(struct fx_http *http, fx_http_text *ret, const char *text);

/* The parts of a URL, to be freed; NULL: it has no such. Returns 0, -EINVAL: it is none of http or https; or -ENOMEM. */
struct fx_http_url {
	char *base; /* "https://host:8443" */
	char *user, *password;
	char *path; /* "/name", or "/" */
};

int fx_http_split(struct fx_http *http, const char *url, struct fx_http_url *ret);
void fx_http_url_release(struct fx_http_url *url);

#endif

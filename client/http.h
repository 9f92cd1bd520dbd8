/* SPDX-License-Identifier: MIT */
/* The little of HTTP that it takes to give one page to a browser: what is answered to a request. */
#ifndef FX_CLIENT_HTTP_H
#define FX_CLIENT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fx_http_page {
	const char *path; /* the one that there is, with its slash */
	const char *type; /* Content-Type */
	uint64_t size;
	const char *origin; /* of the page of another site that may fetch it; NULL: none may */
	uint16_t port;	    /* where it is served: pages that came from there may, too */
};

/* No answer is longer. */
enum { FX_HTTP_ANSWER_MAX = 1024 };

/* Whether `head' has the empty line that ends a request's head. */
bool fx_http_is_whole(const char *head, size_t size);

/*
 * The answer to a whole head, a string without NUL inside; its lines are taken apart. The text in `ret' ends with
 * NUL. True: the page follows.
 *
 * A request must name the loopback host, whatever its port: a name of somebody else's that leads here (DNS rebinding)
 * does not get the page. A request of a page of another origin does not either.
 */
bool fx_http_answer(const struct fx_http_page *page, char *head, char ret[FX_HTTP_ANSWER_MAX]);

/* The answer to a head that is longer than anybody needs, or is none. */
void fx_http_refuse(char ret[FX_HTTP_ANSWER_MAX]);

#endif

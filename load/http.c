/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HAVE_LIBCURL

#include <curl/curl.h>
#include <dlfcn.h>

enum { HTTP_CONNECT_SECONDS = 10, HTTP_STALLED_SECONDS = 300 };

/* What is used of it: X(NAME). */
#define HTTP_FUNCTIONS(X)                                                                          \
	X(curl_easy_init)                                                                          \
	X(curl_easy_setopt)                                                                        \
	X(curl_easy_perform)                                                                       \
	X(curl_easy_getinfo)                                                                       \
	X(curl_easy_reset)                                                                         \
	X(curl_easy_cleanup)                                                                       \
	X(curl_easy_strerror)                                                                      \
	X(curl_easy_escape)                                                                        \
	X(curl_free)                                                                               \
	X(curl_slist_append)                                                                       \
	X(curl_slist_free_all)                                                                     \
	X(curl_url)                                                                                \
	X(curl_url_set)                                                                            \
	X(curl_url_get)                                                                            \
	X(curl_url_cleanup)

/* Its header has macros of some of these names. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct fx_http {
	void *library;
	CURL *curl;
#define HTTP_MEMBER_(name) __typeof__(&name) name;
	HTTP_FUNCTIONS(HTTP_MEMBER_)
#undef HTTP_MEMBER_
};

static bool http_find(struct fx_http *http)
{
#define HTTP_FIND_(function)                                                                       \
	http->function = (__typeof__(http->function))dlsym(http->library, #function);              \
	if (!http->function)                                                                       \
		return false;
	HTTP_FUNCTIONS(HTTP_FIND_)
#undef HTTP_FIND_
	return true;
}

int fx_http_open(struct fx_http **ret, char fault[FX_HTTP_FAULT_MAX])
{
	struct fx_http *http = calloc(1, sizeof(*http));

	*ret = NULL;
	if (!http) {
		snprintf(fault, FX_HTTP_FAULT_MAX, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	http->library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!http->library)
		http->library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!http->library || !http_find(http)) {
		snprintf(fault, FX_HTTP_FAULT_MAX,
			 "libcurl is not installed on this machine (Debian: libcurl4)");
		fx_http_close(http);
		return -ENOTSUP;
	}
	http->curl = http->curl_easy_init();
	if (!http->curl) {
		snprintf(fault, FX_HTTP_FAULT_MAX, "libcurl cannot be used");
		fx_http_close(http);
		return -ENOTSUP;
	}
	*ret = http;
	return 0;
}

void fx_http_close(struct fx_http *http)
{
	if (!http)
		return;
	if (http->curl)
		http->curl_easy_cleanup(http->curl);
	/* The library stays: what it has set up for the process may be in use. */
	free(http);
}

struct http_taking {
	struct fx_http *http;
	struct fx_http_answer *answer;
	const struct fx_http_post *post;
	bool no_memory;
};

static bool http_goes_to_file(const struct http_taking *taking)
{
	long status = 0;

	if (taking->post->to)
		taking->http->curl_easy_getinfo(taking->http->curl, CURLINFO_RESPONSE_CODE,
						&status);
	return status == 200;
}

static size_t http_take(char *data, size_t size, size_t count, void *opaque)
{
	struct http_taking *taking = opaque;
	struct fx_http_answer *answer = taking->answer;
	size_t bytes = size * count, room = bytes, most = taking->post->most;

	if (http_goes_to_file(taking))
		return fwrite(data, 1, bytes, taking->post->to);
	if (most > 0 && bytes > most - answer->text.count) {
		room = most - answer->text.count;
		answer->is_cut = true;
	}
	if (fx_vector_reserve(&answer->text, room + 1) < 0) {
		taking->no_memory = true;
		return 0;
	}
	memcpy(answer->text.items + answer->text.count, data, room);
	answer->text.count += room;
	return bytes;
}

static void http_set_body(struct fx_http *http, const struct fx_http_post *post)
{
	CURL *curl = http->curl;

	http->curl_easy_setopt(curl, CURLOPT_POST, 1L);
	http->curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->size);
	http->curl_easy_setopt(curl, CURLOPT_POSTFIELDS, post->body ? post->body : "");
}

static void http_set(struct fx_http *http, const struct fx_http_post *post,
		     struct http_taking *taking)
{
	CURL *curl = http->curl;

	/* Connections are kept. */
	http->curl_easy_reset(curl);
	http->curl_easy_setopt(curl, CURLOPT_URL, post->url);
	http->curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	http->curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)HTTP_CONNECT_SECONDS);
	http->curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	http->curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)HTTP_STALLED_SECONDS);
	http->curl_easy_setopt(curl, CURLOPT_USERAGENT, "fxtrace/" PACKAGE_VERSION);
	http->curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, http_take);
	http->curl_easy_setopt(curl, CURLOPT_WRITEDATA, taking);
	if (post->user || post->password) {
		http->curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		http->curl_easy_setopt(curl, CURLOPT_USERNAME, post->user ? post->user : "default");
		http->curl_easy_setopt(curl, CURLOPT_PASSWORD,
				       post->password ? post->password : "");
	}
	http_set_body(http, post);
}

/* Without "100 Continue", which some servers let one wait for. */
static struct curl_slist *http_headers(struct fx_http *http, const struct fx_http_post *post)
{
	struct curl_slist *list = http->curl_slist_append(NULL, "Expect:");

	for (const char *const *header = post->headers; list && header && *header; header++) {
		struct curl_slist *longer = http->curl_slist_append(list, *header);

		if (!longer)
			http->curl_slist_free_all(list);
		list = longer;
	}
	return list;
}

int fx_http_post(struct fx_http *http, const struct fx_http_post *post,
		 struct fx_http_answer *answer, char fault[FX_HTTP_FAULT_MAX])
{
	struct http_taking taking = {.http = http, .answer = answer, .post = post};
	struct curl_slist *headers = http_headers(http, post);
	char detail[CURL_ERROR_SIZE] = "";
	CURLcode code;

	answer->status = 0;
	answer->is_cut = false;
	answer->text.count = 0;
	if (!headers) {
		snprintf(fault, FX_HTTP_FAULT_MAX, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	http_set(http, post, &taking);
	http->curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
	http->curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, detail);
	code = http->curl_easy_perform(http->curl);
	http->curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	http->curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, NULL);
	http->curl_slist_free_all(headers);
	if (code == CURLE_OK)
		return 0;
	if (taking.no_memory)
		snprintf(fault, FX_HTTP_FAULT_MAX, "%s", strerror(ENOMEM));
	else
		snprintf(fault, FX_HTTP_FAULT_MAX, "%s",
			 detail[0] ? detail : http->curl_easy_strerror(code));
	return taking.no_memory ? -ENOMEM : -EIO;
}

bool fx_http_escape(struct fx_http *http, fx_http_text *ret, const char *text)
{
	char *escaped = http->curl_easy_escape(http->curl, text, 0);
	size_t length = escaped ? strlen(escaped) : 0;
	bool done = escaped && fx_vector_reserve(ret, length + 1) == 0;

	if (done) {
		memcpy(ret->items + ret->count, escaped, length + 1);
		ret->count += length;
	}
	if (escaped)
		http->curl_free(escaped);
	return done;
}

/* --- Parts of URLs ---------------------------------------------------------------------------- */

static char *http_part(struct fx_http *http, CURLU *url, CURLUPart part)
{
	char *text = NULL, *copy = NULL;

	if (http->curl_url_get(url, part, &text, part == CURLUPART_HOST ? 0 : CURLU_URLDECODE) ==
	    CURLUE_OK)
		copy = strdup(text);
	if (text)
		http->curl_free(text);
	return copy;
}

static char *http_base(struct fx_http *http, CURLU *url)
{
	char *scheme = http_part(http, url, CURLUPART_SCHEME);
	char *host = http_part(http, url, CURLUPART_HOST);
	char *port = http_part(http, url, CURLUPART_PORT), *base = NULL;

	if (scheme && host && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
	    asprintf(&base, "%s://%s%s%s", scheme, host, port ? ":" : "", port ? port : "") < 0)
		base = NULL;
	free(scheme);
	free(host);
	free(port);
	return base;
}

int fx_http_split(struct fx_http *http, const char *url, struct fx_http_url *ret)
{
	CURLU *parts = http->curl_url();

	memset(ret, 0, sizeof(*ret));
	if (!parts)
		return -ENOMEM;
	if (http->curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK) {
		ret->base = http_base(http, parts);
		ret->user = http_part(http, parts, CURLUPART_USER);
		ret->password = http_part(http, parts, CURLUPART_PASSWORD);
		ret->path = http_part(http, parts, CURLUPART_PATH);
	}
	http->curl_url_cleanup(parts);
	if (ret->base && ret->path)
		return 0;
	fx_http_url_release(ret);
	return -EINVAL;
}

#else

int fx_http_open(struct fx_http **ret, char fault[FX_HTTP_FAULT_MAX])
{
	*ret = NULL;
	snprintf(fault, FX_HTTP_FAULT_MAX,
		 "this fxtrace was built without libcurl (Debian: libcurl4-openssl-dev)");
	return -ENOTSUP;
}

void fx_http_close(struct fx_http *http)
{
	(void)http;
}

int fx_http_post(struct fx_http *http, const struct fx_http_post *post,
		 struct fx_http_answer *answer, char fault[FX_HTTP_FAULT_MAX])
{
	(void)http, (void)post, (void)answer;
	fault[0] = '\0';
	return -EIO;
}

bool fx_http_escape(struct fx_http *http, fx_http_text *ret, const char *text)
{
	(void)http, (void)ret, (void)text;
	return false;
}

int fx_http_split(struct fx_http *http, const char *url, struct fx_http_url *ret)
{
	(void)http, (void)url;
	memset(ret, 0, sizeof(*ret));
	return -EINVAL;
}

#endif

void fx_http_url_release(struct fx_http_url *url)
{
	free(url->base);
	free(url->user);
	free(url->password);
	free(url->path);
	memset(url, 0, sizeof(*url));
}

void fx_http_answer_release(struct fx_http_answer *answer)
{
	fx_vector_free(&answer->text);
}

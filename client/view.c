/* SPDX-License-Identifier: MIT */
/*
 * fxtrace view [FILE]: an archive in a browser. What it becomes lies in a file without a name, so that however this ends
 * nothing is left; and it is served under a path that nobody guesses, for every user of the machine can connect.
 */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/conversion.h"
#include "client/quantity.h"
#include "client/serve.h"
#include "client/usage.h"
#include "lists/spill.h"

/* The one port of this machine that Perfetto's page fetches from. */
enum { VIEW_PERFETTO_PORT = 9001 };

#define VIEW_PERFETTO "https://ui.perfetto.dev"

enum { OPTION_HTML = FX_USAGE_KEYS, OPTION_PORT, OPTION_NO_BROWSER };

struct view_options {
	struct fx_conversion conversion;
	bool html, no_browser;
	int port; /* -1: not given */
};

static const struct argp_option option_table[] = {
    {"html", OPTION_HTML, NULL, 0,
     "Show the page of `fxtrace convert -f html', which needs no network", 1},
    {"no-browser", OPTION_NO_BROWSER, NULL, 0, "Open no browser, print the link alone", 1},
    {"port", OPTION_PORT, "PORT", 0,
     "Serve at this port of 127.0.0.1 (9001, the only one that Perfetto's page fetches from; with "
     "--html any free one)",
     1},
    FX_USAGE_OPTIONS,
    {0},
};

static void view_set_port(struct view_options *options, const char *value)
{
	uint64_t port;

	if (!fx_quantity_parse(value, FX_QUANTITY_COUNTS, &port) || port < 1 || port > 65535)
		fx_usage_error(options->conversion.program, "--port",
			       "not a number from 1 to 65535");
	options->port = (int)port;
}

static error_t view_parse_option(int key, char *arg, struct argp_state *state)
{
	struct view_options *options = state->input;

	switch (key) {
	case OPTION_HTML:
		options->html = true;
		return 0;
	case OPTION_NO_BROWSER:
		options->no_browser = true;
		return 0;
	case OPTION_PORT:
		view_set_port(options, arg);
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(options->conversion.program, &options->conversion.in, arg);
		return 0;
	case ARGP_KEY_END:
		if (!options->conversion.in)
			options->conversion.in = FX_ARCHIVE_USUAL;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp view_parser = {
    .options = option_table,
    .parser = view_parse_option,
    .args_doc = "[FILE]",
    .doc = "Shows the trace archive FILE (fxtrace.fxt; `-' is standard input) in a browser: in "
	   "Perfetto's page, which fetches it from this machine. Prints the link and, on a "
	   "desktop, opens it; ends when it was fetched.",
};

/* --- The link --------------------------------------------------------------------------------- */

/* The name that the viewer shows: of the file, with nothing in it that means something in a link. To be freed. */
static char *view_name(const struct fx_conversion *conversion)
{
	const char *slash = strrchr(conversion->in, '/');
	const char *base = slash ? slash + 1 : conversion->in;
	char *name;

	if (strcmp(conversion->in, "-") == 0)
		base = "trace";
	name = fx_conversion_name(base, conversion->format->extensions[0]);
	for (char *c = name; c && *c; c++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *c))
			*c = '_';
	}
	return name;
}

/* "/SECRET/NAME", to be freed; NULL: no memory. */
static char *view_path(const struct fx_conversion *conversion)
{
	char *name = view_name(conversion), *path = NULL;
	uint64_t secret[2];

	if (!name)
		return NULL;
	if (getrandom(secret, sizeof(secret), 0) == (ssize_t)sizeof(secret) &&
	    asprintf(&path, "/%016llx%016llx/%s", (unsigned long long)secret[0],
		     (unsigned long long)secret[1], name) < 0)
		path = NULL;
	free(name);
	return path;
}

/* To be freed; NULL: no memory. */
static char *view_link(const struct view_options *options, const struct fx_http_page *page)
{
	char *link;
	int n;

	if (options->html)
		n = asprintf(&link, "http://127.0.0.1:%u%s", page->port, page->path);
	else
		n = asprintf(&link, VIEW_PERFETTO "/#!/?url=http://127.0.0.1:%d%s",
			     VIEW_PERFETTO_PORT, page->path);
	return n < 0 ? NULL : link;
}

/* --- The browser ------------------------------------------------------------------------------ */

static bool view_has_desktop(void)
{
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return isatty(STDIN_FILENO) && ((x && *x) || (wayland && *wayland));
}

/* What it says is not for this terminal, and Ctrl-C here is none of its business. */
static void view_open_browser(const char *link)
{
	char *argv[] = {(char *)"xdg-open", (char *)link, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t usual;
	pid_t pid;

	sigemptyset(&usual);
	sigaddset(&usual, SIGCHLD);
	sigaddset(&usual, SIGPIPE);
	/* Nobody waits for it. */
	signal(SIGCHLD, SIG_IGN);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&how);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	posix_spawnattr_setsigdefault(&how, &usual);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	/* The link is printed anyway: no browser is no failure. */
	posix_spawnp(&pid, argv[0], &files, &how, argv, environ);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
}

/* --- Serving ---------------------------------------------------------------------------------- */

/* False: nobody will know it. */
static bool view_say_link(const struct view_options *options, const struct fx_http_page *page,
			  const char *link)
{
	unsigned port = options->html ? page->port : VIEW_PERFETTO_PORT;

	puts(link);
	if (!fx_usage_flush_some())
		return false;
	if (getenv("SSH_CONNECTION"))
		fprintf(stderr,
			"%s: for a browser elsewhere: ssh -L %u:127.0.0.1:%u to this machine\n",
			options->conversion.program, port, page->port);
	if (!options->no_browser && view_has_desktop())
		view_open_browser(link);
	return true;
}

static int view_serve(const struct view_options *options, struct fx_http_page *page, int listener,
		      int file)
{
	char *path = view_path(&options->conversion), *link = NULL;
	struct stat st;
	int r = -ENOMEM;

	page->path = path;
	if (path)
		link = view_link(options, page);
	if (link) {
		page->size = fstat(file, &st) == 0 ? (uint64_t)st.st_size : 0;
		r = view_say_link(options, page, link) ? fx_serve(listener, file, page) : 0;
	}
	free(link);
	free(path);
	return r;
}

/* Converts to a file without a name: its descriptor or -errno. */
static int view_convert(const struct fx_conversion *conversion, struct fx_timeline *timeline)
{
	int closed, r, file = fx_spill_file();
	struct fx_sink *sink;

	if (file < 0)
		return file;
	r = dup(file);
	r = r < 0 ? -errno : fx_sink_open(r, FX_PACKING_NONE, &sink);
	if (r == 0) {
		r = fx_conversion_write(conversion, timeline, sink);
		closed = fx_sink_close(sink);
		r = r < 0 ? r : closed;
	}
	if (r == 0)
		return file;
	close(file);
	return r;
}

static int view_timeline(const struct view_options *options, struct fx_timeline *timeline,
			 struct fx_http_page *page, int listener)
{
	const struct fx_conversion *conversion = &options->conversion;
	int status, r, file = view_convert(conversion, timeline);

	if (file < 0)
		return fx_conversion_fail(conversion, conversion->in, file);
	status = fx_conversion_report(conversion, timeline);
	r = view_serve(options, page, listener, file);
	close(file);
	return r < 0 ? fx_conversion_fail(conversion, conversion->in, r) : status;
}

static int view_from(const struct view_options *options, struct fx_http_page *page, int listener)
{
	const struct fx_conversion *conversion = &options->conversion;
	int status, fd = fx_conversion_open(conversion);
	struct fx_timeline timeline;

	if (fd < 0)
		return fx_conversion_fail(conversion, conversion->in, fd);
	status = fx_conversion_read(conversion, fd, &timeline);
	if (status == FX_EXIT_OK)
		status = view_timeline(options, &timeline, page, listener);
	fx_timeline_close(&timeline);
	if (fd > STDERR_FILENO)
		close(fd);
	return status;
}

int fx_cmd_view(int argc, char **argv)
{
	struct view_options options = {.conversion.program = argv[0], .port = -1};
	struct fx_http_page page = {.origin = VIEW_PERFETTO, .type = "application/octet-stream"};
	int status, listener;

	fx_usage_parse(argv[0], &view_parser, argc, argv, 0, &options);
	options.conversion.format = fx_format_find(options.html ? "html" : "perfetto");
	if (options.html)
		page = (struct fx_http_page){.type = "text/html; charset=utf-8"};
	if (options.port < 0)
		options.port = options.html ? 0 : VIEW_PERFETTO_PORT;
	signal(SIGPIPE, SIG_IGN);
	listener = fx_serve_listen((uint16_t)options.port, &page.port);
	if (listener < 0) {
		fprintf(stderr, "%s: 127.0.0.1:%d: %s%s\n", options.conversion.program,
			options.port, strerror(-listener),
			listener == -EADDRINUSE ? " (by another fxtrace view?)" : "");
		return FX_EXIT_FAILURE;
	}
	status = view_from(&options, &page, listener);
	close(listener);
	return status;
}

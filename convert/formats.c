/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/convert.h"
#include "convert/formats.h"

static const char *const perfetto_extensions[] = {".pftrace", ".perfetto-trace", NULL};
static const char *const speedscope_extensions[] = {".speedscope.json", NULL};
static const char *const json_extensions[] = {".json", NULL};
static const char *const otlp_extensions[] = {".otlp.json", NULL};
static const char *const collapsed_extensions[] = {".collapsed", ".folded", NULL};
static const char *const pprof_extensions[] = {".pb.gz", ".pb", ".pprof", NULL};
static const char *const callgrind_extensions[] = {".callgrind", NULL};
static const char *const sqlite_extensions[] = {".sqlite", ".sqlite3", ".db", NULL};
static const char *const html_extensions[] = {".html", NULL};
static const char *const stock_extensions[] = {".stock.fxt", NULL};
static const char *const svg_extensions[] = {".svg", NULL};

/* Of endings that fit a name, the first counts. */
const struct fx_format fx_formats[] = {
    {"perfetto", "Perfetto's protobuf", perfetto_extensions, false, false, false, fx_perfetto_make,
     fx_perfetto_free},
    {"speedscope", "speedscope's JSON", speedscope_extensions, true, false, true,
     fx_speedscope_make, fx_speedscope_free},
    {"otlp", "OpenTelemetry's protocol, a request a line", otlp_extensions, true, false, false,
     fx_otlp_make, fx_otlp_free},
    {"json", "Chrome's trace event format", json_extensions, true, false, false, fx_json_make,
     fx_json_free},
    {"collapsed", "a line for each stack, for flamegraph.pl", collapsed_extensions, true, false,
     true, fx_collapsed_make, fx_collapsed_free},
    {"pprof", "pprof's profile.proto", pprof_extensions, false, true, true, fx_pprof_make,
     fx_pprof_free},
    {"callgrind", "for KCachegrind and callgrind_annotate", callgrind_extensions, true, false, true,
     fx_callgrind_make, fx_callgrind_free},
    {"svg", "a flame graph or a timeline, for a browser", svg_extensions, true, false, true,
     fx_svg_make, fx_svg_free},
    {"sqlite", "a database, with the tables of Perfetto's trace processor", sqlite_extensions,
     false, false, false, fx_sqlite_make, fx_sqlite_free},
    {"html", "a page with timeline, flame graph and tables, for a browser", html_extensions, true,
     false, false, fx_html_make, fx_html_free},
    {"fxt", "an archive, for readers of the format's oldest text", stock_extensions, false, false,
     false, NULL, NULL},
    {.name = NULL},
};

const struct fx_format *fx_format_find(const char *name)
{
	for (const struct fx_format *format = fx_formats; format->name; format++) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}

static bool formats_ends_with(const char *text, size_t length, const char *end)
{
	size_t end_length = strlen(end);

	return length > end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

const struct fx_format *fx_format_guess(const char *path)
{
	size_t length = strlen(path);

	if (formats_ends_with(path, length, ".gz"))
		length -= strlen(".gz");
	else if (formats_ends_with(path, length, ".zst"))
		length -= strlen(".zst");
	for (const struct fx_format *format = fx_formats; format->name; format++) {
		for (const char *const *end = format->extensions; *end; end++) {
			if (formats_ends_with(path, length, *end))
				return format;
		}
	}
	return NULL;
}

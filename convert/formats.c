/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/convert.h"
#include "convert/formats.h"

static const char *const perfetto_extensions[] = {".pftrace", ".perfetto-trace", NULL};
static const char *const json_extensions[] = {".json", NULL};

const struct fx_format fx_formats[] = {
    {"perfetto", "Perfetto's protobuf", perfetto_extensions, false, fx_perfetto_make,
     fx_perfetto_free},
    {"json", "Chrome's trace event format", json_extensions, true, fx_json_make, fx_json_free},
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
	for (const struct fx_format *format = fx_formats; format->name; format++) {
		for (const char *const *end = format->extensions; *end; end++) {
			if (formats_ends_with(path, length, *end))
				return format;
		}
	}
	return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "manager/settings/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

static void report_line(const char *who, const char *format, va_list args)
{
	char text[1024], line[64 + FX_ESCAPE_WIDTH * sizeof(text)];
	int used = snprintf(line, 64, "%.60s: ", who);

	if (used < 0 || vsnprintf(text, sizeof(text), format, args) < 0)
		return;
	/* Names of files and programs are in it, and a terminal obeys some bytes. */
	used += (int)fx_escape(line + used, sizeof(line) - (size_t)used - 1, text, strlen(text),
			       FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES);
	line[used++] = '\n';
	/* If stderr is gone, there is nobody to tell. */
	if (write(STDERR_FILENO, line, (size_t)used) < 0)
		return;
}

void fx_report(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report_line("fxtrace", format, args);
	va_end(args);
}

void fx_report_as(const char *who, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report_line(who, format, args);
	va_end(args);
}

const char *fx_report_why(int error)
{
	switch (error) {
	case -EMFILE:
		return "too many open files; a larger ulimit -n has room";
	case -EFBIG:
		return "file too large; a larger ulimit -f allows it";
	case -ENOMEM:
		return "out of memory";
	default:
		return strerror(-error);
	}
}

/* SPDX-License-Identifier: MIT */
#include "manager/settings/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

#define PREFIX "fxtrace: "

void fx_report(const char *format, ...)
{
	char text[1024], line[sizeof(PREFIX) + FX_ESCAPE_WIDTH * sizeof(text)] = PREFIX;
	size_t used = strlen(PREFIX);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0)
		return;
	/* Names of files and programs are in it, and a terminal obeys some bytes. */
	used += fx_escape(line + used, sizeof(line) - used - 1, text, strlen(text),
			  FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES);
	line[used++] = '\n';
	/* If stderr is gone, there is nobody to tell. */
	if (write(STDERR_FILENO, line, used) < 0)
		return;
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

/* SPDX-License-Identifier: MIT */
#include "manager/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "fxtrace: "

void fx_report(const char *format, ...)
{
	char line[1024] = PREFIX;
	size_t used = strlen(PREFIX);
	va_list args;
	int n;

	va_start(args, format);
	/* One byte is left for the end of the line. */
	n = vsnprintf(line + used, sizeof(line) - used - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	used = strlen(line);
	line[used++] = '\n';
	/* If stderr is gone, there is nobody to tell. */
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}

/* SPDX-License-Identifier: MIT */
/* Reports of what `fxtrace load' has brought into a server: which archives, and what is asked of them. */
#ifndef FX_CLIENT_REPORT_SERVER_H
#define FX_CLIENT_REPORT_SERVER_H

#include "report/report.h"

/* Which archives; NULL: whatever they say. */
struct fx_report_server {
	const char *url;
	const char *job, *host, *rank;
	const char *archive; /* its file as it was loaded, its uuid, or the number it has there */
};

/* Takes the sections that a server can tell where none is asked for. Wrong usage, as a section that it cannot tell, ends the
 * program, named by `program'. */
void fx_report_server_check(const struct fx_report_server *server, const char *program,
			    struct fx_report_order *order);

/* Asks, and fills a report of an empty timeline. Returns 0, or as fx_report_fill() does; 1: what was wrong is said. */
int fx_report_server_fill(const struct fx_report_server *server, const char *program,
			  struct fx_report *report);

#endif

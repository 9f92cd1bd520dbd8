/* SPDX-License-Identifier: MIT */
/* Archives that `fxtrace load' has brought into a server, in the place of a FILE: which of them, and what is asked of them. */
#ifndef FX_CLIENT_SERVER_ARCHIVES_H
#define FX_CLIENT_SERVER_ARCHIVES_H

#include <argp.h>
#include <stdbool.h>

#include "convert/timeline.h"
#include "report/report.h"

/* Which archives; NULL: whatever they say. */
struct fx_server_archives {
	const char *url; /* NULL: a FILE is meant */
	const char *job, *host, *rank;
	const char *archive; /* its file as it was loaded, its uuid, or the number it has there */
};

enum {
	FX_SERVER_CLICKHOUSE = 0x1200,
	FX_SERVER_JOB,
	FX_SERVER_HOST,
	FX_SERVER_RANK,
	FX_SERVER_ARCHIVE,
};

/* The options, in this group of a command's. */
#define FX_SERVER_OPTIONS(group)                                                                   \
	{"clickhouse",                                                                             \
	 FX_SERVER_CLICKHOUSE,                                                                     \
	 "URL",                                                                                    \
	 0,                                                                                        \
	 "In the place of FILE: of what fxtrace load has brought into this server",                \
	 (group)},                                                                                 \
	    {"job", FX_SERVER_JOB, "NAME", 0, "Of that, the archives of this job", (group)},       \
	    {"host", FX_SERVER_HOST, "NAME", 0, "Those of this host", (group)},                    \
	    {"rank", FX_SERVER_RANK, "N", 0, "Those of this rank", (group)},                       \
	{                                                                                          \
		"archive", FX_SERVER_ARCHIVE, "NAME", 0,                                           \
		    "The one of this file name, uuid or number", (group)                           \
	}

/* False: it is another option. */
bool fx_server_option(struct fx_server_archives *archives, int key, const char *arg);

/* Whether a server is asked. Wrong usage, as a FILE beside it (which may be NULL), ends the program, named by `program'. */
bool fx_server_check(const struct fx_server_archives *archives, const char *program,
		     const char *file);

/* What they have, for a walk. 0, and then *ret is to be closed; or 1: what was wrong is said. */
int fx_server_fetch(const struct fx_server_archives *archives, const char *program,
		    struct fx_timeline *ret);

/*
 * A report of them. What can be counted there, is (report/ask.h), if the order says so; the other sections walk through what they
 * need, which is fetched. *ret_timeline is to be closed, behind the report, if the status is no error. Returns as
 * fx_report_fill() does; 1: what was wrong is said. *ret may be NULL.
 */
int fx_server_report(const struct fx_server_archives *archives, const char *program,
		     const struct fx_report_order *order, struct fx_timeline *timeline,
		     struct fx_report **ret);

#endif

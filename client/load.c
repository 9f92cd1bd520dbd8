/* SPDX-License-Identifier: MIT */
/* fxtrace load --clickhouse URL | --otlp URL FILE...: archives into a database server, or to a collector. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/filters.h"
#include "client/load-clocks.h"
#include "client/load-spans.h"
#include "client/quantity.h"
#include "client/usage.h"
#include "load/archive.h"
#include "load/clickhouse.h"
#include "load/schema.h"
#include "manager/settings/report.h"

enum {
	OPTION_CLICKHOUSE = FX_USAGE_KEYS,
	OPTION_OTLP,
	OPTION_LEAST,
	OPTION_CLUSTER,
	OPTION_TTL,
	OPTION_ALIGN,
	OPTION_HOST,
	OPTION_JOB,
	OPTION_RANK,
};

enum { LOAD_DAYS_MAX = 36500 };

struct load {
	const char *program;
	const char *clickhouse; /* URL */
	struct fx_load_claims claims;
	struct fx_schema_terms terms;
	const char **files;
	size_t count;
	struct fx_filters filters;
	struct fx_load_spans spans;
	struct fx_load_clocks clocks;
	bool aligns;
	const char *rows_alone,
	    *spans_alone; /* options of one kind of server that were given; NULL: none */
	bool quiet;
};

/* --- Options ---------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"clickhouse", OPTION_CLICKHOUSE, "URL", 0,
     "Into the tables of this ClickHouse server, http://[USER[:PASSWORD]@]HOST:8123[/DATABASE]", 0},
    {"otlp", OPTION_OTLP, "URL", 0,
     "To this collector, as spans, by OpenTelemetry's protocol with JSON: http://HOST:4318", 0},
    {"cluster", OPTION_CLUSTER, "NAME", 0,
     "Make tables that are Distributed over this cluster of the server's", 1},
    {"align", OPTION_ALIGN, NULL, 0,
     "Say in the table `clock' how the clocks of the FILEs lie to each other, as fxtrace merge "
     "finds it",
     1},
    {"ttl", OPTION_TTL, "DAYS", 0, "Let the server drop rows when their archive is so old", 1},
    {"host", OPTION_HOST, "NAME", 0, "The host that archives are of, if they say it otherwise", 2},
    {"job", OPTION_JOB, "NAME", 0, "The same: the job", 2},
    {"rank", OPTION_RANK, "N", 0, "The same: the rank", 2},
    {"min-duration", OPTION_LEAST, "TIME", 0, "With --otlp: no span for what is shorter", 3},
    FX_FILTER_OPTIONS(3),
    {"quiet", 'q', NULL, 0, "Say only what went wrong", 4},
    FX_USAGE_OPTIONS,
    {0},
};

static uint64_t load_parse_number(const struct load *load, const char *what, uint64_t least,
				  uint64_t most, const char *text)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || *text == '+' || number < least ||
	    number > most)
		fx_usage_error(load->program, what, text);
	return number;
}

/* What is put into statements needs no quotation marks. */
static const char *load_parse_cluster(const struct load *load, const char *text)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	if (!*text || strspn(text, letters) != strlen(text) || strspn(text, "0123456789") > 0)
		fx_usage_error(load->program, "not the name of a cluster, of letters, digits and _",
			       text);
	return text;
}

static const char *load_parse_name(const struct load *load, const char *text)
{
	if (!*text || strlen(text) >= FX_HOST_VALUE_MAX)
		fx_usage_error(load->program, "not a name of at most 127 bytes", text);
	return text;
}

static void load_check_options(struct load *load)
{
	if (!load->clickhouse == !load->spans.url)
		fx_usage_error(load->program,
			       load->clickhouse ? "two servers given" : "no server given",
			       "--clickhouse URL or --otlp URL");
	if (load->clickhouse && (load->spans_alone || fx_filters_any(&load->filters)))
		fx_usage_error(load->program, "--clickhouse",
			       "archives are loaded whole; filters are options of --otlp");
	if (load->spans.url && load->rows_alone)
		fx_usage_error(load->program, load->rows_alone, "an option of --clickhouse alone");
	if (load->spans.url && load->count == 0)
		fx_usage_error(load->program, "no FILE given", NULL);
	fx_filters_check(&load->filters, load->program);
	load->spans.filter = load->filters.filter;
	for (size_t i = 0; i < load->count; i++) {
		if (strcmp(load->files[i], "-") == 0)
			fx_usage_error(load->program, "standard input cannot be read twice",
				       load->files[i]);
	}
}

static error_t load_parse_option(int key, char *arg, struct argp_state *state)
{
	struct load *load = state->input;

	if (fx_filters_option(&load->filters, load->program, key, arg))
		return 0;
	switch (key) {
	case OPTION_CLUSTER:
		load->rows_alone = "--cluster";
		break;
	case OPTION_TTL:
		load->rows_alone = "--ttl";
		break;
	case OPTION_ALIGN:
		load->rows_alone = "--align";
		break;
	case OPTION_HOST:
		load->rows_alone = "--host";
		break;
	case OPTION_JOB:
		load->rows_alone = "--job";
		break;
	case OPTION_RANK:
		load->rows_alone = "--rank";
		break;
	default:
		break;
	}
	switch (key) {
	case OPTION_OTLP:
		load->spans.url = arg;
		return 0;
	case OPTION_LEAST:
		if (!fx_quantity_parse(arg, FX_QUANTITY_TIMES, &load->spans.least))
			fx_usage_error(load->program, "not a time, such as 10us", arg);
		load->spans_alone = "--min-duration";
		return 0;
	case OPTION_CLICKHOUSE:
		load->clickhouse = arg;
		return 0;
	case OPTION_CLUSTER:
		load->terms.cluster = load->claims.cluster = load_parse_cluster(load, arg);
		return 0;
	case OPTION_TTL:
		load->terms.days = load_parse_number(load, "not a number of days from 1 to 36500",
						     1, LOAD_DAYS_MAX, arg);
		return 0;
	case OPTION_ALIGN:
		load->aligns = true;
		return 0;
	case OPTION_HOST:
		load->claims.host = load_parse_name(load, arg);
		return 0;
	case OPTION_JOB:
		load->claims.job = load_parse_name(load, arg);
		return 0;
	case OPTION_RANK:
		load->claims.rank =
		    (int64_t)load_parse_number(load, "not a rank", 0, INT32_MAX, arg);
		return 0;
	case 'q':
		load->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		load->files[load->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		load_check_options(load);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp load_parser = {
    .options = option_table,
    .parser = load_parse_option,
    .args_doc = "[FILE...]",
    .doc =
	"Brings trace archives into the tables of a database server, each whole or not at all, and "
	"once, however often it is said; without a FILE, makes the tables alone. Or sends them to "
	"a "
	"collector.",
};

/* --- What is said ----------------------------------------------------------------------------- */

static void load_show_progress(void *opaque, uint64_t done, uint64_t total)
{
	int *percent = opaque;
	int now = total > 0 ? (int)(100.0 * (double)done / (double)total) : 0;

	if (now == *percent)
		return;
	*percent = now;
	fprintf(stderr, "\rloading: %d%%", now);
}

static int load_complain(const struct load *load, const struct fx_clickhouse *server,
			 const char *file, const struct fx_load_result *result, int error)
{
	switch (error) {
	case -ESTALE:
		fx_report_as(load->program, "%s: another fxtrace loads it", file);
		return FX_EXIT_FAILURE;
	case -ESPIPE:
		fx_report_as(load->program, "%s: not a file: it has to be read twice", file);
		return FX_EXIT_FAILURE;
	case -EBUSY:
		fx_report_as(load->program,
			     "%s: the server is still at work on an earlier load of it", file);
		return FX_EXIT_FAILURE;
	case -EIO:
		if (result->what || *fx_clickhouse_fault(server)) {
			fx_report_as(load->program, "%s: %s", file,
				     result->what ? result->what : fx_clickhouse_fault(server));
			return FX_EXIT_FAILURE;
		}
		break;
	default:
		break;
	}
	return fx_archive_complain(load->program, file, error, &result->fault);
}

static int load_say(const struct load *load, const char *file, const struct fx_load_result *result)
{
	if (result->was_there && !load->quiet)
		fprintf(stderr, "%s: %s: is there already\n", load->program, file);
	else if (!load->quiet)
		fprintf(stderr,
			"%s: %s: %" PRIu64 " rows, %" PRIu64 " of them sent (%" PRIu64 " bytes)\n",
			load->program, file, result->sum.rows, result->sum.sent, result->sum.bytes);
	if (!result->is_damaged)
		return FX_EXIT_OK;
	return fx_archive_complain_of(load->program, file, &result->fault,
				      "; what is whole was loaded");
}

/* --- The whole -------------------------------------------------------------------------------- */

static int load_file(struct load *load, struct fx_clickhouse *server, const char *file,
		     bool *ret_server_failed)
{
	bool shown = !load->quiet && isatty(STDERR_FILENO);
	struct fx_load_result result = {0};
	int percent = -1, fd = fx_archive_open_fd(file), r;

	if (fd < 0)
		return fx_archive_complain(load->program, file, fd, NULL);
	r = fx_load_archive(server, &load->claims, file, fd, shown ? load_show_progress : NULL,
			    &percent, &result);
	fx_archive_close_fd(fd);
	if (percent >= 0)
		fputs("\r\033[K", stderr);
	if (r == 0)
		fx_load_clocks_add(&load->clocks, file, result.archive);
	*ret_server_failed = r == -EIO && !result.what && fx_clickhouse_code(server) == 0;
	return r < 0 ? load_complain(load, server, file, &result, r)
		     : load_say(load, file, &result);
}

/* What is wrong with a file is said, and the rest goes on; a server that is gone ends it. */
static int load_files(struct load *load, struct fx_clickhouse *server)
{
	int status = FX_EXIT_OK;
	bool failed = false;

	for (size_t i = 0; i < load->count && !failed; i++) {
		if (load_file(load, server, load->files[i], &failed) != FX_EXIT_OK)
			status = FX_EXIT_FAILURE;
	}
	if (load->aligns && !failed && fx_load_clocks(&load->clocks, server) != FX_EXIT_OK)
		status = FX_EXIT_FAILURE;
	return status;
}

static int load_into_clickhouse(struct load *load)
{
	struct fx_clickhouse *server;
	char *fault = NULL;
	int status = FX_EXIT_FAILURE, r = fx_clickhouse_open(load->clickhouse, &server);

	if (r == -EINVAL) {
		fx_usage_error(load->program, fx_clickhouse_fault(server), load->clickhouse);
	} else if (r < 0) {
		fx_report_as(load->program, "%s",
			     server ? fx_clickhouse_fault(server) : strerror(-r));
	} else if (fx_schema_make(server, &load->terms, &fault) < 0) {
		fx_report_as(load->program, "the ClickHouse server: %s",
			     fault ? fault : strerror(ENOMEM));
	} else {
		status = load_files(load, server);
	}
	free(fault);
	fx_clickhouse_close(server);
	return status;
}

static int load_run(struct load *load)
{
	load->clocks.quiet = load->quiet;
	load->spans.program = load->program;
	load->spans.files = load->files;
	load->spans.count = load->count;
	load->spans.quiet = load->quiet;
	return load->spans.url ? fx_load_spans(&load->spans) : load_into_clickhouse(load);
}

int fx_cmd_load(int argc, char **argv)
{
	struct load load = {.program = argv[0], .claims.rank = -1, .filters = FX_FILTERS_INIT};
	int status;

	load.files = calloc((size_t)argc, sizeof(*load.files));
	if (!load.files || fx_load_clocks_init(argv[0], (size_t)argc, &load.clocks) < 0) {
		fx_report_as(argv[0], "%s", strerror(ENOMEM));
		status = FX_EXIT_FAILURE;
	} else {
		fx_usage_parse(argv[0], &load_parser, argc, argv, 0, &load);
		status = load_run(&load);
	}
	fx_load_clocks_free(&load.clocks);
	free(load.files);
	return status;
}

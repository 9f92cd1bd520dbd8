/* SPDX-License-Identifier: MIT */
/* fxtrace info FILE: what an archive holds, in ten lines. */
#include "config.h"

#include <argp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <fxtrace/reader.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/usage.h"
#include "report/contents.h"
#include "report/print.h"
#include "report/units.h"

enum { OPTION_JSON = FX_USAGE_KEYS };

enum {
	SHOWN = 6,	 /* items of a list in a line */
	TEXT_WIDTH = 40, /* columns of one of them */
	COMMAND_WIDTH = 100,
};

struct info {
	const char *program;
	const char *file;
	bool json;
	const char *compression; /* NULL: it came through a pipe, and nobody knows */
	uint64_t size;		 /* of the file; 0: it is none */
	struct fx_contents contents;
};

static const struct argp_option option_table[] = {
    {"json", OPTION_JSON, NULL, 0, "Print a JSON object, with all of each list", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static error_t info_parse_option(int key, char *arg, struct argp_state *state)
{
	struct info *info = state->input;

	switch (key) {
	case OPTION_JSON:
		info->json = true;
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(info->program, &info->file, arg);
		return 0;
	case ARGP_KEY_END:
		if (!info->file)
			info->file = FX_ARCHIVE_USUAL;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp info_parser = {
    .options = option_table,
    .parser = info_parse_option,
    .args_doc = "[FILE]",
    .doc = "Says what the trace archive FILE (fxtrace.fxt; `-' is standard input) holds, in ten "
	   "lines.",
};

/* --- Numbers and lists ------------------------------------------------------------------------ */

static void info_number(enum fx_unit unit, uint64_t value)
{
	char text[FX_UNIT_TEXT_MAX];

	fx_unit_number(unit, value > INT64_MAX ? INT64_MAX : (int64_t)value, text);
	fputs(text, stdout);
}

static void info_count(uint64_t count, const char *one, const char *many)
{
	info_number(FX_UNIT_COUNT, count);
	printf(" %s", count == 1 ? one : many);
}

static void info_head(const char *head)
{
	printf("%-12s", head);
}

/* "TEXT COUNT, TEXT COUNT, and 3 more". Ids are numbers without commas. */
static void info_list(const fx_tallies *list, bool are_ids)
{
	for (size_t i = 0; i < list->count && i < SHOWN; i++) {
		const struct fx_tally *item = &list->items[i];
		const char *text = item->text[0] ? item->text : "(no name)";

		fputs(i > 0 ? ", " : "", stdout);
		fx_print_shown(stdout, text, strlen(text), TEXT_WIDTH);
		putchar(' ');
		if (are_ids)
			printf("%" PRIu64, item->count);
		else
			info_number(FX_UNIT_COUNT, item->count);
	}
	if (list->count > SHOWN)
		printf(", and %zu more", list->count - SHOWN);
}

/* --- Ten lines -------------------------------------------------------------------------------- */

static void info_print_file(const struct info *info)
{
	info_head("archive");
	fx_print_shown(stdout, info->file, strlen(info->file), 0);
	fputs(": ", stdout);
	if (info->size > 0) {
		info_number(FX_UNIT_BYTES, info->size);
		printf(", %s, ", info->compression ? info->compression : "compression not known");
	}
	info_number(FX_UNIT_BYTES, info->contents.bytes);
	fputs(" of records\n", stdout);
}

static void info_print_span(const struct fx_contents *c)
{
	info_head("span");
	if (c->first_ns == UINT64_MAX) {
		puts("no events");
		return;
	}
	info_number(FX_UNIT_NS, c->last_ns - c->first_ns);
	printf(", from %" PRIu64 ".%09" PRIu64 " s of the clock\n", c->first_ns / 1000000000,
	       c->first_ns % 1000000000);
}

/* " on HOST (SYSTEM RELEASE MACHINE)" */
static void info_print_host(const struct fx_host_record *host)
{
	if (!host->host[0])
		return;
	printf(" on %s (%s %s %s)", host->host, host->system, host->release, host->machine);
}

/* Of the first event, in UTC; and where. */
static void info_print_date(const struct fx_contents *c)
{
	int64_t ns = (int64_t)((uint64_t)c->epoch + c->first_ns);
	time_t seconds = (time_t)(ns / 1000000000);
	char text[64];
	struct tm tm;

	info_head("date");
	if (c->epoch == 0 || c->first_ns > INT64_MAX || ns < 0 || !gmtime_r(&seconds, &tm) ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm) == 0)
		fputs("not recorded", stdout);
	else
		printf("%s.%09d UTC", text, (int)(ns % 1000000000));
	info_print_host(&c->host);
	putchar('\n');
}

static void info_print_clock(const struct fx_contents *c)
{
	info_head("clock");
	if (c->ticks_per_second == 0) {
		puts("not said; nanoseconds are assumed");
		return;
	}
	info_number(FX_UNIT_COUNT, c->ticks_per_second);
	printf(" ticks per second%s", c->has_clocks ? "; other processes have others" : "");
	printf("%s%s\n", c->host.clock[0] ? ", read from " : "", c->host.clock);
}

static void info_print_events(const struct fx_contents *c)
{
	const char *before = ": ";

	info_head("events");
	info_count(c->events, "event", "events");
	for (unsigned type = 0; type < sizeof(c->events_of) / sizeof(c->events_of[0]); type++) {
		const char *name = fxt_event_type_name(type);

		if (c->events_of[type] == 0)
			continue;
		printf("%s%s ", before, name ? name : "of unknown types");
		info_number(FX_UNIT_COUNT, c->events_of[type]);
		before = ", ";
	}
	putchar('\n');
}

static void info_print_records(const struct fx_contents *c)
{
	const char *before = ": ";

	info_head("records");
	info_count(c->records, "record", "records");
	for (unsigned kind = 0; kind < FXT_KIND_COUNT; kind++) {
		if (c->records_of[kind] == 0)
			continue;
		printf("%s%s ", before, fxt_kind_name(kind));
		info_number(FX_UNIT_COUNT, c->records_of[kind]);
		before = ", ";
	}
	putchar('\n');
}

static void info_print_losses(const struct fx_contents *c)
{
	info_head("losses");
	if (c->losses.count == 0 && c->full_buffers == 0) {
		puts("none recorded");
		return;
	}
	info_list(&c->losses, false);
	if (c->losses.count > 0)
		fputs(c->full_buffers > 0 ? "; " : "", stdout);
	if (c->full_buffers > 0) {
		fputs("buffers full ", stdout);
		info_count(c->full_buffers, "time", "times");
	}
	putchar('\n');
}

static void info_print_damage(const struct fx_contents *c)
{
	char text[160];

	info_head("damage");
	if (c->faults == 0) {
		puts("none");
		return;
	}
	fxt_fault_format(&c->fault, text, sizeof(text));
	info_count(c->faults, "fault", "faults");
	printf("%s offset 0x%" PRIx64 ": %s\n", c->faults == 1 ? " at" : ", the first at",
	       c->fault.offset, text);
}

static void info_print_text(const struct info *info)
{
	const struct fx_contents *c = &info->contents;

	info_print_file(info);
	info_print_span(c);
	info_print_date(c);
	info_print_clock(c);
	info_head("processes");
	info_count(c->processes.count, "process", "processes");
	fputs(", ", stdout);
	info_count(c->threads, "thread", "threads");
	fputs(c->processes.count > 0 ? ": " : "", stdout);
	info_list(&c->processes, true);
	if (c->command) {
		fputs("; the first is: ", stdout);
		fx_print_shown(stdout, c->command, strlen(c->command), COMMAND_WIDTH);
	}
	putchar('\n');
	info_print_events(c);
	info_head("categories");
	if (c->categories.count == 0)
		fputs("none", stdout);
	info_list(&c->categories, false);
	putchar('\n');
	info_print_records(c);
	info_print_losses(c);
	info_print_damage(c);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void info_json_key(const char *key)
{
	printf(",\n  \"%s\": ", key);
}

static void info_json_number(const char *key, uint64_t value)
{
	info_json_key(key);
	printf("%" PRIu64, value);
}

static void info_json_list(const char *key, const char *count, const fx_tallies *list)
{
	info_json_key(key);
	putchar('[');
	for (size_t i = 0; i < list->count; i++) {
		fputs(i > 0 ? ", {\"name\": " : "{\"name\": ", stdout);
		fx_print_json_text(stdout, list->items[i].text, strlen(list->items[i].text));
		printf(", \"%s\": %" PRIu64 "}", count, list->items[i].count);
	}
	putchar(']');
}

/* What is there of a row of numbers, by name. */
static void info_json_counts(const char *key, const uint64_t *counts, unsigned size,
			     const char *(*name_of)(unsigned))
{
	const char *before = "";

	info_json_key(key);
	putchar('{');
	for (unsigned i = 0; i < size; i++) {
		const char *name = name_of(i);

		if (counts[i] == 0)
			continue;
		printf("%s\"%s\": %" PRIu64, before, name ? name : "unknown", counts[i]);
		before = ", ";
	}
	putchar('}');
}

static void info_json_host(const struct fx_host_record *host)
{
	const char *before = "";

	if (!host->host[0])
		return;
	info_json_key("recorded_by");
	putchar('{');
#define INFO_JSON_HOST_(member)                                                                    \
	printf("%s\"" #member "\": ", before);                                                     \
	fx_print_json_text(stdout, host->member, strlen(host->member));                            \
	before = ", ";
	FX_HOST_VALUES(INFO_JSON_HOST_)
#undef INFO_JSON_HOST_
	printf(", \"uuid\": \"%016" PRIx64 "%016" PRIx64 "\"}", host->uuid[0], host->uuid[1]);
}

static void info_json_fault(const struct fx_contents *c)
{
	char text[160];

	fxt_fault_format(&c->fault, text, sizeof(text));
	info_json_key("first_fault");
	printf("{\"offset\": %" PRIu64 ", \"text\": ", c->fault.offset);
	fx_print_json_text(stdout, text, strlen(text));
	putchar('}');
}

static void info_print_json(const struct info *info)
{
	const struct fx_contents *c = &info->contents;

	printf("{\n  \"bytes\": %" PRIu64, c->bytes);
	if (info->size > 0)
		info_json_number("file_bytes", info->size);
	if (info->compression) {
		info_json_key("compression");
		printf("\"%s\"", info->compression);
	}
	if (c->first_ns != UINT64_MAX) {
		info_json_number("first_ns", c->first_ns);
		info_json_number("last_ns", c->last_ns);
	}
	if (c->epoch != 0) {
		info_json_key("epoch_ns");
		printf("%" PRId64, c->epoch);
	}
	info_json_host(&c->host);
	if (c->command) {
		info_json_key("command");
		fx_print_json_text(stdout, c->command, strlen(c->command));
	}
	if (c->ticks_per_second > 0)
		info_json_number("ticks_per_second", c->ticks_per_second);
	info_json_list("processes", "pid", &c->processes);
	info_json_number("threads", c->threads);
	info_json_number("events", c->events);
	info_json_counts("events_by_type", c->events_of,
			 sizeof(c->events_of) / sizeof(c->events_of[0]), fxt_event_type_name);
	info_json_list("categories", "events", &c->categories);
	info_json_number("records", c->records);
	info_json_counts("records_by_kind", c->records_of, FXT_KIND_COUNT, fxt_kind_name);
	info_json_list("losses", "records", &c->losses);
	info_json_number("buffers_full", c->full_buffers);
	info_json_number("faults", c->faults);
	if (c->faults > 0)
		info_json_fault(c);
	fputs("\n}\n", stdout);
}

/* --- The whole -------------------------------------------------------------------------------- */

/* What the first bytes say, as far as they can be looked at without being taken. */
static void info_look(struct info *info, int fd)
{
	unsigned char bytes[4] = {0};
	struct stat stat;

	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))
		return;
	info->size = (uint64_t)stat.st_size;
	if (pread(fd, bytes, sizeof(bytes), lseek(fd, 0, SEEK_CUR)) < 0)
		return;
	info->compression = fx_archive_compression(bytes);
}

static int info_read(struct info *info, int fd)
{
	struct fxt_reader *reader;
	int r = fxt_reader_open_fd(fd, &reader);

	if (r < 0)
		return r;
	r = fx_contents_read(&info->contents, reader);
	fxt_reader_close(reader);
	return r;
}

static int info_of(struct info *info, int fd)
{
	int r;

	info_look(info, fd);
	r = info_read(info, fd);
	if (r < 0)
		return fx_archive_complain(info->program, info->file, r, &info->contents.fault);
	if (info->json)
		info_print_json(info);
	else
		info_print_text(info);
	return info->contents.faults > 0 ? FX_EXIT_FAILURE : FX_EXIT_OK;
}

int fx_cmd_info(int argc, char **argv)
{
	struct info info = {.program = argv[0]};
	int status, fd;

	fx_usage_parse(argv[0], &info_parser, argc, argv, 0, &info);
	fd = fx_archive_open_fd(info.file);
	if (fd < 0)
		return fx_archive_complain(info.program, info.file, fd, NULL);
	signal(SIGPIPE, SIG_DFL);
	status = info_of(&info, fd);
	fx_contents_free(&info.contents);
	fx_archive_close_fd(fd);
	return status;
}

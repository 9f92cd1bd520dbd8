/* SPDX-License-Identifier: MIT */
/*
 * Any bytes, as an archive of which all reports are made, which is replayed, followed, asked in SQL, and asked why. What is
 * printed for people is UTF-8 in which nothing is left that a terminal would obey; so is JSON.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/indexer.h"
#include "convert/utf8.h"
#include "query/query.h"
#include "report/contents.h"
#include "report/print.h"
#include "report/replay.h"
#include "report/report.h"
#include "tests/fuzz/fuzz.h"
#include "why/why.h"

/* Aborts unless it is text that does nothing. */
static void expect_harmless(const char *text, size_t size, bool is_csv)
{
	if (!fx_utf8_is_clean(text, size))
		abort();
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)text[i];
		bool is_c1 = byte == 0xc2 && i + 1 < size && (unsigned char)text[i + 1] < 0xa0;

		if (is_csv && byte == '\r' && i + 1 < size && text[i + 1] == '\n')
			continue;
		if ((byte < 0x20 && byte != '\n') || byte == 0x7f || is_c1)
			abort();
	}
}

/* --- Reports ---------------------------------------------------------------------------------- */

static void print_report(const struct fx_report *report, enum fx_print_style style, unsigned width)
{
	struct fx_print print = {.style = style, .width = width};
	char *text = NULL;
	size_t size = 0;

	print.out = open_memstream(&text, &size);
	if (!print.out)
		abort();
	fx_print_begin(&print);
	for (size_t i = 0; i < fx_report_table_count(report); i++)
		fx_print_table(&print, fx_report_table(report, i));
	fx_print_end(&print);
	fclose(print.out);
	expect_harmless(text, size, style == FX_PRINT_CSV);
	free(text);
}

static void make_report(int fd, const struct fx_report_order *order)
{
	struct fx_timeline timeline;
	struct fx_report *report;

	lseek(fd, 0, SEEK_SET);
	if (fx_timeline_open(&timeline, fd, NULL, NULL) == 0 &&
	    fx_report_make(&timeline, order, NULL, NULL, &report) == 0) {
		print_report(report, FX_PRINT_TEXT, 0);
		print_report(report, FX_PRINT_TEXT, 20);
		print_report(report, FX_PRINT_JSON, 0);
		print_report(report, FX_PRINT_CSV, 0);
		fx_report_free(report);
	}
	fx_timeline_close(&timeline);
}

static void make_reports(int fd)
{
	static const char *const some[] = {"*a*"}, *const all[] = {"*"};
	static const struct fx_wanted objects[] = {
	    {.kind = FX_WANTED_LOCK, .text = "*", .pattern = "*"},
	    {.kind = FX_WANTED_LOCK, .text = "0x8", .number = 8},
	    {.kind = FX_WANTED_FD, .text = "3", .number = 3},
	    {.kind = FX_WANTED_FILE, .text = "*", .pattern = "*"},
	    {.kind = FX_WANTED_PEER, .text = "*", .pattern = "*"},
	    {.kind = FX_WANTED_PEER, .text = ":80", .pattern = ":80"},
	};
	struct fx_report_order histories = {
	    .filter.to = UINT64_MAX,
	    .objects = {objects, sizeof(objects) / sizeof(*objects)},
	};
	struct fx_report_order everything = {
	    .filter.to = UINT64_MAX,
	    .functions = {all, 1},
	    .paths = 1000,
	};
	const struct fx_report_order part = {
	    .filter = {.categories = {some, 1}, .names = {some, 1}, .from = 10, .to = 1000000},
	    .sort = "calls",
	    .top = 2,
	    .paths = 3,
	};

	for (size_t i = 0; i < FX_SECTION_COUNT; i++)
		everything.sections[i] = true;
	make_report(fd, &everything);
	make_report(fd, &part);
	everything.functions.count = 0;
	everything.paths = 1;
	everything.top = 3;
	make_report(fd, &everything);
	make_report(fd, &histories);
	histories.filter = part.filter;
	histories.sort = "time_ns";
	make_report(fd, &histories);
}

/* --- In order of time ------------------------------------------------------------------------- */

static void replay_archive(int fd, struct fx_replay_order order)
{
	struct fx_timeline timeline;
	char *text = NULL;
	size_t size = 0;

	order.out = open_memstream(&text, &size);
	if (!order.out)
		abort();
	lseek(fd, 0, SEEK_SET);
	if (fx_timeline_open(&timeline, fd, NULL, NULL) == 0)
		fx_replay(&timeline, &order);
	fx_timeline_close(&timeline);
	fclose(order.out);
	expect_harmless(text, size, false);
	free(text);
}

static void follow_archive(const uint8_t *data, size_t size, struct fx_replay_order order)
{
	struct fxt_reader *reader;
	char *text = NULL;
	size_t length = 0;

	order.out = open_memstream(&text, &length);
	if (!order.out || fxt_reader_open_memory(data, size, &reader) < 0)
		abort();
	fx_follow(reader, &order);
	fxt_reader_close(reader);
	fclose(order.out);
	expect_harmless(text, length, false);
	free(text);
}

static void read_contents(const uint8_t *data, size_t size)
{
	struct fx_contents contents;
	struct fxt_reader *reader;

	if (fxt_reader_open_memory(data, size, &reader) < 0)
		abort();
	fx_contents_read(&contents, reader);
	fx_contents_free(&contents);
	fxt_reader_close(reader);
}

/* --- SQL -------------------------------------------------------------------------------------- */

static void expect_harmless_file(int fd)
{
	size_t size = (size_t)lseek(fd, 0, SEEK_END);
	char *text = malloc(size + 1);

	if (!text || pread(fd, text, size, 0) != (ssize_t)size)
		abort();
	expect_harmless(text, size, false);
	free(text);
}

static void answer_query(struct fx_query *query, enum fx_query_style style)
{
	int out = memfd_create("answer", MFD_CLOEXEC);
	struct fx_sink *sink;

	if (out < 0 || fx_sink_open(fcntl(out, F_DUPFD_CLOEXEC, 3), FX_PACKING_NONE, &sink) < 0)
		abort();
	fx_query_answer(query, sink, style);
	if (fx_sink_close(sink) < 0)
		abort();
	if (style != FX_QUERY_CSV)
		expect_harmless_file(out);
	close(out);
}

static void ask(int fd, const char *sql, enum fx_query_style style)
{
	struct fx_timeline timeline;
	struct fx_query *query;

	if (fx_query_open(sql, &query) < 0)
		abort();
	lseek(fd, 0, SEEK_SET);
	if (fx_timeline_open(&timeline, fd, NULL, NULL) == 0 &&
	    fx_query_fill(query, &timeline) == 0)
		answer_query(query, style);
	fx_query_empty(query);
	fx_timeline_close(&timeline);
	fx_query_close(query);
}

static void ask_all(int fd)
{
	ask(fd, "select * from slice left join thread_track on track_id = thread_track.id",
	    FX_QUERY_TEXT);
	ask(fd, "select * from thread left join process using (upid)", FX_QUERY_JSON);
	ask(fd, "select key, string_value, count(*) from args group by 1, 2", FX_QUERY_CSV);
	ask(fd, "select * from counter join counter_track on track_id = counter_track.id",
	    FX_QUERY_TEXT);
	ask(fd, "select * from flow, sched", FX_QUERY_JSON);
}

/* --- Why -------------------------------------------------------------------------------------- */

static void print_why(const struct fx_why *why, enum fx_print_style style, unsigned width)
{
	struct fx_print print = {.style = style, .width = width};
	char *text = NULL;
	size_t size = 0;

	print.out = open_memstream(&text, &size);
	if (!print.out)
		abort();
	fx_print_begin(&print);
	for (size_t i = 0; i < fx_why_table_count(why); i++)
		fx_print_table(&print, fx_why_table(why, i));
	fx_print_end(&print);
	if (style == FX_PRINT_TEXT)
		fx_why_print_collapsed(why, print.out);
	fclose(print.out);
	expect_harmless(text, size, style == FX_PRINT_CSV);
	free(text);
}

/* All own times together are the time of the root, which is in the first row. */
static void expect_whole(const struct fx_why *why)
{
	enum { TOTAL = 1, SELF = 2 };
	const struct fx_table *tree = fx_why_table(why, 0);
	int64_t sum = 0;

	for (size_t i = 0; i < fx_table_row_count(tree); i++)
		sum += fx_table_cell(tree, i, SELF)->number;
	if (fx_table_row_count(tree) > 0 && sum != fx_table_cell(tree, 0, TOTAL)->number)
		abort();
}

static void ask_why(int fd, const struct fx_why_order *order)
{
	struct fx_timeline timeline;
	struct fx_why *why;
	const char *wrong;

	lseek(fd, 0, SEEK_SET);
	if (fx_timeline_open(&timeline, fd, NULL, NULL) == 0 &&
	    fx_why_make(&timeline, order, &why, &wrong) == 0) {
		expect_whole(why);
		print_why(why, FX_PRINT_TEXT, 0);
		print_why(why, FX_PRINT_TEXT, 30);
		print_why(why, FX_PRINT_JSON, 0);
		print_why(why, FX_PRINT_CSV, 0);
		fx_why_free(why);
	}
	fx_timeline_close(&timeline);
}

static void ask_why_all(int fd)
{
	static const char *const all[] = {"*"};

	ask_why(fd, &(struct fx_why_order){.to = UINT64_MAX, .is_full = true});
	ask_why(fd,
		&(struct fx_why_order){
		    .to = UINT64_MAX, .threads = {all, 1}, .is_from_given = true, .least = 0.1});
	ask_why(fd, &(struct fx_why_order){.to = 1000000, .slice = "read", .depth = 3});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fx_replay_order order = {
	    .filter.to = UINT64_MAX, .instants = true, .counters = true};
	const struct fx_replay_order part = {.filter = {.from = 10, .to = 1000000}, .deltas = true};
	int fd = memfd_create("archive", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	make_reports(fd);
	replay_archive(fd, order);
	replay_archive(fd, part);
	follow_archive(data, size, order);
	read_contents(data, size);
	ask_all(fd);
	ask_why_all(fd);
	close(fd);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * timeline --make MB FILE: makes an archive of calls from four threads, in chunks as a tracer writes them.
 *
 * timeline FILE [WAY]: how fast an archive is read, each way in a process of its own: copied from a mapping,
 * by the bare reader, indexed and walked through in order, replayed, reported on, asked by SQL, and converted to
 * each format. Prints a line of each way: its name, megabytes of the archive per second of processor time, and the
 * process's largest resident memory in megabytes.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fxtrace/reader.h>

#include "convert/convert.h"
#include "convert/indexer.h"
#include "query/query.h"
#include "report/replay.h"
#include "report/report.h"

static size_t bench_size;
static const char *only; /* NULL: all ways */

/* --- Making an archive ------------------------------------------------------------------------ */

enum {
	MAKE_THREADS = 4,
	MAKE_NAMES = 100,
	MAKE_DEPTH = 6,
	MAKE_CHILDREN = 4,
	MAKE_CHUNK = 2048, /* words */
	MAKE_STEP = 20,	   /* ns */
};

struct make_thread {
	unsigned number; /* index of its thread record */
	uint64_t now;
	uint64_t starts[MAKE_DEPTH];
	unsigned children[MAKE_DEPTH]; /* calls that are over */
	unsigned depth;
	uint64_t outer; /* when main() began, which is written last */
};

static uint64_t make_header(const struct make_thread *thread, unsigned words)
{
	return FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) | FXT_PUT(RECORD_SIZE, words) |
	       FXT_PUT(EVENT_TYPE, FXT_EVENT_DURATION_COMPLETE) |
	       FXT_PUT(EVENT_THREAD, thread->number) | FXT_PUT(EVENT_CATEGORY, 1);
}

static void make_call(const struct make_thread *thread, unsigned name, uint64_t start, FILE *out)
{
	uint64_t words[3] = {make_header(thread, 3) | FXT_PUT(EVENT_NAME, 2 + name % MAKE_NAMES),
			     start, thread->now};

	fwrite(words, sizeof(words), 1, out);
}

/* Goes on with the tree of calls until one has ended, whose record it writes. */
static void make_next(struct make_thread *thread, FILE *out)
{
	while (thread->depth < MAKE_DEPTH &&
	       (thread->depth == 0 || thread->children[thread->depth - 1] < MAKE_CHILDREN)) {
		thread->starts[thread->depth] = thread->now += MAKE_STEP;
		thread->children[thread->depth++] = 0;
	}
	thread->depth--;
	thread->now += MAKE_STEP;
	make_call(thread, thread->depth * 7 + (unsigned)(thread->now >> 8) % 5,
		  thread->starts[thread->depth], out);
	if (thread->depth > 0)
		thread->children[thread->depth - 1]++;
}

static void make_text(unsigned index, const char *text, FILE *out)
{
	uint64_t words[9] = {0};
	size_t length = strlen(text), size = 1 + (length + 7) / 8;

	words[0] = FXT_PUT(RECORD_TYPE, FXT_RECORD_STRING) | FXT_PUT(RECORD_SIZE, size) |
		   FXT_PUT(STRING_INDEX, index) | FXT_PUT(STRING_LENGTH, length);
	memcpy(words + 1, text, length);
	fwrite(words, sizeof(*words), size, out);
}

static void make_tables(FILE *out)
{
	uint64_t magic = FXT_MAGIC_RECORD;
	char name[40];

	fwrite(&magic, sizeof(magic), 1, out);
	make_text(1, "function", out);
	for (unsigned i = 0; i < MAKE_NAMES; i++) {
		snprintf(name, sizeof(name), "some_function_%u", i);
		make_text(2 + i, name, out);
	}
	for (unsigned i = 1; i <= MAKE_THREADS; i++) {
		uint64_t words[3] = {FXT_PUT(RECORD_TYPE, FXT_RECORD_THREAD) |
					 FXT_PUT(RECORD_SIZE, 3) | FXT_PUT(THREAD_INDEX, i),
				     1000, 1000 + i};

		fwrite(words, sizeof(words), 1, out);
	}
}

static int make_archive(const char *megabytes, const char *path)
{
	struct make_thread threads[MAKE_THREADS] = {0};
	uint64_t chunks = strtoull(megabytes, NULL, 10) * 1000000 / 8 / MAKE_CHUNK;
	FILE *out = fopen(path, "w");

	if (!out)
		return 1;
	make_tables(out);
	for (unsigned i = 0; i < MAKE_THREADS; i++) {
		threads[i].number = i + 1;
		threads[i].now = threads[i].outer = 1000000 + i;
	}
	for (uint64_t chunk = 0; chunk < chunks; chunk++) {
		for (unsigned i = 0; i < MAKE_CHUNK / 3; i++)
			make_next(&threads[chunk % MAKE_THREADS], out);
	}
	for (unsigned i = 0; i < MAKE_THREADS; i++)
		make_call(&threads[i], 0, threads[i].outer, out);
	return fclose(out) != 0;
}

/* --- Reading it ------------------------------------------------------------------------------- */

static int bench_copy(int fd, const char *unused)
{
	enum { PIECE = 1 << 20 };
	char *map = mmap(NULL, bench_size, PROT_READ, MAP_PRIVATE, fd, 0);
	char *buffer = malloc(PIECE);

	(void)unused;
	if (map == MAP_FAILED || !buffer)
		return 1;
	for (size_t at = 0; at < bench_size; at += PIECE) {
		size_t size = bench_size - at < PIECE ? bench_size - at : PIECE;

		memcpy(buffer, map + at, size);
		__asm__ __volatile__("" : : "r"(buffer) : "memory");
		madvise(map + at, size, MADV_DONTNEED);
	}
	free(buffer);
	return 0;
}

static int bench_read(int fd, const char *unused)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	int r;

	(void)unused;
	if (fxt_reader_open_fd(fd, &reader) < 0)
		return 1;
	while ((r = fxt_reader_next(reader, &record)) > 0)
		;
	fxt_reader_close(reader);
	return r < 0;
}

/* --- An exporter that looks at all events and does next to nothing ---------------------------- */

static uint64_t walk_sum;

static void walk_nothing(struct fx_exporter *exporter)
{
	(void)exporter;
}

static void walk_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	(void)exporter;
	walk_sum += process->pid;
}

static void walk_of_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	(void)exporter;
	walk_sum += thread->number;
}

static void walk_event(struct fx_exporter *exporter, const struct fx_event *event)
{
	(void)exporter;
	walk_sum += event->ts + event->name->serial + event->nargs;
}

static void walk_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			   uint64_t ts)
{
	(void)exporter;
	walk_sum += thread->number + ts;
}

static void walk_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	(void)id;
	walk_event(exporter, event);
}

static void walk_log(struct fx_exporter *exporter, const struct fx_event *event,
		     const struct fxt_string *message)
{
	(void)message;
	walk_event(exporter, event);
}

static void walk_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	(void)exporter;
	walk_sum += note->ts;
}

static const struct fx_exporter_ops walk_ops = {
    .begin = walk_nothing,
    .process = walk_process,
    .thread = walk_of_thread,
    .slice_begin = walk_event,
    .slice_end = walk_slice_end,
    .instant = walk_event,
    .counter = walk_counter,
    .log = walk_log,
    .note = walk_note,
    .finish = walk_nothing,
};

static int bench_walk(int fd, const char *unused)
{
	struct fx_timeline timeline;
	struct fx_exporter exporter = {.ops = &walk_ops, .timeline = &timeline};
	int r = fx_timeline_open(&timeline, fd, NULL, NULL);

	(void)unused;
	if (r == 0)
		r = fx_convert(&exporter, NULL, NULL);
	__asm__ __volatile__("" : : "r"(walk_sum) : "memory");
	fx_timeline_close(&timeline);
	return r < 0;
}

static int bench_convert(int fd, const char *name)
{
	const struct fx_format *format = fx_format_find(name);
	struct fx_timeline timeline;
	struct fx_exporter *exporter;
	struct fx_sink *sink;
	int r;

	if (!format ||
	    fx_sink_open(open("/dev/null", O_WRONLY | O_CLOEXEC), FX_PACKING_NONE, &sink) < 0)
		return 1;
	r = fx_timeline_open(&timeline, fd, NULL, NULL);
	exporter = format->make(&timeline, sink);
	if (r == 0 && exporter)
		r = fx_convert(exporter, NULL, NULL);
	format->free(exporter);
	fx_timeline_close(&timeline);
	return fx_sink_close(sink) < 0 || r < 0;
}

static int bench_replay(int fd, const char *unused)
{
	struct fx_replay_order order = {.filter = {.to = UINT64_MAX},
					.out = fopen("/dev/null", "w")};
	struct fx_timeline timeline;
	int r = fx_timeline_open(&timeline, fd, NULL, NULL);

	(void)unused;
	if (r == 0)
		r = order.out ? fx_replay(&timeline, &order) : -1;
	fx_timeline_close(&timeline);
	return !order.out || fclose(order.out) != 0 || r < 0;
}

/* Of one section; NULL: the usual ones. */
static int bench_report(int fd, const char *section)
{
	struct fx_report_order order = {.filter = {.to = UINT64_MAX}, .top = 10, .paths = 100000};
	struct fx_report *report = NULL;
	struct fx_timeline timeline;
	int r = fx_timeline_open(&timeline, fd, NULL, NULL);

	if (section)
		order.sections[FX_SECTION_functions] = true;
	if (r == 0)
		r = fx_report_make(&timeline, &order, NULL, NULL, &report);
	fx_report_free(report);
	fx_timeline_close(&timeline);
	return r < 0;
}

static int bench_query(int fd, const char *sql)
{
	struct fx_timeline timeline;
	struct fx_query *query;
	struct fx_sink *sink;
	int r = fx_query_open(sql, &query);

	if (r < 0 ||
	    fx_sink_open(open("/dev/null", O_WRONLY | O_CLOEXEC), FX_PACKING_NONE, &sink) < 0)
		return 1;
	r = fx_timeline_open(&timeline, fd, NULL, NULL);
	if (r == 0)
		r = fx_query_fill(query, &timeline);
	if (r == 0)
		r = fx_query_answer(query, sink, FX_QUERY_CSV);
	fx_query_empty(query);
	fx_timeline_close(&timeline);
	fx_query_close(query);
	return fx_sink_close(sink) < 0 || r < 0;
}

/* --- Measuring -------------------------------------------------------------------------------- */

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static int measure_way(const char *path, const char *name, int (*way)(int fd, const char *format),
		       const char *format)
{
	int fd, status;
	struct rusage usage;
	double seconds;
	pid_t pid;

	if (only && strcmp(only, name) != 0)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(way(fd, format));
	close(fd);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
		return 1;
	seconds = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
	printf("%s %.1f %.1f\n", name, (double)bench_size / seconds / 1e6,
	       (double)usage.ru_maxrss / 1024);
	return 0;
}

int main(int argc, char **argv)
{
	struct stat st;
	int failed = 0;

	if (argc == 4 && strcmp(argv[1], "--make") == 0)
		return make_archive(argv[2], argv[3]);
	if (argc < 2 || argc > 3 || stat(argv[1], &st) < 0) {
		fprintf(stderr, "usage: timeline --make MB FILE | timeline FILE [WAY]\n");
		return 2;
	}
	only = argv[2];
	bench_size = (size_t)st.st_size;
	failed |= measure_way(argv[1], "copy", bench_copy, NULL);
	failed |= measure_way(argv[1], "reader", bench_read, NULL);
	failed |= measure_way(argv[1], "walk", bench_walk, NULL);
	failed |= measure_way(argv[1], "replay", bench_replay, NULL);
	failed |= measure_way(argv[1], "report", bench_report, NULL);
	failed |= measure_way(argv[1], "report-functions", bench_report, "functions");
	failed |=
	    measure_way(argv[1], "query", bench_query, "SELECT count(*), sum(dur) FROM slice");
	failed |= measure_way(argv[1], "query-names", bench_query,
			      "SELECT name, count(*), sum(dur) FROM slice GROUP BY name");
	for (const struct fx_format *format = fx_formats; format->name; format++)
		failed |=
		    format->make && measure_way(argv[1], format->name, bench_convert, format->name);
	return failed;
}

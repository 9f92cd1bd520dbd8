/* SPDX-License-Identifier: MIT */
/*
 * reader write FILE MB [ARGS]: an archive of so many MB, of calls without arguments or with three.
 * reader read|batch FILE: reads it by libfxtrace-reader, and says what that took.
 * reader bytes FILE: the floor: its bytes are read, and decompressed if they are compressed, and nothing is done with them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <zstd.h>

#include <fxtrace/batch.h>
#include <fxtrace/writer.h>

#define NAMES	2000
#define THREADS 8

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fill(struct fxt_record *record, uint64_t i, const char *name, int args)
{
	record->kind = FXT_KIND_EVENT;
	record->provider = NULL;
	record->nargs = 0;
	record->event.type = FXT_EVENT_DURATION_COMPLETE;
	record->event.thread = fxt_thread_of(100, 101 + i % THREADS);
	record->event.category = fxt_text("function");
	record->event.name = fxt_text(name);
	record->event.timestamp = 100 * i;
	record->event.end_time = 100 * i + 50;
	if (!args)
		return;
	fxt_record_add_arg(record, "fd", FXT_ARG_INT32)->int32 = (int32_t)(i % 100);
	fxt_record_add_arg(record, "size", FXT_ARG_UINT64)->uint64 = i;
	fxt_record_add_arg(record, "path", FXT_ARG_STRING)->string = fxt_text("/usr/share/a/file");
}

static int write_archive(const char *path, uint64_t size, int args)
{
	static char names[NAMES][24];
	static struct fxt_record record;
	struct fxt_writer *writer;
	uint64_t bytes = args ? 9 * 8 : 3 * 8;
	int r = fxt_writer_open_path(path, &writer);

	for (int i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof(names[i]), "function_number_%d", i);
	if (r == 0)
		r = fxt_writer_provider(writer, 1, "bench", FXT_DEFAULT_TICKS_PER_SECOND);
	for (uint64_t i = 0; r == 0 && i < size / bytes; i++) {
		fill(&record, i, names[i * 7 % NAMES], args);
		r = fxt_writer_write(writer, &record);
	}
	return r == 0 ? fxt_writer_close(writer) : r;
}

static uint64_t read_one_by_one(struct fxt_reader *reader)
{
	const struct fxt_record *record;
	uint64_t count = 0;

	while (fxt_reader_next(reader, &record) > 0)
		count += record->kind == FXT_KIND_EVENT && record->event.name.length > 0;
	return count;
}

static uint64_t read_batches(struct fxt_reader *reader)
{
	const struct fxt_batch *batch;
	uint64_t count = 0;

	while (fxt_reader_next_batch(reader, FXT_KIND_BIT(FXT_KIND_EVENT), 8192, &batch) > 0)
		count += batch->row_count;
	return count;
}

/* Prints: events, MB/s, million events a second, KiB in memory at most, seconds. */
static int read_archive(const char *path, uint64_t (*read)(struct fxt_reader *reader))
{
	double begun = seconds(), taken;
	struct fxt_reader *reader;
	struct rusage usage;
	uint64_t count, done, total, faults;
	int r = fxt_reader_open_path(path, &reader);

	if (r < 0)
		return r;
	count = read(reader);
	taken = seconds() - begun;
	fxt_reader_progress(reader, &done, &total);
	faults = fxt_reader_fault_count(reader);
	fxt_reader_close(reader);
	getrusage(RUSAGE_SELF, &usage);
	printf("%" PRIu64 " %.0f %.2f %ld %.3f\n", count, (double)done / 1e6 / taken,
	       (double)count / 1e6 / taken, usage.ru_maxrss, taken);
	return faults > 0 || done != total;
}

/* With buffers of the sizes that libfxtrace-reader has. Prints: MB/s of what comes out, seconds. */
static int read_bytes(const char *path)
{
	static char in[128 << 10], out[64 << 10];
	int is_compressed = strstr(path, ".zst") != NULL;
	ZSTD_DStream *zstd = ZSTD_createDStream();
	double begun = seconds(), taken;
	FILE *file = fopen(path, "rb");
	uint64_t total = 0;
	size_t n, r = 0;

	if (!file || !zstd)
		return -1;
	while ((n = fread(in, 1, sizeof(in), file)) > 0) {
		ZSTD_inBuffer input = {.src = in, .size = n};

		if (!is_compressed)
			total += n;
		while (is_compressed && input.pos < n && !ZSTD_isError(r)) {
			ZSTD_outBuffer output = {.dst = out, .size = sizeof(out)};

			r = ZSTD_decompressStream(zstd, &output, &input);
			total += output.pos;
		}
	}
	taken = seconds() - begun;
	printf("%.0f %.3f\n", (double)total / 1e6 / taken, taken);
	fclose(file);
	ZSTD_freeDStream(zstd);
	return ZSTD_isError(r) ? -1 : 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && strcmp(argv[1], "write") == 0)
		return write_archive(argv[2], strtoull(argv[3], NULL, 10) * 1000000, argc > 4) != 0;
	if (argc == 3 && strcmp(argv[1], "read") == 0)
		return read_archive(argv[2], read_one_by_one) != 0;
	if (argc == 3 && strcmp(argv[1], "batch") == 0)
		return read_archive(argv[2], read_batches) != 0;
	if (argc == 3 && strcmp(argv[1], "bytes") == 0)
		return read_bytes(argv[2]) != 0;
	fputs("Usage: reader write FILE MB [ARGS] | reader read|batch|bytes FILE\n", stderr);
	return 2;
}

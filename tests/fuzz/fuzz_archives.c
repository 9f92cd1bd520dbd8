/* SPDX-License-Identifier: MIT */
/*
 * Any bytes, as an archive that is merged with itself, split in all three ways, symbolized, and reduced to the oldest
 * records. Each outcome is an archive in which the reader finds no fault but references to nothing, with as many
 * events as was said.
 *
 * Where a second magic number stands in the input, a second archive begins, to be merged with the first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "archives/merge.h"
#include "archives/split.h"
#include "archives/stock.h"
#include "archives/symbolize.h"
#include "tests/fuzz/fuzz.h"

#define MAGIC_SIZE 8u
#define PATH_SIZE  32u

/* More parts are more of the same. */
#define PARTS_MAX 40u

/* Files are looked for in none: every other function has a name, as long as the address says. */
bool __wrap_fx_finder_name(struct fx_finder *finder, const struct fx_finder_file *file,
			   uint64_t address, char ret[FX_SYMBOL_TEXT_MAX]);
bool __wrap_fx_finder_name(struct fx_finder *finder, const struct fx_finder_file *file,
			   uint64_t address, char ret[FX_SYMBOL_TEXT_MAX])
{
	size_t length = address / 2 % FX_SYMBOL_TEXT_MAX;

	(void)finder;
	if (file->build_id_size == 0 || strlen(file->path) == 0 || address % 2 != 0)
		return false;
	memset(ret, 'f', length);
	ret[length] = '\0';
	return length > 0;
}

/* --- Files ------------------------------------------------------------------------------------ */

/* A file in memory, and the path at which it can be opened. */
static int make_file(const uint8_t *data, size_t size, char path[PATH_SIZE])
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, PATH_SIZE, "/proc/self/fd/%d", fd);
	return fd;
}

static struct fx_output *begin_output(int *ret_fd)
{
	struct fx_output *out;
	int fd = memfd_create("output", MFD_CLOEXEC);

	*ret_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (*ret_fd < 0 || fx_output_adopt(fd, "out.fxt", &out) < 0 || fx_output_begin(out) < 0)
		abort();
	return out;
}

/* What refers to nothing is copied as it is. */
static void expect_reference(void *opaque, const struct fxt_fault *fault)
{
	(void)opaque;
	if (fault->kind != FXT_FAULT_UNKNOWN_STRING && fault->kind != FXT_FAULT_UNKNOWN_THREAD)
		abort();
}

/* Closes the file, and aborts unless it is a whole archive of so many events. */
static void expect_whole(int fd, uint64_t events)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	uint64_t found = 0;

	lseek(fd, 0, SEEK_SET);
	if (fxt_reader_open_fd(fd, &reader) < 0)
		abort();
	fxt_reader_set_fault_handler(reader, expect_reference, NULL);
	while (fxt_reader_next(reader, &record) > 0)
		found += record->kind == FXT_KIND_EVENT;
	if (found != events)
		abort();
	fxt_reader_close(reader);
	close(fd);
}

/* --- Merging ---------------------------------------------------------------------------------- */

static void merge(const struct fx_merge_input *inputs, size_t count)
{
	struct fx_merge_counts counts;
	struct fx_merge *merge = NULL;
	struct fx_output *out;
	size_t at = count;
	int fd, r = fx_merge_open(inputs, count, &merge, &at);

	if (r == 0) {
		for (size_t i = 0; i < count; i++)
			fx_merge_result(merge, i);
		out = begin_output(&fd);
		r = fx_merge_write(merge, out, &counts, &at);
		if (fx_output_close(out, NULL) < 0 || r < 0)
			abort();
		expect_whole(fd, counts.events + 2 * counts.arrows);
	} else if (at >= count) {
		abort();
	}
	fx_merge_free(merge);
}

static void merge_both(const char *path, const char *other)
{
	struct fx_merge_input inputs[] = {{.path = path}, {.path = other}};

	merge(inputs, 1);
	merge(inputs, 2);
	inputs[1].has_offset = true;
	inputs[1].offset = -5;
	merge(inputs, 2);
}

/* The second archive within the input; the whole if there is none. */
static size_t find_second(const uint8_t *data, size_t size)
{
	for (size_t at = MAGIC_SIZE; at + MAGIC_SIZE <= size; at += MAGIC_SIZE) {
		if (memcmp(data + at, data, MAGIC_SIZE) == 0)
			return at;
	}
	return 0;
}

/* --- Splitting -------------------------------------------------------------------------------- */

struct parts {
	int fds[PARTS_MAX];
	size_t count;
	uint64_t events;
};

static int open_part(void *opaque, const struct fx_split_part *part, struct fx_output **ret)
{
	struct parts *parts = opaque;

	if (parts->count == PARTS_MAX)
		return -EMFILE;
	if (part->number == 0)
		abort();
	*ret = begin_output(&parts->fds[(part->number - 1) % PARTS_MAX]);
	parts->count++;
	return 0;
}

static int close_part(void *opaque, const struct fx_split_part *part, struct fx_output *out)
{
	struct parts *parts = opaque;

	if (fx_output_close(out, NULL) < 0)
		abort();
	expect_whole(parts->fds[(part->number - 1) % PARTS_MAX], part->events);
	parts->fds[(part->number - 1) % PARTS_MAX] = -1;
	parts->events += part->events;
	return 0;
}

static void split(const char *path, enum fx_split_by by, uint64_t every)
{
	struct parts parts = {0};
	struct fx_split_order order = {.path = path,
				       .by = by,
				       .every = every,
				       .open = open_part,
				       .close = close_part,
				       .opaque = &parts};
	struct fx_split_result result;
	bool said;
	int r;

	memset(parts.fds, -1, sizeof(parts.fds));
	r = fx_split(&order, &result, &said);
	if (r == 0 && (said || parts.events != result.events || parts.count != result.parts))
		abort();
	if (said && parts.count < PARTS_MAX)
		abort();
	for (size_t i = 0; i < PARTS_MAX; i++) {
		if (parts.fds[i] >= 0)
			close(parts.fds[i]);
	}
}

/* --- The others ------------------------------------------------------------------------------- */

static uint64_t count_events(const char *path)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	uint64_t events = 0;

	if (fxt_reader_open_path(path, &reader) < 0)
		abort();
	while (fxt_reader_next(reader, &record) > 0)
		events += record->kind == FXT_KIND_EVENT;
	fxt_reader_close(reader);
	return events;
}

static void symbolize(const char *path)
{
	struct fx_symbolize_result result = {0};
	struct fxt_reader *reader;
	struct fx_output *out;
	int fd;

	if (fxt_reader_open_path(path, &reader) < 0)
		abort();
	out = begin_output(&fd);
	if (fx_symbolize(reader, NULL, out, &result) < 0 && result.fault_count == 0)
		abort();
	if (fx_output_close(out, NULL) < 0)
		abort();
	if (result.left_out == 0)
		expect_whole(fd, count_events(path));
	else
		close(fd);
	fxt_reader_close(reader);
}

static void reduce(const char *path)
{
	struct fx_stock_result result = {0};
	struct fxt_reader *reader;
	struct fx_output *out;
	int fd;

	if (fxt_reader_open_path(path, &reader) < 0)
		abort();
	out = begin_output(&fd);
	if (fx_stock_write(reader, out, &result) < 0 && result.fault_count == 0)
		abort();
	if (fx_output_close(out, NULL) < 0)
		abort();
	expect_whole(fd, result.events);
	fxt_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t second = size >= MAGIC_SIZE ? find_second(data, size) : 0;
	char path[PATH_SIZE], other[PATH_SIZE];
	int fd = make_file(data, size, path);
	int other_fd = make_file(data + second, size - second, other);

	merge_both(path, other);
	split(path, FX_SPLIT_BY_TIME, 1000);
	split(path, FX_SPLIT_BY_TIME, UINT64_C(1) << 60);
	split(path, FX_SPLIT_BY_SIZE, 64);
	split(path, FX_SPLIT_BY_PROCESS, 1);
	symbolize(path);
	reduce(path);
	close(other_fd);
	close(fd);
	return 0;
}

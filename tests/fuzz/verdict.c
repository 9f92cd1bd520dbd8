/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/check-archive.h"

/* Errors that lie in what events say together, and not in how they are written. */
static const char *const senses[] = {
    "async id",		  "async end",	       "flow id",
    "flow event without", "nested deeper",     "begin/end pair crosses",
    "partly overlaps",	  "end event without", "end event inside",
};

static void on_violation(void *opaque, enum fx_severity severity, uint64_t offset, const char *text)
{
	(void)opaque;
	if (severity != FX_SEVERITY_ERROR)
		return;
	for (size_t i = 0; i < sizeof(senses) / sizeof(senses[0]); i++) {
		if (strncmp(text, senses[i], strlen(senses[i])) == 0)
			return;
	}
	fprintf(stderr, "archive: offset 0x%" PRIx64 ": %s\n", offset, text);
	abort();
}

static struct fxt_reader *open_bytes(const void *data, size_t size)
{
	struct fxt_reader *reader;

	if (fxt_reader_open_memory(data, size, &reader) != 0)
		abort();
	return reader;
}

static void check(const void *data, size_t size)
{
	struct fx_violations violations = {.handler = on_violation};
	struct fxt_reader *reader = open_bytes(data, size);
	struct fx_archive_counts counts;

	if (fx_archive_check(reader, &violations, &counts) != 0)
		abort();
	fxt_reader_close(reader);
}

/* A process that comes again in the same archive has another number there: see manager/process/identity.h. */
static bool is_process(uint64_t pid, uint64_t number)
{
	return number % 10000000 == pid;
}

static uint64_t count(const void *data, size_t size, uint64_t pid)
{
	struct fxt_reader *reader = open_bytes(data, size);
	const struct fxt_record *record;
	uint64_t found = 0;

	while (fxt_reader_next(reader, &record) > 0) {
		if (record->kind == FXT_KIND_EVENT && is_process(pid, record->event.thread.pid) &&
		    fxt_string_equals(&record->event.name, VERDICT_HONEST))
			found++;
	}
	fxt_reader_close(reader);
	return found;
}

uint64_t verdict_read(int fd, uint64_t pid)
{
	struct stat st;
	uint64_t found;
	void *data;

	if (fstat(fd, &st) != 0 || st.st_size == 0)
		abort();
	data = malloc((size_t)st.st_size);
	if (!data || pread(fd, data, (size_t)st.st_size, 0) != st.st_size)
		abort();
	check(data, (size_t)st.st_size);
	found = pid ? count(data, (size_t)st.st_size, pid) : 0;
	free(data);
	return found;
}

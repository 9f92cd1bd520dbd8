/* SPDX-License-Identifier: MIT */
#include "tests/manager/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "format/check-archive.h"

const char *archive_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/fxtrace-unit.%d.fxt", (int)getpid());
	return path;
}

void archive_remove(void)
{
	unlink(archive_path());
}

static struct fxt_reader *reader_of(const char *path)
{
	struct fxt_reader *reader;
	int r = fxt_reader_open_path(path, &reader);

	cr_assert_eq(r, 0, "%s: %s", path, strerror(-r));
	return reader;
}

static void print_violation(void *opaque, enum fx_severity severity, uint64_t offset,
			    const char *text)
{
	(void)opaque;
	if (severity == FX_SEVERITY_ERROR)
		fprintf(stderr, "offset 0x%" PRIx64 ": %s\n", offset, text);
}

void archive_expect_clean(const char *path)
{
	struct fx_violations violations = {.handler = print_violation};
	struct fxt_reader *reader = reader_of(path);
	struct fx_archive_counts counts;

	cr_assert_eq(fx_archive_check(reader, &violations, &counts), 0);
	fxt_reader_close(reader);
	cr_assert_eq(violations.errors, 0);
}

uint64_t archive_each(const char *path,
		      void (*each)(const struct fxt_record *record, void *context), void *context)
{
	struct fxt_reader *reader = reader_of(path);
	const struct fxt_record *record;
	uint64_t count = 0;
	int r;

	while ((r = fxt_reader_next(reader, &record)) > 0) {
		each(record, context);
		count++;
	}
	cr_assert_eq(r, 0, "%s", strerror(-r));
	cr_assert_eq(fxt_reader_fault_count(reader), 0);
	fxt_reader_close(reader);
	return count;
}

struct kind_count {
	enum fxt_kind kind;
	uint64_t count;
};

static void count_kind(const struct fxt_record *record, void *context)
{
	struct kind_count *wanted = context;

	wanted->count += record->kind == wanted->kind;
}

uint64_t archive_count(const char *path, enum fxt_kind kind)
{
	struct kind_count wanted = {.kind = kind};

	archive_each(path, count_kind, &wanted);
	return wanted.count;
}

uint64_t archive_count_cut(const char *path, enum fxt_kind kind)
{
	struct fxt_reader *reader = reader_of(path);
	const struct fxt_record *record;
	uint64_t count = 0;
	int r;

	while ((r = fxt_reader_next(reader, &record)) > 0)
		count += record->kind == kind;
	cr_assert_eq(r, 0, "%s", strerror(-r));
	cr_assert_leq(fxt_reader_fault_count(reader), 1);
	fxt_reader_close(reader);
	return count;
}

static void copy_text(char *to, size_t size, const struct fxt_string *from)
{
	snprintf(to, size, "%.*s", (int)from->length, from->data);
}

static bool first_number(const struct fxt_record *record, int64_t *ret)
{
	for (uint32_t i = 0; i < record->nargs; i++) {
		if (record->args[i].type == FXT_ARG_INT64 ||
		    record->args[i].type == FXT_ARG_UINT64) {
			*ret = record->args[i].int64;
			return true;
		}
	}
	return false;
}

static void find_event(const struct fxt_record *record, void *context)
{
	struct found_event *f = context;
	const struct fxt_arg *arg;

	if (record->kind != FXT_KIND_EVENT || record->event.type != f->type ||
	    !fxt_string_equals(&record->event.name, f->name))
		return;
	if (f->count++)
		return;
	f->event = record->event;
	f->tid = record->event.thread.tid;
	f->pid = record->event.thread.pid;
	f->nargs = record->nargs;
	copy_text(f->category, sizeof(f->category), &record->event.category);
	first_number(record, &f->first_int);
	arg = fxt_record_find_arg(record, "unfinished");
	f->unfinished = arg && arg->type == FXT_ARG_BOOL && arg->boolean;
}

uint64_t archive_count_events(const char *path, unsigned type, const char *name)
{
	struct found_event f = {.type = type, .name = name};

	archive_each(path, find_event, &f);
	return f.count;
}

struct found_event archive_find_event(const char *path, unsigned type, const char *name)
{
	struct found_event f = {.type = type, .name = name};

	archive_each(path, find_event, &f);
	cr_assert_gt(f.count, 0, "no event '%s' of type %u", name, type);
	return f;
}

/* SPDX-License-Identifier: MIT */
/*
 * An archive that a test has made the manager write: checked as a whole, and read record by record.
 */
#ifndef FX_TESTS_MANAGER_RECORDS_H
#define FX_TESTS_MANAGER_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <fxtrace/reader.h>

/* A file of the test's own; the same name at every call. */
const char *archive_path(void);
void archive_remove(void);

/* Ends the test if `fxtrace check` would find an error. */
void archive_expect_clean(const char *path);

/* Calls `each` for every record; returns their number. */
uint64_t archive_each(const char *path,
		      void (*each)(const struct fxt_record *record, void *context), void *context);

/* How many records are of this kind. */
uint64_t archive_count(const char *path, enum fxt_kind kind);

/* The same in an archive that may end in the middle of a record or of compressed data. */
uint64_t archive_count_cut(const char *path, enum fxt_kind kind);

/* How many events have this type and name. */
uint64_t archive_count_events(const char *path, unsigned type, const char *name);

/* What is wanted of an event, and a copy of the first one found. */
struct found_event {
	unsigned type;
	const char *name;
	uint64_t count;
	struct fxt_event event; /* strings are not valid any more */
	uint64_t tid, pid;
	char category[32];
	uint32_t nargs;
	int64_t first_int; /* first argument that is a number */
	bool unfinished;   /* has the argument, and it is true */
};

/* Finds events by type and name; ends the test if there is none. */
struct found_event archive_find_event(const char *path, unsigned type, const char *name);

#endif

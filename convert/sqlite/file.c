/* SPDX-License-Identifier: MIT */
/*
 * A database file. sqlite writes to places of its own choice, so it gets a file in the folder for temporary ones, whose
 * name is taken away at once; what it has become is copied to the output, be that a file, a pipe, or compressed.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/formats.h"
#include "lists/spill.h"
#include "convert/sqlite/tables.h"

enum { SQL_FILE_PIECE = 1 << 20 };

struct sql_file {
	struct fx_sql_tables tables;
	struct fx_exporter_ops ops;
	sqlite3 *db;
	int fd; /* the same file */
};

static struct sql_file *sql_file_get(struct fx_exporter *exporter)
{
	return (struct sql_file *)exporter;
}

/* There is one writer, and nothing to go back to: what fails is thrown away. */
static int sql_file_open(struct sql_file *file)
{
	static const char settings[] =
	    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
	    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536;"
	    "PRAGMA user_version = 1";
	char *path;
	int r = fx_spill_file_named(&path);

	if (r < 0)
		return r;
	file->fd = r;
	r = sqlite3_open_v2(path, &file->db, SQLITE_OPEN_READWRITE, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_exec(file->db, settings, NULL, NULL, NULL);
	r = fx_sql_errno(file->db, r);
	unlink(path);
	free(path);
	return r < 0 ? r : fx_sql_make_tables(file->db, NULL);
}

static void sql_file_begin(struct fx_exporter *exporter)
{
	struct sql_file *file = sql_file_get(exporter);
	struct fx_sql_wants wants;
	int r = sql_file_open(file);

	fx_sql_want_all(&wants);
	fx_sql_tables_begin(&file->tables, file->db, &wants);
	if (r < 0)
		file->tables.database.error = r;
}

static int sql_file_copy(struct sql_file *file)
{
	struct fx_sink *sink = file->tables.exporter.sink;
	off_t at = 0;

	for (;;) {
		unsigned char *piece = fx_sink_reserve(sink, SQL_FILE_PIECE);
		ssize_t n = piece ? pread(file->fd, piece, SQL_FILE_PIECE, at) : 0;

		if (!piece)
			return -ENOMEM;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		fx_sink_commit(sink, (size_t)n);
		if (fx_sink_error(sink) < 0)
			return 0; /* which is said when it is closed */
		at += n;
	}
}

static void sql_file_finish(struct fx_exporter *exporter)
{
	struct sql_file *file = sql_file_get(exporter);
	int r;

	fx_sql_tables_finish(exporter);
	r = sqlite3_close(file->db);
	file->db = NULL;
	if (exporter->error == 0 && r != SQLITE_OK)
		exporter->error = -EIO;
	if (exporter->error == 0)
		exporter->error = sql_file_copy(file);
}

struct fx_exporter *fx_sqlite_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	struct sql_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->fd = -1;
	file->ops = fx_sql_tables_ops;
	file->ops.begin = sql_file_begin;
	file->ops.finish = sql_file_finish;
	fx_sql_tables_init(&file->tables, &file->ops, timeline, sink);
	return &file->tables.exporter;
}

void fx_sqlite_free(struct fx_exporter *exporter)
{
	struct sql_file *file = sql_file_get(exporter);

	fx_sql_tables_release(&file->tables);
	sqlite3_close(file->db);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

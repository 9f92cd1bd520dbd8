/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/convert.h"
#include "convert/indexer.h"
#include "load/identity.h"
#include "load/rows.h"

/* How often what the server turns out not to have is sent again. */
enum { LOAD_TRIES = 3, LOAD_DAY_SECONDS = 86400 };
#define LOAD_DAY_NS (LOAD_DAY_SECONDS * UINT64_C(1000000000))

struct load_archive {
	struct fx_clickhouse *server;
	const struct fx_load_claims *claims;
	const char *path;
	int fd;
	struct fx_load_facts facts;
	struct fx_timeline timeline;
	char host[FX_HOST_VALUE_MAX], job[FX_HOST_VALUE_MAX], uuid[33];
	int64_t begin, end;
	fx_progress *progress;
	void *opaque;
	struct fx_load_result *result;
};

/* Whether the archive is there as a whole. Returns 1, 0 or -errno. */
static int load_is_there(struct load_archive *load)
{
	const char *answer;
	int r = fx_clickhouse_ask(load->server, &answer,
				  "SELECT count() FROM archives WHERE archive = %" PRIu64,
				  load->facts.archive);

	return r < 0 ? r : atoi(answer) > 0;
}

static int32_t load_rank(const char *text)
{
	char *end;
	long rank = strtol(text, &end, 10);

	return end == text || *end || rank < 0 || rank > INT32_MAX ? -1 : (int32_t)rank;
}

static void load_take_facts(struct load_archive *load)
{
	const struct fx_load_claims *claims = load->claims;
	const struct fx_host_record *host = &load->timeline.host;
	const bool empty = load->timeline.first_ts == UINT64_MAX;

	snprintf(load->host, sizeof(load->host), "%s", claims->host ? claims->host : host->host);
	snprintf(load->job, sizeof(load->job), "%s", claims->job ? claims->job : host->job);
	snprintf(load->uuid, sizeof(load->uuid), "%016" PRIx64 "%016" PRIx64, host->uuid[0],
		 host->uuid[1]);
	load->facts.host = load->host;
	if (load->timeline.has_unix_offset && !empty)
		load->facts.day =
		    (uint16_t)((load->timeline.last_ts + (uint64_t)load->timeline.unix_offset) /
			       LOAD_DAY_NS);
	load->facts.job = load->job;
	load->facts.rank = claims->rank >= 0 ? (int32_t)claims->rank : load_rank(host->rank);
	load->begin = empty ? 0 : (int64_t)load->timeline.first_ts;
	load->end = empty ? 0 : (int64_t)load->timeline.last_ts;
}

/* Reads the archive. */
static int load_read(struct load_archive *load)
{
	int r;

	if (lseek(load->fd, 0, SEEK_SET) < 0)
		return -errno;
	r = fx_timeline_open(&load->timeline, load->fd, load->progress, load->opaque);
	load->result->fault = load->timeline.fault;
	load->result->is_damaged = load->timeline.fault.kind != FXT_FAULT_NONE;
	load_take_facts(load);
	return r;
}

/* Reads the archive and sends what is not there. */
static int load_send(struct load_archive *load, struct fx_batches *batches)
{
	struct fx_load_rows *rows = NULL;
	int r;

	fx_batches_begin(batches);
	r = fx_load_rows_new(&load->timeline, batches, &rows);
	if (r == 0)
		r = fx_convert(fx_load_rows_exporter(rows), load->progress, load->opaque);
	if (r == 0)
		r = fx_load_rows_exporter(rows)->error;
	fx_load_rows_free(rows);
	return r < 0 ? r : fx_batches_end(batches);
}

static int load_commit(struct load_archive *load, struct fx_batches *batches)
{
	fx_load_bytes *row = fx_batches_row(batches, FX_LOAD_ARCHIVES);

	fx_load_put_64(row, load->facts.archive);
	fx_load_put_text(row, load->path, strlen(load->path));
	fx_load_put_text(row, load->uuid, strlen(load->uuid));
	fx_load_put_text(row, PACKAGE_VERSION, strlen(PACKAGE_VERSION));
	fx_load_put_64(row, (uint64_t)load->begin);
	fx_load_put_64(row, (uint64_t)load->end);
	fx_load_put_64(row, fx_batches_rows(batches, FX_LOAD_SLICE));
	fx_load_put_64(row, fx_batches_sum(batches).rows);
	fx_load_put_8(row, load->result->is_damaged);
	fx_batches_done(batches, FX_LOAD_ARCHIVES);
	return fx_batches_commit(batches);
}

/* Sends until all is there. The timeline is used up by each try. */
static int load_try(struct load_archive *load, struct fx_batches *batches)
{
	bool whole = false;
	int r = fx_batches_ask(batches);

	for (int i = 0; i < LOAD_TRIES && r == 0 && !whole; i++) {
		if (i > 0) {
			fx_timeline_close(&load->timeline);
			r = load_read(load);
		}
		if (r == 0)
			r = load_send(load, batches);
		if (r == 0)
			r = fx_batches_look(batches, &whole);
	}
	load->result->sum = fx_batches_sum(batches);
	if (r < 0)
		return r;
	if (whole)
		return load_commit(load, batches);
	load->result->what = "the server has not kept what it was sent; load it again";
	return -EIO;
}

static int load_begin(struct load_archive *load)
{
	struct fx_batches *batches;
	int r = load_read(load);

	if (r < 0)
		return r;
	batches = fx_batches_new(load->server, &load->facts, load->claims->cluster);
	r = batches ? load_try(load, batches) : -ENOMEM;
	fx_batches_free(batches);
	return r;
}

int fx_load_archive(struct fx_clickhouse *server, const struct fx_load_claims *claims,
		    const char *path, int fd, fx_progress *progress, void *opaque,
		    struct fx_load_result *ret)
{
	struct load_archive load = {
	    .server = server,
	    .claims = claims,
	    .path = path,
	    .fd = fd,
	    .progress = progress,
	    .opaque = opaque,
	    .result = ret,
	};
	struct stat st;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ESPIPE;
	/* Held as long as the file is open. */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return -ESTALE;
	/* Unless it tells when it was recorded. */
	load.facts.day = (uint16_t)(st.st_mtime / LOAD_DAY_SECONDS);
	r = fx_load_identity(fd, &load.facts.archive);
	ret->archive = load.facts.archive;
	if (r == 0)
		r = load_is_there(&load);
	ret->was_there = r == 1;
	if (r == 0) {
		r = load_begin(&load);
		fx_timeline_close(&load.timeline);
	}
	return r < 0 ? r : 0;
}

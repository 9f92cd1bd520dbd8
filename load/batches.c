/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/batches.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * A batch ends with the first row beyond either. The server's own limit to a block, below which it does not divide what it
 * gets, is 1,048,576 rows unless its settings say otherwise.
 */
enum { BATCH_ROWS = 250000, BATCH_BYTES = 32 << 20 };
#define BATCH_ROWS_VARIABLE "FXTRACE_LOAD_ROWS"

/* How long a request of a loader that is gone is waited for: it ends when the server finds out. */
enum { BATCHES_WAITS = 300, BATCHES_WAIT_MS = 200 };

struct batch_list {
	FX_VECTOR(uint64_t) counts; /* rows, by number */
};

struct batch_table {
	fx_load_bytes bytes; /* of the batch in work */
	uint64_t rows;	     /* the same */
	struct batch_list made;
	struct batch_list there;
};

struct fx_batches {
	struct fx_clickhouse *server;
	const struct fx_load_facts *facts;
	const char *cluster;
	fx_load_bytes tail; /* of each row, behind its batch */
	struct batch_table tables[FX_LOAD_TABLE_COUNT];
	struct fx_batches_sum sum;
	uint64_t rows; /* that a batch has at most */
	int error;
};

static void batches_fail(struct fx_batches *batches, int error)
{
	if (batches->error == 0)
		batches->error = error;
}

/* Fewer, where a server takes less at a time. */
static uint64_t batches_rows(void)
{
	const char *text = getenv(BATCH_ROWS_VARIABLE);
	unsigned long long rows = text ? strtoull(text, NULL, 10) : 0;

	return rows > 0 && rows < BATCH_ROWS ? rows : BATCH_ROWS;
}

struct fx_batches *fx_batches_new(struct fx_clickhouse *server, const struct fx_load_facts *facts,
				  const char *cluster)
{
	struct fx_batches *batches = calloc(1, sizeof(*batches));

	if (!batches)
		return NULL;
	batches->server = server;
	batches->facts = facts;
	batches->cluster = cluster;
	batches->rows = batches_rows();
	fx_load_put_16(&batches->tail, facts->day);
	fx_load_put_text(&batches->tail, facts->host, strlen(facts->host));
	fx_load_put_text(&batches->tail, facts->job, strlen(facts->job));
	fx_load_put_32(&batches->tail, (uint32_t)facts->rank);
	if (!batches->tail.failed)
		return batches;
	fx_batches_free(batches);
	return NULL;
}

void fx_batches_free(struct fx_batches *batches)
{
	if (!batches)
		return;
	for (size_t i = 0; i < FX_LOAD_TABLE_COUNT; i++) {
		fx_vector_free(&batches->tables[i].bytes);
		fx_vector_free(&batches->tables[i].made.counts);
		fx_vector_free(&batches->tables[i].there.counts);
	}
	fx_vector_free(&batches->tail);
	free(batches);
}

static uint64_t batch_count(const struct batch_list *list, uint64_t number)
{
	return number < list->counts.count ? list->counts.items[number] : 0;
}

static int batch_set(struct batch_list *list, uint64_t number, uint64_t count)
{
	size_t before = list->counts.count;

	if (number >= UINT32_MAX)
		return -EOVERFLOW;
	if (number >= before) {
		if (fx_vector_reserve(&list->counts, number + 1 - before) < 0)
			return -ENOMEM;
		memset(list->counts.items + before, 0,
		       (number + 1 - before) * sizeof(*list->counts.items));
		list->counts.count = number + 1;
	}
	list->counts.items[number] = count;
	return 0;
}

/* --- What is there ---------------------------------------------------------------------------- */

static void batches_pause(void)
{
	nanosleep(&(struct timespec){.tv_nsec = BATCHES_WAIT_MS * 1000000L}, NULL);
}

/* Waits until no request that an earlier loader of this archive has made is in work any more. */
static int batches_wait_for_others(struct fx_batches *batches)
{
	for (int i = 0; i < BATCHES_WAITS; i++) {
		const char *answer;
		int r = fx_clickhouse_ask(batches->server, &answer,
					  "SELECT count() FROM system.processes WHERE "
					  "query_id LIKE 'fxtrace-%016" PRIx64 "-%%'",
					  batches->facts->archive);

		if (r < 0 || atoi(answer) == 0)
			return r;
		batches_pause();
	}
	return -EBUSY;
}

/* `where' chooses some batches; "": all. */
static int batches_ask_table(struct fx_batches *batches, enum fx_load_table table,
			     const char *where)
{
	struct batch_list *there = &batches->tables[table].there;
	const char *answer;
	char *at, *fields[2];
	int r = fx_clickhouse_ask(batches->server, &answer,
				  "SELECT batch, count() FROM %s WHERE archive = %" PRIu64
				  "%s GROUP BY batch FORMAT TabSeparated",
				  fx_load_table_name(table), batches->facts->archive, where);

	at = (char *)answer;
	while (r == 0 && fx_clickhouse_row(&at, fields, 2))
		r = batch_set(there, strtoull(fields[0], NULL, 10), strtoull(fields[1], NULL, 10));
	return r;
}

int fx_batches_ask(struct fx_batches *batches)
{
	int r = batches_wait_for_others(batches);

	for (size_t i = 0; i < FX_LOAD_ARCHIVES && r == 0; i++) {
		batches->tables[i].there.counts.count = 0;
		r = batches_ask_table(batches, i, "");
	}
	return r;
}

/* --- Sending ---------------------------------------------------------------------------------- */

static int batches_insert(struct fx_batches *batches, enum fx_load_table table)
{
	struct batch_table *at = &batches->tables[table];
	char statement[100], id[100];

	snprintf(statement, sizeof(statement), "INSERT INTO %s FORMAT RowBinary",
		 fx_load_table_name(table));
	snprintf(id, sizeof(id), "fxtrace-%016" PRIx64 "-%s-%zu", batches->facts->archive,
		 fx_load_table_name(table), at->made.counts.count - 1);
	return fx_clickhouse_insert(batches->server, statement, id, at->bytes.items,
				    at->bytes.count);
}

/* The same batch, still in work for another loader, is waited for, and looked at. */
static int batches_send(struct fx_batches *batches, enum fx_load_table table)
{
	struct batch_table *at = &batches->tables[table];
	size_t number = at->made.counts.count - 1;
	char where[40];
	int r = batches_insert(batches, table);

	snprintf(where, sizeof(where), " AND batch = %zu", number);
	for (int i = 0; i < BATCHES_WAITS && r < 0 &&
			fx_clickhouse_code(batches->server) == FX_CLICKHOUSE_RUNS_ALREADY;
	     i++) {
		batches_pause();
		r = batches_ask_table(batches, table, where);
		if (r < 0 || batch_count(&at->there, number) > 0)
			return r;
		r = batches_insert(batches, table);
	}
	return r;
}

/* Takes away a batch that is there otherwise than it was made. */
static int batches_take_away(struct fx_batches *batches, enum fx_load_table table, size_t number)
{
	const char *local = batches->cluster ? "_local" : "", *name = fx_load_table_name(table);
	const char *answer = "1";
	int r = fx_clickhouse_ask(
	    batches->server, NULL,
	    "ALTER TABLE %s%s%s%s DELETE WHERE archive = %" PRIu64 " AND batch = %zu", name, local,
	    batches->cluster ? " ON CLUSTER " : "", batches->cluster ? batches->cluster : "",
	    batches->facts->archive, number);

	for (int i = 0; i < BATCHES_WAITS && r == 0; i++) {
		r = fx_clickhouse_ask(batches->server, &answer,
				      "SELECT count() FROM system.mutations WHERE database = '%s' "
				      "AND table = '%s%s' AND is_done = 0",
				      fx_clickhouse_database(batches->server), name, local);
		if (r < 0 || atoi(answer) == 0)
			return r;
		batches_pause();
	}
	return r < 0 ? r : -EBUSY;
}

/* Ends the batch in work. */
static void batches_cut(struct fx_batches *batches, enum fx_load_table table)
{
	struct batch_table *at = &batches->tables[table];
	size_t number = at->made.counts.count;
	uint64_t there = batch_count(&at->there, number);
	int r = batches->error;

	if (r == 0)
		r = batch_set(&at->made, number, at->rows);
	if (r == 0 && there > 0 && there != at->rows) {
		r = batches_take_away(batches, table, number);
		there = 0;
	}
	if (r == 0 && there == 0) {
		r = batches_send(batches, table);
		batches->sum.sent += at->rows;
		batches->sum.bytes += at->bytes.count;
	}
	if (r < 0)
		batches_fail(batches, r);
	at->bytes.count = 0;
	at->rows = 0;
}

/* --- Rows ------------------------------------------------------------------------------------- */

void fx_batches_begin(struct fx_batches *batches)
{
	for (size_t i = 0; i < FX_LOAD_TABLE_COUNT; i++) {
		struct batch_table *table = &batches->tables[i];

		table->bytes.count = 0;
		table->rows = 0;
		table->made.counts.count = 0;
	}
	batches->sum.rows = 0;
}

fx_load_bytes *fx_batches_row(struct fx_batches *batches, enum fx_load_table table)
{
	return &batches->tables[table].bytes;
}

void fx_batches_done(struct fx_batches *batches, enum fx_load_table table)
{
	struct batch_table *at = &batches->tables[table];

	fx_load_put_64(&at->bytes, batches->facts->archive);
	fx_load_put_32(&at->bytes, (uint32_t)at->made.counts.count);
	fx_load_put(&at->bytes, batches->tail.items, batches->tail.count);
	if (at->bytes.failed)
		batches_fail(batches, -ENOMEM);
	at->rows++;
	batches->sum.rows += table != FX_LOAD_ARCHIVES;
	if (at->rows >= batches->rows || at->bytes.count >= BATCH_BYTES)
		batches_cut(batches, table);
}

int fx_batches_error(const struct fx_batches *batches)
{
	return batches->error;
}

int fx_batches_end(struct fx_batches *batches)
{
	for (size_t i = 0; i < FX_LOAD_ARCHIVES; i++) {
		if (batches->tables[i].rows > 0)
			batches_cut(batches, i);
	}
	return batches->error;
}

int fx_batches_commit(struct fx_batches *batches)
{
	batches_cut(batches, FX_LOAD_ARCHIVES);
	return batches->error;
}

/* --- Whether all is there --------------------------------------------------------------------- */

static int batches_look_at(struct fx_batches *batches, enum fx_load_table table, bool *ret_whole)
{
	struct batch_table *at = &batches->tables[table];
	size_t count = at->made.counts.count > at->there.counts.count ? at->made.counts.count
								      : at->there.counts.count;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		uint64_t made = batch_count(&at->made, i), there = batch_count(&at->there, i);

		if (made == there)
			continue;
		*ret_whole = false;
		if (there > 0)
			r = batches_take_away(batches, table, i);
	}
	return r;
}

int fx_batches_look(struct fx_batches *batches, bool *ret_whole)
{
	int r = fx_batches_ask(batches);

	*ret_whole = true;
	for (size_t i = 0; i < FX_LOAD_ARCHIVES && r == 0; i++)
		r = batches_look_at(batches, i, ret_whole);
	return r;
}

struct fx_batches_sum fx_batches_sum(const struct fx_batches *batches)
{
	return batches->sum;
}

uint64_t fx_batches_rows(const struct fx_batches *batches, enum fx_load_table table)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < batches->tables[table].made.counts.count; i++)
		rows += batches->tables[table].made.counts.items[i];
	return rows;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "convert/indexer.h"
#include "lists/spill.h"
#include "load/fetch-state.h"

#define FETCH_NS UINT64_C(1000000000)

uint64_t fx_fetch_number(const char *text)
{
	return *text == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
}

uint64_t fx_fetch_time(const struct fx_fetch *fetch, const char *text)
{
	return fx_fetch_number(text) - fetch->earlier;
}

/* --- Counters, and the scheduler -------------------------------------------------------------- */

/* Values of one event stand behind one another; a key that comes again is another event's. */
static bool fetch_goes_on(const struct fxt_record *record, const struct fx_fetch_thread *thread,
			  uint64_t ts, char **fields)
{
	if (record->nargs == 0 || record->nargs == FXT_MAX_ARGS || record->event.timestamp != ts ||
	    record->event.thread.pid != thread->pid || record->event.thread.tid != thread->tid ||
	    record->event.counter_id != fx_fetch_number(fields[3]) ||
	    strcmp(record->event.category.data, fields[4]) != 0 ||
	    strcmp(record->event.name.data, fields[5]) != 0)
		return false;
	for (uint32_t i = 0; i < record->nargs; i++) {
		if (strcmp(record->args[i].name.data, fields[6]) == 0)
			return false;
	}
	return true;
}

/* A counter's event in the making: its texts are kept here. */
struct fetch_counter {
	struct fxt_record record;
	char *texts[2 + FXT_MAX_ARGS];
	size_t count;
};

static int fetch_counter_write(struct fx_fetch *fetch, struct fetch_counter *counter)
{
	int r = counter->record.nargs > 0 ? fxt_writer_write(fetch->writer, &counter->record) : 0;

	for (size_t i = 0; i < counter->count; i++)
		free(counter->texts[i]);
	counter->count = 0;
	counter->record.nargs = 0;
	return r;
}

static struct fxt_string fetch_counter_text(struct fetch_counter *counter, const char *text)
{
	char *copy = strdup(text);

	if (copy)
		counter->texts[counter->count++] = copy;
	return fxt_text(copy);
}

static int fetch_counter_take(struct fx_fetch *fetch, struct fetch_counter *counter, char **fields)
{
	const struct fx_fetch_thread *thread = fx_fetch_thread(fetch, fields[1]);
	uint64_t ts = fx_fetch_time(fetch, fields[0]);
	struct fxt_arg *arg;
	double value;
	int r = 0;

	if (!thread)
		return 0;
	if (!fetch_goes_on(&counter->record, thread, ts, fields)) {
		r = fetch_counter_write(fetch, counter);
		counter->record.kind = FXT_KIND_EVENT;
		memset(&counter->record.event, 0, sizeof(counter->record.event));
		counter->record.event.type = FXT_EVENT_COUNTER;
		counter->record.event.thread = fxt_thread_of(thread->pid, thread->tid);
		counter->record.event.timestamp = ts;
		counter->record.event.counter_id = fx_fetch_number(fields[3]);
		counter->record.event.category = fetch_counter_text(counter, fields[4]);
		counter->record.event.name = fetch_counter_text(counter, fields[5]);
	}
	value = strtod(fields[2], NULL);
	/* Whole numbers are such again, as far as a double tells them. */
	arg = fxt_record_add_arg(&counter->record, NULL,
				 value == (double)(int64_t)value ? FXT_ARG_INT64 : FXT_ARG_DOUBLE);
	arg->name = fetch_counter_text(counter, fields[6]);
	if (arg->type == FXT_ARG_INT64)
		arg->int64 = (int64_t)value;
	else
		arg->real = value;
	return r;
}

static int fetch_counters(struct fx_fetch *fetch)
{
	struct fetch_counter counter = {.count = 0};
	struct fx_answer *answer;
	char **fields;
	int r =
	    fx_answer_open(fetch->server, &answer,
			   "SELECT ts, utid, value, number, category, name, key FROM counter WHERE "
			   "archive = %" PRIu64 " ORDER BY id SETTINGS "
			   "max_bytes_before_external_sort = 300000000 FORMAT TabSeparated",
			   fetch->archive);

	while (r == 0 && (fields = fx_answer_next(answer)))
		r = fetch_counter_take(fetch, &counter, fields);
	if (r == 0)
		r = fetch_counter_write(fetch, &counter);
	if (r == 0)
		r = fx_answer_error(answer);
	fx_answer_close(answer);
	return r;
}

static int fetch_sched_take(struct fx_fetch *fetch, char **fields)
{
	bool is_wakeup = fields[1][0] == '1';
	struct fxt_record record = {.kind = is_wakeup ? FXT_KIND_THREAD_WAKEUP
						      : FXT_KIND_CONTEXT_SWITCH};
	uint64_t tid = fx_fetch_number(fields[3]), other = fx_fetch_number(fields[4]);

	record.scheduling.timestamp = fx_fetch_time(fetch, fields[0]);
	record.scheduling.cpu = (uint16_t)fx_fetch_number(fields[2]);
	record.scheduling.incoming.tid = tid ? tid + fetch->shift : 0;
	other = other ? other + fetch->shift : 0;
	if (is_wakeup) {
		fxt_record_add_arg(&record, "waker", FXT_ARG_KOID)->koid = other;
	} else {
		record.scheduling.outgoing.tid = other;
		record.scheduling.outgoing_state = (uint8_t)fx_fetch_number(fields[5]);
	}
	return fxt_writer_write(fetch->writer, &record);
}

static int fetch_scheds(struct fx_fetch *fetch)
{
	struct fx_answer *answer;
	char **fields;
	int r =
	    fx_answer_open(fetch->server, &answer,
			   "SELECT ts, is_wakeup, cpu, tid, other, other_state FROM sched_event "
			   "WHERE archive = %" PRIu64 " ORDER BY id FORMAT TabSeparated",
			   fetch->archive);

	while (r == 0 && (fields = fx_answer_next(answer)))
		r = fetch_sched_take(fetch, fields);
	if (r == 0)
		r = fx_answer_error(answer);
	fx_answer_close(answer);
	return r;
}

/* --- Archives --------------------------------------------------------------------------------- */

static int fetch_archive(struct fx_fetch *fetch, char **fields)
{
	uint64_t begin = fx_fetch_number(fields[1]), end = fx_fetch_number(fields[2]);
	int r;

	fetch->archive = fx_fetch_number(fields[0]);
	fetch->number++;
	/* Not down to 0, which some take for no time. */
	fetch->earlier = fetch->is_apart && begin > 0 ? begin - 1 : 0;
	if (begin - fetch->earlier < fetch->begin && begin > 0)
		fetch->begin = begin - fetch->earlier;
	if (end - fetch->earlier > fetch->end)
		fetch->end = end - fetch->earlier;
	r = fxt_writer_provider(fetch->writer, (uint32_t)fetch->number, fields[3], FETCH_NS);
	if (r == 0)
		r = fx_fetch_names(fetch);
	if (r == 0)
		r = fx_fetch_slices(fetch);
	if (r == 0)
		r = fetch_counters(fetch);
	return r < 0 ? r : fetch_scheds(fetch);
}

static int fetch_archives(struct fx_fetch *fetch)
{
	struct fx_answer *answer;
	const char *hosts;
	char **fields;
	int r = fx_clickhouse_ask(fetch->server, &hosts,
				  "SELECT uniqExact(host) FROM archives WHERE %s",
				  fetch->order->archives);

	if (r < 0)
		return r;
	fetch->is_apart = fx_fetch_number(hosts) > 1;
	r = fx_answer_open(
	    fetch->server, &answer,
	    "SELECT archive, start_ts, end_ts, substring(file, 1, 99) FROM archives WHERE %s "
	    "ORDER BY host, rank, file, archive FORMAT TabSeparated",
	    fetch->order->archives);
	while (r == 0 && (fields = fx_answer_next(answer)))
		r = fetch_archive(fetch, fields);
	if (r == 0)
		r = fx_answer_error(answer);
	fx_answer_close(answer);
	return r;
}

/* Where all were recorded, if it is one place. */
static int fetch_host(struct fx_fetch *fetch, struct fx_timeline *timeline)
{
	static const char *const names[] = {"fxtrace_host", "system_name", "system_release",
					    "system_machine", "fxtrace_recorder"};
	struct fx_host_record *host = &timeline->host;
	char *const to[] = {host->host, host->system, host->release, host->machine, host->fxtrace};
	struct fx_answer *answer;
	char **fields;
	int r = fx_answer_open(
	    fetch->server, &answer,
	    "SELECT name, any(ifNull(str_value, '')) FROM metadata WHERE archive GLOBAL IN "
	    "(SELECT archive FROM archives WHERE %s) GROUP BY name HAVING "
	    "uniqExact(ifNull(str_value, '')) = 1 FORMAT TabSeparated",
	    fetch->order->archives);

	while (r == 0 && (fields = fx_answer_next(answer))) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (strcmp(fields[0], names[i]) == 0)
				snprintf(to[i], FX_HOST_VALUE_MAX, "%s", fields[1]);
		}
	}
	if (r == 0)
		r = fx_answer_error(answer);
	fx_answer_close(answer);
	return r;
}

static int fetch_read(struct fx_fetch *fetch, int fd, struct fx_timeline *ret)
{
	int r;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	r = fx_timeline_open(ret, fd, NULL, NULL);
	if (r == 0)
		r = fetch_host(fetch, ret);
	if (r < 0) {
		fx_timeline_close(ret);
		return r;
	}
	if (fetch->begin <= fetch->end) {
		ret->first_ts = fetch->begin;
		ret->last_ts = fetch->end;
	}
	return 0;
}

int fx_fetch(struct fx_clickhouse *server, const struct fx_fetch_order *order,
	     struct fx_timeline *ret)
{
	struct fx_fetch fetch = {.server = server, .order = order, .begin = UINT64_MAX};
	int fd = fx_spill_file(), r, closed;

	if (fd < 0)
		return fd;
	r = fxt_writer_open_fd(fd, &fetch.writer);
	if (r == 0) {
		r = fetch_archives(&fetch);
		closed = fxt_writer_close(fetch.writer);
		r = r < 0 ? r : closed;
	}
	if (r == 0)
		r = fetch_read(&fetch, fd, ret);
	fx_fetch_names_release(&fetch);
	close(fd);
	return r;
}

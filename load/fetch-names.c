/* SPDX-License-Identifier: MIT */
/* Who is in an archive: processes with what is told of them, threads, and ids that no other archive has. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "load/fetch-state.h"

/* As archives that are merged are kept apart. */
#define FETCH_STEP UINT64_C(10000000)

/* --- Ids that are free ------------------------------------------------------------------------ */

static bool fetch_is_taken(const struct fx_fetch *fetch, uint64_t id)
{
	struct fx_fetch_id *found;

	HASH_FIND(hh, fetch->taken, &id, sizeof(id), found);
	return found;
}

static int fetch_take(struct fx_fetch *fetch, uint64_t id)
{
	struct fx_fetch_id *taken;

	if (fetch_is_taken(fetch, id))
		return 0;
	taken = calloc(1, sizeof(*taken));
	if (!taken)
		return -ENOMEM;
	taken->id = id;
	HASH_ADD(hh, fetch->taken, id, sizeof(taken->id), taken);
	return 0;
}

static bool fetch_is_free(const struct fx_fetch *fetch, uint64_t shift)
{
	for (size_t i = 0; i < fetch->threads.count; i++) {
		const struct fx_fetch_thread *thread = &fetch->threads.items[i];

		if (thread->pid && (fetch_is_taken(fetch, thread->pid + shift) ||
				    fetch_is_taken(fetch, thread->tid + shift)))
			return false;
	}
	return true;
}

static int fetch_move(struct fx_fetch *fetch)
{
	int r = 0;

	fetch->shift = 0;
	while (!fetch_is_free(fetch, fetch->shift))
		fetch->shift += FETCH_STEP;
	for (size_t i = 0; i < fetch->threads.count && r == 0; i++) {
		struct fx_fetch_thread *thread = &fetch->threads.items[i];

		if (!thread->pid)
			continue;
		thread->pid += fetch->shift;
		thread->tid += fetch->shift;
		r = fetch_take(fetch, thread->pid);
		if (r == 0)
			r = fetch_take(fetch, thread->tid);
	}
	return r;
}

/* --- Processes -------------------------------------------------------------------------------- */

/* What is told of a process: its arguments in the order of the columns. */
static const char *const fetch_abouts[] = {"user",     "command",      "executable", "directory",
					   "title",    "container",    "pod",	     "image",
					   "pod_name", "pod_namespace"};
enum { FETCH_ABOUTS = sizeof(fetch_abouts) / sizeof(fetch_abouts[0]) };

static int fetch_put_process(struct fx_fetch *fetch, uint64_t pid, char **fields)
{
	struct fxt_record record = {.kind = FXT_KIND_KERNEL_OBJECT};

	record.kernel_object.type = FXT_OBJECT_PROCESS;
	record.kernel_object.koid = pid;
	record.kernel_object.name = fxt_text(fields[0]);
	for (size_t i = 0; i < FETCH_ABOUTS; i++) {
		if (fields[1 + i][0])
			fxt_record_add_arg(&record, fetch_abouts[i], FXT_ARG_STRING)->string =
			    fxt_text(fields[1 + i]);
	}
	return fields[0][0] ? fxt_writer_write(fetch->writer, &record) : 0;
}

/* Makes place for what stands at a number from 1 on. */
#define FETCH_AT(list, number, limit)                                                              \
	((number) > (limit) || fx_vector_reserve(list, (number) + 1 - (list)->count) < 0           \
	     ? -ENOMEM                                                                             \
	     : (memset((list)->items + (list)->count, 0,                                           \
		       ((number) + 1 - (list)->count) * sizeof(*(list)->items)),                   \
		(list)->count = (number) + 1, 0))

/* There cannot be more; a server that says so is not believed. */
enum { FETCH_NUMBERS_MAX = 100000000 };

static int fetch_ask_pids(struct fx_fetch *fetch)
{
	struct fx_answer *answer;
	char **fields;
	int r = fx_answer_open(fetch->server, &answer,
			       "SELECT upid, pid FROM process WHERE archive = %" PRIu64
			       " ORDER BY upid FORMAT TabSeparated",
			       fetch->archive);

	while (r == 0 && (fields = fx_answer_next(answer))) {
		uint64_t upid = fx_fetch_number(fields[0]);

		if (upid >= fetch->processes.count)
			r = FETCH_AT(&fetch->processes, upid, FETCH_NUMBERS_MAX);
		if (r == 0)
			fetch->processes.items[upid] = fx_fetch_number(fields[1]);
	}
	if (r == 0)
		r = fx_answer_error(answer);
	fx_answer_close(answer);
	return r;
}

static int fetch_ask_processes(struct fx_fetch *fetch)
{
	struct fx_answer *answer;
	char **fields;
	int r = fx_answer_open(
	    fetch->server, &answer,
	    "SELECT pid, name, ifNull(toString(uid), ''), cmdline, executable, directory, title, "
	    "container, pod, image, pod_name, pod_namespace FROM process WHERE archive = %" PRIu64
	    " ORDER BY upid FORMAT TabSeparated",
	    fetch->archive);

	while (r == 0 && (fields = fx_answer_next(answer)))
		r = fetch_put_process(fetch, fx_fetch_number(fields[0]) + fetch->shift, fields + 1);
	if (r == 0)
		r = fx_answer_error(answer);
	fx_answer_close(answer);
	return r;
}

/* --- Threads ---------------------------------------------------------------------------------- */

static int fetch_note_thread(struct fx_fetch *fetch, char **fields)
{
	uint64_t utid = fx_fetch_number(fields[0]), upid = fx_fetch_number(fields[2]);

	if (utid >= fetch->threads.count && FETCH_AT(&fetch->threads, utid, FETCH_NUMBERS_MAX) < 0)
		return -ENOMEM;
	if (upid > 0 && upid < fetch->processes.count)
		fetch->threads.items[utid] = (struct fx_fetch_thread){fetch->processes.items[upid],
								      fx_fetch_number(fields[1])};
	return 0;
}

static int fetch_ask_threads(struct fx_fetch *fetch, bool are_named)
{
	struct fx_answer *answer;
	char **fields;
	int r = fx_answer_open(
	    fetch->server, &answer,
	    "SELECT utid, tid, ifNull(upid, 0), name FROM thread WHERE archive = %" PRIu64
	    " ORDER BY utid FORMAT TabSeparated",
	    fetch->archive);

	while (r == 0 && (fields = fx_answer_next(answer))) {
		const struct fx_fetch_thread *thread;

		if (!are_named) {
			r = fetch_note_thread(fetch, fields);
			continue;
		}
		thread = fx_fetch_thread(fetch, fields[0]);
		if (thread && fields[3][0])
			r = fxt_writer_name_thread(fetch->writer, thread->pid, thread->tid,
						   fields[3]);
	}
	if (r == 0)
		r = fx_answer_error(answer);
	fx_answer_close(answer);
	return r;
}

const struct fx_fetch_thread *fx_fetch_thread(const struct fx_fetch *fetch, const char *utid)
{
	uint64_t number = fx_fetch_number(utid);

	return number < fetch->threads.count && fetch->threads.items[number].pid
		   ? &fetch->threads.items[number]
		   : NULL;
}

int fx_fetch_names(struct fx_fetch *fetch)
{
	int r;

	fetch->processes.count = fetch->threads.count = 0;
	r = fetch_ask_pids(fetch);
	if (r == 0)
		r = fetch_ask_threads(fetch, false);
	if (r == 0)
		r = fetch_move(fetch);
	if (r == 0)
		r = fetch_ask_processes(fetch);
	return r < 0 ? r : fetch_ask_threads(fetch, true);
}

void fx_fetch_names_release(struct fx_fetch *fetch)
{
	struct fx_fetch_id *id, *next;

	HASH_ITER (hh, fetch->taken, id, next) {
		HASH_DEL(fetch->taken, id);
		free(id);
	}
	fx_vector_free(&fetch->processes);
	fx_vector_free(&fetch->threads);
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lists/hashes.h"
#include "convert/utf8.h"
#include "base/about.h"
#include "format/clock-record.h"
#include "report/contents.h"

/* What was seen already; freed with the contents. */
struct contents_thread {
	uint64_t ids[2]; /* process, thread */
	UT_hash_handle hh;
};

struct contents_process {
	uint64_t pid;
	size_t at; /* in processes */
	UT_hash_handle hh;
};

struct contents_text {
	size_t at; /* in the list */
	char *text;
	UT_hash_handle hh;
};

struct fx_contents_index {
	struct contents_thread *threads;
	struct contents_process *processes;
	struct contents_text *categories;
	struct contents_text *losses;
	uint64_t last_ids[2];
	struct contents_process *last_process;
	uint32_t last_serial; /* of the newest category, and its place */
	size_t last_category;
};

/* --- Lists ------------------------------------------------------------------------------------ */

/* A copy that is UTF-8, without zeros; NULL: no memory. */
static char *contents_copy(const char *data, size_t length)
{
	char *copy = malloc(FX_UTF8_CLEAN_MAX(length) + 1);

	if (copy)
		copy[fx_utf8_clean(data, length, copy)] = 0;
	return copy;
}

/* Adds an item; takes the text over, also where there is no memory. */
static int contents_append(fx_tallies *list, char *text, uint64_t count)
{
	if (!text || fx_vector_reserve(list, 1) < 0) {
		free(text);
		return -ENOMEM;
	}
	list->items[list->count++] = (struct fx_tally){.text = text, .count = count};
	return 0;
}

/* The place of a text in a list, added where it is new. */
static int contents_find(struct contents_text **table, fx_tallies *list,
			 const struct fxt_string *string, size_t *ret)
{
	char *text = contents_copy(string->data, string->length);
	struct contents_text *entry;
	int r;

	if (!text)
		return -ENOMEM;
	HASH_FIND_STR(*table, text, entry);
	if (entry) {
		free(text);
		*ret = entry->at;
		return 0;
	}
	r = contents_append(list, text, 0);
	entry = r < 0 ? NULL : malloc(sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	*entry = (struct contents_text){.at = list->count - 1, .text = text};
	HASH_ADD_KEYPTR(hh, *table, entry->text, strlen(entry->text), entry);
	*ret = entry->at;
	return 0;
}

static int contents_by_count(const void *a, const void *b)
{
	const struct fx_tally *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return strcmp(one->text, other->text);
}

static void contents_sort(fx_tallies *list)
{
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), contents_by_count);
}

/* --- Processes and threads -------------------------------------------------------------------- */

static int contents_process(struct fx_contents *c, uint64_t pid, struct contents_process **ret)
{
	struct contents_process *process = c->index->last_process;

	if (!process || process->pid != pid)
		HASH_FIND(hh, c->index->processes, &pid, sizeof(pid), process);
	if (!process) {
		process = malloc(sizeof(*process));
		if (!process || contents_append(&c->processes, contents_copy("", 0), pid) < 0) {
			free(process);
			return -ENOMEM;
		}
		*process = (struct contents_process){.pid = pid, .at = c->processes.count - 1};
		HASH_ADD(hh, c->index->processes, pid, sizeof(process->pid), process);
	}
	c->index->last_process = process;
	*ret = process;
	return 0;
}

static int contents_thread(struct fx_contents *c, uint64_t pid, uint64_t tid)
{
	struct fx_contents_index *index = c->index;
	struct contents_process *process;
	struct contents_thread *thread;
	uint64_t ids[2] = {pid, tid};
	int r;

	if (index->last_ids[0] == pid && index->last_ids[1] == tid && c->threads > 0)
		return 0;
	memcpy(index->last_ids, ids, sizeof(ids));
	HASH_FIND(hh, index->threads, ids, sizeof(ids), thread);
	if (thread)
		return 0;
	r = contents_process(c, pid, &process);
	thread = r < 0 ? NULL : malloc(sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	memcpy(thread->ids, ids, sizeof(ids));
	HASH_ADD(hh, index->threads, ids, sizeof(thread->ids), thread);
	c->threads++;
	return 0;
}

static int contents_command(struct fx_contents *c, const struct fxt_record *record)
{
	const struct fxt_arg *arg = fxt_record_find_arg(record, fx_about_name(FX_ABOUT_COMMAND));

	if (c->command || !arg || arg->type != FXT_ARG_STRING || arg->string.length == 0)
		return 0;
	c->command = contents_copy(arg->string.data, arg->string.length);
	return c->command ? 0 : -ENOMEM;
}

/* The newest name of a process counts. */
static int contents_object(struct fx_contents *c, const struct fxt_record *record)
{
	const struct fxt_kernel_object *object = &record->kernel_object;
	const struct fxt_arg *owner = fxt_record_find_arg(record, "process");
	struct contents_process *process;
	char *name;
	int r;

	if (object->type == FXT_OBJECT_THREAD && owner && owner->type == FXT_ARG_KOID)
		return contents_thread(c, owner->koid, object->koid);
	if (object->type != FXT_OBJECT_PROCESS)
		return 0;
	r = contents_process(c, object->koid, &process);
	if (r == 0)
		r = contents_command(c, record);
	if (r < 0 || object->name.length == 0)
		return r;
	name = contents_copy(object->name.data, object->name.length);
	if (!name)
		return -ENOMEM;
	free(c->processes.items[process->at].text);
	c->processes.items[process->at].text = name;
	return 0;
}

/* --- What ------------------------------------------------------------------------------------- */

static void contents_time(struct fx_contents *c, const struct fxt_record *record, uint64_t ticks)
{
	uint64_t ns = fxt_ticks_to_ns(ticks, record->provider->ticks_per_second);

	if (ns > INT64_MAX)
		return;
	if (ns < c->first_ns)
		c->first_ns = ns;
	if (ns > c->last_ns)
		c->last_ns = ns;
}

static int contents_category(struct fx_contents *c, const struct fxt_string *category)
{
	struct fx_contents_index *index = c->index;
	int r = 0;

	/* The text of a serial does not change. */
	if (category->serial == 0 || category->serial != index->last_serial)
		r = contents_find(&index->categories, &c->categories, category,
				  &index->last_category);
	if (r < 0)
		return r;
	index->last_serial = category->serial;
	c->categories.items[index->last_category].count++;
	return 0;
}

/* Where records were lost the manager writes how many, and why. */
static int contents_loss(struct fx_contents *c, const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;
	const struct fxt_arg *count, *cause;
	size_t at;
	int r;

	if (event->type != FXT_EVENT_INSTANT || !fxt_string_equals(&event->name, "records dropped"))
		return 0;
	count = fxt_record_find_arg(record, "count");
	cause = fxt_record_find_arg(record, "cause");
	if (!count || count->type != FXT_ARG_UINT64 || !cause || cause->type != FXT_ARG_STRING)
		return 0;
	r = contents_find(&c->index->losses, &c->losses, &cause->string, &at);
	if (r == 0)
		c->losses.items[at].count += count->uint64;
	return r;
}

static int contents_event(struct fx_contents *c, const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;
	int r = contents_thread(c, event->thread.pid, event->thread.tid);

	c->events++;
	c->events_of[event->type]++;
	contents_time(c, record, event->timestamp);
	if (event->type == FXT_EVENT_DURATION_COMPLETE)
		contents_time(c, record, event->end_time);
	if (r == 0)
		r = contents_category(c, &event->category);
	return r < 0 ? r : contents_loss(c, record);
}

static void contents_clock(struct fx_contents *c, uint64_t ticks_per_second)
{
	if (c->ticks_per_second == 0)
		c->ticks_per_second = ticks_per_second;
	else if (c->ticks_per_second != ticks_per_second)
		c->has_clocks = true;
}

/* What the date was when the clock began, by the first clock record. */
static void contents_date(struct fx_contents *c, const struct fxt_record *record)
{
	struct fx_clock_record clock;

	if (c->epoch == 0 && fx_clock_record_decode(record, &clock))
		c->epoch = (int64_t)(clock.realtime - clock.ns);
}

static int contents_record(struct fx_contents *c, const struct fxt_record *record)
{
	c->records++;
	c->records_of[record->kind]++;
	c->bytes = record->offset + record->size * FXT_WORD_SIZE;
	switch (record->kind) {
	case FXT_KIND_PROVIDER_INFO:
		c->providers++;
		return 0;
	case FXT_KIND_PROVIDER_EVENT:
		c->full_buffers += record->provider_record.event == FXT_PROVIDER_BUFFER_FULL;
		return 0;
	case FXT_KIND_INITIALIZATION:
		contents_clock(c, record->initialization.ticks_per_second);
		return 0;
	case FXT_KIND_KERNEL_OBJECT:
		return contents_object(c, record);
	case FXT_KIND_EVENT:
		return contents_event(c, record);
	case FXT_KIND_LOG:
		contents_time(c, record, record->log.timestamp);
		return contents_thread(c, record->log.thread.pid, record->log.thread.tid);
	case FXT_KIND_LARGE_EVENT:
		contents_time(c, record, record->large_blob.timestamp);
		return contents_thread(c, record->large_blob.thread.pid,
				       record->large_blob.thread.tid);
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		contents_time(c, record, record->scheduling.timestamp);
		return 0;
	case FXT_KIND_BLOB:
		contents_date(c, record);
		if (!c->host.host[0])
			fx_host_record_decode(record, &c->host);
		return 0;
	default:
		return 0;
	}
}

static void contents_fault(void *opaque, const struct fxt_fault *fault)
{
	struct fx_contents *c = opaque;

	if (c->faults++ == 0)
		c->fault = *fault;
}

int fx_contents_read(struct fx_contents *contents, struct fxt_reader *reader)
{
	const struct fxt_record *record;
	int r;

	*contents = (struct fx_contents){.first_ns = UINT64_MAX};
	contents->index = calloc(1, sizeof(*contents->index));
	if (!contents->index)
		return -ENOMEM;
	fxt_reader_set_fault_handler(reader, contents_fault, contents);
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		r = contents_record(contents, record);
		if (r < 0)
			return r;
	}
	contents_sort(&contents->categories);
	contents_sort(&contents->losses);
	return r;
}

/* --- The end ---------------------------------------------------------------------------------- */

static void contents_free_list(fx_tallies *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].text);
	fx_vector_free(list);
}

/* Their texts are those of the lists, which are freed behind them. */
#define CONTENTS_FREE_TABLE(type, table)                                                           \
	do {                                                                                       \
		type *item, *next;                                                                 \
		HASH_ITER (hh, table, item, next) {                                                \
			HASH_DEL(table, item);                                                     \
			free(item);                                                                \
		}                                                                                  \
	} while (0)

void fx_contents_free(struct fx_contents *contents)
{
	struct fx_contents_index *index = contents->index;

	free(contents->command);

	if (index) {
		CONTENTS_FREE_TABLE(struct contents_thread, index->threads);
		CONTENTS_FREE_TABLE(struct contents_process, index->processes);
		CONTENTS_FREE_TABLE(struct contents_text, index->categories);
		CONTENTS_FREE_TABLE(struct contents_text, index->losses);
		free(index);
	}
	contents_free_list(&contents->processes);
	contents_free_list(&contents->categories);
	contents_free_list(&contents->losses);
	contents->index = NULL;
}

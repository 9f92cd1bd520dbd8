/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/names.h"
#include "convert/provider.h"
#include "convert/sort.h"
#include "convert/records.h"
#include "convert/timeline.h"

/* --- Processes --------------------------------------------------------------------------------- */

struct fx_process *fx_timeline_process(struct fx_timeline *timeline, uint64_t pid)
{
	struct fx_process *process;

	HASH_FIND(hh, timeline->process_table, &pid, sizeof(pid), process);
	if (process)
		return process;
	if (fx_vector_reserve(&timeline->processes, 1) < 0)
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->number = (uint32_t)timeline->processes.count;
	timeline->processes.items[timeline->processes.count++] = process;
	HASH_ADD(hh, timeline->process_table, pid, sizeof(process->pid), process);
	return process;
}

/* --- Threads ----------------------------------------------------------------------------------- */

enum {
	THREADS_OF_SLAB = 32,
	TABLE_FIRST = 64, /* slots; half of them are in use at most */
};

/* Where a thread is looked for first. */
static size_t timeline_slot(const struct fx_thread_numbers *table, uint64_t pid, uint64_t tid)
{
	uint64_t hash = (pid ^ tid << 32 ^ tid >> 32) * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 29 ^ pid >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
	return (size_t)(hash ^ hash >> 32) & (table->size - 1);
}

/* Its slot, or the empty one where it belongs. */
static uint32_t *timeline_find_slot(const struct fx_timeline *timeline, uint64_t pid, uint64_t tid)
{
	const struct fx_thread_numbers *table = &timeline->thread_table;
	size_t at = timeline_slot(table, pid, tid);

	for (; table->slots[at]; at = (at + 1) & (table->size - 1)) {
		const struct fx_thread *thread = timeline->threads.items[table->slots[at] - 1];

		if (thread->key.tid == tid && thread->key.pid == pid)
			break;
	}
	return &table->slots[at];
}

struct fx_thread *fx_timeline_find_thread(const struct fx_timeline *timeline, uint64_t pid,
					  uint64_t tid)
{
	uint32_t number;

	if (timeline->thread_table.size == 0)
		return NULL;
	number = *timeline_find_slot(timeline, pid, tid);
	return number ? timeline->threads.items[number - 1] : NULL;
}

/* Makes room for one more. Returns 0 or -ENOMEM. */
static int timeline_reserve_slot(struct fx_timeline *timeline)
{
	struct fx_thread_numbers *table = &timeline->thread_table, old = *table;

	if (timeline->threads.count < table->size / 2)
		return 0;
	table->size = old.size ? 2 * old.size : TABLE_FIRST;
	table->slots = calloc(table->size, sizeof(*table->slots));
	if (!table->slots) {
		*table = old;
		return -ENOMEM;
	}
	for (size_t i = 0; i < timeline->threads.count; i++) {
		const struct fx_thread_key *key = &timeline->threads.items[i]->key;

		*timeline_find_slot(timeline, key->pid, key->tid) = (uint32_t)i + 1;
	}
	free(old.slots);
	return 0;
}

/* Memory for the next one, all zeros; NULL: none. */
static struct fx_thread *timeline_thread_room(struct fx_timeline *timeline)
{
	size_t at = timeline->threads.count % THREADS_OF_SLAB;
	struct fx_thread *slab;

	if (at > 0)
		return &timeline->thread_slabs.items[timeline->thread_slabs.count - 1][at];
	if (fx_vector_reserve(&timeline->thread_slabs, 1) < 0)
		return NULL;
	slab = calloc(THREADS_OF_SLAB, sizeof(*slab));
	if (slab)
		timeline->thread_slabs.items[timeline->thread_slabs.count++] = slab;
	return slab;
}

static struct fx_thread *timeline_thread_new(struct fx_timeline *timeline, uint64_t pid,
					     uint64_t tid)
{
	struct fx_process *process = fx_timeline_process(timeline, pid);
	struct fx_thread *thread;

	if (!process || fx_vector_reserve(&timeline->threads, 1) < 0 ||
	    timeline_reserve_slot(timeline) < 0)
		return NULL;
	thread = timeline_thread_room(timeline);
	if (!thread)
		return NULL;
	fx_runs_init(&thread->entries, &timeline->pool, &fx_entries_kind);
	thread->process = process;
	thread->first_ts = UINT64_MAX;
	thread->key = (struct fx_thread_key){pid, tid};
	thread->number = (uint32_t)timeline->threads.count;
	*timeline_find_slot(timeline, pid, tid) = thread->number + 1;
	timeline->threads.items[timeline->threads.count++] = thread;
	return thread;
}

struct fx_thread *fx_timeline_thread(struct fx_timeline *timeline, uint64_t pid, uint64_t tid)
{
	struct fx_thread *thread = fx_timeline_find_thread(timeline, pid, tid);

	return thread ? thread : timeline_thread_new(timeline, pid, tid);
}

void fx_thread_release(struct fx_thread *thread)
{
	fx_runs_release(&thread->entries);
	if (thread->ends)
		fx_runs_release(thread->ends);
	free(thread->ends);
	thread->ends = NULL;
}

/* --- Closing ---------------------------------------------------------------------------------- */

void fx_timeline_close(struct fx_timeline *timeline)
{
	HASH_CLEAR(hh, timeline->process_table);
	for (size_t i = 0; i < timeline->processes.count; i++)
		free(timeline->processes.items[i]);
	for (size_t i = 0; i < timeline->threads.count; i++)
		fx_thread_release(timeline->threads.items[i]);
	for (size_t i = 0; i < timeline->thread_slabs.count; i++)
		free(timeline->thread_slabs.items[i]);
	free(timeline->thread_table.slots);
	for (size_t i = 0; i < timeline->providers.count; i++)
		fx_timeline_provider_free(timeline->providers.items[i]);
	fx_vector_free(&timeline->processes);
	fx_vector_free(&timeline->threads);
	fx_vector_free(&timeline->thread_slabs);
	fx_vector_free(&timeline->providers);
	fx_runs_release(&timeline->asyncs);
	fx_runs_release(&timeline->scheds);
	fx_runs_pool_release(&timeline->pool);
	fx_vector_free(&timeline->notes);
	fx_vector_free(&timeline->embedded);
	fx_records_close(timeline->records);
	fx_texts_free(timeline->strings);
}

/* --- Decoding again --------------------------------------------------------------------------- */

/* The place of a record that is being decoded again. */
struct place {
	struct fx_timeline *timeline;
	const struct fx_timeline_provider *provider;
	uint64_t word;
};

static void set_text(struct fxt_string *string, const struct fx_text *text)
{
	*string = text->string;
}

/* A text that stands in no table of the archive. */
static int set_new_text(const struct place *place, struct fxt_string *string, const char *data,
			size_t length)
{
	uint32_t id = fx_texts_add(place->timeline->strings, data, length);

	if (!id)
		return -ENOMEM;
	set_text(string, fx_texts_get(place->timeline->strings, id));
	return 0;
}

/* A name that stands in the record, or that nobody has defined. */
static int resolve_odd_name(const struct place *place, struct fxt_string *string)
{
	static const char unknown[] = "(unknown)";

	if (string->ref & FXT_STRING_INLINE)
		return set_new_text(place, string, string->data, string->length);
	if (string->ref != FXT_STRING_EMPTY)
		return set_new_text(place, string, unknown, strlen(unknown));
	*string = (struct fxt_string){.data = ""};
	return 0;
}

/* Names go to the table even if they stand in the record. */
static inline int resolve_name(const struct place *place, struct fxt_string *string)
{
	const struct fx_text *text = NULL;

	if (!(string->ref & FXT_STRING_INLINE) && string->ref != FXT_STRING_EMPTY)
		text = fx_timeline_provider_lookup(place->provider, string->ref, place->word);
	if (!text)
		return resolve_odd_name(place, string);
	set_text(string, text);
	return 0;
}

static int resolve_value(const struct place *place, struct fxt_string *string)
{
	if (string->ref & FXT_STRING_INLINE) {
		string->serial = 0;
		return 0;
	}
	return resolve_name(place, string);
}

static int timeline_resolve_args(const struct place *place, struct fxt_record *record)
{
	int r = 0;

	for (uint32_t i = 0; i < record->nargs && r == 0; i++) {
		struct fxt_arg *arg = &record->args[i];

		if (arg->type > FXT_ARG_BLOB)
			continue;
		r = resolve_name(place, &arg->name);
		if (r == 0 && arg->type == FXT_ARG_STRING)
			r = resolve_value(place, &arg->string);
	}
	return r;
}

static int resolve_head(const struct place *place, struct fxt_string *category,
			struct fxt_string *name)
{
	int r = resolve_name(place, category);

	return r < 0 ? r : resolve_name(place, name);
}

const struct fx_text fx_names_none = {.data = "", .string = {.data = ""}};

static int timeline_decode_any(const struct place *place, const uint64_t *words, size_t count,
			       struct fxt_record *ret)
{
	int r;

	if (fxt_record_decode(words, count, ret, NULL) <= 0)
		return -EBADMSG;
	r = 0;
	if (ret->kind == FXT_KIND_EVENT)
		r = resolve_head(place, &ret->event.category, &ret->event.name);
	else if (ret->kind == FXT_KIND_LARGE_EVENT)
		r = resolve_head(place, &ret->large_blob.category, &ret->large_blob.name);
	return r < 0 || ret->nargs == 0 ? r : timeline_resolve_args(place, ret);
}

int fx_timeline_decode(struct fx_timeline *timeline, uint32_t provider, uint64_t word,
		       struct fxt_record *ret)
{
	struct place place = {timeline, timeline->providers.items[provider], word};
	struct fx_names names;
	size_t count;
	const uint64_t *words = fx_records_at(timeline->records, word, &count);

	if (!fx_names_of(timeline->records, place.provider, word, &names))
		return timeline_decode_any(&place, words, count, ret);
	fx_plain_decode(words, fx_plain_size(words[0]), ret);
	ret->event.category = *names.category;
	ret->event.name = *names.name;
	return 0;
}

uint32_t fx_timeline_event_name(struct fx_timeline *timeline, const struct fx_entry *entry)
{
	size_t count;
	uint64_t header = *fx_records_at(timeline->records, entry->word, &count);
	uint16_t ref = (uint16_t)FXT_GET(header, EVENT_NAME);
	struct fxt_record record;

	if (!(ref & FXT_STRING_INLINE)) {
		const struct fx_text *text = fx_timeline_provider_lookup(
		    timeline->providers.items[entry->provider], ref, entry->word);

		return text ? text->id : 0;
	}
	if (fx_timeline_decode(timeline, entry->provider, entry->word, &record) < 0)
		return 0;
	return record.event.name.serial;
}

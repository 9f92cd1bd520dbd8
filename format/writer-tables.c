/* SPDX-License-Identifier: MIT */
/*
 * A provider's tables, as an archive that is written has them. They are rings: where all indices are
 * taken, the oldest gets a new meaning.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/writer-state.h"

/* Longer texts stand in the record. */
#define WRITER_TEXT_MAX 1000

/* Strings of one record: category, name, and of each argument its name and its text. */
#define WRITER_RECORD_STRINGS (2 + 2 * FXT_MAX_ARGS)
_Static_assert(WRITER_RECORD_STRINGS < FXT_MAX_STRING_INDEX, "no record needs all indices");

void fx_writer_provider_free(struct writer_provider *provider)
{
	HASH_CLEAR(hh, provider->texts);
	HASH_CLEAR(hh, provider->known_threads);
	for (size_t i = 0; i < provider->by_index.count; i++)
		free(provider->by_index.items[i]);
	for (size_t i = 0; i <= FXT_MAX_THREAD_INDEX; i++)
		free(provider->threads[i]);
	fx_vector_free(&provider->by_index);
	free(provider);
}

/* What the text stood for is not defined any more. NULL is allowed. */
static void writer_text_drop(struct writer_provider *provider, struct writer_text *text)
{
	if (!text)
		return;
	HASH_DEL(provider->texts, text);
	provider->by_index.items[text->index] = NULL;
	free(text);
}

static unsigned writer_index_after(unsigned index, unsigned last)
{
	return index < last ? index + 1 : 1;
}

/* The place of the next index, which is free then, and not of what the record needs too. NULL: no memory. */
static struct writer_text **writer_text_place(struct fxt_writer *writer)
{
	struct writer_provider *provider = writer->current;
	struct writer_text **place;

	for (;;
	     provider->next_text = writer_index_after(provider->next_text, FXT_MAX_STRING_INDEX)) {
		size_t index = provider->next_text;

		if (fx_vector_reserve(&provider->by_index, index + 1) < 0)
			return NULL;
		while (provider->by_index.count <= index)
			provider->by_index.items[provider->by_index.count++] = NULL;
		place = &provider->by_index.items[index];
		if (!*place || (*place)->record != writer->record_number)
			break;
	}
	writer_text_drop(provider, *place);
	return place;
}

static struct writer_text *writer_text_add(struct fxt_writer *writer,
					   const struct fxt_string *string)
{
	struct writer_provider *provider = writer->current;
	struct writer_text **place = writer_text_place(writer);
	struct writer_text *text = place ? malloc(sizeof(*text) + string->length) : NULL;

	if (!text)
		return NULL;
	text->index = (uint16_t)provider->next_text;
	text->lost = false;
	text->length = string->length;
	memcpy(text->bytes, string->data, string->length);
	HASH_ADD_KEYPTR(hh, provider->texts, text->bytes, text->length, text);
	if (text->lost) {
		free(text);
		return NULL;
	}
	*place = text;
	provider->next_text = writer_index_after(provider->next_text, FXT_MAX_STRING_INDEX);
	return text;
}

/* A string as it stands in the record, or by its index, which is defined if need be. */
static int writer_string(struct fxt_writer *writer, struct fxt_string *string, bool in_table)
{
	struct writer_provider *provider = writer->current;
	struct fxt_record definition = {.kind = FXT_KIND_STRING};
	struct writer_text *text;
	int r;

	if (!string->data && (string->length > 0 || string->ref != FXT_STRING_EMPTY))
		return -EINVAL;
	if (string->length > FXT_MAX_STRING_LENGTH)
		return -EINVAL;
	if (!in_table || string->length == 0 || string->length > WRITER_TEXT_MAX) {
		string->ref = fx_ref_inline(string->length);
		return 0;
	}
	HASH_FIND(hh, provider->texts, string->data, string->length, text);
	if (!text) {
		text = writer_text_add(writer, string);
		if (!text)
			return -ENOMEM;
		definition.string.index = text->index;
		definition.string.text = *string;
		r = fx_writer_encode(writer, &definition, 1 + fx_bytes_words(string->length));
		if (r < 0) {
			writer_text_drop(provider, text);
			return r;
		}
	}
	text->record = writer->record_number;
	string->ref = text->index;
	return 0;
}

/* As above; it is not in the hash. */
static struct writer_thread *writer_thread_place(struct fxt_writer *writer)
{
	struct writer_provider *provider = writer->current;
	struct writer_thread **place = &provider->threads[provider->next_thread];

	while (*place && (*place)->index && (*place)->record == writer->record_number) {
		provider->next_thread =
		    writer_index_after(provider->next_thread, FXT_MAX_THREAD_INDEX);
		place = &provider->threads[provider->next_thread];
	}
	if (!*place)
		*place = calloc(1, sizeof(**place));
	else if ((*place)->index)
		HASH_DEL(provider->known_threads, *place);
	if (*place)
		(*place)->index = 0;
	return *place;
}

static struct writer_thread *writer_thread_add(struct fxt_writer *writer, uint64_t pid,
					       uint64_t tid)
{
	struct writer_provider *provider = writer->current;
	struct writer_thread *thread = writer_thread_place(writer);

	if (!thread)
		return NULL;
	thread->key = (struct writer_thread_key){pid, tid};
	thread->lost = false;
	HASH_ADD(hh, provider->known_threads, key, sizeof(thread->key), thread);
	if (thread->lost)
		return NULL;
	thread->index = (uint8_t)provider->next_thread;
	provider->next_thread = writer_index_after(provider->next_thread, FXT_MAX_THREAD_INDEX);
	return thread;
}

static int writer_thread(struct fxt_writer *writer, struct fxt_thread *thread)
{
	const struct writer_thread_key key = {thread->pid, thread->tid};
	struct writer_provider *provider = writer->current;
	struct fxt_record definition = {.kind = FXT_KIND_THREAD};
	struct writer_thread *known;
	int r;

	HASH_FIND(hh, provider->known_threads, &key, sizeof(key), known);
	if (!known) {
		known = writer_thread_add(writer, key.pid, key.tid);
		if (!known)
			return -ENOMEM;
		definition.thread = (struct fxt_thread_record){
		    .index = known->index, .pid = key.pid, .tid = key.tid};
		r = fx_writer_encode(writer, &definition, 3);
		if (r < 0) {
			HASH_DEL(provider->known_threads, known);
			known->index = 0;
			return r;
		}
	}
	known->record = writer->record_number;
	thread->ref = known->index;
	return 0;
}

static int writer_args(struct fxt_writer *writer, struct fxt_record *record)
{
	int r = 0;

	for (uint32_t i = 0; i < record->nargs && r == 0; i++) {
		struct fxt_arg *arg = &record->args[i];
		bool was_in_table = arg->string.ref && !(arg->string.ref & FXT_STRING_INLINE);

		if (!fxt_arg_type_name(arg->type))
			return -EOPNOTSUPP;
		r = writer_string(writer, &arg->name, true);
		if (r == 0 && arg->type == FXT_ARG_STRING)
			r = writer_string(writer, &arg->string, was_in_table);
	}
	return r;
}

int fx_writer_references(struct fxt_writer *writer, struct fxt_record *record)
{
	int r = 0;

	switch (record->kind) {
	case FXT_KIND_EVENT:
		r = writer_thread(writer, &record->event.thread);
		r = r ? r : writer_string(writer, &record->event.category, true);
		r = r ? r : writer_string(writer, &record->event.name, true);
		break;
	case FXT_KIND_BLOB:
		r = writer_string(writer, &record->blob.name, true);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		r = writer_thread(writer, &record->userspace_object.process);
		r = r ? r : writer_string(writer, &record->userspace_object.name, true);
		break;
	case FXT_KIND_KERNEL_OBJECT:
		r = writer_string(writer, &record->kernel_object.name, true);
		break;
	case FXT_KIND_LEGACY_SWITCH:
		r = writer_thread(writer, &record->scheduling.outgoing);
		r = r ? r : writer_thread(writer, &record->scheduling.incoming);
		break;
	case FXT_KIND_LOG:
		r = writer_thread(writer, &record->log.thread);
		break;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		r = writer_thread(writer, &record->profiler.thread);
		break;
	case FXT_KIND_LARGE_EVENT:
		r = writer_thread(writer, &record->large_blob.thread);
		r = r ? r : writer_string(writer, &record->large_blob.category, true);
		r = r ? r : writer_string(writer, &record->large_blob.name, true);
		break;
	case FXT_KIND_LARGE_ATTACHMENT:
		r = writer_string(writer, &record->large_blob.category, true);
		r = r ? r : writer_string(writer, &record->large_blob.name, true);
		break;
	default:
		break;
	}
	return r ? r : writer_args(writer, record);
}

void fx_writer_forget_tables(struct writer_provider *provider)
{
	for (size_t i = 0; i < provider->by_index.count; i++)
		writer_text_drop(provider, provider->by_index.items[i]);
	HASH_CLEAR(hh, provider->known_threads);
	for (size_t i = 0; i <= FXT_MAX_THREAD_INDEX; i++)
		if (provider->threads[i])
			provider->threads[i]->index = 0;
}

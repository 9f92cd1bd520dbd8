/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lists/hashes.h"
#include "format/encode.h"
#include "format/tables.h"

/* A provider, as the new archive has it. */
struct copy_provider {
	uint32_t id;
	unsigned source; /* of its strings' serials */
	bool is_mixed;	 /* several sources feed it: serials mean nothing */
	struct fx_tables tables;
	UT_hash_handle hh;
};

struct fx_copy {
	struct fx_output *out;
	struct copy_provider *providers, *current;
	int error;
};

struct fx_copy *fx_copy_new(struct fx_output *out)
{
	struct fx_copy *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	copy->out = out;
	*fx_output_reserve(out, 1) = FXT_MAGIC_RECORD;
	fx_output_commit(out, 1);
	return copy;
}

void fx_copy_free(struct fx_copy *copy)
{
	struct copy_provider *provider, *next;

	if (!copy)
		return;
	HASH_ITER (hh, copy->providers, provider, next) {
		HASH_DEL(copy->providers, provider);
		fx_tables_clear(&provider->tables);
		free(provider);
	}
	free(copy);
}

static struct fx_encoder copy_room(struct fx_copy *copy)
{
	struct fx_encoder encoder;

	fx_encoder_init(&encoder, fx_output_reserve(copy->out, FX_OUTPUT_RECORD_MAX),
			FX_OUTPUT_RECORD_MAX);
	return encoder;
}

static void copy_commit(struct fx_copy *copy, const struct fx_encoder *encoder)
{
	fx_output_commit(copy->out, encoder->used);
}

static void copy_fail(struct fx_copy *copy, int error)
{
	if (error < 0 && copy->error == 0)
		copy->error = error;
}

/* --- Providers -------------------------------------------------------------------------------- */

static struct copy_provider *copy_find(const struct fx_copy *copy, uint32_t id)
{
	struct copy_provider *provider;

	HASH_FIND(hh, copy->providers, &id, sizeof(id), provider);
	return provider;
}

bool fx_copy_has(const struct fx_copy *copy, uint32_t provider)
{
	return copy_find(copy, provider) != NULL;
}

bool fx_copy_is_empty(const struct fx_copy *copy)
{
	return !copy->providers;
}

static struct copy_provider *copy_introduce(struct fx_copy *copy, const struct fx_copy_way *way,
					    const struct fxt_provider *as)
{
	struct copy_provider *provider = calloc(1, sizeof(*provider));
	struct fx_encoder encoder = copy_room(copy);

	if (!provider)
		return NULL;
	provider->id = way->provider;
	provider->source = way->source;
	HASH_ADD(hh, copy->providers, id, sizeof(provider->id), provider);
	fx_encode_provider_info(&encoder, way->provider, as->name, strlen(as->name));
	fx_encode_initialization(&encoder, as->ticks_per_second);
	copy_commit(copy, &encoder);
	return provider;
}

/* What follows is of this provider. */
static void copy_select(struct fx_copy *copy, const struct fx_copy_way *way,
			const struct fxt_provider *as)
{
	struct copy_provider *provider = copy->current;
	struct fx_encoder encoder;

	if (!provider || provider->id != way->provider) {
		provider = copy_find(copy, way->provider);
		if (provider) {
			encoder = copy_room(copy);
			fx_encode_provider_section(&encoder, provider->id);
			copy_commit(copy, &encoder);
		} else {
			provider = copy_introduce(copy, way, as);
		}
	}
	copy->current = provider;
	if (!provider)
		copy_fail(copy, -ENOMEM);
	else
		provider->is_mixed |= provider->source != way->source;
}

/* --- References ------------------------------------------------------------------------------- */

static bool copy_is_indexed(const struct fxt_string *string)
{
	return string->ref != FXT_STRING_EMPTY && !(string->ref & FXT_STRING_INLINE);
}

static void copy_string(struct fx_copy *copy, const struct fxt_string *string)
{
	struct copy_provider *provider = copy->current;
	const struct fx_string_entry *entry;
	struct fx_encoder encoder;

	if (!copy_is_indexed(string) || string->serial == 0)
		return;
	entry = fx_tables_string(&provider->tables, string->ref);
	if (entry && !provider->is_mixed && entry->serial == string->serial)
		return;
	if (entry && provider->is_mixed && entry->length == string->length &&
	    memcmp(entry->data, string->data, string->length) == 0)
		return;
	copy_fail(copy,
		  fx_tables_set_string(&provider->tables, string->ref, string, string->serial));
	encoder = copy_room(copy);
	fx_encode_string(&encoder, string->ref, string->data, string->length);
	copy_commit(copy, &encoder);
}

static void copy_thread(struct fx_copy *copy, const struct fxt_thread *thread)
{
	const struct fx_thread_entry *entry;
	struct fx_encoder encoder;

	if (thread->ref == FXT_THREAD_INLINE)
		return;
	entry = fx_tables_thread(&copy->current->tables, thread->ref);
	if (entry && entry->pid == thread->pid && entry->tid == thread->tid)
		return;
	copy_fail(copy, fx_tables_set_thread(&copy->current->tables, thread->ref, thread->pid,
					     thread->tid));
	encoder = copy_room(copy);
	fx_encode_thread(&encoder, thread->ref, thread->pid, thread->tid);
	copy_commit(copy, &encoder);
}

static void copy_references(struct fx_copy *copy, const struct fxt_record *record)
{
	switch (record->kind) {
	case FXT_KIND_EVENT:
		copy_thread(copy, &record->event.thread);
		copy_string(copy, &record->event.category);
		copy_string(copy, &record->event.name);
		break;
	case FXT_KIND_BLOB:
		copy_string(copy, &record->blob.name);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		copy_thread(copy, &record->userspace_object.process);
		copy_string(copy, &record->userspace_object.name);
		break;
	case FXT_KIND_KERNEL_OBJECT:
		copy_string(copy, &record->kernel_object.name);
		break;
	case FXT_KIND_LEGACY_SWITCH:
		copy_thread(copy, &record->scheduling.outgoing);
		copy_thread(copy, &record->scheduling.incoming);
		break;
	case FXT_KIND_LOG:
		copy_thread(copy, &record->log.thread);
		break;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		copy_thread(copy, &record->profiler.thread);
		break;
	case FXT_KIND_LARGE_EVENT:
		copy_thread(copy, &record->large_blob.thread);
		copy_string(copy, &record->large_blob.category);
		copy_string(copy, &record->large_blob.name);
		break;
	case FXT_KIND_LARGE_ATTACHMENT:
		copy_string(copy, &record->large_blob.category);
		copy_string(copy, &record->large_blob.name);
		break;
	default:
		break;
	}
	for (uint32_t i = 0; i < record->nargs; i++) {
		copy_string(copy, &record->args[i].name);
		if (record->args[i].type == FXT_ARG_STRING)
			copy_string(copy, &record->args[i].string);
	}
}

/* --- Records ---------------------------------------------------------------------------------- */

static int copy_provider_event(struct fx_copy *copy, const struct fxt_record *record,
			       const struct fx_copy_way *way)
{
	struct fx_encoder encoder;

	if (!copy_find(copy, way->provider))
		return 0;
	encoder = copy_room(copy);
	fx_encode_provider_event(&encoder, way->provider, record->provider_record.event);
	copy_commit(copy, &encoder);
	return 1;
}

bool fx_copy_is_content(const struct fxt_record *record)
{
	switch (record->kind) {
	case FXT_KIND_UNKNOWN:
	case FXT_KIND_PROVIDER_INFO:
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_MAGIC:
	case FXT_KIND_INITIALIZATION:
	case FXT_KIND_STRING:
	case FXT_KIND_THREAD:
		return false;
	default:
		return true;
	}
}

static int copy_encode(struct fx_copy *copy, const struct fxt_record *record)
{
	struct fx_encoder encoder = copy_room(copy);
	int r = fx_record_encode(&encoder, record);

	copy_commit(copy, &encoder);
	return r == 0;
}

int fx_copy_record(struct fx_copy *copy, const struct fxt_record *record,
		   const struct fx_copy_way *way)
{
	int written = 1;

	if (!fx_copy_is_content(record) || record->size > FX_OUTPUT_RECORD_MAX)
		return 0;
	if (record->kind == FXT_KIND_PROVIDER_EVENT) {
		written = copy_provider_event(copy, record, way);
	} else {
		copy_select(copy, way, record->provider);
		if (copy->current)
			copy_references(copy, record);
		if (copy->error < 0)
			return copy->error;
		if (way->changed) {
			written = copy_encode(copy, record);
		} else {
			memcpy(fx_output_reserve(copy->out, record->size), record->words,
			       record->size * FXT_WORD_SIZE);
			fx_output_commit(copy->out, record->size);
		}
	}
	return fx_output_error(copy->out) < 0 ? fx_output_error(copy->out) : written;
}

int fx_copy_words(struct fx_copy *copy, const struct fxt_provider *as,
		  const struct fx_copy_way *way, const uint64_t *words, size_t count)
{
	copy_select(copy, way, as);
	for (size_t done = 0; done < count && copy->error == 0;) {
		size_t size = (size_t)FXT_GET(words[done], RECORD_SIZE);

		memcpy(fx_output_reserve(copy->out, size), words + done, size * FXT_WORD_SIZE);
		fx_output_commit(copy->out, size);
		done += size;
	}
	return copy->error < 0 ? copy->error : fx_output_error(copy->out);
}

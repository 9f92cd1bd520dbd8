/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/belongings.h"

#include <errno.h>
#include <stdlib.h>

#include "format/clock-record.h"
#include "format/host-record.h"

bool fx_belongings_is(const struct fxt_record *record)
{
	struct fx_clock_record clock;

	return record->kind == FXT_KIND_KERNEL_OBJECT || record->kind == FXT_KIND_MODULE ||
	       record->kind == FXT_KIND_MMAP || fx_clock_record_decode(record, &clock) ||
	       fx_host_record_is(record);
}

const struct fx_belonging *fx_belongings_find(const struct fx_belongings *belongings,
					      uint32_t provider)
{
	struct fx_belonging *found;

	HASH_FIND(hh, belongings->providers, &provider, sizeof(provider), found);
	return found;
}

static struct fx_belonging *belongings_provider(struct fx_belongings *belongings, uint32_t provider)
{
	struct fx_belonging *found =
	    (struct fx_belonging *)fx_belongings_find(belongings, provider);

	if (found)
		return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->provider = provider;
	HASH_ADD(hh, belongings->providers, provider, sizeof(found->provider), found);
	return found;
}

static void belongings_inline(struct fxt_string *string)
{
	*string = fx_string_inline(string->data, string->length);
}

/* A record that refers to nothing is put behind the others; one that is too large so is left out. */
static int belongings_keep(fx_words *words, const struct fxt_record *record)
{
	struct fxt_record whole = *record;
	struct fx_encoder encoder;

	if (fx_vector_reserve(words, FXT_MAX_RECORD_WORDS) < 0)
		return -ENOMEM;
	if (record->kind == FXT_KIND_KERNEL_OBJECT)
		belongings_inline(&whole.kernel_object.name);
	else if (record->kind == FXT_KIND_BLOB)
		belongings_inline(&whole.blob.name);
	else
		whole.profiler.thread.ref = FXT_THREAD_INLINE;
	for (uint32_t i = 0; i < whole.nargs; i++) {
		belongings_inline(&whole.args[i].name);
		if (whole.args[i].type == FXT_ARG_STRING)
			belongings_inline(&whole.args[i].string);
	}
	fx_encoder_init(&encoder, words->items + words->count, FXT_MAX_RECORD_WORDS);
	fx_record_encode(&encoder, &whole);
	words->count += encoder.used;
	return 0;
}

int fx_belongings_add(struct fx_belongings *belongings, const struct fxt_record *record)
{
	struct fx_belonging *provider;

	if (record->kind == FXT_KIND_BLOB)
		return belongings_keep(&belongings->clocks, record);
	provider = belongings_provider(belongings, record->provider->id);
	if (!provider)
		return -ENOMEM;
	if (provider->pid == 0 && record->kind == FXT_KIND_KERNEL_OBJECT &&
	    record->kernel_object.type == FXT_OBJECT_PROCESS)
		provider->pid = record->kernel_object.koid;
	return belongings_keep(&provider->words, record);
}

void fx_belongings_free(struct fx_belongings *belongings)
{
	struct fx_belonging *provider, *next;

	HASH_ITER (hh, belongings->providers, provider, next) {
		HASH_DEL(belongings->providers, provider);
		fx_vector_free(&provider->words);
		free(provider);
	}
	fx_vector_free(&belongings->clocks);
}

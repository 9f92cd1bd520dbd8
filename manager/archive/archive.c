/* SPDX-License-Identifier: MIT */
#include "manager/archive/archive.h"

#include <string.h>

#include "base/escape.h"
#include "format/encode.h"

/* Times in an archive are nanoseconds. */
#define TICKS_PER_SECOND UINT64_C(1000000000)

/* Room for the next record, of the largest size. */
static struct fx_encoder encoder(struct fx_archive *a)
{
	struct fx_encoder e;

	fx_encoder_init(&e, fx_output_reserve(a->out, FXT_MAX_RECORD_WORDS), FXT_MAX_RECORD_WORDS);
	return e;
}

/* A record that could not be encoded took no words. */
static void archive_finish(struct fx_archive *a, const struct fx_encoder *e)
{
	fx_output_commit(a->out, e->used);
}

void fx_archive_begin(struct fx_archive *a, struct fx_output *out)
{
	struct fx_encoder e;

	*a = (struct fx_archive){.out = out};
	e = encoder(a);
	fx_encode_magic(&e);
	archive_finish(a, &e);
}

void fx_archive_introduce(struct fx_archive *a, uint32_t id, uint64_t pid, const char *name)
{
	char text[FXT_MAX_NAME_LENGTH];
	size_t length = fx_escape(text, sizeof(text), name, strlen(name), 0);
	struct fx_encoder e = encoder(a);

	fx_encode_provider_info(&e, id, text, length);
	fx_encode_initialization(&e, TICKS_PER_SECOND);
	fx_encode_process_name(&e, pid, text, length);
	archive_finish(a, &e);
	a->current = id;
}

void fx_archive_select(struct fx_archive *a, uint32_t id)
{
	struct fx_encoder e;

	if (a->current == id)
		return;
	e = encoder(a);
	fx_encode_provider_section(&e, id);
	archive_finish(a, &e);
	a->current = id;
}

void fx_archive_string(struct fx_archive *a, unsigned index, const char *text, size_t length)
{
	struct fx_encoder e = encoder(a);

	fx_encode_string(&e, index, text, length);
	archive_finish(a, &e);
}

void fx_archive_thread(struct fx_archive *a, unsigned index, uint64_t pid, uint64_t tid)
{
	struct fx_encoder e = encoder(a);

	fx_encode_thread(&e, index, pid, tid);
	archive_finish(a, &e);
}

void fx_archive_thread_name(struct fx_archive *a, uint64_t pid, uint64_t tid, const char *name)
{
	char text[FXT_MAX_NAME_LENGTH];
	size_t length = fx_escape(text, sizeof(text), name, strlen(name), 0);
	struct fx_encoder e = encoder(a);

	fx_encode_thread_name(&e, pid, tid, text, length);
	archive_finish(a, &e);
}

void fx_archive_provider_event(struct fx_archive *a, uint32_t id)
{
	struct fx_encoder e = encoder(a);

	fx_encode_provider_event(&e, id, FXT_PROVIDER_BUFFER_FULL);
	archive_finish(a, &e);
}

void fx_archive_record(struct fx_archive *a, const struct fxt_record *record)
{
	struct fx_encoder e = encoder(a);

	fx_record_encode(&e, record);
	archive_finish(a, &e);
}

/* SPDX-License-Identifier: MIT */
#include "manager/archive/archive.h"

#include <errno.h>
#include <stdlib.h>
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

	*a = (struct fx_archive){.out = out, .file = out};
	e = encoder(a);
	fx_encode_magic(&e);
	archive_finish(a, &e);
}

/* The process's name, with what is known of it. */
static void encode_process(struct fx_encoder *e, uint64_t pid, const char *name, size_t length,
			   const struct fx_abouts *abouts)
{
	struct fxt_record record = {.kind = FXT_KIND_KERNEL_OBJECT};
	char texts[FX_ABOUT_COUNT][FX_ABOUT_MAX];

	record.kernel_object.type = FXT_OBJECT_PROCESS;
	record.kernel_object.koid = pid;
	record.kernel_object.name = fx_string_inline(name, length);
	for (unsigned i = 0; abouts && i < FX_ABOUT_COUNT; i++) {
		const char *text = abouts->texts[i], *key = fx_about_name(i);
		struct fxt_arg *arg = &record.args[record.nargs];

		if (!text)
			continue;
		record.nargs++;
		*arg = (struct fxt_arg){.type = FXT_ARG_STRING};
		arg->name = fx_string_inline(key, strlen(key));
		arg->string = fx_string_inline(
		    texts[i], fx_escape(texts[i], sizeof(texts[i]), text, strlen(text), 0));
	}
	fx_record_encode(e, &record);
}

void fx_archive_introduce(struct fx_archive *a, uint32_t id, const char *name)
{
	char text[FXT_MAX_NAME_LENGTH];
	size_t length = fx_escape(text, sizeof(text), name, strlen(name), 0);
	struct fx_encoder e;

	a->out = a->file;
	e = encoder(a);
	fx_encode_provider_info(&e, id, text, length);
	fx_encode_initialization(&e, TICKS_PER_SECOND);
	archive_finish(a, &e);
	a->current = a->selected = id;
}

void fx_archive_process(struct fx_archive *a, uint64_t pid, const char *name,
			const struct fx_abouts *abouts)
{
	char text[FXT_MAX_NAME_LENGTH];
	size_t length = fx_escape(text, sizeof(text), name, strlen(name), 0);
	struct fx_encoder e = encoder(a);

	encode_process(&e, pid, text, length, abouts);
	archive_finish(a, &e);
}

static void section_begin(struct fx_archive *a, uint32_t id)
{
	struct fx_encoder e;

	if (a->current == id)
		return;
	e = encoder(a);
	fx_encode_provider_section(&e, id);
	archive_finish(a, &e);
	a->current = id;
}

void fx_archive_select(struct fx_archive *a, uint32_t id)
{
	struct fx_apart *apart;

	if (a->selected == id)
		return;
	a->selected = id;
	HASH_FIND(hh, a->apart, &id, sizeof(id), apart);
	a->out = apart ? apart->out : a->file;
	if (!apart)
		section_begin(a, id);
}

int fx_archive_set_apart(struct fx_archive *a, uint32_t id, struct fx_output *out)
{
	struct fx_apart *apart = calloc(1, sizeof(*apart));

	if (!apart)
		return -ENOMEM;
	apart->id = id;
	apart->out = out;
	HASH_ADD(hh, a->apart, id, sizeof(apart->id), apart);
	if (apart->lost) {
		free(apart);
		return -ENOMEM;
	}
	a->selected = 0;
	a->out = a->file;
	return 0;
}

void fx_archive_rejoin(struct fx_archive *a, uint32_t id)
{
	struct fx_apart *apart;

	HASH_FIND(hh, a->apart, &id, sizeof(id), apart);
	if (!apart)
		return;
	HASH_DEL(a->apart, apart);
	free(apart);
	a->selected = 0;
	a->out = a->file;
}

struct fx_output *fx_archive_section(struct fx_archive *a, uint32_t id)
{
	a->out = a->file;
	a->selected = 0;
	section_begin(a, id);
	return a->file;
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
	a->events += e.used && record->kind == FXT_KIND_EVENT;
	archive_finish(a, &e);
}

/* SPDX-License-Identifier: MIT */
/* The writer: each record is encoded anew, behind the records that define what it refers to. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fxtrace/writer.h>

#include "format/writer-state.h"

/* --- Opening and closing ----------------------------------------------------------------------- */

static int writer_new(struct fx_outlet *outlet, struct fxt_writer **ret)
{
	struct fxt_writer *writer = calloc(1, sizeof(*writer));

	if (!writer) {
		fx_outlet_close(outlet);
		return -ENOMEM;
	}
	writer->outlet = outlet;
	*ret = writer;
	return 0;
}

static bool writer_name_ends(const char *path, const char *end)
{
	size_t length = strlen(path), size = strlen(end);

	return length >= size && strcmp(path + length - size, end) == 0;
}

int fxt_writer_open_path(const char *path, struct fxt_writer **ret)
{
	enum fxt_compression compression = FXT_COMPRESSION_NONE;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct fx_outlet *outlet;
	int r;

	if (fd < 0)
		return -errno;
	r = fx_outlet_open_fd(fd, true, &outlet);
	if (r < 0) {
		close(fd);
		return r;
	}
	if (writer_name_ends(path, ".gz"))
		compression = FXT_COMPRESSION_GZIP;
	else if (writer_name_ends(path, ".zst"))
		compression = FXT_COMPRESSION_ZSTD;
	r = fx_outlet_compress(outlet, compression, 0);
	if (r < 0) {
		fx_outlet_close(outlet);
		return r;
	}
	return writer_new(outlet, ret);
}

int fxt_writer_open_fd(int fd, struct fxt_writer **ret)
{
	struct fx_outlet *outlet;
	int r = fx_outlet_open_fd(fd, false, &outlet);

	return r < 0 ? r : writer_new(outlet, ret);
}

int fxt_writer_open_function(fxt_write_function *write, void *opaque, struct fxt_writer **ret)
{
	struct fx_outlet *outlet;
	int r = fx_outlet_open_function(write, opaque, &outlet);

	return r < 0 ? r : writer_new(outlet, ret);
}

int fxt_writer_set_compression(struct fxt_writer *writer, enum fxt_compression compression,
			       int level)
{
	return writer->begun ? -EBUSY : fx_outlet_compress(writer->outlet, compression, level);
}

/* An archive without records has its magic number all the same. */
static int writer_begin(struct fxt_writer *writer)
{
	const uint64_t magic = FXT_MAGIC_RECORD;

	if (!writer->begun)
		writer->error = fx_outlet_write(writer->outlet, &magic, sizeof(magic));
	writer->begun = true;
	return writer->error;
}

int fxt_writer_flush(struct fxt_writer *writer)
{
	if (writer_begin(writer) == 0)
		writer->error = fx_outlet_flush(writer->outlet);
	return writer->error;
}

int fxt_writer_close(struct fxt_writer *writer)
{
	struct writer_provider *provider, *next;
	int error;

	if (!writer)
		return 0;
	writer_begin(writer);
	HASH_ITER (hh, writer->providers, provider, next) {
		HASH_DEL(writer->providers, provider);
		fx_writer_provider_free(provider);
	}
	error = fx_outlet_close(writer->outlet);
	fx_vector_free(&writer->words);
	free(writer);
	return error;
}

/* --- Encoding ---------------------------------------------------------------------------------- */

int fx_writer_encode(struct fxt_writer *writer, const struct fxt_record *record, size_t room)
{
	struct fx_encoder encoder;
	int r;

	if (fx_vector_reserve(&writer->words, room) < 0)
		return -ENOMEM;
	fx_encoder_init(&encoder, writer->words.items, writer->words.count + room);
	encoder.used = writer->words.count;
	r = fx_record_encode(&encoder, record);
	writer->words.count = encoder.used;
	return r;
}

static int writer_put_words(struct fxt_writer *writer)
{
	if (writer_begin(writer) == 0)
		writer->error = fx_outlet_write(writer->outlet, writer->words.items,
						writer->words.count * FXT_WORD_SIZE);
	writer->words.count = 0;
	return writer->error;
}

/* --- Providers --------------------------------------------------------------------------------- */

static int writer_introduce(struct fxt_writer *writer, uint32_t id, const char *name, size_t length,
			    uint64_t ticks_per_second)
{
	struct writer_provider *provider;
	struct fx_encoder encoder;
	int r;

	if (length > FXT_MAX_NAME_LENGTH || ticks_per_second == 0)
		return -EINVAL;
	if (fx_vector_reserve(&writer->words, FXT_MAX_RECORD_WORDS) < 0)
		return -ENOMEM;
	provider = calloc(1, sizeof(*provider));
	if (!provider)
		return -ENOMEM;
	provider->id = id;
	provider->ticks_per_second = ticks_per_second;
	provider->next_text = provider->next_thread = 1;
	HASH_ADD(hh, writer->providers, id, sizeof(provider->id), provider);
	if (provider->lost) {
		free(provider);
		return -ENOMEM;
	}
	writer->current = provider;
	fx_encoder_init(&encoder, writer->words.items, writer->words.capacity);
	r = fx_encode_provider_info(&encoder, id, name, length);
	writer->words.count = encoder.used;
	return r < 0 ? r : writer_put_words(writer);
}

static int writer_select(struct fxt_writer *writer, uint32_t id, const char *name, size_t length,
			 uint64_t ticks_per_second)
{
	const struct fxt_record section = {.kind = FXT_KIND_PROVIDER_SECTION,
					   .provider_record.id = id};
	struct writer_provider *provider = writer->current;
	int r;

	if (writer->error < 0)
		return writer->error;
	if (provider && provider->id == id)
		return 0;
	HASH_FIND(hh, writer->providers, &id, sizeof(id), provider);
	if (!provider)
		return writer_introduce(writer, id, name, length, ticks_per_second);
	writer->current = provider;
	r = fx_writer_encode(writer, &section, 1);
	return r < 0 ? r : writer_put_words(writer);
}

int fxt_writer_provider(struct fxt_writer *writer, uint32_t id, const char *name,
			uint64_t ticks_per_second)
{
	return writer_select(writer, id, name ? name : "", name ? strlen(name) : 0,
			     ticks_per_second);
}

/* What the ticks are stands in front of what has them: until then it may change. */
static int writer_set_rate(struct fxt_writer *writer, uint64_t ticks_per_second)
{
	if (ticks_per_second == 0)
		return -EINVAL;
	if (ticks_per_second != writer->current->ticks_per_second && writer->current->rate_written)
		return -EINVAL;
	writer->current->ticks_per_second = ticks_per_second;
	return 0;
}

static int writer_put_rate(struct fxt_writer *writer)
{
	struct fxt_record record = {.kind = FXT_KIND_INITIALIZATION};
	int r;

	record.initialization.ticks_per_second = writer->current->ticks_per_second;
	r = fx_writer_encode(writer, &record, 2);
	if (r < 0)
		return r;
	writer->current->rate_written = true;
	return writer_put_words(writer);
}

/* --- Records ----------------------------------------------------------------------------------- */

/* More words than the record can have if it is one that the format allows. */
static size_t writer_room(const struct fxt_record *record)
{
	size_t room = FXT_MAX_RECORD_WORDS;

	if (record->kind == FXT_KIND_LARGE_EVENT || record->kind == FXT_KIND_LARGE_ATTACHMENT)
		room += FXT_MAX_ARGS * FXT_MAX(ARG_SIZE) +
			fx_bytes_words(record->large_blob.payload.size);
	return room;
}

static int writer_content(struct fxt_writer *writer, const struct fxt_record *record)
{
	struct fxt_record *copy = &writer->record;
	int r;

	if (record->nargs > FXT_MAX_ARGS)
		return -EINVAL;
	if (!writer->current->rate_written) {
		r = writer_put_rate(writer);
		if (r < 0)
			return r;
	}
	memcpy(copy, record,
	       offsetof(struct fxt_record, args) + record->nargs * sizeof(record->args[0]));
	writer->record_number++;
	r = fx_writer_references(writer, copy);
	if (r == 0)
		r = fx_writer_encode(writer, copy, writer_room(copy));
	if (r < 0) {
		if (writer->words.count > 0)
			fx_writer_forget_tables(writer->current);
		writer->words.count = 0;
		return r == -ENOSPC ? -EMSGSIZE : r;
	}
	return writer_put_words(writer);
}

static int writer_provider_event(struct fxt_writer *writer, const struct fxt_record *record)
{
	struct fxt_record copy = {.kind = FXT_KIND_PROVIDER_EVENT,
				  .provider_record = record->provider_record};
	int r;

	copy.provider_record.id = writer->current->id;
	r = fx_writer_encode(writer, &copy, 1);
	return r < 0 ? r : writer_put_words(writer);
}

/* The provider that the record is of becomes the current one. */
static int writer_find_provider(struct fxt_writer *writer, const struct fxt_record *record)
{
	if (record->provider)
		return writer_select(writer, record->provider->id, record->provider->name,
				     strlen(record->provider->name),
				     record->provider->ticks_per_second);
	return writer->current ? writer->error
			       : writer_select(writer, 1, "", 0, FXT_DEFAULT_TICKS_PER_SECOND);
}

int fxt_writer_write(struct fxt_writer *writer, const struct fxt_record *record)
{
	int r;

	switch (record->kind) {
	case FXT_KIND_MAGIC:
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_STRING:
	case FXT_KIND_THREAD:
		return writer->error;
	case FXT_KIND_PROVIDER_INFO:
		return writer_select(writer, record->provider_record.id,
				     record->provider_record.name.data,
				     record->provider_record.name.length,
				     record->provider ? record->provider->ticks_per_second
						      : FXT_DEFAULT_TICKS_PER_SECOND);
	default:
		break;
	}
	if (record->kind == FXT_KIND_UNKNOWN || (unsigned)record->kind >= FXT_KIND_COUNT)
		return -EOPNOTSUPP;
	r = writer_find_provider(writer, record);
	if (r < 0)
		return r;
	if (record->kind == FXT_KIND_INITIALIZATION)
		return writer_set_rate(writer, record->initialization.ticks_per_second);
	if (record->kind == FXT_KIND_PROVIDER_EVENT)
		return writer_provider_event(writer, record);
	return writer_content(writer, record);
}

int fxt_writer_name_process(struct fxt_writer *writer, uint64_t pid, const char *name)
{
	struct fxt_record record = {.kind = FXT_KIND_KERNEL_OBJECT};

	record.kernel_object.type = FXT_OBJECT_PROCESS;
	record.kernel_object.koid = pid;
	record.kernel_object.name = fxt_text(name);
	return fxt_writer_write(writer, &record);
}

int fxt_writer_name_thread(struct fxt_writer *writer, uint64_t pid, uint64_t tid, const char *name)
{
	struct fxt_record record = {.kind = FXT_KIND_KERNEL_OBJECT};

	record.kernel_object.type = FXT_OBJECT_THREAD;
	record.kernel_object.koid = tid;
	record.kernel_object.name = fxt_text(name);
	fxt_record_add_arg(&record, "process", FXT_ARG_KOID)->koid = pid;
	return fxt_writer_write(writer, &record);
}

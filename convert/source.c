/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/source.h"
#include "convert/vector.h"

struct fx_source {
	struct fxt_reader *reader;
	void *map; /* NULL: records are kept in `copy' */
	size_t map_size;
	FX_VECTOR(uint64_t) copy;
};

/* Whether the file, from its start, is an archive as it is, and not a compressed one. */
static bool is_plain_file(int fd, size_t *ret_size)
{
	uint64_t magic;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || lseek(fd, 0, SEEK_CUR) != 0)
		return false;
	if (pread(fd, &magic, sizeof(magic), 0) != sizeof(magic) || magic != FXT_MAGIC_RECORD)
		return false;
	*ret_size = (size_t)st.st_size;
	return true;
}

static int open_reader(struct fx_source *source, int fd)
{
	if (!is_plain_file(fd, &source->map_size))
		return fxt_reader_open_fd(fd, &source->reader);
	source->map = mmap(NULL, source->map_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (source->map == MAP_FAILED) {
		source->map = NULL;
		return fxt_reader_open_fd(fd, &source->reader);
	}
	return fxt_reader_open_memory(source->map, source->map_size, &source->reader);
}

int fx_source_open(int fd, fxt_fault_handler *handler, void *opaque, struct fx_source **ret)
{
	struct fx_source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return -ENOMEM;
	r = open_reader(source, fd);
	if (r < 0) {
		fx_source_close(source);
		return r;
	}
	fxt_reader_set_fault_handler(source->reader, handler, opaque);
	*ret = source;
	return 0;
}

void fx_source_close(struct fx_source *source)
{
	if (!source)
		return;
	fxt_reader_close(source->reader);
	if (source->map)
		munmap(source->map, source->map_size);
	fx_vector_free(&source->copy);
	free(source);
}

int fx_source_next(struct fx_source *source, const struct fxt_record **ret)
{
	return fxt_reader_next(source->reader, ret);
}

void fx_source_progress(const struct fx_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	fxt_reader_progress(source->reader, ret_done, ret_total);
}

int fx_source_keep(struct fx_source *source, const struct fxt_record *record)
{
	if (source->map)
		return 0;
	if (fx_vector_reserve(&source->copy, record->size) < 0)
		return -ENOMEM;
	memcpy(source->copy.items + source->copy.count, record->words,
	       record->size * sizeof(uint64_t));
	source->copy.count += record->size;
	return 0;
}

uint64_t fx_source_word(const struct fx_source *source, const struct fxt_record *record)
{
	return source->map ? record->offset / FXT_WORD_SIZE : source->copy.count;
}

static const uint64_t *words_at(const struct fx_source *source, uint64_t word, size_t *ret_count)
{
	if (source->map) {
		*ret_count = source->map_size / FXT_WORD_SIZE - word;
		return (const uint64_t *)source->map + word;
	}
	*ret_count = source->copy.count - word;
	return source->copy.items + word;
}

int fx_source_decode(const struct fx_source *source, uint64_t word, struct fxt_record *ret)
{
	size_t count;
	const uint64_t *words = words_at(source, word, &count);

	return fxt_record_decode(words, count, ret, NULL) > 0 ? 0 : -EBADMSG;
}

uint64_t fx_source_header(const struct fx_source *source, uint64_t word)
{
	size_t count;

	return *words_at(source, word, &count);
}

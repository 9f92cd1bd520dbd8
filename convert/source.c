/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/source.h"
#include "convert/spill.h"
#include "convert/vector.h"

enum {
	TOUCHED_MAX = 32 << 20, /* bytes of the file that are mapped in at a time */
	PIECE_WORDS = 1 << 13,	/* of what a page fault brings in */
};

struct fx_source {
	struct fxt_reader *reader;
	void *map; /* the file, or what was spilled; NULL: neither */
	size_t map_size;
	bool is_file;	  /* @map is all there is */
	uint64_t touched; /* bytes that may be mapped in, about */
	uint64_t piece;	  /* that was touched last */
	/* Records that are kept: those that were spilled, and behind them @copy. */
	struct fx_spill spill;
	bool spill_failed;
	size_t copy_limit; /* words */
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
	source->is_file = true;
	return fxt_reader_open_memory(source->map, source->map_size, &source->reader);
}

int fx_source_open(int fd, size_t limit, fxt_fault_handler *handler, void *opaque,
		   struct fx_source **ret)
{
	struct fx_source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return -ENOMEM;
	source->spill = (struct fx_spill)FX_SPILL_EMPTY;
	source->copy_limit = limit / FXT_WORD_SIZE;
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
	fx_spill_close(&source->spill);
	fx_vector_free(&source->copy);
	free(source);
}

/* Pages of the file count as this process's memory for as long as they are mapped in. */
static void let_go(struct fx_source *source)
{
	madvise(source->map, source->map_size, MADV_DONTNEED);
	source->touched = 0;
}

static void touch(struct fx_source *source, uint64_t word)
{
	uint64_t piece = word / PIECE_WORDS;

	if (piece == source->piece)
		return;
	source->piece = piece;
	source->touched += PIECE_WORDS * FXT_WORD_SIZE;
	if (source->touched > TOUCHED_MAX)
		let_go(source);
}

int fx_source_next(struct fx_source *source, const struct fxt_record **ret)
{
	int r = fxt_reader_next(source->reader, ret);

	if (r > 0 && source->is_file)
		touch(source, (*ret)->offset / FXT_WORD_SIZE);
	return r;
}

void fx_source_progress(const struct fx_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	fxt_reader_progress(source->reader, ret_done, ret_total);
}

/* Moves the records that are kept to the file without a name; if it cannot be written, they stay. */
static void spill_copy(struct fx_source *source)
{
	if (fx_spill_append(&source->spill, source->copy.items,
			    source->copy.count * FXT_WORD_SIZE) < 0)
		source->spill_failed = true;
	else
		source->copy.count = 0;
}

int fx_source_keep(struct fx_source *source, const struct fxt_record *record)
{
	if (source->is_file)
		return 0;
	if (source->copy.count + record->size > source->copy_limit && !source->spill_failed &&
	    source->copy.count > 0)
		spill_copy(source);
	if (fx_vector_reserve(&source->copy, record->size) < 0)
		return -ENOMEM;
	memcpy(source->copy.items + source->copy.count, record->words,
	       record->size * sizeof(uint64_t));
	source->copy.count += record->size;
	return 0;
}

uint64_t fx_source_word(const struct fx_source *source, const struct fxt_record *record)
{
	return source->is_file ? record->offset / FXT_WORD_SIZE
			       : source->spill.size / FXT_WORD_SIZE + source->copy.count;
}

int fx_source_seal(struct fx_source *source)
{
	if (source->is_file || source->spill.size == 0)
		return 0;
	source->map_size = source->spill.size;
	source->map = mmap(NULL, source->map_size, PROT_READ, MAP_SHARED, source->spill.fd, 0);
	if (source->map != MAP_FAILED)
		return 0;
	source->map = NULL;
	return -ENOMEM;
}

static const uint64_t *words_at(struct fx_source *source, uint64_t word, size_t *ret_count)
{
	uint64_t mapped = source->map_size / FXT_WORD_SIZE;

	if (word < mapped) {
		touch(source, word);
		*ret_count = mapped - word;
		return (const uint64_t *)source->map + word;
	}
	*ret_count = source->copy.count - (word - mapped);
	return source->copy.items + (word - mapped);
}

int fx_source_decode(struct fx_source *source, uint64_t word, struct fxt_record *ret)
{
	size_t count;
	const uint64_t *words = words_at(source, word, &count);

	return fxt_record_decode(words, count, ret, NULL) > 0 ? 0 : -EBADMSG;
}

uint64_t fx_source_header(struct fx_source *source, uint64_t word)
{
	size_t count;

	return *words_at(source, word, &count);
}

void fx_source_prefetch(const struct fx_source *source, uint64_t word)
{
	if (word < source->map_size / FXT_WORD_SIZE)
		__builtin_prefetch((const uint64_t *)source->map + word);
}

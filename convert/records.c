/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/records.h"

/* Bytes of the file that are mapped in at a time: so many for each that a copy may have, and no fewer than these. */
enum { TOUCHED_SHARE = 6, TOUCHED_MIN = 32 << 20 };

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

static size_t count_pieces(size_t size)
{
	return size / (FX_RECORDS_PIECE * FXT_WORD_SIZE) + 1;
}

/* Maps a file, from its start. Returns 0 or -ENOMEM. */
static int map_file(struct fx_records *records, int fd, size_t size, int flags)
{
	free(records->pieces);
	records->pieces = calloc(count_pieces(size), 1);
	if (!records->pieces)
		return -ENOMEM;
	records->map = mmap(NULL, size, PROT_READ, flags, fd, 0);
	if (records->map == MAP_FAILED) {
		records->map = NULL;
		return -ENOMEM;
	}
	records->map_size = size;
	records->piece = UINT64_MAX;
	return 0;
}

static int open_reader(struct fx_records *records, int fd)
{
	size_t size;

	if (!is_plain_file(fd, &size) || map_file(records, fd, size, MAP_PRIVATE) < 0)
		return fxt_reader_open_fd(fd, &records->reader);
	records->is_file = true;
	return fxt_reader_open_memory(records->map, records->map_size, &records->reader);
}

int fx_records_open(int fd, size_t limit, fxt_fault_handler *handler, void *opaque,
		    struct fx_records **ret)
{
	struct fx_records *records = calloc(1, sizeof(*records));
	int r;

	if (!records)
		return -ENOMEM;
	records->spill = (struct fx_spill)FX_SPILL_EMPTY;
	records->copy_limit = limit / FXT_WORD_SIZE;
	records->touched_limit = TOUCHED_SHARE * (uint64_t)limit;
	if (records->touched_limit < TOUCHED_MIN)
		records->touched_limit = TOUCHED_MIN;
	r = open_reader(records, fd);
	if (r < 0) {
		fx_records_close(records);
		return r;
	}
	fxt_reader_set_fault_handler(records->reader, handler, opaque);
	*ret = records;
	return 0;
}

void fx_records_close(struct fx_records *records)
{
	if (!records)
		return;
	fxt_reader_close(records->reader);
	if (records->map)
		munmap(records->map, records->map_size);
	free(records->pieces);
	fx_spill_close(&records->spill);
	fx_vector_free(&records->copy);
	free(records);
}

/* Pages of the file count as this process's memory for as long as they are mapped in. */
static void let_go(struct fx_records *records)
{
	madvise(records->map, records->map_size, MADV_DONTNEED);
	memset(records->pieces, 0, count_pieces(records->map_size));
	records->touched = 0;
}

void fx_records_touch_(struct fx_records *records, uint64_t piece)
{
	records->piece = piece;
	if (records->pieces[piece])
		return;
	if (records->touched > records->touched_limit)
		let_go(records);
	records->pieces[piece] = 1;
	records->touched += FX_RECORDS_PIECE * FXT_WORD_SIZE;
}

static void touch(struct fx_records *records, uint64_t word)
{
	if (word / FX_RECORDS_PIECE != records->piece)
		fx_records_touch_(records, word / FX_RECORDS_PIECE);
}

int fx_records_next(struct fx_records *records, const struct fxt_record **ret)
{
	int r = fxt_reader_next(records->reader, ret);

	if (r > 0 && records->is_file)
		touch(records, (*ret)->offset / FXT_WORD_SIZE);
	return r;
}

void fx_records_progress(const struct fx_records *records, uint64_t *ret_done, uint64_t *ret_total)
{
	fxt_reader_progress(records->reader, ret_done, ret_total);
}

/* Moves the records that are kept to the file without a name; if it cannot be written, they stay. */
static void spill_copy(struct fx_records *records)
{
	if (fx_spill_append(&records->spill, records->copy.items,
			    records->copy.count * FXT_WORD_SIZE) < 0)
		records->spill_failed = true;
	else
		records->copy.count = 0;
}

static int keep_words(struct fx_records *records, const uint64_t *words, size_t count)
{
	if (records->copy.count + count > records->copy_limit && !records->spill_failed &&
	    records->copy.count > 0)
		spill_copy(records);
	if (fx_vector_reserve(&records->copy, count) < 0)
		return -ENOMEM;
	memcpy(records->copy.items + records->copy.count, words, count * sizeof(*words));
	records->copy.count += count;
	return 0;
}

int fx_records_keep(struct fx_records *records, const struct fxt_record *record)
{
	return records->is_file ? 0 : keep_words(records, record->words, record->size);
}

int fx_records_take_plain(struct fx_records *records, struct fx_plain_run *ret, uint64_t *ret_word)
{
	int r = 0;

	fx_reader_take_plain(records->reader, ret);
	*ret_word = ret->offset / FXT_WORD_SIZE;
	if (ret->count == 0)
		return 0;
	if (!records->is_file) {
		r = keep_words(records, ret->words, ret->count);
		*ret_word =
		    (records->spill.size / FXT_WORD_SIZE) + records->copy.count - ret->count;
		return r;
	}
	for (uint64_t at = *ret_word; at < *ret_word + ret->count; at += FX_RECORDS_PIECE)
		touch(records, at);
	return 0;
}

uint64_t fx_records_word(const struct fx_records *records, const struct fxt_record *record)
{
	return records->is_file ? record->offset / FXT_WORD_SIZE
				: records->spill.size / FXT_WORD_SIZE + records->copy.count;
}

int fx_records_seal(struct fx_records *records)
{
	if (records->is_file || records->spill.size == 0)
		return 0;
	return map_file(records, records->spill.fd, records->spill.size, MAP_SHARED);
}

/* SPDX-License-Identifier: MIT */
/*
 * An archive whose records can be read in order, and again later at any place.
 *
 * A plain file is mapped. What is compressed or comes through a pipe is read once, and those of
 * its records that the caller wants to see again are kept in memory, beyond some in a file without a
 * name. Either way a record is known by its word, an ever growing number, and pages that are mapped
 * are let go of now and then.
 */
#ifndef FX_CONVERT_RECORDS_H
#define FX_CONVERT_RECORDS_H

#include <stdint.h>

#include <fxtrace/reader.h>

struct fx_records;

/* The descriptor is borrowed. @limit: bytes of records that are kept in memory. Returns 0 or -errno. */
int fx_records_open(int fd, size_t limit, fxt_fault_handler *handler, void *opaque,
		    struct fx_records **ret);

/* NULL is allowed. */
void fx_records_close(struct fx_records *records);

/* As fxt_reader_next(). */
int fx_records_next(struct fx_records *records, const struct fxt_record **ret);

/* As fxt_reader_progress(). */
void fx_records_progress(const struct fx_records *records, uint64_t *ret_done, uint64_t *ret_total);

/* Keeps the record that fx_records_next() has just yielded. Returns 0 or -ENOMEM. */
int fx_records_keep(struct fx_records *records, const struct fxt_record *record);

/* The word of the record that fx_records_next() has just yielded, kept or not. */
uint64_t fx_records_word(const struct fx_records *records, const struct fxt_record *record);

/* Behind the last record, before any is decoded again. Returns 0 or -ENOMEM. */
int fx_records_seal(struct fx_records *records);

/* Decodes a record that was kept, its references unresolved. Returns 0 or -EBADMSG. */
int fx_records_decode(struct fx_records *records, uint64_t word, struct fxt_record *ret);

/* Says that a record that was kept will be looked at soon. */
void fx_records_prefetch(const struct fx_records *records, uint64_t word);

/* The first word of a record that was kept. */
uint64_t fx_records_header(struct fx_records *records, uint64_t word);

#endif

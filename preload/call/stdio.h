/* SPDX-License-Identifier: MIT */
/*
 * Whether a call of stdio has gone to the kernel, told from outside by the buffer of its stream: what a
 * call has read is less in it, what it has written is more, unless the buffer was filled or emptied
 * meanwhile. The members of FILE that are looked at are part of libc's ABI: old programs have macros that
 * use them. They are read without the stream's lock: a wrong answer makes one record more or less.
 */
#ifndef FX_PRELOAD_STDIO_H
#define FX_PRELOAD_STDIO_H

#include <bits/types/struct_FILE.h>
#include <stdbool.h>
#include <string.h>

#include "preload/types.h"

/* Streams of calls that name none: only looked at. */
extern FILE *stdin, *stdout;

/* Bytes in the buffer before the call. */
struct fx_stdio_watch {
	const char *read_ptr, *read_end;
	size_t unread;
	size_t unwritten;
};

static inline size_t fx_stdio_unread(const FILE *f)
{
	return (size_t)(f->_IO_read_end - f->_IO_read_ptr);
}

static inline size_t fx_stdio_unwritten(const FILE *f)
{
	return (size_t)(f->_IO_write_ptr - f->_IO_write_base);
}

static inline struct fx_stdio_watch fx_stdio_watch(const FILE *f)
{
	if (!f)
		return (struct fx_stdio_watch){0};
	return (struct fx_stdio_watch){f->_IO_read_ptr, f->_IO_read_end, fx_stdio_unread(f),
				       fx_stdio_unwritten(f)};
}

/* After a call that took `bytes` from the stream, and found its end or an error if `ended`. */
static inline bool fx_stdio_read(const struct fx_stdio_watch *before, const FILE *f, size_t bytes,
				 bool ended)
{
	return !f || ended || fx_stdio_unread(f) + bytes != before->unread ||
	       fx_stdio_unwritten(f) != before->unwritten;
}

/* After a call that put `bytes` into it; a negative number means that it failed. */
static inline bool fx_stdio_wrote(const struct fx_stdio_watch *before, const FILE *f, size_t bytes)
{
	return !f || fx_stdio_unwritten(f) != before->unwritten + bytes;
}

/* After a call that took or put nobody knows how much. */
static inline bool fx_stdio_changed(const struct fx_stdio_watch *before, const FILE *f)
{
	return !f || f->_IO_read_end != before->read_end || f->_IO_read_ptr < before->read_ptr ||
	       f->_IO_read_ptr == f->_IO_read_end || fx_stdio_unwritten(f) < before->unwritten ||
	       (before->unwritten == 0 && fx_stdio_unwritten(f) == 0);
}

/* Bytes of a text that a call has read or written; none if there is none. */
static inline size_t fx_length(const char *text)
{
	return text ? strlen(text) : 0;
}

#endif

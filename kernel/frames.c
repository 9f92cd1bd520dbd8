/* SPDX-License-Identifier: MIT */
#include "kernel/frames.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Encodings of pointers, DW_EH_PE_* of the Linux Standard Base. */
enum {
	ENCODED_ABSOLUTE = 0x00,
	ENCODED_UDATA4 = 0x03,
	ENCODED_UDATA8 = 0x04,
	ENCODED_SDATA4 = 0x0b,
	ENCODED_SDATA8 = 0x0c,
	ENCODED_FORM = 0x0f,
	ENCODED_RELATIVE = 0x10, /* to its own place */
	ENCODED_BASE = 0x70,
	ENCODED_UNKNOWN = 0xff,
};

#define TABLE_HEAD 12u /* bytes: version, three encodings, where the frames are, how many */

/* One entry: where a function begins, and its description. */
struct frames_entry {
	uint64_t start;
	uint64_t description;
};

struct frames {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	size_t cie; /* the one that was looked at last; SIZE_MAX: none */
	uint8_t encoding;
	struct frames_entry *entries;
	size_t count, room;
};

/* A record of the section. */
struct frames_record {
	size_t at;   /* of its length */
	size_t id;   /* of what says its kind */
	size_t next; /* behind it */
};

static bool frames_word(const struct frames *f, size_t at, uint32_t *ret)
{
	if (at > f->size || f->size - at < 4)
		return false;
	memcpy(ret, f->bytes + at, 4);
	return true;
}

/* False: there are no more, or it cannot be. */
static bool frames_next(const struct frames *f, size_t at, struct frames_record *ret)
{
	uint32_t length;
	uint64_t size;

	if (!frames_word(f, at, &length) || length == 0)
		return false;
	ret->at = at;
	ret->id = at + 4;
	size = length;
	if (length == UINT32_MAX) {
		if (f->size - at < 12)
			return false;
		memcpy(&size, f->bytes + at + 4, 8);
		ret->id = at + 12;
	}
	if (size < 4 || size > f->size - ret->id)
		return false;
	ret->next = ret->id + (size_t)size;
	return true;
}

static size_t leb_skip(const struct frames *f, size_t at, size_t end)
{
	while (at < end && f->bytes[at] & 0x80)
		at++;
	return at + 1;
}

static size_t encoded_size(uint8_t encoding)
{
	switch (encoding & ENCODED_FORM) {
	case ENCODED_UDATA4:
	case ENCODED_SDATA4:
		return 4;
	case ENCODED_ABSOLUTE:
	case ENCODED_UDATA8:
	case ENCODED_SDATA8:
		return 8;
	default:
		return 0;
	}
}

/* How a common record's functions write where they begin: by its augmentation, as in "zPLR". */
static uint8_t cie_encoding(const struct frames *f, const struct frames_record *r)
{
	size_t at = r->id + 4, end = r->next, text;
	uint8_t version;

	if (end - at < 2)
		return ENCODED_UNKNOWN;
	version = f->bytes[at++];
	text = at;
	while (at < end && f->bytes[at])
		at++;
	at = leb_skip(f, at + 1, end); /* the alignments of code and data */
	at = leb_skip(f, at, end);
	at = version == 1 ? at + 1 : leb_skip(f, at, end); /* the register of the return address */
	if (f->bytes[text] != 'z')
		return f->bytes[text] ? ENCODED_UNKNOWN : ENCODED_ABSOLUTE;
	at = leb_skip(f, at, end); /* how long what follows is */
	for (text++; at < end && f->bytes[text]; text++) {
		switch (f->bytes[text]) {
		case 'R':
			return f->bytes[at];
		case 'L':
			at++;
			break;
		case 'P':
			if (!encoded_size(f->bytes[at]))
				return ENCODED_UNKNOWN;
			at += 1 + encoded_size(f->bytes[at]);
			break;
		case 'S':
		case 'B':
			break;
		default:
			return ENCODED_UNKNOWN;
		}
	}
	return ENCODED_ABSOLUTE;
}

/* False: it cannot be read. */
static bool frames_start(const struct frames *f, size_t at, size_t end, uint64_t *ret)
{
	size_t size = encoded_size(f->encoding);
	uint8_t base = f->encoding & ENCODED_BASE;
	uint64_t value = 0;

	if (f->encoding == ENCODED_UNKNOWN || !size || end - at < size ||
	    (base && base != ENCODED_RELATIVE))
		return false;
	memcpy(&value, f->bytes + at, size);
	if ((f->encoding & ENCODED_FORM) == ENCODED_SDATA4)
		value = (uint64_t)(int64_t)(int32_t)value;
	*ret = base ? f->address + at + value : value;
	return true;
}

static bool frames_add(struct frames *f, uint64_t start, uint64_t description)
{
	if (f->count == f->room) {
		size_t room = f->room ? 2 * f->room : 4096;
		void *more = realloc(f->entries, room * sizeof(*f->entries));

		if (!more)
			return false;
		f->entries = more;
		f->room = room;
	}
	f->entries[f->count++] = (struct frames_entry){start, description};
	return true;
}

/* A function's record says how far before itself its common one is. False: no memory. */
static bool frames_take(struct frames *f, const struct frames_record *r, uint32_t back)
{
	struct frames_record common;
	uint64_t start;

	if (back > r->id)
		return true;
	if (f->cie != r->id - back) {
		f->cie = r->id - back;
		f->encoding = frames_next(f, f->cie, &common) ? cie_encoding(f, &common)
							      : (uint8_t)ENCODED_UNKNOWN;
	}
	return !frames_start(f, r->id + 4, r->next, &start) || !start ||
	       frames_add(f, start, f->address + r->at);
}

static int frames_compare(const void *a, const void *b)
{
	const struct frames_entry *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

/* All distances are from the table's own place. What is farther than they reach is left out. */
static size_t frames_write(const struct frames *f, uint64_t table, uint8_t *out)
{
	uint32_t count = 0;
	int32_t to_frames = (int32_t)(f->address - table - 4);

	out[0] = 1;
	out[1] = ENCODED_RELATIVE | ENCODED_SDATA4;
	out[2] = ENCODED_UDATA4;
	out[3] = 0x30 | ENCODED_SDATA4; /* from the table's begin */
	memcpy(out + 4, &to_frames, 4);
	for (size_t i = 0; i < f->count; i++) {
		int64_t distances[2] = {(int64_t)(f->entries[i].start - table),
					(int64_t)(f->entries[i].description - table)};
		int32_t pair[2] = {(int32_t)distances[0], (int32_t)distances[1]};

		if (pair[0] != distances[0] || pair[1] != distances[1])
			continue;
		memcpy(out + TABLE_HEAD + 8 * (size_t)count++, pair, 8);
	}
	memcpy(out + 8, &count, 4);
	return count ? TABLE_HEAD + 8 * (size_t)count : 0;
}

size_t fx_frames_index(const uint8_t *bytes, size_t size, uint64_t address, uint64_t table,
		       uint8_t **ret)
{
	struct frames f = {.bytes = bytes, .size = size, .address = address, .cie = SIZE_MAX};
	struct frames_record r;
	size_t written = 0;
	bool good = true;

	for (size_t at = 0; good && frames_next(&f, at, &r); at = r.next) {
		uint32_t back;

		if (frames_word(&f, r.id, &back) && back)
			good = frames_take(&f, &r, back);
	}
	*ret = good && f.count ? malloc(TABLE_HEAD + 8 * f.count + 8) : NULL;
	if (*ret) {
		qsort(f.entries, f.count, sizeof(*f.entries), frames_compare);
		written = frames_write(&f, table, *ret);
		memset(*ret + written, 0, 8); /* words are read whole */
	}
	free(f.entries);
	return written;
}

/* SPDX-License-Identifier: MIT */
/* Draining the durable area: strings, modules and whatever else must outlive the rolling halves. Records there are claimed
 * by one thread and finished by it later, so one that is not finished is a hole, which is stepped over and looked at again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/format.h>

#include "base/atomic.h"
#include "engine/reader/drain-internal.h"

/* Durable pieces are cut at record boundaries to about this size; a record is below 32 KiB, a large one
 * has no business there. */
#define DURABLE_PIECE_MAX (48u << 10)

static int take_durable(struct fx_drain_block *block, const uint8_t *from, uint64_t bytes)
{
	void *to = piece_begin(block, (struct fx_piece){
					  .kind = FX_PIECE_DURABLE,
					  .bytes = (uint32_t)bytes,
				      });
	if (!to)
		return 1;
	memcpy(to, from, bytes);
	return 0;
}

/* Whether the provider has the strings that we know; it cannot take that back, for it is asked once. */
static bool knows_builtin(const struct fx_drain *d)
{
	return d->builtin && d->builtin->id &&
	       fx_load_relaxed(&header_of(d)->builtin_id) == d->builtin->id;
}

const uint8_t *fx_drain_builtin(const struct fx_drain *d, uint64_t *ret_size)
{
	if (knows_builtin(d)) {
		*ret_size = d->builtin->words * 8ull;
		return (const uint8_t *)d->builtin->records;
	}
	*ret_size = FX_BUILTIN_SIZE;
	return d->buffer + d->layout.builtin_offset;
}

/* They are not copied, but said to be there. */
static int take_known_builtin(const struct fx_builtin *known, struct fx_drain_block *block)
{
	void *to = piece_begin(block, (struct fx_piece){
					  .kind = FX_PIECE_BUILTIN,
					  .bytes = sizeof(known),
				      });
	if (!to)
		return 1;
	memcpy(to, &known, sizeof(known));
	return 0;
}

static int drain_builtin(struct fx_drain *d, struct fx_drain_block *block)
{
	const uint8_t *area = d->buffer + d->layout.builtin_offset;
	uint64_t size = FX_BUILTIN_SIZE;

	if (d->builtin_pos == 0 && knows_builtin(d)) {
		if (take_known_builtin(d->builtin, block))
			return 1;
		d->builtin_done = true;
		return 0;
	}
	for (;;) {
		uint64_t bytes = committed_bytes(area, d->builtin_pos, size, DURABLE_PIECE_MAX);
		if (bytes == 0)
			break;
		if (take_durable(block, area + d->builtin_pos, bytes))
			return 1;
		d->builtin_pos += (uint32_t)bytes;
	}
	d->builtin_done = true;
	return 0;
}

/* Whether a record of the durable area has a size that the area, and a block, has room for. */
static bool is_durable_size(uint64_t bytes, uint64_t available)
{
	return bytes != 0 && bytes <= available && bytes <= DURABLE_PIECE_MAX;
}

/* Takes records that were only claimed when the walk passed them. */
static int drain_holes(struct fx_drain *d, const uint8_t *area, struct fx_drain_block *block)
{
	uint32_t kept = 0, i;
	int r = 0;

	for (i = 0; i < d->hole_count; i++) {
		uint64_t at = d->holes[i];
		uint64_t header = fx_load_acquire((const uint64_t *)(area + at));
		uint64_t bytes = record_bytes(header);

		if (is_claim(header)) {
			d->holes[kept++] = at;
			continue;
		}
		if (header == 0 || !is_durable_size(bytes, d->layout.durable_size - at))
			return fx_drain_broken(d, "a record of the durable area changed its size");
		r = take_durable(block, area + at, bytes);
		if (r)
			break;
	}
	while (i < d->hole_count)
		d->holes[kept++] = d->holes[i++];
	d->hole_count = kept;
	return r;
}

static int hole_add(struct fx_drain *d, uint64_t at)
{
	if (d->hole_count >= d->layout.thread_count)
		return fx_drain_broken(d,
				       "more durable records are claimed than there are threads");
	if (d->hole_count == d->hole_room) {
		uint32_t room = d->hole_room ? 2 * d->hole_room : 16;
		uint64_t *holes = realloc(d->holes, room * sizeof(*holes));

		if (!holes)
			return -ENOMEM;
		d->holes = holes;
		d->hole_room = room;
	}
	d->holes[d->hole_count++] = at;
	return 0;
}

/* Bytes of finished records from the walk's position on. */
static uint64_t finished_bytes(const struct fx_drain *d, const uint8_t *area)
{
	uint64_t at = d->durable_pos, end = d->layout.durable_size;

	while (at < end) {
		uint64_t header = fx_load_acquire((const uint64_t *)(area + at));
		uint64_t bytes = record_bytes(header);

		if (header == 0 || bytes == 0 || bytes > end - at || is_claim(header))
			break;
		if (at + bytes - d->durable_pos > DURABLE_PIECE_MAX)
			break;
		at += bytes;
	}
	return at - d->durable_pos;
}

/* Steps over one claim. 1: stepped, 0: the walk is at its end. */
static int step_over_claim(struct fx_drain *d, const uint8_t *area)
{
	uint64_t end = d->layout.durable_size;
	uint64_t header, bytes;
	int r;

	if (d->durable_pos >= end)
		return 0;
	header = fx_load_acquire((const uint64_t *)(area + d->durable_pos));
	if (header == 0)
		return 0;
	bytes = record_bytes(header);
	if (!is_durable_size(bytes, end - d->durable_pos))
		return fx_drain_broken(d, "a record of the durable area has no possible size");
	if (!is_claim(header))
		return 1; /* finished meanwhile */
	r = hole_add(d, d->durable_pos);
	if (r < 0)
		return r;
	d->durable_pos += bytes;
	return 1;
}

int fx_drain_durable(struct fx_drain *d, struct fx_drain_block *block)
{
	const uint8_t *area = d->buffer + d->layout.durable_offset;
	int r;

	if (d->broken)
		return -EBADMSG;
	if (!d->builtin_done && (r = drain_builtin(d, block)) != 0)
		return r;
	r = drain_holes(d, area, block);
	while (r == 0) {
		uint64_t bytes = finished_bytes(d, area);

		if (bytes && take_durable(block, area + d->durable_pos, bytes))
			return 1;
		d->durable_pos += bytes;
		r = step_over_claim(d, area);
		if (r <= 0)
			break;
		r = 0;
	}
	return r;
}

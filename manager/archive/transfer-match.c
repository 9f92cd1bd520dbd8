/* SPDX-License-Identifier: MIT */
#include "manager/archive/transfer-match.h"

#include <errno.h>
#include <stdlib.h>

/* More than calls can move. */
#define ENDLESS (UINT64_C(1) << 62)

/* The bytes of all calls up to a moment. */
struct mark {
	uint64_t at;
	uint64_t sum;
};

/* Where the bytes of a call can be: `low' up to before `high'. */
struct room {
	uint64_t low, high;
};

/* Moments by time. What is asked for comes mostly in order, too. */
struct marks {
	struct mark *items;
	size_t count;
	size_t hint;
};

struct side {
	const struct fx_transfer *calls;
	size_t count;
	struct room *rooms;
	struct marks begins, ends;
	uint32_t *order; /* those whose bytes are known, put in some order */
	size_t known;
	uint64_t total;
};

struct matcher {
	struct side writes, reads;
	struct fx_match_result *result;
};

/* --- Sums ------------------------------------------------------------------------------------- */

static uint64_t match_add(uint64_t a, uint64_t b)
{
	return a >= ENDLESS || b >= ENDLESS || a + b > ENDLESS ? ENDLESS : a + b;
}

static bool match_knows(const struct fx_transfer *call)
{
	return call->bytes != FX_TRANSFER_UNKNOWN;
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *left = a, *right = b;

	return left->at < right->at ? -1 : left->at > right->at;
}

static void marks_sum(struct marks *marks)
{
	uint64_t sum = 0;
	size_t sorted = 1;

	while (sorted < marks->count && marks->items[sorted - 1].at <= marks->items[sorted].at)
		sorted++;
	if (sorted < marks->count)
		qsort(marks->items, marks->count, sizeof(*marks->items), compare_marks);
	for (size_t i = 0; i < marks->count; i++)
		marks->items[i].sum = sum = match_add(sum, marks->items[i].sum);
}

static bool mark_is_before(const struct mark *mark, uint64_t at, bool included)
{
	return mark->at < at || (included && mark->at == at);
}

/* The sum of all before `at', and those of that very time if `included'. */
static uint64_t marks_before(struct marks *marks, uint64_t at, bool included)
{
	const struct mark *items = marks->items;
	size_t low = marks->hint, high = marks->count;

	if (low && !mark_is_before(&items[low - 1], at, included)) {
		high = low - 1;
		low = 0;
	}
	for (int near = 0; near < 4 && low < high; near++) {
		if (!mark_is_before(&items[low], at, included))
			high = low;
		else
			low++;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mark_is_before(&items[middle], at, included))
			low = middle + 1;
		else
			high = middle;
	}
	marks->hint = low;
	return low ? items[low - 1].sum : 0;
}

/* What had been moved for certain when a call began at `at'. */
static uint64_t side_done(struct side *side, uint64_t at)
{
	return marks_before(&side->ends, at, false);
}

/* What can have been moved when a call ended at `at'. */
static uint64_t side_begun(struct side *side, uint64_t at)
{
	return marks_before(&side->begins, at, true);
}

static int side_init(struct side *side, const struct fx_transfer *calls, size_t count)
{
	*side = (struct side){.calls = calls, .count = count};
	side->rooms = calloc(count + 1, sizeof(*side->rooms));
	side->begins.items = calloc(count + 1, sizeof(*side->begins.items));
	side->ends.items = calloc(count + 1, sizeof(*side->ends.items));
	side->begins.count = side->ends.count = count;
	side->order = calloc(count + 1, sizeof(*side->order));
	if (!side->rooms || !side->begins.items || !side->ends.items || !side->order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		bool known = match_knows(&calls[i]);

		side->begins.items[i] =
		    (struct mark){calls[i].begin, known ? calls[i].bytes : ENDLESS};
		side->ends.items[i] = (struct mark){calls[i].end, known ? calls[i].bytes : 0};
		if (known && calls[i].bytes)
			side->order[side->known++] = (uint32_t)i;
	}
	marks_sum(&side->begins);
	marks_sum(&side->ends);
	side->total = side_begun(side, UINT64_MAX);
	return 0;
}

static void side_free(struct side *side)
{
	free(side->rooms);
	free(side->begins.items);
	free(side->ends.items);
	free(side->order);
}

/* --- Rooms ------------------------------------------------------------------------------------ */

static void rooms_begin(struct matcher *m)
{
	for (size_t i = 0; i < m->writes.count; i++) {
		const struct fx_transfer *call = &m->writes.calls[i];
		uint64_t written = side_done(&m->writes, call->begin);
		uint64_t read = side_done(&m->reads, call->begin);

		m->writes.rooms[i] = (struct room){.low = written > read ? written : read,
						   .high = side_begun(&m->writes, call->end)};
	}
	for (size_t i = 0; i < m->reads.count; i++) {
		const struct fx_transfer *call = &m->reads.calls[i];
		uint64_t read = side_begun(&m->reads, call->end);
		uint64_t written = side_begun(&m->writes, call->end);

		m->reads.rooms[i] = (struct room){.low = side_done(&m->reads, call->begin),
						  .high = written < read ? written : read};
	}
}

/* Puts the known calls in the order in which `first' says of two whether the one comes first. */
static void order_sift(struct side *side, size_t at, size_t count,
		       bool (*first)(const struct room *, const struct room *))
{
	uint32_t *order = side->order;

	for (;;) {
		size_t next = 2 * at + 1;
		uint32_t moved;

		if (next >= count)
			return;
		if (next + 1 < count &&
		    first(&side->rooms[order[next]], &side->rooms[order[next + 1]]))
			next++;
		if (!first(&side->rooms[order[at]], &side->rooms[order[next]]))
			return;
		moved = order[at];
		order[at] = order[next];
		order[next] = moved;
		at = next;
	}
}

static void order_by(struct side *side, bool (*first)(const struct room *, const struct room *))
{
	size_t count = side->known, sorted = 1;

	while (sorted < count &&
	       !first(&side->rooms[side->order[sorted]], &side->rooms[side->order[sorted - 1]]))
		sorted++;
	if (sorted >= count)
		return;
	for (size_t i = count / 2; i-- > 0;)
		order_sift(side, i, count, first);
	while (count > 1) {
		uint32_t last = side->order[--count];

		side->order[count] = side->order[0];
		side->order[0] = last;
		order_sift(side, 0, count, first);
	}
}

static bool ends_first(const struct room *a, const struct room *b)
{
	return a->high < b->high;
}

static bool begins_first(const struct room *a, const struct room *b)
{
	return a->low < b->low;
}

/* Calls that must lie before a byte, and are so many bytes, leave no room there for others. False: they are more. */
static bool rooms_fill_begin(struct side *side)
{
	uint64_t filled = 0, floor = 0;

	order_by(side, ends_first);
	for (size_t i = 0; i < side->known; i++) {
		struct room *room = &side->rooms[side->order[i]];

		if (room->low < floor)
			room->low = floor;
		filled += side->calls[side->order[i]].bytes;
		if (filled > room->high)
			return false;
		if (filled == room->high)
			floor = filled;
	}
	return true;
}

/* The same of the end, as far as it is known where that is. */
static bool rooms_fill_end(struct side *side)
{
	uint64_t left = side->total, ceiling = side->total;

	if (side->total == ENDLESS)
		return true;
	order_by(side, begins_first);
	for (size_t i = side->known; i-- > 0;) {
		struct room *room = &side->rooms[side->order[i]];
		uint64_t bytes = side->calls[side->order[i]].bytes;

		if (room->high > ceiling)
			room->high = ceiling;
		if (bytes > left || left - bytes < room->low)
			return false;
		left -= bytes;
		if (left == room->low)
			ceiling = left;
	}
	return true;
}

static bool room_is_exact(const struct side *side, size_t i)
{
	return match_knows(&side->calls[i]) &&
	       side->rooms[i].high - side->rooms[i].low == side->calls[i].bytes;
}

static bool rooms_are_large_enough(const struct side *side)
{
	for (size_t i = 0; i < side->known; i++) {
		const struct room *room = &side->rooms[side->order[i]];

		if (room->high < match_add(room->low, side->calls[side->order[i]].bytes))
			return false;
	}
	return true;
}

static bool rooms_find(struct side *side)
{
	return rooms_fill_begin(side) && rooms_fill_end(side) && rooms_are_large_enough(side);
}

/* --- Reads that found nothing more ------------------------------------------------------------ */

/* How much all reads had read when this one was done; false: that is not known. */
static bool match_position(struct matcher *m, size_t i, uint64_t *ret)
{
	const struct fx_transfer *call = &m->reads.calls[i];

	if (call->bytes) {
		*ret = m->reads.rooms[i].high;
		return room_is_exact(&m->reads, i);
	}
	*ret = side_done(&m->reads, call->begin);
	return *ret == side_begun(&m->reads, call->end);
}

/* False: that cannot be. */
static bool match_empty(struct matcher *m, size_t i)
{
	const struct fx_transfer *call = &m->reads.calls[i];
	uint64_t position, begun = side_begun(&m->writes, call->end);

	if (!(call->marks & (FX_TRANSFER_EMPTY | FX_TRANSFER_PERHAPS)) || !match_knows(call) ||
	    !match_position(m, i, &position))
		return true;
	if (position == begun) {
		if (!m->result->is_sure || m->result->sure < position)
			m->result->sure = position;
		m->result->is_sure = true;
	}
	return position <= begun &&
	       !(call->marks & FX_TRANSFER_EMPTY && position < side_done(&m->writes, call->begin));
}

/* --- Arrows ----------------------------------------------------------------------------------- */

/* The call, of those whose place is known, that has this byte; `count': none. */
static size_t side_find(const struct side *side, size_t count, uint64_t byte)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (side->rooms[side->order[middle]].high <= byte)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && side->rooms[side->order[low]].low <= byte ? low : count;
}

/* Leaves those whose place is known, by it. False: two have the same. */
static bool side_keep_exact(struct side *side)
{
	size_t count = 0;

	for (size_t i = 0; i < side->known; i++) {
		if (room_is_exact(side, side->order[i]))
			side->order[count++] = side->order[i];
	}
	side->known = count;
	order_by(side, begins_first);
	for (size_t i = 1; i < count; i++) {
		if (side->rooms[side->order[i - 1]].high > side->rooms[side->order[i]].low)
			return false;
	}
	return true;
}

/* The write that a poll has waited for. */
static void match_poll(struct matcher *m, size_t i, struct fx_match *match)
{
	const struct fx_transfer *call = &m->reads.calls[i];
	const struct fx_transfer *write;
	uint64_t position;
	size_t at;

	if (!match_position(m, i, &position))
		return;
	at = side_find(&m->writes, m->writes.known, position);
	if (at == m->writes.known)
		return;
	match->until = position + 1;
	match->from = m->writes.order[at];
	write = &m->writes.calls[match->from];
	if (write->begin > call->begin && write->begin < call->end)
		match->verdict = FX_MATCH_FOUND;
}

static bool match_reads(struct matcher *m)
{
	size_t writers;

	if (!side_keep_exact(&m->writes))
		return false;
	writers = m->writes.known;
	for (size_t i = 0; i < m->reads.count; i++) {
		const struct fx_transfer *call = &m->reads.calls[i];
		const struct room *room = &m->reads.rooms[i];
		struct fx_match *match = &m->result->matches[i];
		size_t first, last;

		*match = (struct fx_match){.until = room->high};
		if (call->marks & FX_TRANSFER_POLLS)
			match_poll(m, i, match);
		if (!match_knows(call) || !call->bytes)
			continue;
		match->verdict = FX_MATCH_ORDER;
		first = side_find(&m->writes, writers, room->low + call->bytes - 1);
		last = side_find(&m->writes, writers, room->high - 1);
		if (first == writers || first != last)
			continue;
		match->verdict = FX_MATCH_FOUND;
		match->from = m->writes.order[first];
		if (m->writes.calls[match->from].begin >= call->end)
			return false;
	}
	return true;
}

static bool are_pages(const struct side *side, uint64_t page)
{
	for (size_t i = 0; i < side->count; i++) {
		if (!match_knows(&side->calls[i]) || side->calls[i].bytes % page)
			return false;
	}
	return true;
}

/* The read that a write has waited for. */
static void match_makers(struct matcher *m, uint64_t page)
{
	uint64_t holds = FX_PIPE_PAGES * page;

	if (!page || m->writes.total <= holds || !are_pages(&m->writes, page) ||
	    !side_keep_exact(&m->reads))
		return;
	for (size_t i = 0; i < m->writes.count; i++) {
		const struct fx_transfer *write = &m->writes.calls[i], *read;
		uint64_t high = m->writes.rooms[i].high;
		size_t at;

		if (high <= holds || !write->bytes || !room_is_exact(&m->writes, i))
			continue;
		at = side_find(&m->reads, m->reads.known, high - holds - 1);
		if (at == m->reads.known)
			continue;
		read = &m->reads.calls[m->reads.order[at]];
		if (read->begin >= write->end)
			m->result->is_larger = true;
		else if (read->begin > write->begin)
			m->result->makers[i] = m->reads.order[at];
	}
}

int fx_transfer_match(const struct fx_transfer *writes, size_t write_count,
		      const struct fx_transfer *reads, size_t read_count, uint64_t page,
		      struct fx_match_result *ret)
{
	struct matcher m = {.result = ret};
	int r = side_init(&m.writes, writes, write_count);

	*ret = (struct fx_match_result){.matches = calloc(read_count + 1, sizeof(*ret->matches)),
					.makers = calloc(write_count + 1, sizeof(*ret->makers))};
	if (side_init(&m.reads, reads, read_count) < 0 || !ret->matches || !ret->makers)
		r = -ENOMEM;
	for (size_t i = 0; i < write_count && ret->makers; i++)
		ret->makers[i] = FX_MATCH_NOBODY;
	if (r == 0) {
		rooms_begin(&m);
		ret->contradicts = !rooms_find(&m.writes) || !rooms_find(&m.reads);
		for (size_t i = 0; i < read_count && !ret->contradicts; i++)
			ret->contradicts = !match_empty(&m, i);
		if (!ret->contradicts)
			ret->contradicts = !match_reads(&m);
		if (!ret->contradicts)
			match_makers(&m, page);
	}
	side_free(&m.writes);
	side_free(&m.reads);
	return r;
}

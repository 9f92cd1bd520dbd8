/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfer-draw.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lists/runs.h"
#include "manager/archive/archive.h"
#include "manager/archive/own.h"
#include "manager/archive/transfer-match.h"

/* Ids of these arrows: no provider has this number, nor has who merges archives. */
#define TRANSFER_FLOWS (UINT64_C(0x3ffffd) << 41)

#define TRANSFER_TEXT "message"

/* The string of that text in each provider that has an end. */
#define TRANSFER_STRING FXT_MAX_STRING_INDEX

struct transfer_arrow {
	struct fx_transfer from, to;
};

/* One direction of a channel, gone through by time. */
struct transfer_channel {
	struct fx_transfer_drawing *drawing;
	FX_VECTOR(struct transfer_arrow) pending; /* until a read finds the channel empty */
	size_t confirmed; /* of them, of an eventfd's: they wait until its end all the same */
	enum fx_transfer_kind kind;
	bool is_semaphore; /* an eventfd of which a read does not take all there is */
	bool had_unknown_writes;
	bool is_larger; /* than pipes are, or may be */
	bool is_broken; /* somebody else has part, or had */
	uint64_t all_written, all_read;
	uint32_t writer, reader; /* a process; 0: none yet */
	bool is_shared;		 /* there are several */
	/* The piece in work: */
	FX_VECTOR(struct fx_transfer) writes, reads;
	bool is_too_large;
	bool has_unknown;
	uint64_t written, read;
	uint64_t until;	      /* when the last of its calls ended, */
	uint64_t empty_since; /* and when the channel was empty with no call under way; 0: never */
};

/* --- Records ---------------------------------------------------------------------------------- */

/* Tables of the provider are nobody's any more, and begun anew. NULL: there is no memory. */
static struct fx_transfer_provider *transfer_select(struct fx_transfer_drawing *drawing,
						    uint32_t provider)
{
	struct fx_transfer_provider *named;
	size_t low = 0, high = drawing->named.count;

	fx_archive_select(drawing->archive, provider);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (drawing->named.items[middle].provider < provider)
			low = middle + 1;
		else
			high = middle;
	}
	named = drawing->named.items + low;
	if (low < drawing->named.count && named->provider == provider)
		return named;
	if (fx_vector_reserve(&drawing->named, 1) < 0)
		return NULL;
	named = drawing->named.items + low;
	memmove(named + 1, named, (drawing->named.count++ - low) * sizeof(*named));
	*named = (struct fx_transfer_provider){.provider = provider};
	fx_archive_string(drawing->archive, TRANSFER_STRING, TRANSFER_TEXT, strlen(TRANSFER_TEXT));
	return named;
}

static unsigned transfer_thread(struct fx_transfer_drawing *drawing,
				struct fx_transfer_provider *named, const struct fx_transfer *call)
{
	unsigned at = call->tid % FX_TRANSFER_THREADS;

	if (named->tids[at] != call->tid)
		fx_archive_thread(drawing->archive, at + 1, call->pid, call->tid);
	named->tids[at] = call->tid;
	return at + 1;
}

static void transfer_event(struct fx_transfer_drawing *drawing, enum fxt_event_type type,
			   const struct fx_transfer *call, uint64_t ns, uint64_t id)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};
	struct fx_transfer_provider *named = transfer_select(drawing, call->provider);

	record.event.type = type;
	record.event.timestamp = ns;
	record.event.thread.pid = call->pid;
	record.event.thread.tid = call->tid;
	record.event.category = record.event.name = fx_own_text(TRANSFER_TEXT);
	if (named) {
		record.event.thread.ref = (uint8_t)transfer_thread(drawing, named, call);
		record.event.category = record.event.name = fx_string_indexed(TRANSFER_STRING);
	}
	record.event.id = id;
	fx_archive_record(drawing->archive, &record);
}

/* Where the call that read began first, viewers would turn the arrow round: then it ends in an instant. */
void fx_transfer_draw_arrow(struct fx_transfer_drawing *drawing, const struct fx_transfer *from,
			    const struct fx_transfer *to)
{
	uint64_t id = TRANSFER_FLOWS | ++drawing->flows, ns = to->end;

	if (ns > to->begin)
		ns--;
	transfer_event(drawing, FXT_EVENT_FLOW_BEGIN, from, from->begin, id);
	if (to->begin <= from->begin)
		transfer_event(drawing, FXT_EVENT_INSTANT, to, ns, 0);
	transfer_event(drawing, FXT_EVENT_FLOW_END, to, ns, id);
	drawing->counts.arrows++;
}

void fx_transfer_drawing_free(struct fx_transfer_drawing *drawing)
{
	fx_vector_free(&drawing->lossy);
	fx_vector_free(&drawing->named);
}

/* --- A piece ---------------------------------------------------------------------------------- */

static bool transfer_is_lossy(const struct fx_transfer_drawing *drawing, uint32_t provider)
{
	for (size_t i = 0; i < drawing->lossy.count; i++) {
		if (drawing->lossy.items[i] == provider)
			return true;
	}
	return false;
}

static void transfer_leave(struct fx_transfer_drawing *drawing, const struct fx_transfer *read,
			   enum fx_transfer_left why)
{
	/* Whether a write that has none had to wait is not known. */
	if (read->marks & FX_TRANSFER_SHOWN && !(read->marks & FX_TRANSFER_WRITES) && read->bytes)
		drawing->counts.left[why]++;
}

static enum fx_transfer_left why_broken(const struct transfer_channel *c)
{
	if (c->kind == FX_TRANSFER_UDP && !c->is_broken && c->all_written != c->all_read)
		return FX_TRANSFER_LEFT_DROPPED;
	return c->has_unknown || c->drawing->lossy.count ? FX_TRANSFER_LEFT_LOST
							 : FX_TRANSFER_LEFT_UNTRACED;
}

static void pending_draw(struct transfer_channel *c)
{
	for (size_t i = 0; i < c->pending.count; i++)
		fx_transfer_draw_arrow(c->drawing, &c->pending.items[i].from,
				       &c->pending.items[i].to);
	c->pending.count = c->confirmed = 0;
}

static void pending_leave(struct transfer_channel *c, enum fx_transfer_left why)
{
	for (size_t i = 0; i < c->pending.count; i++)
		transfer_leave(c->drawing, &c->pending.items[i].to, why);
	c->pending.count = c->confirmed = 0;
}

/* Those that a read has confirmed, of a channel that nobody else is known to have part in. */
static void pending_draw_confirmed(struct transfer_channel *c)
{
	size_t count = c->is_broken ? 0 : c->confirmed;

	for (size_t i = 0; i < count; i++)
		fx_transfer_draw_arrow(c->drawing, &c->pending.items[i].from,
				       &c->pending.items[i].to);
	c->pending.count -= count;
	memmove(c->pending.items, c->pending.items + count,
		c->pending.count * sizeof(*c->pending.items));
}

static void piece_leave(struct transfer_channel *c, enum fx_transfer_left why)
{
	for (size_t i = 0; i < c->reads.count; i++)
		transfer_leave(c->drawing, &c->reads.items[i], why);
}

static void piece_keep(struct transfer_channel *c, const struct fx_transfer *from,
		       const struct fx_transfer *to)
{
	if (!(from->marks & to->marks & FX_TRANSFER_SHOWN) ||
	    (from->tid == to->tid && from->pid == to->pid))
		return;
	if ((c->kind == FX_TRANSFER_EVENT && c->pending.count >= FX_TRANSFERS_PIECE_MAX) ||
	    fx_vector_reserve(&c->pending, 1) < 0)
		transfer_leave(c->drawing, to, FX_TRANSFER_LEFT_MANY);
	else
		c->pending.items[c->pending.count++] = (struct transfer_arrow){*from, *to};
}

/* Of the piece's reads those that end before `sure', or those behind. */
static void piece_take(struct transfer_channel *c, const struct fx_match_result *result,
		       bool behind)
{
	for (size_t i = 0; i < c->reads.count; i++) {
		const struct fx_match *match = &result->matches[i];

		if (behind == (result->is_sure && match->until <= result->sure))
			continue;
		if (match->verdict == FX_MATCH_FOUND)
			piece_keep(c, &c->writes.items[match->from], &c->reads.items[i]);
		else if (match->verdict == FX_MATCH_ORDER)
			transfer_leave(c->drawing, &c->reads.items[i],
				       c->has_unknown ? FX_TRANSFER_LEFT_LOST
						      : FX_TRANSFER_LEFT_ORDER);
	}
}

/* Arrows to writes that have waited for room. */
static void piece_take_makers(struct transfer_channel *c, const struct fx_match_result *result)
{
	c->is_larger |= result->is_larger;
	for (size_t i = 0; i < c->writes.count && !c->is_larger; i++) {
		if (result->makers[i] != FX_MATCH_NOBODY)
			piece_keep(c, &c->reads.items[result->makers[i]], &c->writes.items[i]);
	}
}

static void piece_match(struct transfer_channel *c)
{
	struct fx_match_result result;
	uint64_t page = c->kind == FX_TRANSFER_PIPE ? (uint64_t)sysconf(_SC_PAGESIZE) : 0;
	int r = fx_transfer_match(c->writes.items, c->writes.count, c->reads.items, c->reads.count,
				  c->is_larger ? 0 : page, &result);

	if (r < 0) {
		piece_leave(c, FX_TRANSFER_LEFT_MANY);
	} else if (result.contradicts) {
		pending_leave(c, why_broken(c));
		piece_leave(c, why_broken(c));
		c->is_broken = true;
	} else {
		piece_take(c, &result, false);
		/* The kernel itself may add to it, in the moment in which a call that is seen does. */
		if (result.is_sure && c->kind == FX_TRANSFER_EVENT)
			c->confirmed = c->pending.count;
		else if (result.is_sure)
			pending_draw(c);
		piece_take(c, &result, true);
		piece_take_makers(c, &result);
	}
	free(result.matches);
	free(result.makers);
}

static void piece_end(struct transfer_channel *c)
{
	if (!c->is_too_large && c->reads.count)
		piece_match(c);
	c->writes.count = c->reads.count = 0;
	c->is_too_large = c->has_unknown = false;
	c->written = c->read = c->until = c->empty_since = 0;
}

/* Nothing is under way at `ns', and nothing in the channel. */
static bool piece_is_over(const struct transfer_channel *c, uint64_t ns)
{
	if (ns <= c->until)
		return false;
	return c->empty_since || (c->written == c->read && !c->has_unknown);
}

static void channel_count(struct transfer_channel *c, const struct fx_transfer *call, bool writes)
{
	uint32_t *party = writes ? &c->writer : &c->reader;

	if (call->bytes == FX_TRANSFER_UNKNOWN) {
		c->has_unknown = true;
		c->had_unknown_writes |= writes;
		return;
	}
	*(writes ? &c->written : &c->read) += call->bytes;
	*(writes ? &c->all_written : &c->all_read) += call->bytes;
	if (!*party)
		*party = call->pid;
	else if (*party != call->pid)
		c->is_shared = true;
}

static void piece_add(struct transfer_channel *c, const struct fx_transfer *call)
{
	bool writes = call->marks & FX_TRANSFER_WRITES;
	int r;

	channel_count(c, call, writes);
	if (!(call->marks & FX_TRANSFER_POLLS))
		c->empty_since =
		    call->marks & FX_TRANSFER_EMPTY && call->begin > c->until ? call->end : 0;
	if (call->end > c->until)
		c->until = call->end;
	if (c->is_too_large) {
		transfer_leave(c->drawing, call, FX_TRANSFER_LEFT_MANY);
		return;
	}
	r = writes ? fx_vector_reserve(&c->writes, 1) : fx_vector_reserve(&c->reads, 1);
	if (r < 0 || c->writes.count + c->reads.count >= FX_TRANSFERS_PIECE_MAX) {
		piece_leave(c, FX_TRANSFER_LEFT_MANY);
		c->writes.count = c->reads.count = 0;
		c->is_too_large = true;
	} else if (writes) {
		c->writes.items[c->writes.count++] = *call;
	} else {
		c->reads.items[c->reads.count++] = *call;
	}
}

/* --- A channel -------------------------------------------------------------------------------- */

struct transfer_walk {
	struct fx_merge writes, reads;
	const struct fx_transfer *write, *read; /* that come next */
};

static int walk_transfers_begin(struct transfer_walk *walk, struct fx_runs *written,
				struct fx_runs *read)
{
	memset(walk, 0, sizeof(*walk));
	if (fx_merge_begin(&walk->writes, written) < 0)
		return -1;
	if (fx_merge_begin(&walk->reads, read) < 0) {
		fx_merge_end(&walk->writes);
		return -1;
	}
	walk->write = fx_merge_first(&walk->writes);
	walk->read = fx_merge_first(&walk->reads);
	return 0;
}

static void walk_transfers_end(struct transfer_walk *walk)
{
	fx_merge_end(&walk->writes);
	fx_merge_end(&walk->reads);
}

/* The next call by time. False: there is none. */
static bool walk_transfers_next(struct transfer_walk *walk, struct fx_transfer *ret)
{
	if (walk->write && (!walk->read || walk->write->begin <= walk->read->begin)) {
		*ret = *walk->write;
		ret->marks |= FX_TRANSFER_WRITES;
		walk->write = fx_merge_next(&walk->writes);
		return true;
	}
	if (!walk->read)
		return false;
	*ret = *walk->read;
	ret->marks &= ~(uint32_t)FX_TRANSFER_WRITES;
	walk->read = fx_merge_next(&walk->reads);
	return true;
}

/* Whether one process writes and another one reads, and nobody else. */
static bool channel_joins_two(struct fx_runs *written, struct fx_runs *read)
{
	struct transfer_walk walk;
	struct fx_transfer call;
	uint32_t pids[2] = {0};
	bool good = true;

	if (walk_transfers_begin(&walk, written, read) < 0)
		return false;
	while (good && walk_transfers_next(&walk, &call)) {
		uint32_t *pid = &pids[(call.marks & FX_TRANSFER_WRITES) != 0];

		good = *pid == 0 || *pid == call.pid;
		*pid = call.pid;
	}
	walk_transfers_end(&walk);
	return good && pids[0] != pids[1];
}

static void channel_leave(struct fx_transfer_drawing *drawing, struct fx_runs *read,
			  enum fx_transfer_left why)
{
	const struct fx_transfer *call;
	struct fx_merge merge;

	if (fx_merge_begin(&merge, read) < 0)
		return;
	for (call = fx_merge_first(&merge); call; call = fx_merge_next(&merge))
		transfer_leave(drawing, call, why);
	fx_merge_end(&merge);
}

/* Whether what no read has confirmed is true all the same: all that was written was read, or two had a stream to themselves. */
static bool channel_is_believed(const struct transfer_channel *c)
{
	if (c->drawing->is_doubtful || c->is_broken)
		return false;
	if (c->all_written == c->all_read)
		return c->kind != FX_TRANSFER_UDP || !c->had_unknown_writes;
	return !c->drawing->has_unknown_reads && !c->is_shared &&
	       (c->kind == FX_TRANSFER_PIPE || (c->kind == FX_TRANSFER_EVENT && !c->is_semaphore) ||
		c->kind == FX_TRANSFER_STREAM || c->kind == FX_TRANSFER_TCP);
}

static void channel_draw(struct transfer_channel *c, struct transfer_walk *walk)
{
	struct fx_transfer call;

	while (walk_transfers_next(walk, &call)) {
		if (call.marks & FX_TRANSFER_LOST && !transfer_is_lossy(c->drawing, call.provider))
			continue;
		if (piece_is_over(c, call.begin))
			piece_end(c);
		piece_add(c, &call);
	}
	piece_end(c);
	if (channel_is_believed(c)) {
		pending_draw(c);
	} else {
		if (c->confirmed)
			pending_draw_confirmed(c);
		pending_leave(c, why_broken(c));
	}
}

/*
 * A read that waits for more and finds the end was woken by whoever shut the peer down: he had it open, so nobody else has closed it.
 */
static void end_draw_shutdown(struct fx_transfer_drawing *drawing, struct fx_transfer_end *end)
{
	const struct fx_transfer *shut = &end->peer->shut, *call;
	struct fx_merge merge;

	if (!shut->end || drawing->is_doubtful || drawing->lossy.count ||
	    end->peer->is_shut_often || end->reads_no_more ||
	    fx_merge_begin(&merge, &end->read) < 0)
		return;
	for (call = fx_merge_first(&merge); call; call = fx_merge_next(&merge)) {
		if (call->marks & FX_TRANSFER_AT_END && call->begin < shut->begin &&
		    call->end > shut->begin && (shut->marks & call->marks & FX_TRANSFER_SHOWN) &&
		    (shut->tid != call->tid || shut->pid != call->pid))
			fx_transfer_draw_arrow(drawing, shut, call);
	}
	fx_merge_end(&merge);
}

void fx_transfer_draw(struct fx_transfer_drawing *drawing, struct fx_transfer_end *end)
{
	struct fx_transfer_end *peer = end->peer;
	struct transfer_channel c = {.drawing = drawing,
				     .kind = end->kind,
				     .is_larger = end->is_resized,
				     .is_semaphore = end->is_semaphore};
	struct transfer_walk walk;

	if (end->read.count == 0)
		return;
	if (peer && !end->is_odd && !end->is_shared && !peer->is_odd)
		end_draw_shutdown(drawing, end);
	if (end->is_odd || end->is_shared || (peer && peer->is_odd)) {
		channel_leave(drawing, &end->read, FX_TRANSFER_LEFT_ORDER);
	} else if (!peer || peer->written.count == 0) {
		channel_leave(drawing, &end->read, FX_TRANSFER_LEFT_UNTRACED);
	} else if ((drawing->is_doubtful || drawing->lossy.count) &&
		   (fx_transfer_is_datagram(end) || end->is_queue ||
		    end->kind == FX_TRANSFER_EVENT ||
		    !channel_joins_two(&peer->written, &end->read))) {
		channel_leave(drawing, &end->read, why_broken(&c));
	} else if (walk_transfers_begin(&walk, &peer->written, &end->read) < 0) {
		drawing->counts.left[FX_TRANSFER_LEFT_MANY] += end->read.count;
	} else {
		channel_draw(&c, &walk);
		walk_transfers_end(&walk);
	}
	fx_vector_free(&c.pending);
	fx_vector_free(&c.writes);
	fx_vector_free(&c.reads);
}

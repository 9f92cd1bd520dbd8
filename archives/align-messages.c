/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <math.h>

#include "archives/align-internal.h"

/* The archive whose clock another one has, and a time of it. */
static size_t align_root(const struct fx_align_work *work, size_t at, uint64_t *ns)
{
	const struct fx_aligned *a = &work->archives[at];

	if (!a->leader)
		return at;
	*ns = fx_align_moved(*ns, a->leader->facts.clock.offset - a->facts.clock.offset);
	return (size_t)(a->leader - work->archives);
}

static int align_see(void *opaque, const struct fx_link *link)
{
	struct fx_align_work *work = opaque;
	uint64_t sent = link->sent, received = link->received;
	size_t from = align_root(work, link->from, &sent);
	size_t to = align_root(work, link->to, &received);

	if (from == to)
		return 0;
	if (!work->is_again)
		return fx_between_add(&work->between, from, to, sent, received);
	if (!fx_align_is_backwards(work->archives, link))
		return 0;
	work->backwards++;
	return fx_between_keep(&work->between, from, to, sent, received);
}

/* Those of a connection, from its one end to the other. */
static int align_see_stream(struct fx_align_work *work, size_t from,
			    const struct fx_stream_end *end, size_t to,
			    const struct fx_stream_end *peer)
{
	const fx_message_list *received = &peer->calls[FX_DIRECTION_RECEIVED];
	int r = 0;

	for (size_t i = 0; i < received->count && r == 0; i++) {
		const struct fx_message *in = &received->items[i];
		const struct fx_message *out =
		    fx_messages_reach(&end->calls[FX_DIRECTION_SENT], in->position);
		struct fx_link link = {.from = from, .to = to, .received = in->ns};

		if (!out)
			continue;
		link.sent = out->ns;
		r = align_see(work, &link);
	}
	return r;
}

static int align_see_streams(struct fx_align_work *work, size_t from, size_t to)
{
	const struct fx_stream_end *end, *next, *peer;
	int r = 0;

	HASH_ITER (hh, work->archives[from].facts.messages.ends, end, next) {
		peer = fx_messages_find(&work->archives[to].facts.messages, end->other_key);
		if (peer && !end->is_odd && r == 0)
			r = align_see_stream(work, from, end, to, peer);
	}
	return r;
}

/* All messages that there are between archives. */
int fx_align_see_all(struct fx_align_work *work)
{
	int r = fx_links_walk(work->links, align_see, NULL, work);

	for (size_t i = 0; i < work->count && r == 0; i++) {
		for (size_t j = 0; j < work->count && r == 0; j++) {
			if (i != j && work->archives[i].facts.messages.ends)
				r = align_see_streams(work, i, j);
		}
	}
	return r;
}

/* --- Lines between them ------------------------------------------------------------------------ */

/* What the messages of a direction between two archives say of the first one's clock. */
static int align_gather_pair(struct fx_aligned *a, struct fx_aligned *other,
			     const struct fx_between_pair *pair, bool is_sent, double error,
			     struct fx_bounds *bounds)
{
	size_t count = pair ? pair->shortest.count + pair->kept.count : 0;

	for (size_t i = 0; i < count; i++) {
		const struct fx_between_message *message =
		    i < pair->shortest.count ? &pair->shortest.items[i]
					     : &pair->kept.items[i - pair->shortest.count];
		uint64_t own = is_sent ? message->sent : message->received;
		uint64_t theirs = is_sent ? message->received : message->sent;

		if (fx_bounds_add(bounds, !is_sent, fx_clockmap_to(&a->map, own),
				  fx_clockmap_to(&other->map, theirs), error) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Of all whose clocks are known by now. `errors': with what these may be wrong by, if that is known, and with what the map is no line
 * by. */
int fx_align_gather(const struct fx_align_work *work, struct fx_aligned *a, bool errors,
		    struct fx_bounds *bounds)
{
	size_t own = (size_t)(a - work->archives);
	double bend = errors ? fx_clockmap_bend(&a->map) : 0;
	int r = 0;

	*bounds = (struct fx_bounds){.is_known = a->how != FX_ALIGN_NONE};
	bounds->tilt = fx_clockmap_slope(&a->map) / fx_clockmap_slope(&work->archives[0].map) - 1;
	bounds->from = fx_clockmap_to(&a->map, a->first_ns);
	bounds->to = fx_clockmap_to(&a->map, a->last_ns);
	for (size_t i = 0; i < work->count && r == 0; i++) {
		struct fx_aligned *other = &work->archives[i];
		double error = errors && other->error > 0 ? other->error : 0;

		error += bend;
		if (i == own || other->how == FX_ALIGN_NONE || other->leader || isinf(error))
			continue;
		r = align_gather_pair(a, other, fx_between_find(&work->between, own, i), true,
				      error, bounds);
		if (r == 0)
			r = align_gather_pair(a, other, fx_between_find(&work->between, i, own),
					      false, error, bounds);
	}
	return r;
}

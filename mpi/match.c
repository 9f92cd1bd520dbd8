/* SPDX-License-Identifier: MIT */
#include "mpi/match.h"

#include "mpi/memory.h"

struct match_channel {
	uint32_t sent, received;    /* received: those that are no longer in the queue */
	bool is_lost;		    /* what is sent has no number any more */
	struct fx_match_link queue; /* receives, by their stamps */
};

static struct fx_numbered match_channels;
static struct fx_pool match_channel_pool = {.size = sizeof(struct match_channel)};
static struct fx_pool match_receive_pool = {.size = sizeof(struct fx_receive)};

#define MATCH_OF(link, member)                                                                     \
	((struct fx_receive *)(void *)((char *)(link)-offsetof(struct fx_receive, member)))

/* Upper bits of arrows: no other arrow's id has this one. */
#define MATCH_ARROW (UINT64_C(1) << 63)

/* --- Numbers -------------------------------------------------------------------------------------- */

uint64_t fx_match_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a + UINT64_C(0x9e3779b97f4a7c15)) ^ (b * UINT64_C(0xff51afd7ed558ccd));

	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	h = (h ^ h >> 29) * UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 32;
	return h ? h : 1;
}

uint64_t fx_match_arrow(uint64_t communicator, int source, int dest, int tag, uint32_t number)
{
	uint64_t ends = (uint64_t)(uint32_t)source << 32 | (uint32_t)dest;
	uint64_t which = (uint64_t)(uint32_t)tag << 32 | number;

	return fx_match_mix(fx_match_mix(communicator, ends), which) | MATCH_ARROW;
}

static uint64_t match_channel_number(const struct fx_match *match, int peer, int tag)
{
	return fx_match_mix(match->id, (uint64_t)(uint32_t)peer << 32 | (uint32_t)tag);
}

/* --- Lists ---------------------------------------------------------------------------------------- */

static void match_list_init(struct fx_match_link *list)
{
	list->next = list->previous = list;
}

static void match_insert(struct fx_match_link *link, struct fx_match_link *before)
{
	link->next = before;
	link->previous = before->previous;
	before->previous->next = link;
	before->previous = link;
}

static void match_remove(struct fx_match_link *link)
{
	if (!link->next)
		return;
	link->previous->next = link->next;
	link->next->previous = link->previous;
	link->next = link->previous = NULL;
}

/* Behind those that were posted earlier. */
static void match_queue(struct fx_match_link *queue, struct fx_receive *receive)
{
	struct fx_match_link *before = queue;

	while (before->previous != queue &&
	       MATCH_OF(before->previous, queued)->stamp > receive->stamp)
		before = before->previous;
	match_insert(&receive->queued, before);
}

/* --- Channels --------------------------------------------------------------------------------------- */

void fx_match_init(struct fx_match *match, uint64_t id, int rank)
{
	*match = (struct fx_match){.id = id, .rank = rank};
	match_list_init(&match->wild);
	match_list_init(&match->late);
	match_list_init(&match->posting);
	match_list_init(&match->sending);
}

/* NULL: there is no room for another. */
static struct match_channel *match_channel_get(uint64_t number)
{
	struct match_channel *channel = fx_numbered_find(&match_channels, number);

	if (channel || match_channels.count >= FX_MATCH_CHANNELS_MAX)
		return channel;
	channel = fx_pool_take(&match_channel_pool);
	if (!channel)
		return NULL;
	match_list_init(&channel->queue);
	if (fx_numbered_put(&match_channels, number, channel))
		return channel;
	fx_pool_give(&match_channel_pool, channel);
	return NULL;
}

static struct match_channel *match_channel_of(const struct fx_receive *receive)
{
	return match_channel_get(
	    match_channel_number(receive->match, receive->source, receive->tag));
}

/* --- Sending ---------------------------------------------------------------------------------------- */

void fx_match_send(struct fx_match *match, int dest, int tag, bool is_shared,
		   struct fx_sending *ret)
{
	struct match_channel *channel;

	*ret = (struct fx_sending){.channel = match_channel_number(match, dest, tag)};
	channel = match_channel_get(ret->channel);
	if (!channel)
		return;
	ret->number = channel->sent++;
	ret->has_number = !channel->is_lost;
	if (!is_shared)
		return;
	for (struct fx_match_link *l = match->sending.next; l != &match->sending; l = l->next) {
		struct fx_sending *other =
		    (struct fx_sending *)(void *)((char *)l - offsetof(struct fx_sending, link));

		if (other->channel == ret->channel)
			ret->is_unsure = other->is_unsure = true;
	}
	match_insert(&ret->link, &match->sending);
}

void fx_match_sent(struct fx_match *match, struct fx_sending *sending, bool is_shared, bool failed)
{
	struct match_channel *channel;

	(void)match;
	if (is_shared)
		match_remove(&sending->link);
	channel = failed ? fx_numbered_find(&match_channels, sending->channel) : NULL;
	if (channel && channel->sent == sending->number + 1 && !sending->is_unsure)
		channel->sent--;
	else if (channel)
		channel->is_lost = true;
}

void fx_match_unsend(uint64_t number)
{
	struct match_channel *channel = fx_numbered_find(&match_channels, number);

	if (channel)
		channel->is_lost = true;
}

/* --- Receiving -------------------------------------------------------------------------------------- */

static bool match_may_be(int asked, int got)
{
	return asked == FX_MATCH_ANY || got == FX_MATCH_ANY || asked == got;
}

/* Whether one message may be for either. */
static bool match_overlap(const struct fx_receive *a, const struct fx_receive *b)
{
	return match_may_be(a->source, b->source) && match_may_be(a->tag, b->tag);
}

struct fx_receive *fx_match_post(struct fx_match *match, int source, int tag, uint64_t by)
{
	struct fx_receive *receive = match->is_lost ? NULL : fx_pool_take(&match_receive_pool);
	struct match_channel *channel;

	if (!receive)
		return NULL;
	receive->match = match;
	receive->stamp = ++match->stamp;
	receive->source = source;
	receive->tag = tag;
	receive->by = by;
	receive->is_wild = source == FX_MATCH_ANY || tag == FX_MATCH_ANY;
	channel = receive->is_wild ? NULL : match_channel_of(receive);
	if (!receive->is_wild && !channel) {
		fx_pool_give(&match_receive_pool, receive);
		return NULL;
	}
	match_insert(&receive->queued, channel ? &channel->queue : &match->wild);
	for (struct fx_match_link *l = match->posting.next; l != &match->posting; l = l->next) {
		struct fx_receive *other = MATCH_OF(l, posting);

		if (other->by != by && match_overlap(receive, other))
			receive->is_unsure = other->is_unsure = true;
	}
	receive->is_posting = true;
	match_insert(&receive->posting, &match->posting);
	match->receives++;
	return receive;
}

void fx_match_posted(struct fx_receive *receive)
{
	if (receive->is_posting)
		match_remove(&receive->posting);
	receive->is_posting = false;
}

/* The number of one that is over. False: it is not known yet. */
static bool match_number(const struct fx_receive *receive, const struct match_channel *channel,
			 uint32_t *ret)
{
	struct fx_match *match = receive->match;

	for (struct fx_match_link *l = match->wild.next; l != &match->wild; l = l->next) {
		const struct fx_receive *wild = MATCH_OF(l, queued);

		if (wild->stamp > receive->stamp)
			break;
		if (match_overlap(wild, receive))
			return false;
	}
	*ret = channel->received;
	for (struct fx_match_link *l = channel->queue.next; l != &receive->queued; l = l->next) {
		const struct fx_receive *earlier = MATCH_OF(l, queued);

		if (earlier->is_cancelling && !earlier->is_over)
			return false;
		++*ret;
	}
	return true;
}

static void match_give(struct fx_receive *receive)
{
	match_remove(&receive->queued);
	match_remove(&receive->late);
	match_remove(&receive->posting);
	fx_pool_give(&match_receive_pool, receive);
}

/* Takes out what has been told and has none before it. */
static void match_trim(struct match_channel *channel)
{
	while (channel->queue.next != &channel->queue) {
		struct fx_receive *first = MATCH_OF(channel->queue.next, queued);

		if (!first->is_told)
			return;
		channel->received++;
		match_give(first);
	}
}

/* False: it cannot be told of yet. */
static bool match_settle_one(struct fx_receive *receive, fx_match_tell tell)
{
	struct match_channel *channel = match_channel_of(receive);
	uint32_t number;

	if (!match_number(receive, channel, &number))
		return false;
	receive->is_told = true;
	if (!receive->is_unsure && tell)
		tell(receive, number);
	match_trim(channel);
	return true;
}

/* Tells of those that can be told of by now. */
static void match_settle(struct fx_match *match, fx_match_tell tell)
{
	struct fx_match_link *next;

	for (struct fx_match_link *l = match->late.next; l != &match->late; l = next) {
		struct fx_receive *receive = MATCH_OF(l, late);

		next = l->next;
		if (!match_number(receive, match_channel_of(receive), &(uint32_t){0}))
			continue;
		match_remove(l);
		match->late_count--;
		match_settle_one(receive, tell);
	}
}

/* Nothing that is waited for can be told any more. */
static void match_lose(struct fx_match *match)
{
	match->is_lost = true;
	match->late_count = 0;
	while (match->late.next != &match->late)
		match_give(MATCH_OF(match->late.next, late));
}

static void match_end(struct fx_receive *receive)
{
	fx_match_posted(receive);
	receive->match->receives--;
}

void fx_match_over(struct fx_receive *receive, int source, int tag, uint64_t bytes,
		   struct fx_match_when when, fx_match_tell tell)
{
	struct fx_match *match = receive->match;
	bool decides; /* about others */

	match_end(receive);
	receive->source = source;
	receive->tag = tag;
	receive->bytes = bytes;
	receive->when = when;
	if (receive->is_wild) {
		struct match_channel *channel = match_channel_of(receive);

		match_remove(&receive->queued);
		if (channel)
			match_queue(&channel->queue, receive);
		else
			match_lose(match);
	}
	if (match->is_lost) {
		match_give(receive);
		return;
	}
	receive->is_over = true;
	decides = receive->is_wild || receive->is_cancelling;
	if (!match_settle_one(receive, tell)) {
		match_insert(&receive->late, &match->late);
		if (++match->late_count > FX_MATCH_LATE_MAX)
			match_lose(match);
	}
	if (decides)
		match_settle(match, tell);
}

void fx_match_found(struct fx_receive *receive, int source, int tag, fx_match_tell tell)
{
	struct fx_match *match = receive->match;
	struct match_channel *channel;

	fx_match_posted(receive);
	if (!receive->is_wild)
		return;
	receive->source = source;
	receive->tag = tag;
	receive->is_wild = false;
	channel = match_channel_of(receive);
	match_remove(&receive->queued);
	if (channel)
		match_queue(&channel->queue, receive);
	else
		match_lose(match);
	match_settle(match, tell);
}

void fx_match_none(struct fx_receive *receive, fx_match_tell tell)
{
	struct fx_match *match = receive->match;
	struct match_channel *channel = receive->is_wild ? NULL : match_channel_of(receive);

	match_end(receive);
	match_give(receive);
	if (channel)
		match_trim(channel);
	match_settle(match, tell);
}

void fx_match_cancelling(struct fx_receive *receive)
{
	receive->is_cancelling = true;
}

void fx_match_forget(struct fx_receive *receive)
{
	match_end(receive);
	if (receive->is_wild) {
		match_lose(receive->match);
		match_give(receive);
		return;
	}
	/* It gets the message that it would have got. */
	receive->is_over = receive->is_told = true;
	match_trim(match_channel_of(receive));
}

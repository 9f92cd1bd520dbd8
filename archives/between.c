/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/between.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of all pairs together, if there is one between any two: 16 bytes each, and 40 while they are brought into order. */
#define BETWEEN_ALL   ((size_t)4 << 20)
#define BETWEEN_MOST  512u
#define BETWEEN_LEAST 4u

#define BETWEEN_FIRST_WIDTH UINT64_C(1000000)

void fx_between_init(struct fx_between *between, size_t archives)
{
	size_t pairs = archives ? archives * archives : 1;

	*between = (struct fx_between){.stretches = BETWEEN_ALL / pairs};
	if (between->stretches > BETWEEN_MOST)
		between->stretches = BETWEEN_MOST;
	if (between->stretches < BETWEEN_LEAST)
		between->stretches = BETWEEN_LEAST;
}

void fx_between_free(struct fx_between *between)
{
	struct fx_between_pair *pair, *next;

	HASH_ITER (hh, between->pairs, pair, next) {
		HASH_DEL(between->pairs, pair);
		fx_vector_free(&pair->shortest);
		fx_vector_free(&pair->kept);
		free(pair);
	}
}

const struct fx_between_pair *fx_between_find(const struct fx_between *between, size_t from,
					      size_t to)
{
	struct fx_between_key key = {(uint32_t)from, (uint32_t)to};
	struct fx_between_pair *pair;

	HASH_FIND(hh, between->pairs, &key, sizeof(key), pair);
	return pair;
}

static struct fx_between_pair *between_pair(struct fx_between *between, size_t from, size_t to)
{
	struct fx_between_key key = {(uint32_t)from, (uint32_t)to};
	struct fx_between_pair *pair;

	HASH_FIND(hh, between->pairs, &key, sizeof(key), pair);
	if (pair)
		return pair;
	pair = calloc(1, sizeof(*pair));
	if (!pair)
		return NULL;
	pair->key = key;
	pair->width = BETWEEN_FIRST_WIDTH;
	HASH_ADD(hh, between->pairs, key, sizeof(pair->key), pair);
	return pair;
}

/* How much longer than another one it seems to take: the clocks' distance is the same in both. */
static int64_t between_way(const struct fx_between_message *message)
{
	return (int64_t)(message->received - message->sent);
}

/* Two stretches become one. */
static void between_widen(struct fx_between_pair *pair)
{
	size_t kept = 0;

	pair->width *= 2;
	for (size_t i = 0; i < pair->shortest.count; i++) {
		struct fx_between_message *message = &pair->shortest.items[i];
		struct fx_between_message *last = kept ? &pair->shortest.items[kept - 1] : NULL;

		if (!last || last->sent / pair->width != message->sent / pair->width)
			pair->shortest.items[kept++] = *message;
		else if (between_way(message) < between_way(last))
			*last = *message;
	}
	pair->shortest.count = kept;
}

/* The first one whose stretch is not before this one's. */
static size_t between_place(const struct fx_between_pair *pair, uint64_t stretch)
{
	size_t low = 0, high = pair->shortest.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pair->shortest.items[middle].sent / pair->width < stretch)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int fx_between_add(struct fx_between *between, size_t from, size_t to, uint64_t sent,
		   uint64_t received)
{
	const struct fx_between_message message = {sent, received};
	struct fx_between_pair *pair = between_pair(between, from, to);
	size_t at;

	if (!pair)
		return -ENOMEM;
	at = between_place(pair, sent / pair->width);
	if (at < pair->shortest.count &&
	    pair->shortest.items[at].sent / pair->width == sent / pair->width) {
		if (between_way(&message) < between_way(&pair->shortest.items[at]))
			pair->shortest.items[at] = message;
		return 0;
	}
	if (fx_vector_reserve(&pair->shortest, 1) < 0)
		return -ENOMEM;
	memmove(&pair->shortest.items[at + 1], &pair->shortest.items[at],
		(pair->shortest.count - at) * sizeof(message));
	pair->shortest.items[at] = message;
	pair->shortest.count++;
	while (pair->shortest.count > between->stretches)
		between_widen(pair);
	return 0;
}

int fx_between_keep(struct fx_between *between, size_t from, size_t to, uint64_t sent,
		    uint64_t received)
{
	struct fx_between_pair *pair = between_pair(between, from, to);

	if (!pair || fx_vector_reserve(&pair->kept, 1) < 0)
		return -ENOMEM;
	if (pair->kept.count < between->stretches)
		pair->kept.items[pair->kept.count++] = (struct fx_between_message){sent, received};
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfer-ends.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/archive/transfer-boxes.h"
#include "manager/archive/transfer-names.h"
#include "manager/archive/transfer-queues.h"

void fx_transfer_ends_init(struct fx_transfer_ends *ends)
{
	*ends = (struct fx_transfer_ends){0};
	fx_runs_pool_init(&ends->pool);
}

void fx_transfer_ends_free(struct fx_transfer_ends *ends)
{
	struct fx_transfer_end *end, *next;

	HASH_ITER (hh, ends->ends, end, next) {
		HASH_DEL(ends->ends, end);
		fx_transfer_end_free(end);
	}
	fx_transfer_boxes_free(ends);
	fx_runs_pool_release(&ends->pool);
}

/* --- Ends ------------------------------------------------------------------------------------- */

static bool texts_differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

/* What another descriptor of the same end is called, or this one by now. */
static void end_learn(struct fx_transfer_end *end, struct fx_transfer_end *said)
{
	if (texts_differ(end->whole, said->whole) || end->kind != said->kind ||
	    (end->kind == FX_TRANSFER_TCP && texts_differ(end->meets, said->meets)))
		end->is_odd = true;
	if (fx_transfer_is_datagram(end))
		fx_transfer_box_learn(end, said);
	if (!end->meets) {
		end->meets = said->meets;
		end->connects = said->connects;
		said->meets = NULL;
	}
	if (!end->peer_inode)
		end->peer_inode = said->peer_inode;
	if (!end->connector)
		end->connector = said->connector;
}

static void end_said_free(struct fx_transfer_end *said)
{
	free(said->whole);
	free(said->bound);
	free(said->meets);
}

/* Takes what said->whole and meets have. */
static struct fx_transfer_end *end_make(struct fx_transfer_ends *ends, struct fx_transfer_end *said)
{
	struct fx_transfer_end *end;

	HASH_FIND_STR(ends->ends, said->name, end);
	if (end && end->is_bare) {
		end->is_bare = false;
		end->kind = said->kind;
	}
	if (end) {
		end_learn(end, said);
		end_said_free(said);
		return end;
	}
	end = HASH_COUNT(ends->ends) < FX_TRANSFER_ENDS_MAX ? malloc(sizeof(*end)) : NULL;
	if (end) {
		*end = *said;
		end->first = UINT64_MAX;
		HASH_ADD_STR(ends->ends, name, end);
	}
	if (!end || end->lost) {
		end_said_free(said);
		free(end);
		ends->is_full = true;
		return NULL;
	}
	fx_transfer_end_init(ends, end);
	return end;
}

struct fx_transfer_end *fx_transfer_end_get(struct fx_transfer_ends *ends, const char *name,
					    size_t length, uint32_t pid)
{
	struct fx_transfer_end said = {0}, *end;

	if (!fx_transfer_name_read(name, length, &said)) {
		end_said_free(&said);
		return NULL;
	}
	end = end_make(ends, &said);
	/* Unless it was seen who connected. */
	if (end && end->connects && !end->connector)
		end->connector = pid;
	return end;
}

struct fx_transfer_end *fx_transfer_end_connects(struct fx_transfer_ends *ends, const char *name,
						 size_t length, uint32_t pid)
{
	struct fx_transfer_end said = {.is_bare = true}, *end;

	/* What has a peer by then has not got it by this call. */
	if (fx_transfer_name_read(name, length, &said) ||
	    (!said.is_unix && said.kind != FX_TRANSFER_TCP)) {
		end_said_free(&said);
		return NULL;
	}
	HASH_FIND_STR(ends->ends, said.name, end);
	if (!end)
		end = end_make(ends, &said);
	else
		end_said_free(&said);
	if (end)
		end->connector = pid;
	return end;
}

/* --- Peers ------------------------------------------------------------------------------------ */

/* Those that have one thing in common, of each side by their first call. */
struct meeting {
	UT_hash_handle hh;
	bool lost;
	const char *key;
	struct fx_transfer_end *sides[2]; /* of those that were connected to, and that connected */
	size_t counts[2];
};

static void join_pair(struct fx_transfer_ends *ends, struct fx_transfer_end *end)
{
	char name[40];
	struct fx_transfer_end *peer;

	snprintf(name, sizeof(name), "socket:[%" PRIu64 "]", end->peer_inode);
	HASH_FIND_STR(ends->ends, name, peer);
	if (!peer || peer == end)
		return;
	if ((peer->peer && peer->peer != end) || (end->peer && end->peer != peer))
		peer->is_odd = end->is_odd = true;
	end->peer = peer;
	peer->peer = end;
}

static void meeting_add(struct meeting *meeting, struct fx_transfer_end *end)
{
	struct fx_transfer_end **at = &meeting->sides[end->connects];

	while (*at && (*at)->first <= end->first)
		at = &(*at)->next;
	end->next = *at;
	*at = end;
	meeting->counts[end->connects]++;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Whether each pair was done with before the next one began. */
static bool meeting_is_in_order(const struct meeting *meeting)
{
	const struct fx_transfer_end *a = meeting->sides[0], *b = meeting->sides[1];
	uint64_t last = 0;

	if (meeting->counts[0] != meeting->counts[1])
		return false;
	for (; a && b; a = a->next, b = b->next) {
		if (last && (a->first <= last || b->first <= last))
			return false;
		last = later(a->last, b->last);
	}
	return true;
}

static void meeting_join(struct meeting *meeting)
{
	struct fx_transfer_end *a = meeting->sides[0], *b = meeting->sides[1];
	bool certain = meeting_is_in_order(meeting);

	for (; certain && a && b; a = a->next, b = b->next) {
		a->peer = b;
		b->peer = a;
	}
	if (certain || !meeting->counts[0] || !meeting->counts[1])
		return;
	for (int side = 0; side < 2; side++) {
		for (a = meeting->sides[side]; a; a = a->next)
			a->is_shared = true;
	}
}

static struct meeting *meeting_get(struct meeting **meetings, const char *key)
{
	struct meeting *meeting;

	HASH_FIND_STR(*meetings, key, meeting);
	if (meeting)
		return meeting;
	meeting = calloc(1, sizeof(*meeting));
	if (!meeting)
		return NULL;
	meeting->key = key;
	HASH_ADD_KEYPTR(hh, *meetings, key, strlen(key), meeting);
	if (meeting->lost) {
		free(meeting);
		return NULL;
	}
	return meeting;
}

/* What it meets by has the process that connected in it. False: there is no memory. */
static bool end_says_connector(struct fx_transfer_end *end)
{
	char text[FX_TRANSFER_NAME_MAX + 60];
	char *meets;

	snprintf(text, sizeof(text), "%" PRIu32 " %s", end->connector, end->meets);
	meets = strdup(text);
	free(end->meets);
	end->meets = meets;
	return meets != NULL;
}

/* One that nothing was moved through is used when it is made. */
static void end_begins(struct fx_transfer_end *end)
{
	const struct fx_transfer *made = end->accepted.end ? &end->accepted : &end->connected;

	if (made->end) {
		end->first = made->begin;
		end->last = made->end;
	}
}

void fx_transfer_ends_join(struct fx_transfer_ends *ends)
{
	struct meeting *meetings = NULL, *meeting, *next_meeting;
	struct fx_transfer_end *end, *next;

	fx_transfer_boxes_join(ends);
	fx_transfer_queues_join(ends);
	HASH_ITER (hh, ends->ends, end, next) {
		if (end->kind == FX_TRANSFER_PIPE || end->kind == FX_TRANSFER_EVENT)
			end->peer = end;
		else if (end->peer_inode)
			join_pair(ends, end);
	}
	HASH_ITER (hh, ends->ends, end, next) {
		if (end->first == UINT64_MAX)
			end_begins(end);
		if (end->is_unix && end->meets && !end_says_connector(end))
			continue;
		meeting = end->meets && !end->peer ? meeting_get(&meetings, end->meets) : NULL;
		if (meeting)
			meeting_add(meeting, end);
	}
	HASH_ITER (hh, meetings, meeting, next_meeting) {
		meeting_join(meeting);
		HASH_DEL(meetings, meeting);
		free(meeting);
	}
}

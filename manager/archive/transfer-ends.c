/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfer-ends.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/archive/transfer-match.h"

#define NAME_MAX_BYTES 512u

static int compare_transfers(const void *a, const void *b)
{
	const struct fx_transfer *left = a, *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	if (left->end != right->end)
		return left->end < right->end ? -1 : 1;
	if (left->provider != right->provider)
		return left->provider < right->provider ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static const struct fx_runs_kind transfers_kind = {
    .size = sizeof(struct fx_transfer),
    .compare = compare_transfers,
};

void fx_transfer_ends_init(struct fx_transfer_ends *ends)
{
	*ends = (struct fx_transfer_ends){0};
	fx_runs_pool_init(&ends->pool);
}

static void end_free(struct fx_transfer_end *end)
{
	fx_runs_release(&end->written);
	fx_runs_release(&end->read);
	free(end->whole);
	free(end->meets);
	free(end);
}

void fx_transfer_ends_free(struct fx_transfer_ends *ends)
{
	struct fx_transfer_end *end, *next;

	HASH_ITER (hh, ends->ends, end, next) {
		HASH_DEL(ends->ends, end);
		end_free(end);
	}
	fx_runs_pool_release(&ends->pool);
}

/* --- What a name says ------------------------------------------------------------------------- */

/* An IPv4 address reads the same by IPv6. */
static void address_plain(const char *address, size_t length, char *ret, size_t size)
{
	static const char mapped[] = "[::ffff:";
	const char *bracket = memchr(address, ']', length);
	size_t head = sizeof(mapped) - 1;

	if (bracket && length > head && memcmp(address, mapped, head) == 0 &&
	    memchr(address, '.', length))
		snprintf(ret, size, "%.*s%.*s", (int)(bracket - address) - (int)head,
			 address + head, (int)(address + length - bracket) - 1, bracket + 1);
	else
		snprintf(ret, size, "%.*s", (int)length, address);
}

/* "OWN->PEER": both ends meet by the same text. */
static void read_tcp(const char *rest, const char *arrow, struct fx_transfer_end *ret)
{
	char own[NAME_MAX_BYTES], peer[NAME_MAX_BYTES], text[2 * NAME_MAX_BYTES + 8];

	address_plain(rest, (size_t)(arrow - rest), own, sizeof(own));
	address_plain(arrow + 2, strlen(arrow + 2), peer, sizeof(peer));
	ret->connects = strcmp(own, peer) < 0;
	if (strcmp(own, peer) == 0)
		return; /* connected with itself */
	snprintf(text, sizeof(text), "tcp %s %s", ret->connects ? own : peer,
		 ret->connects ? peer : own);
	ret->meets = strdup(text);
}

/* "PATH->pid PID", or "->PATH of pid PID": they meet by path and the process that has connected. */
static void read_unix(const char *rest, const char *arrow, const char *kind,
		      struct fx_transfer_end *ret)
{
	char text[NAME_MAX_BYTES + 40];
	const char *of = strstr(arrow, " of pid ");

	if (sscanf(arrow, "->socket:[%" SCNu64 "]", &ret->peer_inode) == 1)
		return;
	if (strncmp(arrow, "->pid ", 6) == 0 && arrow > rest) {
		ret->connector = (uint32_t)strtoul(arrow + 6, NULL, 10);
		snprintf(text, sizeof(text), "%s %.*s", kind, (int)(arrow - rest), rest);
	} else if (of && arrow == rest) {
		ret->connects = true;
		snprintf(text, sizeof(text), "%s %.*s", kind, (int)(of - arrow - 2), arrow + 2);
	} else {
		return;
	}
	ret->meets = strdup(text);
}

/* Behind "socket:[INODE] ". False: no channel, not yet perhaps. */
static bool read_socket(const char *rest, struct fx_transfer_end *ret)
{
	static const struct {
		const char *word;
		enum fx_transfer_kind kind;
	} kinds[] = {
	    {"unix stream", FX_TRANSFER_STREAM},
	    {"unix seqpacket", FX_TRANSFER_MESSAGES},
	    {"unix datagram", FX_TRANSFER_MESSAGES},
	};
	const char *arrow = strstr(rest, "->");

	if (strncmp(rest, "tcp ", 4) == 0 && arrow) {
		ret->kind = FX_TRANSFER_TCP;
		read_tcp(rest + 4, arrow, ret);
		return true;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = strlen(kinds[i].word);

		if (strncmp(rest, kinds[i].word, length) != 0)
			continue;
		ret->kind = kinds[i].kind;
		ret->is_unix = true;
		rest += length;
		if (arrow)
			read_unix(rest + (*rest == ' '), arrow, kinds[i].word, ret);
		return arrow != NULL;
	}
	return false;
}

/* `ret' is all zeros. False: it is no channel. */
static bool read_name(const char *name, size_t length, struct fx_transfer_end *ret)
{
	const char *bracket = memchr(name, ']', length);
	char text[NAME_MAX_BYTES];
	size_t head;

	if (!bracket || length >= sizeof(text))
		return false;
	head = (size_t)(bracket - name) + 1;
	if (head >= sizeof(ret->name))
		return false;
	memcpy(ret->name, name, head);
	memcpy(text, name, length);
	text[length] = 0;
	ret->kind = FX_TRANSFER_PIPE;
	if (strncmp(text, "pipe:[", 6) == 0)
		return length == head;
	if (strncmp(text, "fifo:[", 6) == 0) {
		ret->whole = strdup(text + head);
		return ret->whole != NULL;
	}
	return strncmp(text, "socket:[", 8) == 0 && text[head] == ' ' &&
	       read_socket(text + head + 1, ret);
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
	fx_runs_init(&end->written, &ends->pool, &transfers_kind);
	fx_runs_init(&end->read, &ends->pool, &transfers_kind);
	return end;
}

struct fx_transfer_end *fx_transfer_end_get(struct fx_transfer_ends *ends, const char *name,
					    size_t length, uint32_t pid)
{
	struct fx_transfer_end said = {0}, *end;

	if (!read_name(name, length, &said)) {
		end_said_free(&said);
		return NULL;
	}
	end = end_make(ends, &said);
	/* Unless it was seen who connected. */
	if (end && end->connects && !end->connector)
		end->connector = pid;
	return end;
}

void fx_transfer_end_connects(struct fx_transfer_ends *ends, const char *name, size_t length,
			      uint32_t pid)
{
	struct fx_transfer_end said = {.is_bare = true}, *end;

	/* What has a peer by then has not got it by this call. */
	if (read_name(name, length, &said) || !said.is_unix) {
		end_said_free(&said);
		return;
	}
	HASH_FIND_STR(ends->ends, said.name, end);
	if (!end)
		end = end_make(ends, &said);
	else
		end_said_free(&said);
	if (end)
		end->connector = pid;
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
	char text[NAME_MAX_BYTES + 60];
	char *meets;

	snprintf(text, sizeof(text), "%" PRIu32 " %s", end->connector, end->meets);
	meets = strdup(text);
	free(end->meets);
	end->meets = meets;
	return meets != NULL;
}

void fx_transfer_ends_join(struct fx_transfer_ends *ends)
{
	struct meeting *meetings = NULL, *meeting, *next_meeting;
	struct fx_transfer_end *end, *next;

	HASH_ITER (hh, ends->ends, end, next) {
		if (end->kind == FX_TRANSFER_PIPE)
			end->peer = end;
		else if (end->peer_inode)
			join_pair(ends, end);
	}
	HASH_ITER (hh, ends->ends, end, next) {
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

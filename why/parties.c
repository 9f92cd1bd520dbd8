/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "report/show.h"
#include "why/parties.h"

enum { PIPES_MAX = 100000 };

enum parties_deed { DOES_NOTHING, DOES_READ, DOES_WRITE, DOES_DUPLICATE };

/* What calls do with a pipe; the first that matches counts. (fflush() of what was inherited says nothing.) */
static const struct {
	const char *name;
	enum parties_deed deed;
} parties_deeds[] = {
    {"read*link*", DOES_NOTHING}, {"readahead", DOES_NOTHING}, {"read*", DOES_READ},
    {"fread*", DOES_READ},	  {"fget*", DOES_READ},	       {"get*c*", DOES_READ},
    {"getdelim", DOES_READ},	  {"getline", DOES_READ},      {"*scanf", DOES_READ},
    {"write*", DOES_WRITE},	  {"fwrite*", DOES_WRITE},     {"fput*", DOES_WRITE},
    {"put*", DOES_WRITE},	  {"*printf", DOES_WRITE},     {"dup[23]", DOES_DUPLICATE},
};

static enum parties_deed parties_deed_of_name(const char *name)
{
	for (size_t i = 0; i < sizeof(parties_deeds) / sizeof(*parties_deeds); i++) {
		if (fnmatch(parties_deeds[i].name, name, 0) == 0)
			return parties_deeds[i].deed;
	}
	return DOES_NOTHING;
}

static enum parties_deed parties_deed(struct fx_why_parties *parties, const struct fxt_string *name)
{
	size_t count = parties->names.count;
	uint8_t *known;

	if (name->serial >= count) {
		size_t more = name->serial + 1 - count;

		if (fx_vector_reserve(&parties->names, more) < 0)
			return DOES_NOTHING;
		memset(parties->names.items + count, 0, more);
		parties->names.count += more;
	}
	known = &parties->names.items[name->serial];
	if (*known == 0)
		*known = (uint8_t)(1 + parties_deed_of_name(name->data));
	return (enum parties_deed)(*known - 1);
}

/* The number of the name of the pipe that a call is about; 0: it is about none. */
static uint32_t parties_pipe(const struct fx_event *event)
{
	const struct fxt_string *file = fx_event_string(event, "file");

	return file && file->length > 6 && memcmp(file->data, "pipe:[", 6) == 0 ? file->serial : 0;
}

/* False: neither. */
static bool parties_side(struct fx_why_parties *parties, const struct fx_event *event,
			 enum fx_why_side *ret)
{
	int64_t fd;

	switch (parties_deed(parties, event->name)) {
	case DOES_READ:
		*ret = FX_WHY_READS;
		return true;
	case DOES_WRITE:
		*ret = FX_WHY_WRITES;
		return true;
	case DOES_DUPLICATE:
		if (!fx_event_integer(event, "newfd", &fd) || fd < 0 || fd > 2)
			return false;
		*ret = fd == 0 ? FX_WHY_READS : FX_WHY_WRITES;
		return true;
	default:
		return false;
	}
}

static void party_add(struct fx_why_party *party, uint32_t thread)
{
	for (uint32_t i = 0; i < party->count && i < 2; i++) {
		if (party->threads[i] == thread)
			return;
	}
	if (party->count < 2)
		party->threads[party->count] = thread;
	if (party->count < 3)
		party->count++;
}

int fx_why_parties_see(struct fx_why_parties *parties, const struct fx_event *event)
{
	enum fx_why_side side;
	struct fx_key key = {0};
	size_t number;

	if (!parties_side(parties, event, &side))
		return 0;
	key.numbers[0] = parties_pipe(event);
	if (!key.numbers[0])
		return 0;
	if (fx_vector_reserve(&parties->sides, FX_WHY_SIDES) < 0)
		return -ENOMEM;
	parties->pipes.limit = PIPES_MAX;
	number = fx_keys_number(&parties->pipes, key);
	if (number == FX_KEY_NONE)
		return 0;
	if (number * FX_WHY_SIDES == parties->sides.count) {
		memset(parties->sides.items + parties->sides.count, 0,
		       FX_WHY_SIDES * sizeof(*parties->sides.items));
		parties->sides.count += FX_WHY_SIDES;
	}
	party_add(&parties->sides.items[number * FX_WHY_SIDES + side], event->thread->number);
	return 0;
}

uint32_t fx_why_parties_other(struct fx_why_parties *parties, const struct fx_event *event,
			      uint32_t thread)
{
	const struct fx_why_party *party;
	uint32_t found = FX_WHY_NOBODY;
	enum fx_why_side side;
	struct fx_key key = {.numbers = {parties_pipe(event)}};

	if (!key.numbers[0] || !parties_side(parties, event, &side) ||
	    !fx_keys_has(&parties->pipes, key))
		return FX_WHY_NOBODY;
	side = side == FX_WHY_READS ? FX_WHY_WRITES : FX_WHY_READS;
	party = &parties->sides.items[fx_keys_number(&parties->pipes, key) * FX_WHY_SIDES + side];
	for (uint32_t i = 0; i < party->count && i < 2; i++) {
		if (party->threads[i] == thread)
			continue;
		if (found != FX_WHY_NOBODY)
			return FX_WHY_NOBODY;
		found = party->threads[i];
	}
	return party->count > 2 ? FX_WHY_NOBODY : found;
}

void fx_why_parties_free(struct fx_why_parties *parties)
{
	fx_keys_free(&parties->pipes);
	fx_vector_free(&parties->sides);
	fx_vector_free(&parties->names);
}

/* SPDX-License-Identifier: MIT */
#include "preload/show/fdtable.h"

#include <errno.h>
#include <stdbool.h>

#include "engine/provider/string.h"
#include "engine/provider/wiped.h"
#include "preload/show/fdevents.h"
#include "preload/show/fdname.h"
#include "preload/show/fdplaces.h"

/* In one mapping, which a forked child finds zeroed. */
struct wiped {
	uint64_t bytes;	  /* that the strings have taken of the durable area */
	uint32_t strings; /* made */
	uint32_t highest; /* entry that was ever filled */
	struct fx_places places;
	uint32_t kinds[FX_FDS_ASKED]; /* age << KIND_BITS | enum fd_kind */
	struct fx_fd entries[FX_FDS];
};

enum fd_kind { FD_UNASKED, FD_CHANNEL, FD_OTHER };

#define KIND_BITS	2
#define AGE_SHIFT	40
#define RENAMINGS_SHIFT 32
#define RENAMINGS_MASK	0x7fu
#define FD_DOUBLED	(1ull << 39) /* a copy or a mapping leads there as well */

#define TABLES_ROOM ((size_t)33 << 18) /* of preload/call/tables.h */

_Static_assert(FX_ALIGN_UP(sizeof(struct wiped), 4096) +
		       FX_ALIGN_UP(sizeof(struct fx_wiped), 4096) + TABLES_ROOM <=
		   FX_WIPED_SIZE,
	       "all that a fork wipes");

static struct wiped *wiped;
struct fx_fd_table fx_fd_table;

void fx_fd_table_init(void)
{
	wiped = fx_wiped_map(sizeof *wiped);
	if (!wiped)
		return;
	fx_fd_table.entries = wiped->entries;
	fx_fd_table.count = FX_FDS;
}

/* --- Learning --------------------------------------------------------------------------------- */

static bool strings_are_left(void)
{
	/* relaxed: a few more do no harm */
	return fx_load_relaxed(&wiped->strings) < FX_FD_STRINGS &&
	       fx_load_relaxed(&wiped->bytes) < fx_engine.layout.durable_size / FX_FD_DURABLE_SHARE;
}

static uint32_t string_make(uint64_t key, const void *data)
{
	const struct fx_text *text = data;
	const size_t length = fx_text_length(text);
	const uint32_t index = fx_string_define(text->begin, length, 0);

	(void)key;
	if (index) {
		fx_add_relaxed(&wiped->strings, 1);
		fx_add_relaxed(&wiped->bytes, 8 + FX_ALIGN_UP(length, (size_t)8));
	}
	return index;
}

static struct fx_place_fd place_of_fd(int fd)
{
	return (struct fx_place_fd){fd, fx_fd_age(fd)};
}

/* What the entry shall say; 0 if there is no such descriptor. */
static uint32_t string_of(const struct fx_thread *t, int fd)
{
	char buffer[FX_FD_NAME_MAX];
	struct fx_text text = FX_TEXT(buffer);
	enum fx_fd_state state = FX_FD_SETTLED;
	struct statx file;
	uint32_t index;

	if (!strings_are_left())
		return FX_FD_NAMELESS;
	if (fx_fd_stat(fd, &file) == -EBADF)
		return 0;
	if (!fx_places_tell(&wiped->places, place_of_fd(fd), &file, &text)) {
		state = fx_fd_name_of(&text, fd, &file);
		fx_places_learn(&wiped->places, place_of_fd(fd), &file, &text);
	}
	index = fx_string_of_bytes(t, text.begin, fx_text_length(&text), string_make, &text);
	if (!index)
		return FX_FD_NAMELESS;
	if (state == FX_FD_COUNTS)
		return index | FX_FD_COUNTED;
	return state == FX_FD_MAY_CONNECT ? index | FX_FD_UNSETTLED : index;
}

static uint32_t shown(uint32_t string)
{
	return string == FX_FD_NAMELESS ? 0 : string & ~FX_FD_UNSETTLED;
}

static void highest_raise(uint32_t fd)
{
	uint32_t highest = fx_load_relaxed(&wiped->highest);

	while (fd > highest && !fx_cas_acq_rel(&wiped->highest, &highest, fd)) {
	}
}

fx_cold uint32_t fx_fd_learn(int fd, uint32_t category)
{
	struct fx_fd *entry = &fx_fd_table.entries[fd];
	uint64_t word = fx_load_relaxed(&entry->word);
	const struct fx_thread *t;
	uint32_t string;

	if ((uint32_t)word == FX_FD_NAMELESS || (uint32_t)word & FX_FD_COUNTED ||
	    !fx_engine_may(FX_ASK_LOOK))
		return shown((uint32_t)word);
	t = fx_thread_on(category);
	if (!t)
		return 0;
	string = string_of(t, fd);
	if (string) {
		highest_raise((uint32_t)fd);
		fx_cas_acq_rel(&entry->word, &word, word >> 32 << 32 | string);
	}
	return shown(string);
}

struct fx_fd_ref fx_fd_known(int fd)
{
	struct fx_fd_ref r = {0};

	if ((uint32_t)fd < fx_fd_table.count) {
		r.entry = &fx_fd_table.entries[fd];
		r.string = shown((uint32_t)fx_load_relaxed(&r.entry->word)) & ~FX_FD_COUNTED;
	}
	return r;
}

uint32_t fx_fd_age(int fd)
{
	if ((uint32_t)fd >= fx_fd_table.count)
		return 0;
	return (uint32_t)(fx_load_relaxed(&fx_fd_table.entries[fd].word) >> AGE_SHIFT);
}

bool fx_fd_is_channel(int fd)
{
	uint32_t age = fx_fd_age(fd) << KIND_BITS, known;
	struct statx file;

	if (!fx_fd_table.count || (uint32_t)fd >= FX_FDS_ASKED)
		return false;
	/* relaxed: one word, which says of which descriptor it is */
	known = fx_load_relaxed(&wiped->kinds[fd]);
	if (known == (age | FD_CHANNEL) || known == (age | FD_OTHER))
		return known == (age | FD_CHANNEL);
	if (!fx_engine_may(FX_ASK_LOOK) || fx_fd_stat(fd, &file) != 0)
		return false;
	known = age | (S_ISFIFO(file.stx_mode) || S_ISSOCK(file.stx_mode) ? FD_CHANNEL : FD_OTHER);
	fx_store_relaxed(&wiped->kinds[fd], known);
	return known == (age | FD_CHANNEL);
}

/* --- Forgetting ------------------------------------------------------------------------------- */

static void entry_clear(struct fx_fd *entry)
{
	fx_store_relaxed(&entry->word, ((fx_load_relaxed(&entry->word) >> AGE_SHIFT) + 1)
					   << AGE_SHIFT);
}

/* The same descriptor: its age stays. */
static void entry_rename(struct fx_fd *entry)
{
	uint64_t word = fx_load_relaxed(&entry->word), renamed;

	do {
		renamed = ((word >> RENAMINGS_SHIFT) + 1) & RENAMINGS_MASK;
		renamed = word >> AGE_SHIFT << AGE_SHIFT | (word & FD_DOUBLED) |
			  renamed << RENAMINGS_SHIFT;
		/* acquire and release: pairs with fx_fd_doubled() of another thread, whose mark stays */
	} while (!fx_cas_acq_rel(&entry->word, &word, renamed));
}

static bool has_entry(int fd)
{
	return (uint32_t)fd < fx_fd_table.count && !fx_engine_is_guest() &&
	       !(fx_is_own() && fx_self->suspended);
}

void fx_fd_doubled(int fd)
{
	uint64_t *word = has_entry(fd) ? &fx_fd_table.entries[fd].word : NULL, before;

	if (!word)
		return;
	before = fx_load_relaxed(word);
	while (!fx_cas_acq_rel(word, &before, before | FD_DOUBLED)) {
	}
}

bool fx_fd_is_single(int fd)
{
	/* The number of what was there before the table was never forgotten. relaxed: who asks has seen the copy made */
	return has_entry(fd) && fx_fd_age(fd) &&
	       !(fx_load_relaxed(&fx_fd_table.entries[fd].word) & FD_DOUBLED);
}

void fx_fd_forget(int fd)
{
	if (!has_entry(fd))
		return;
	fx_event_forget(fd);
	entry_clear(&fx_fd_table.entries[fd]);
	fx_store_relaxed(&fx_fd_table.entries[fd].read, 0);
	fx_store_relaxed(&fx_fd_table.entries[fd].written, 0);
}

void fx_fd_forget_closed(int fd, uint32_t age)
{
	if (fx_fd_age(fd) == age)
		fx_fd_forget(fd);
}

void fx_fd_opened_at(int fd, int directory, const char *name, int flags)
{
	fx_fd_forget(fd);
	if (has_entry(fd) && has_entry(directory))
		fx_places_opened(&wiped->places, place_of_fd(fd), place_of_fd(directory), name,
				 flags);
}

void fx_fd_moved(int directory, const char *name)
{
	if (!has_entry(0))
		return;
	if (has_entry(directory))
		fx_places_moved(&wiped->places, place_of_fd(directory), name);
	else
		fx_places_moved(&wiped->places, (struct fx_place_fd){-1, 0}, NULL);
}

void fx_fd_forget_range(uint32_t first, uint32_t last)
{
	if (!fx_fd_table.count)
		return;
	/* A forked child has none of the entries yet. */
	if (fx_load_relaxed(&fx_events_are_known) && has_entry(0))
		fx_event_drop_range(first, last);
	if (last > fx_load_relaxed(&wiped->highest))
		last = fx_load_relaxed(&wiped->highest);
	for (uint32_t fd = first; fd <= last && fd < FX_FDS; fd++)
		fx_fd_forget((int)fd);
}

void fx_fd_renamed(int fd)
{
	if (has_entry(fd))
		entry_rename(&fx_fd_table.entries[fd]);
}

void fx_fd_copied(int from, int to)
{
	if (from == to)
		return;
	fx_fd_forget(to);
	fx_fd_doubled(from);
	fx_fd_doubled(to);
	if (has_entry(to) && fx_load_relaxed(&fx_events_are_known))
		fx_event_copied(from, to);
}

void fx_fd_event(int fd, bool is_semaphore)
{
	fx_fd_forget(fd);
	if (has_entry(fd))
		fx_event_made(fd, is_semaphore);
}

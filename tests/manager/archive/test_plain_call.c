/* SPDX-License-Identifier: MIT */
/* Calls with arguments go into the archive in one walk or by the long way: the archive is the same, whatever they hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "format/encode.h"
#include "manager/archive/intake.h"
#include "manager/archive/stream.h"
#include "manager/archive/ties.h"
#include "manager/archive/transfers.h"
#include "tests/manager/records.h"
#include "tests/manager/shared.h"

#define PID	500u
#define TID	501u
#define RECORDS 40000u

/* The end of all; where nothing that ended a nanosecond after the machine's start is left out, the long way is taken. */
#define END	 (UINT64_C(1) << 40)
#define LAST_ALL (END - 1)

static struct fx_stream_shared shared;
static struct fx_ties ties;
static struct fx_transfers transfers;
static struct fx_transfer_counts moved; /* of the archive that was made last */
static struct fx_stream *s;
static uint64_t words[1 << 12];
static size_t used;

/* Two categories, of which the second is the tracer's own; then names of calls and of arguments. */
static const char *const texts[] = {"cat",   "syscall", "read",	    "name",    "fd",	  "ret",
				    "file",  "a path",	"at",	    "by",      "held_ns", "write",
				    "flags", "size",	"pipe:[7]", "MSG_PEEK"};
#define TEXTS (sizeof(texts) / sizeof(texts[0]))

/* Calls that come again with other values; the index of a text that is another one from then on. */
#define KEPT	 8u
#define CALL_MAX 64u
static uint64_t kept[KEPT][CALL_MAX];
#define CHANGING 8u

static bool moves; /* the last one wrote */

static void send(enum fx_piece_kind kind, uint64_t serial)
{
	const struct fx_piece piece = {.kind = kind,
				       .flags = FX_PIECE_FIRST | FX_PIECE_LAST,
				       .bytes = (uint32_t)(used * 8),
				       .serial = serial};

	used = 0;
	fx_intake_piece(s, &piece, words, 0, END);
}

static void put_name(unsigned index, const char *text)
{
	size_t length = strlen(text), count = 1 + fx_bytes_words(length);

	words[used] = fx_header_string(count, index, length);
	fx_bytes_write(&words[used + 1], text, length);
	used += count;
}

static void begin(uint64_t last_ns)
{
	const struct fx_stream_who who = {.pid = PID, .kernel_pid = PID, .first_tid = PID};

	shared_begin(&shared, &ties);
	shared.last_ns = last_ns;
	cr_assert_eq(fx_stream_create_as(&shared, 1, &who, "app", &s), 0);
	fx_transfers_init(&transfers, &shared.archive, true);
	shared.transfers = &transfers;
	memset(kept, 0, sizeof(kept));
	moves = false;
	for (unsigned i = 0; i < TEXTS; i++)
		put_name(i + 1, texts[i]);
	send(FX_PIECE_DURABLE, 0);
}

static struct fx_stream_counts end(void)
{
	struct fx_stream_counts counts;

	fx_intake_finish(s, &(struct fx_stream_end){.ticks = END});
	counts = s->counts;
	fx_stream_destroy(s);
	fx_transfers_finish(&transfers, false);
	moved = transfers.drawing.counts;
	fx_transfers_destroy(&transfers);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_symbol_cache_destroy(shared.symbols);
	fx_known_destroy(&shared.known);
	fx_builtin_names_destroy(&shared.builtin);
	return counts;
}

static unsigned chance(unsigned of)
{
	return (unsigned)rand() % of;
}

/* Mostly one that there is; now and then none, or one of a chunk. */
static uint64_t some_ref(void)
{
	static const uint64_t odd[] = {0, TEXTS + 1, 4000, FX_STRING_LOCAL, 0x8000, 0xffff};

	return chance(50) ? 1 + chance(TEXTS) : odd[chance(6)];
}

/* Text of plain characters, and now and then of others. */
static size_t put_text(uint64_t *to, size_t length)
{
	static const char odd[] = {'\\', 'x', '4', 'A', 0, '\x7f', '\x80', '\xc3', '\xa9', '\n'};
	char text[64];

	for (size_t i = 0; i < length; i++)
		text[i] = chance(30) ? (char)(' ' + chance(59)) : odd[chance(10)];
	/* What pads it may be anything. */
	memset(to, chance(4) ? 0 : 0xff, fx_bytes_words(length) * 8);
	memcpy(to, text, length);
	return fx_bytes_words(length);
}

static size_t put_arg(uint64_t *to)
{
	uint64_t type = chance(20) ? chance(9) : chance(16), value = (uint64_t)rand(), size = 1;

	if (type == FXT_ARG_STRING && chance(2)) {
		value = chance(40);
		size += put_text(to + 1, value);
		value |= FXT_STRING_INLINE;
	} else if (type == FXT_ARG_STRING) {
		value = some_ref();
	} else if (type == FXT_ARG_INT64 || type == FXT_ARG_UINT64 || type == FXT_ARG_DOUBLE ||
		   type == FXT_ARG_POINTER || type == FXT_ARG_KOID) {
		to[size++] = (uint64_t)rand() << 20;
	}
	to[0] = type | (chance(300) ? size : chance(4)) << 4 | some_ref() << 16 | value << 32;
	return size;
}

/* A call, mostly sound, that begins `at' or a little before. */
static void put_call(uint64_t at)
{
	uint64_t *to = &words[used], nargs = chance(5), size = 2, header;

	for (uint64_t i = 0; i < nargs; i++)
		size += put_arg(&to[size]);
	to[1] = at - (chance(30) ? 0 : chance(40));
	to[size++] = chance(100) ? at + chance(10) : at - chance(100);
	header = fx_header_event(chance(300) ? size : size - 1,
				 chance(30) ? FXT_EVENT_DURATION_COMPLETE : chance(4), 0,
				 chance(100) ? FX_CHUNK_THREAD_INDEX : chance(3),
				 (unsigned)(chance(20) ? 1 + chance(2) : some_ref()),
				 (unsigned)(chance(20) ? (chance(2) ? 3 : 12) : some_ref()));
	to[0] = (header & ~FXT_PUT(EVENT_NARGS, ~0)) |
		FXT_PUT(EVENT_NARGS, chance(200) ? nargs : chance(16));
	if (size <= CALL_MAX && chance(2))
		memcpy(kept[chance(KEPT)], to, size * sizeof(*to));
	used += size;
}

/* One of before, as a program makes the same call again: other values, and now and then another word. */
static void put_call_again(uint64_t at)
{
	const uint64_t *from = kept[chance(KEPT)];
	uint64_t *to = &words[used], size = FXT_GET(from[0], RECORD_SIZE), arg = 2;

	if (size < 3 || size > CALL_MAX) {
		put_call(at);
		return;
	}
	memcpy(to, from, size * sizeof(*to));
	to[1] = at;
	for (uint64_t i = FXT_GET(to[0], EVENT_NARGS); i && arg + 1 < size; i--) {
		if (FXT_GET(to[arg], ARG_TYPE) != FXT_ARG_STRING)
			to[arg] = (uint32_t)to[arg] | (uint64_t)chance(100) << 32;
		else if (!(FXT_GET(to[arg], ARG_STRING_VALUE) & FXT_STRING_INLINE))
			to[arg] = (uint32_t)to[arg] | some_ref() << 32;
		arg += chance(100) ? FXT_GET(to[arg], ARG_SIZE) : 1;
	}
	if (!chance(60))
		to[chance((unsigned)size)] ^= UINT64_C(1) << chance(64);
	to[size - 1] = at + chance(10);
	used += size;
}

/* A call that moves bytes through a pipe, by turns into it and out of it. */
static void put_move(uint64_t at)
{
	static const unsigned names[] = {12, 3};
	const bool reads = (moves = !moves) == 0;
	uint64_t *to = &words[used], bytes = 1 + chance(2);

	to[0] = fx_header_event(6, FXT_EVENT_DURATION_COMPLETE, 3, FX_CHUNK_THREAD_INDEX, 2,
				names[reads]);
	to[1] = at;
	to[2] = FXT_ARG_INT32 | 1 << 4 | 5 << 16 | UINT64_C(4) << 32;
	to[3] = FXT_ARG_INT32 | 1 << 4 | 6 << 16 | bytes << 32;
	to[4] = FXT_ARG_STRING | 1 << 4 | 7 << 16 | (uint64_t)(chance(4) ? 15 : 8) << 32;
	to[5] = at + 1;
	used += 6;
}

static struct fx_stream_counts make(uint64_t last_ns)
{
	uint64_t at = 1000;

	srand(7);
	begin(last_ns);
	for (unsigned i = 0; i < RECORDS; i++) {
		const uint64_t thread[3] = {fx_header_thread(FX_CHUNK_THREAD_INDEX), 1, TID};

		memcpy(words, thread, sizeof(thread));
		used = 3;
		for (unsigned calls = 1 + chance(3); calls; calls--)
			(chance(3) ? put_call_again : put_call)(at += 10 + chance(100));
		put_move(at += 10 + chance(100));
		send(FX_PIECE_CHUNK, i + 1);
		if (!chance(100)) {
			put_name(8 + chance(4), texts[4 + chance(7)]);
			put_name(CHANGING, chance(2) ? "pipe:[8]" : "size");
			send(FX_PIECE_DURABLE, 0);
		}
	}
	return end();
}

static char *contents(size_t *ret_size)
{
	FILE *f = fopen(archive_path(), "rb");
	char *data;

	cr_assert(f && fseek(f, 0, SEEK_END) == 0);
	*ret_size = (size_t)ftell(f);
	rewind(f);
	data = malloc(*ret_size);
	cr_assert(data && fread(data, 1, *ret_size, f) == *ret_size);
	fclose(f);
	return data;
}

Test(plain_call, both_ways_are_one, .fini = archive_remove)
{
	struct fx_stream_counts quick = make(0), slow;
	size_t quick_size, slow_size;
	char *quick_data = contents(&quick_size), *slow_data;
	struct fx_transfer_counts quick_moved;

	quick_moved = moved;
	slow = make(LAST_ALL);
	slow_data = contents(&slow_size);
	cr_assert_gt(quick.events, RECORDS);
	cr_assert_eq(quick.events, slow.events);
	for (unsigned i = 0; i < FX_CAUSES; i++)
		cr_assert_eq(quick.lost[i], slow.lost[i], "cause %u: %lu, %lu", i,
			     (unsigned long)quick.lost[i], (unsigned long)slow.lost[i]);
	cr_assert_gt(moved.left[FX_TRANSFER_LEFT_ORDER] + moved.left[FX_TRANSFER_LEFT_UNTRACED], 0);
	cr_assert_eq(memcmp(&quick_moved, &moved, sizeof(moved)), 0);
	cr_assert_eq(quick_size, slow_size);
	cr_assert_eq(memcmp(quick_data, slow_data, quick_size), 0);
	free(quick_data);
	free(slow_data);
}

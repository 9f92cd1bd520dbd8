/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <criterion/criterion.h>

#include "format/encode.h"
#include "manager/archive/intake.h"
#include "manager/archive/ties.h"
#include "tests/manager/archive/pieces.h"
#include "tests/manager/shared.h"

struct fx_stream_shared shared;
static struct fx_ties ties;
struct fx_stream *stream;

uint64_t words[1 << 16];
size_t used;

void put(const uint64_t *record, size_t count)
{
	memcpy(words + used, record, count * 8);
	used += count;
}

void put_string(unsigned index, const char *text)
{
	uint64_t record[128];
	size_t length = strlen(text), count = 1 + fx_bytes_words(length);

	record[0] = fx_header_string(count, index, length);
	fx_bytes_write(record + 1, text, length);
	put(record, count);
}

void put_address(unsigned index, uint64_t address)
{
	const uint64_t record[2] = {fx_header_string_address(index), address};

	put(record, 2);
}

void put_thread(uint64_t tid)
{
	const uint64_t record[3] = {fx_header_thread(FX_CHUNK_THREAD_INDEX), 1, tid};

	put(record, 3);
}

uint64_t event_header(enum fxt_event_type type, size_t count, unsigned name)
{
	return fx_header_event(count, type, 0, FX_CHUNK_THREAD_INDEX, CATEGORY, name);
}

void put_complete(unsigned name, uint64_t start, uint64_t end)
{
	const uint64_t record[3] = {event_header(FXT_EVENT_DURATION_COMPLETE, 3, name), start, end};

	put(record, 3);
}

void put_instant(unsigned name, uint64_t time)
{
	const uint64_t record[2] = {event_header(FXT_EVENT_INSTANT, 2, name), time};

	put(record, 2);
}

void put_begin(unsigned name, uint64_t time)
{
	const uint64_t record[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, name), time};

	put(record, 2);
}

void put_end(unsigned name, uint64_t time)
{
	const uint64_t record[2] = {event_header(FXT_EVENT_DURATION_END, 2, name), time};

	put(record, 2);
}

void send_piece(struct fx_piece piece)
{
	piece.bytes = (uint32_t)(used * 8);
	used = 0;
	fx_intake_piece(stream, &piece, words, 0, 0);
}

void send_durable(void)
{
	send_piece((struct fx_piece){.kind = FX_PIECE_DURABLE});
}

void send_chunk(uint32_t number, uint64_t serial, uint32_t flags)
{
	send_piece((struct fx_piece){
	    .kind = FX_PIECE_CHUNK, .flags = flags, .index = number, .serial = serial});
}

void send_facts(uint32_t slot, struct fx_thread_facts facts)
{
	memcpy(words, &facts, sizeof(facts));
	used = sizeof(facts) / 8;
	send_piece((struct fx_piece){.kind = FX_PIECE_THREAD, .index = slot});
}

void send_frames(uint64_t tid, const struct fx_frame *frames, size_t count, uint64_t end)
{
	const struct fx_piece piece = {
	    .kind = FX_PIECE_FRAMES, .serial = tid, .bytes = (uint32_t)(count * sizeof(*frames))};

	fx_intake_piece(stream, &piece, frames, 0, end);
}

void pieces_begin_as(bool is_kernel)
{
	const struct fx_stream_who who = {
	    .pid = PID, .kernel_pid = PID, .first_tid = PID, .is_kernel = is_kernel};

	shared_begin(&shared, &ties);
	for (unsigned i = 0; i < FX_LOSSES; i++)
		fx_loss_cure(i, NULL, shared.cures[i]);
	cr_assert_eq(fx_stream_create_as(&shared, 1, &who, "app", &stream), 0);
	put_string(CATEGORY, "cat");
	put_string(NAME, "name");
	put_address(FUNCTION, ADDRESS);
	send_durable();
}

void pieces_begin(void)
{
	pieces_begin_as(false);
}

struct fx_stream_counts pieces_end_with(const struct fx_stream_end *end)
{
	struct fx_stream_counts counts;

	fx_intake_finish(stream, end);
	counts = stream->counts;
	fx_stream_destroy(stream);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_symbol_cache_destroy(shared.symbols);
	fx_known_destroy(&shared.known);
	fx_builtin_names_destroy(&shared.builtin);
	archive_expect_clean(archive_path());
	return counts;
}

struct fx_stream_counts pieces_end(void)
{
	return pieces_end_with(&(struct fx_stream_end){.ticks = 1000000});
}

/* SPDX-License-Identifier: MIT */
/* A stream of one provider, whose pieces a test makes record by record: put_...() adds a record to the piece, send_...()
 * hands the piece over. */
#ifndef FX_TESTS_MANAGER_ARCHIVE_PIECES_H
#define FX_TESTS_MANAGER_ARCHIVE_PIECES_H
#include "manager/archive/stream.h"
#include "tests/manager/records.h"

/* The provider, its first thread, and the strings that it has sent before a test begins. */
#define PID	 500u
#define TID	 501u
#define CATEGORY 1u
#define NAME	 2u
#define FUNCTION 3u
#define OTHER	 4u
#define ADDRESS	 0x401000u

#define WHOLE (FX_PIECE_FIRST | FX_PIECE_LAST)

extern struct fx_stream_shared shared;
extern struct fx_stream *stream;

/* Words of the piece that is being made. */
extern uint64_t words[1 << 16];
extern size_t used;

void put(const uint64_t *record, size_t count);
void put_string(unsigned index, const char *text);
void put_address(unsigned index, uint64_t address);
void put_thread(uint64_t tid);
void put_complete(unsigned name, uint64_t start, uint64_t end);
void put_instant(unsigned name, uint64_t time);
void put_begin(unsigned name, uint64_t time);
void put_end(unsigned name, uint64_t time);

/* Of an event of CATEGORY by the thread of put_thread(). */
uint64_t event_header(enum fxt_event_type type, size_t count, unsigned name);

void send_piece(struct fx_piece piece);
void send_durable(void);
void send_chunk(uint32_t number, uint64_t serial, uint32_t flags);
void send_facts(uint32_t slot, struct fx_thread_facts facts);
void send_frames(uint64_t tid, const struct fx_frame *frames, size_t count, uint64_t end);

void pieces_begin(void);
void pieces_begin_as(bool is_kernel);

/* Ends the stream; the archive, which must be clean, can be read then. */
struct fx_stream_counts pieces_end(void);
struct fx_stream_counts pieces_end_with(const struct fx_stream_end *end);

#endif

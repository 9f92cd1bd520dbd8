/* SPDX-License-Identifier: MIT */
/*
 * What the manager's writer thread does with a provider's chunks: check, convert, save to
 * /dev/null. Prints MB of provider data a second, once for function calls of 24 bytes and once for
 * events with two arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/encode.h"
#include "manager/archive/intake.h"
#include "manager/archive/stream.h"
#include "manager/archive/ties.h"

#define CHUNK_WORDS (FX_CHUNK_MAX / 8)
#define ROUNDS	    40000u
#define NAMES	    512u
#define CATEGORY    1u
#define FIRST_NAME  2u

static struct fx_stream_shared shared;
static struct fx_ties ties;
static uint64_t chunk[CHUNK_WORDS];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "manager_throughput: %s: %s\n", what, strerror(-result));
	exit(1);
}

static void prepare(void)
{
	struct fx_output *out;
	struct fx_anchor first;

	must(fx_output_open("/dev/null", &out), "/dev/null");
	must(fx_output_begin(out), "/dev/null");
	must(fx_symbol_cache_create(NULL, &shared.symbols), "symbols");
	fx_archive_begin(&shared.archive, out);
	fx_ties_init(&ties, &shared.archive);
	shared.ties = &ties;
	first = fx_anchor_take(FX_CLOCK_COUNTER);
	fx_timebase_init(&shared.timebase, FX_CLOCK_COUNTER, first);
	while (fx_boottime_ns() - first.ns < 5000000)
		;
	must(fx_timebase_add(&shared.timebase, fx_anchor_take(FX_CLOCK_COUNTER), 1000000000),
	     "clock");
}

static void define_names(struct fx_stream *s)
{
	for (unsigned i = CATEGORY; i < FIRST_NAME + NAMES; i++) {
		uint64_t record[3];
		char text[17];

		snprintf(text, sizeof(text), "some_function_%02u", i % 100);
		record[0] = fx_header_string(3, i, 16);
		memcpy(record + 1, text, 16);
		fx_intake_piece(s, &(struct fx_piece){.kind = FX_PIECE_DURABLE, .bytes = 24},
				record, 0, 0);
	}
}

/* One event: a call, or an instant with an integer and a string. */
static size_t put_event(uint64_t *to, unsigned i, uint64_t ticks, int with_arguments)
{
	unsigned name = FIRST_NAME + i % NAMES;

	to[1] = ticks;
	if (!with_arguments) {
		to[0] = fx_header_event(3, FXT_EVENT_DURATION_COMPLETE, 0, FX_CHUNK_THREAD_INDEX,
					CATEGORY, name);
		to[2] = ticks + 50;
		return 3;
	}
	to[0] = fx_header_event(6, FXT_EVENT_DURATION_COMPLETE, 2, FX_CHUNK_THREAD_INDEX, CATEGORY,
				name);
	to[2] = fx_arg_header(FXT_ARG_INT64, 2, FIRST_NAME);
	to[3] = i;
	to[4] = fx_arg_header_string(1, FIRST_NAME, name);
	to[5] = ticks + 50;
	return 6;
}

/* *ticks goes on to where the next chunk begins. */
static uint32_t fill_chunk(uint64_t tid, int with_arguments, uint64_t *ticks)
{
	size_t used = 3;

	chunk[0] = fx_header_thread(FX_CHUNK_THREAD_INDEX);
	chunk[1] = 1;
	chunk[2] = tid;
	for (unsigned i = 0; used + 6 <= CHUNK_WORDS; i++) {
		used += put_event(chunk + used, i, *ticks, with_arguments);
		*ticks += 100;
	}
	return (uint32_t)(used * 8);
}

static void measure(struct fx_stream *s, const char *what, int with_arguments)
{
	struct fx_piece piece = {.kind = FX_PIECE_CHUNK, .flags = FX_PIECE_FIRST | FX_PIECE_LAST};
	uint64_t ticks = fx_counter();
	double taken = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		double start;

		piece.bytes = fill_chunk(1234, with_arguments, &ticks);
		start = seconds();
		piece.index = i % 960;
		piece.serial = i;
		fx_intake_piece(s, &piece, chunk, 0, 0);
		taken += seconds() - start;
	}
	printf("%-44s %7.0f MB/s\n", what, (double)piece.bytes * ROUNDS / taken / 1e6);
	if (s->counts.lost[FX_CAUSE_INVALID])
		must(-1, "records were refused");
}

int main(void)
{
	struct fx_stream *s;

	prepare();
	must(fx_stream_create(&shared, 1, 1234, "bench", &s), "stream");
	define_names(s);
	measure(s, "manager: calls of 24 bytes to /dev/null", 0);
	measure(s, "manager: events with two arguments", 1);
	fx_stream_destroy(s);
	return 0;
}

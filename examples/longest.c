/* SPDX-License-Identifier: MIT */
/*
 * longest ARCHIVE: the ten longest calls of a trace, by libfxtrace-reader.
 *
 *	cc -o longest longest.c $(pkg-config --cflags --libs fxtrace-reader)
 */
#include <fxtrace/reader.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN	 10
#define NAME_MAX 40

struct call {
	uint64_t ns;
	uint64_t pid, tid;
	char name[NAME_MAX]; /* cut off: a string of the reader lives until the next record */
};

static uint64_t call_ns(const struct fxt_record *record)
{
	uint64_t ticks = record->event.end_time - record->event.timestamp;

	return fxt_ticks_to_ns(ticks, record->provider->ticks_per_second);
}

/* Into its place among the longest so far, which are sorted. */
static void call_keep(struct call *longest, const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;
	uint64_t ns = call_ns(record);
	size_t at = SHOWN;

	while (at > 0 && longest[at - 1].ns < ns)
		at--;
	if (at == SHOWN)
		return;
	memmove(&longest[at + 1], &longest[at], (SHOWN - 1 - at) * sizeof(longest[0]));
	longest[at] = (struct call){.ns = ns, .pid = event->thread.pid, .tid = event->thread.tid};
	snprintf(longest[at].name, NAME_MAX, "%.*s", (int)event->name.length, event->name.data);
}

static void say_fault(void *opaque, const struct fxt_fault *fault)
{
	char text[128];

	fxt_fault_format(fault, text, sizeof(text));
	fprintf(stderr, "%s: byte %" PRIu64 ": %s\n", (const char *)opaque, fault->offset, text);
}

int main(int argc, char **argv)
{
	struct call longest[SHOWN] = {{0}};
	const struct fxt_record *record;
	struct fxt_reader *reader;
	int r;

	if (argc != 2) {
		fprintf(stderr, "Usage: %s ARCHIVE\n", argv[0]);
		return 2;
	}
	r = fxt_reader_open_path(argv[1], &reader);
	if (r == 0) {
		fxt_reader_set_fault_handler(reader, say_fault, argv[1]);
		while ((r = fxt_reader_next(reader, &record)) > 0) {
			if (record->kind == FXT_KIND_EVENT &&
			    record->event.type == FXT_EVENT_DURATION_COMPLETE)
				call_keep(longest, record);
		}
		fxt_reader_close(reader);
	}
	if (r < 0) {
		fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], strerror(-r));
		return 1;
	}
	for (size_t i = 0; i < SHOWN && longest[i].ns > 0; i++)
		printf("%12.3f ms  %s  (thread %" PRIu64 " of process %" PRIu64 ")\n",
		       (double)longest[i].ns / 1e6, longest[i].name, longest[i].tid,
		       longest[i].pid);
	return 0;
}

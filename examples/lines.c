/* SPDX-License-Identifier: MIT */
/*
 * lines ARCHIVE: writes an archive of what it reads, one event a line, by libfxtrace-reader:
 *
 *	cc -o lines lines.c $(pkg-config --cflags --libs fxtrace-reader)
 *	printf '%s\n' 'boot kernel 0 1500' 'boot services 1500 900' 'login shell 2400 10' | ./lines boot.fxt
 *
 * A line has the name of a thread, the name of what it did, when that began and how long it took, in us.
 */
#include <fxtrace/writer.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PID	    1
#define FIRST_TID   1
#define THREADS_MAX 100

/* The number of the thread of this name, which is written when it is seen first; or -errno. */
static int64_t thread_number(struct fxt_writer *writer, const char *name)
{
	static char names[THREADS_MAX][64];
	static unsigned count;
	unsigned i = 0;
	int r;

	while (i < count && strcmp(names[i], name) != 0)
		i++;
	if (i == count && count + 1 < THREADS_MAX) {
		snprintf(names[count++], sizeof(names[0]), "%s", name);
		r = fxt_writer_name_thread(writer, PID, FIRST_TID + i, name);
		if (r < 0)
			return r;
	}
	return FIRST_TID + i;
}

static int write_line(struct fxt_writer *writer, const char *line)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};
	uint64_t begin_us, length_us;
	char thread[64], name[64];
	int64_t tid;

	if (sscanf(line, "%63s %63s %" SCNu64 " %" SCNu64, thread, name, &begin_us, &length_us) !=
	    4) {
		fprintf(stderr, "not THREAD NAME BEGIN LENGTH: %s", line);
		return 0;
	}
	tid = thread_number(writer, thread);
	if (tid < 0)
		return (int)tid;
	record.event.type = FXT_EVENT_DURATION_COMPLETE;
	record.event.thread = fxt_thread_of(PID, (uint64_t)tid);
	record.event.category = fxt_text("lines");
	record.event.name = fxt_text(name);
	record.event.timestamp = begin_us * 1000;
	record.event.end_time = (begin_us + length_us) * 1000;
	return fxt_writer_write(writer, &record);
}

int main(int argc, char **argv)
{
	struct fxt_writer *writer = NULL;
	char line[256];
	int r, end;

	if (argc != 2) {
		fprintf(stderr, "Usage: %s ARCHIVE\n", argv[0]);
		return 2;
	}
	r = fxt_writer_open_path(argv[1], &writer);
	if (r == 0)
		r = fxt_writer_provider(writer, 1, "lines", 1000000000);
	if (r == 0)
		r = fxt_writer_name_process(writer, PID, "lines");
	while (r == 0 && fgets(line, sizeof(line), stdin))
		r = write_line(writer, line);
	end = fxt_writer_close(writer);
	r = r < 0 ? r : end;
	if (r < 0)
		fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], strerror(-r));
	return r < 0;
}

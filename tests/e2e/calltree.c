/* SPDX-License-Identifier: MIT */
/*
 * calltree: the calls of each thread in the order of their entry, one line each: thread number (1, 2, …
 * by first call), depth, name. From an archive, or from a log of tests/e2e/hooklog.c, so that the two
 * can be compared line by line.
 *
 *	calltree archive FILE [PID]     calls of category "function"
 *	calltree hooks LOG SYMBOLS      SYMBOLS is the output of nm (-C) on the program
 *
 * With -t before them, threads have their own ids, by which the lines are sorted: for two records of one process.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/reader.h>

struct call {
	uint64_t tid, start, end, order;
	char *name;
};

static struct call *calls;
static size_t call_count, call_room;

static void *must(void *p)
{
	if (!p) {
		perror("calltree");
		exit(1);
	}
	return p;
}

static void call_add(uint64_t tid, uint64_t start, uint64_t end, char *name)
{
	if (call_count == call_room) {
		call_room = call_room ? 2 * call_room : 4096;
		calls = must(realloc(calls, call_room * sizeof *calls));
	}
	calls[call_count] = (struct call){tid, start, end, call_count, name};
	call_count++;
}

/* By thread, then parents before their children. */
static int call_compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* As they are in the record. */
static bool by_tid;

static unsigned thread_number(uint64_t tid)
{
	static uint64_t seen[4096];
	static unsigned count;

	for (unsigned i = 0; i < count; i++)
		if (seen[i] == tid)
			return i + 1;
	if (count == 4096)
		exit(1);
	seen[count++] = tid;
	return count;
}

static int start_compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void print_tree(void)
{
	const struct call **open = must(calloc(call_count + 1, sizeof *open));
	size_t depth = 0;

	/* By first call: ids begin anew when the kernel has given the largest. */
	if (!by_tid) {
		qsort(calls, call_count, sizeof *calls, start_compare);
		for (size_t i = 0; i < call_count; i++)
			calls[i].tid = thread_number(calls[i].tid);
	}
	qsort(calls, call_count, sizeof *calls, call_compare);
	for (size_t i = 0; i < call_count; i++) {
		while (depth && (open[depth - 1]->tid != calls[i].tid ||
				 open[depth - 1]->end < calls[i].end ||
				 open[depth - 1]->end <= calls[i].start))
			depth--;
		printf("%" PRIu64 " %zu %s\n", calls[i].tid, depth, calls[i].name);
		open[depth++] = &calls[i];
	}
	free(open);
}

/* --- an archive --------------------------------------------------------------------------------- */

static int from_archive(const char *path, uint64_t pid)
{
	struct fxt_reader *reader;
	const struct fxt_record *r;
	int status = fxt_reader_open_path(path, &reader);

	if (status < 0) {
		fprintf(stderr, "calltree: %s: %s\n", path, strerror(-status));
		return 1;
	}
	while ((status = fxt_reader_next(reader, &r)) > 0) {
		if (r->kind != FXT_KIND_EVENT || r->event.type != FXT_EVENT_DURATION_COMPLETE ||
		    !fxt_string_equals(&r->event.category, "function") ||
		    (pid && r->event.thread.pid != pid))
			continue;
		call_add(r->event.thread.tid, r->event.timestamp, r->event.end_time,
			 must(strndup(r->event.name.data, r->event.name.length)));
	}
	fxt_reader_close(reader);
	print_tree();
	return status < 0;
}

/* --- a log ---------------------------------------------------------------------------------------- */

struct symbol {
	uint64_t address;
	char *name;
};

static struct symbol *symbols;
static size_t symbol_count;

static int symbol_compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void symbols_read(const char *path)
{
	FILE *f = must(fopen(path, "r"));
	char line[4096], name[4000], type;
	uint64_t address;

	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%" SCNx64 " %c %3999[^\n]", &address, &type, name) != 3 ||
		    !strchr("tTwWiI", type))
			continue;
		symbols = must(realloc(symbols, (symbol_count + 1) * sizeof *symbols));
		symbols[symbol_count++] = (struct symbol){address, must(strdup(name))};
	}
	fclose(f);
	qsort(symbols, symbol_count, sizeof *symbols, symbol_compare);
}

static const char *symbol_name(uint64_t address)
{
	struct symbol key = {address, NULL};
	const struct symbol *s =
	    bsearch(&key, symbols, symbol_count, sizeof *symbols, symbol_compare);

	return s ? s->name : "?";
}

/* The depth of each thread, by its number. */
static long depth_of[4097];

static int hook_compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return x->tid != y->tid ? (x->tid < y->tid ? -1 : 1)
				: (x->order > y->order) - (x->order < y->order);
}

/* Lines that are collected: start is the depth. */
static void print_by_tid(void)
{
	qsort(calls, call_count, sizeof *calls, hook_compare);
	for (size_t i = 0; i < call_count; i++)
		printf("%" PRIu64 " %" PRIu64 " %s\n", calls[i].tid, calls[i].start, calls[i].name);
}

static int from_hooks(const char *log, const char *nm)
{
	FILE *f = must(fopen(log, "r"));
	uint64_t hook[2], base;

	symbols_read(nm);
	if (fscanf(f, "%" SCNx64, &base) != 1 || fgetc(f) != '\n')
		return 1;
	while (fread(hook, sizeof hook, 1, f) == 1 && hook[0]) {
		unsigned thread = thread_number(hook[1]);
		const char *name = symbol_name((hook[0] >> 1) - base);

		if (hook[0] & 1)
			depth_of[thread]--;
		else if (by_tid)
			call_add(hook[1], (uint64_t)depth_of[thread]++, 0, (char *)name);
		else
			printf("%u %ld %s\n", thread, depth_of[thread]++, name);
	}
	fclose(f);
	if (by_tid)
		print_by_tid();
	return 0;
}

int main(int argc, char **argv)
{
	by_tid = argc > 1 && !strcmp(argv[1], "-t");
	argc -= by_tid;
	argv += by_tid;
	if (argc >= 3 && !strcmp(argv[1], "archive"))
		return from_archive(argv[2], argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
	if (argc == 4 && !strcmp(argv[1], "hooks"))
		return from_hooks(argv[2], argv[3]);
	fprintf(stderr, "usage: calltree [-t] archive FILE [PID] | hooks LOG SYMBOLS\n");
	return 2;
}

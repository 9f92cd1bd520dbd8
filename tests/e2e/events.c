/* SPDX-License-Identifier: MIT */
/*
 * events: what stands in an archive, one line each, for the tests to search with awk. Fields are
 * separated by tabs; what is not printable in a text is shown as \xNN.
 *
 *	events FILE             type pid tid process thread category name start end ARGUMENT...
 *	events processes FILE   pid name
 *	events threads FILE     pid tid name
 *
 * `end` is a complete event's end, the id of flows, counters and async events, else 0. Times are in
 * nanoseconds. An argument is name=value. Events stand in file order; of several names of one
 * process or thread the last one counts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include <fxtrace/reader.h>

struct name {
	struct {
		uint64_t pid, tid; /* tid 0: the process */
	} key;
	char *text;
	UT_hash_handle hh;
};

static struct name *names;

static void print_text(const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c < 0x20 || c == '\\' || c == 0x7f)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
}

static struct name *name_find(uint64_t pid, uint64_t tid)
{
	struct name key = {.key = {pid, tid}}, *name;

	HASH_FIND(hh, names, &key.key, sizeof(key.key), name);
	return name;
}

static void name_add(uint64_t pid, uint64_t tid, const struct fxt_string *text)
{
	struct name *name = name_find(pid, tid);

	if (!name) {
		name = calloc(1, sizeof(*name));
		if (!name)
			abort();
		name->key.pid = pid;
		name->key.tid = tid;
		HASH_ADD(hh, names, key, sizeof(name->key), name);
	}
	free(name->text);
	name->text = strndup(text->data, text->length);
}

static void take_name(const struct fxt_record *record)
{
	const struct fxt_kernel_object *object = &record->kernel_object;
	const struct fxt_arg *process;

	if (record->kind != FXT_KIND_KERNEL_OBJECT)
		return;
	process = fxt_record_find_arg(record, "process");
	if (object->type == FXT_OBJECT_PROCESS)
		name_add(object->koid, 0, &object->name);
	else if (process && process->type == FXT_ARG_KOID)
		name_add(process->koid, object->koid, &object->name);
}

static void print_name(uint64_t pid, uint64_t tid)
{
	const struct name *name = name_find(pid, tid);

	if (name)
		print_text(name->text, strlen(name->text));
	else
		putchar('?');
}

static void print_value(const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		printf("%" PRId32, arg->int32);
		break;
	case FXT_ARG_UINT32:
		printf("%" PRIu32, arg->uint32);
		break;
	case FXT_ARG_INT64:
		printf("%" PRId64, arg->int64);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		printf("%" PRIu64, arg->uint64);
		break;
	case FXT_ARG_DOUBLE:
		printf("%.17g", arg->real);
		break;
	case FXT_ARG_STRING:
		print_text(arg->string.data, arg->string.length);
		break;
	case FXT_ARG_POINTER:
		printf("0x%" PRIx64, arg->pointer);
		break;
	case FXT_ARG_BOOL:
		fputs(arg->boolean ? "true" : "false", stdout);
		break;
	case FXT_ARG_NULL:
		fputs("null", stdout);
		break;
	default:
		putchar('?');
	}
}

static void print_event(const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;
	uint64_t rate = record->provider->ticks_per_second, end = event->extra;

	if (record->kind != FXT_KIND_EVENT)
		return;
	if (event->type == FXT_EVENT_DURATION_COMPLETE)
		end = fxt_ticks_to_ns(end, rate);
	printf("%s\t%" PRIu64 "\t%" PRIu64 "\t", fxt_event_type_name(event->type),
	       event->thread.pid, event->thread.tid);
	print_name(event->thread.pid, 0);
	putchar('\t');
	print_name(event->thread.pid, event->thread.tid);
	putchar('\t');
	print_text(event->category.data, event->category.length);
	putchar('\t');
	print_text(event->name.data, event->name.length);
	printf("\t%" PRIu64 "\t%" PRIu64, fxt_ticks_to_ns(event->timestamp, rate), end);
	for (uint32_t i = 0; i < record->nargs; i++) {
		putchar('\t');
		print_text(record->args[i].name.data, record->args[i].name.length);
		putchar('=');
		print_value(&record->args[i]);
	}
	putchar('\n');
}

static void read_archive(const char *path, void take(const struct fxt_record *record))
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	int status = fxt_reader_open_path(path, &reader);

	if (status >= 0) {
		while ((status = fxt_reader_next(reader, &record)) > 0)
			take(record);
		fxt_reader_close(reader);
	}
	if (status < 0) {
		fprintf(stderr, "events: %s: %s\n", path, strerror(-status));
		exit(1);
	}
}

static void print_names(bool threads)
{
	for (const struct name *name = names; name; name = name->hh.next) {
		if ((name->key.tid != 0) != threads)
			continue;
		printf("%" PRIu64 "\t", name->key.pid);
		if (threads)
			printf("%" PRIu64 "\t", name->key.tid);
		print_text(name->text, strlen(name->text));
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		return 2;
	read_archive(argv[argc - 1], take_name);
	if (argc == 3)
		print_names(strcmp(argv[1], "threads") == 0);
	else
		read_archive(argv[1], print_event);
	return fflush(stdout) != 0;
}

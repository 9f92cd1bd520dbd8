/* SPDX-License-Identifier: MIT */
/* Records from the engine through the manager into the archive, by the conformance list. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "engine/provider/observer.h"
#include "engine/provider/fragments.h"
#include "engine/provider/record.h"
#include "engine/provider/site.h"
#include "engine/provider/string.h"
#include "format/encode.h"
#include "tests/manager/attached.h"
#include "tests/manager/daemon.h"
#include "tests/manager/records.h"

static struct manager_process m;
static int link_fd; /* a client */

static void begin(void)
{
	m = daemon_start();
	link_fd = client_connect(&m);
	engine_attach(&m, "provider");
}

static void finish(void)
{
	close(link_fd);
	cr_assert_eq(daemon_stop(&m), 0);
	archive_remove();
}

TestSuite(records, .init = begin, .fini = finish, .timeout = 60);

static struct fx_thread *start_mode(enum fx_buffering_mode mode)
{
	struct fx_msg_initialize request = control_request(mode);

	request.categories = FX_CAT_USER;
	if (mode == FX_MODE_STREAMING)
		request.on_full = FX_ON_FULL_BLOCK;
	cr_assert_eq(control_initialize(link_fd, &request, archive_path()), 0);
	cr_assert_eq(control_start(link_fd, FX_CLEAR_ENTIRE), 0);
	return engine_await(FX_CAT_USER);
}

static struct fx_thread *start(void)
{
	return start_mode(FX_MODE_STREAMING);
}

/* Ends the session; what its archive holds can be read then. */
static struct fx_msg_result end(void)
{
	struct fx_msg_result result;

	cr_assert_eq(control_terminate(link_fd, &result), 0);
	archive_expect_clean(archive_path());
	cr_assert_eq(result.invalid, 0);
	return result;
}

/* Writes a record; its texts stand in it, and it is this thread's, now. */
static int write_record(struct fxt_record *record, const void *payload, size_t size)
{
	static uint64_t words[FX_LARGEST_RECORD / 8 + 4096];
	struct fx_encoder e;

	fx_encoder_init(&e, words, FX_ARRAY_LEN(words));
	cr_assert_eq(fx_record_encode(&e, record), 0);
	words[0] &= FXT_GET(words[0], RECORD_TYPE) == FXT_RECORD_LARGE
			? ~FXT_PUT(LARGE_SIZE, ~UINT64_C(0))
			: ~FXT_PUT(RECORD_SIZE, ~UINT64_C(0));
	return fx_record_write(fx_self, words, (unsigned)e.used, payload, size);
}

static struct fxt_string text(const char *s)
{
	return fx_string_inline(s, strlen(s));
}

static struct fxt_thread this_thread(void)
{
	return (struct fxt_thread){.pid = (uint64_t)getpid(), .tid = (uint64_t)gettid()};
}

/* --- Blobs ----------------------------------------------------------------------------------- */

static uint8_t pattern[FX_LARGEST_RECORD];

static void make_pattern(void)
{
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + i / 251 + i / 65536);
}

struct blob {
	enum fxt_kind kind;
	const char *name;
	unsigned parts;
	size_t size;
	uint32_t nargs; /* of the first part */
	int32_t first_arg;
	uint64_t tid;
};

/* Puts the parts of a blob together, and compares. */
static void collect(const struct fxt_record *record, void *context)
{
	const struct fxt_large_blob *b = &record->large_blob;
	struct blob *want = context;
	size_t length = strlen(want->name);

	if (record->kind != want->kind || b->name.length < length ||
	    memcmp(b->name.data, want->name, length) != 0)
		return;
	cr_assert_leq(record->size, FXT_MAX_RECORD_WORDS, "viewers cannot pass over it");
	cr_assert_leq(want->size + b->payload.size, sizeof(pattern));
	cr_assert_arr_eq(b->payload.data, pattern + want->size, b->payload.size);
	cr_assert(fxt_string_equals(&b->category, "category"));
	if (want->parts++ == 0) {
		want->nargs = record->nargs;
		want->first_arg = record->nargs ? record->args[0].int32 : 0;
		want->tid = b->thread.tid;
	} else {
		cr_assert_eq(record->nargs, 0);
		cr_assert_eq(b->thread.tid, want->tid);
	}
	want->size += b->payload.size;
}

static struct blob read_blob(enum fxt_kind kind, const char *name)
{
	struct blob b = {.kind = kind, .name = name};

	archive_each(archive_path(), collect, &b);
	return b;
}

static int write_large(enum fxt_kind kind, const char *name, size_t size, uint32_t nargs)
{
	struct fxt_record r = {
	    .kind = kind,
	    .nargs = nargs,
	    .large_blob = {.thread = this_thread(),
			   .timestamp = fx_thread_now(fx_self),
			   .category = text("category"),
			   .name = text(name),
			   .payload = {pattern, size}},
	};

	for (uint32_t i = 0; i < nargs; i++)
		r.args[i] = (struct fxt_arg){
		    .type = FXT_ARG_INT32, .name = text("argument"), .int32 = (int32_t)i + 40};
	return write_record(&r, NULL, 0);
}

/* Bytes of the largest payload with this name and so many arguments. */
static size_t payload_max(enum fxt_kind kind, const char *name, uint32_t nargs)
{
	size_t words = 2 + 1 + 1 + fx_bytes_words(strlen(name)); /* "category" is a word */

	if (kind == FXT_KIND_LARGE_EVENT)
		words += 3 + nargs * 2; /* time, process, thread; "argument" is a word */
	return FX_LARGEST_RECORD - words * 8;
}

static void check_blob(enum fxt_kind kind, const char *name, size_t size, uint32_t nargs,
		       unsigned min_parts, unsigned max_parts)
{
	struct blob b = read_blob(kind, name);

	cr_assert_eq(b.size, size, "%s: %zu of %zu bytes", name, b.size, size);
	cr_assert_geq(b.parts, min_parts, "%s: %u", name, b.parts);
	cr_assert_leq(b.parts, max_parts, "%s: %u", name, b.parts);
	cr_assert_eq(b.nargs, nargs);
	if (nargs)
		cr_assert_eq(b.first_arg, 40);
	if (kind == FXT_KIND_LARGE_EVENT)
		cr_assert_eq(b.tid, (uint64_t)gettid());
}

static void find_blob(const struct fxt_record *record, void *context)
{
	unsigned *found = context;

	if (record->kind != FXT_KIND_BLOB || !fxt_string_equals(&record->blob.name, "blob"))
		return;
	cr_assert_eq(record->blob.type, FXT_BLOB_DATA);
	cr_assert_eq(record->blob.payload.size, 1001 + *found * 20000);
	cr_assert_arr_eq(record->blob.payload.data, pattern, record->blob.payload.size);
	++*found;
}

Test(records, blob)
{
	unsigned found = 0;

	make_pattern();
	start();
	/* One in a chunk, one in fragments. */
	for (size_t size = 1001; size < 30000; size += 20000) {
		struct fxt_record r = {.kind = FXT_KIND_BLOB,
				       .blob = {.type = FXT_BLOB_DATA,
						.name = text("blob"),
						.payload = {pattern, size}}};

		cr_assert_eq(write_record(&r, NULL, 0), 0);
	}
	cr_assert_eq(end().dropped, 0);
	archive_each(archive_path(), find_blob, &found);
	cr_assert_eq(found, 2);
}

Test(records, large_attachment)
{
	size_t most = payload_max(FXT_KIND_LARGE_ATTACHMENT, "most", 0);

	make_pattern();
	start();
	cr_assert_eq(write_large(FXT_KIND_LARGE_ATTACHMENT, "small", 10, 0), 0);
	cr_assert_eq(write_large(FXT_KIND_LARGE_ATTACHMENT, "chunks", 30000, 0), 0);
	cr_assert_eq(write_large(FXT_KIND_LARGE_ATTACHMENT, "beyond", 100000, 0), 0);
	cr_assert_eq(write_large(FXT_KIND_LARGE_ATTACHMENT, "most", most, 0), 0);
	end();
	check_blob(FXT_KIND_LARGE_ATTACHMENT, "small", 10, 0, 1, 1);
	check_blob(FXT_KIND_LARGE_ATTACHMENT, "chunks", 30000, 0, 1, 1);
	check_blob(FXT_KIND_LARGE_ATTACHMENT, "beyond", 100000, 0, 4, 7);
	check_blob(FXT_KIND_LARGE_ATTACHMENT, "most", most, 0, 8, 17);
}

static void one_large_event(size_t size, uint32_t nargs, unsigned min_parts, unsigned max_parts)
{
	make_pattern();
	start();
	cr_assert_eq(write_large(FXT_KIND_LARGE_EVENT, "event", size, nargs), 0);
	cr_assert_eq(end().events, 1);
	check_blob(FXT_KIND_LARGE_EVENT, "event", size, nargs, min_parts, max_parts);
}

Test(records, large_event_with_args_small)
{
	one_large_event(100, 15, 1, 1);
}

Test(records, large_event_with_args_medium)
{
	one_large_event(20000, 15, 1, 1);
}

Test(records, large_event_with_args_near_max)
{
	one_large_event(payload_max(FXT_KIND_LARGE_EVENT, "event", 15), 15, 8, 17);
}

Test(records, large_event_with_args_rejected_over_max)
{
	size_t most = payload_max(FXT_KIND_LARGE_EVENT, "event", 3);

	make_pattern();
	start();
	cr_assert_eq(write_large(FXT_KIND_LARGE_EVENT, "event", most - 7 + 8, 3), -E2BIG);
	cr_assert_eq(write_large(FXT_KIND_LARGE_EVENT, "other", 64, 3), 0);
	cr_assert_eq(end().dropped, 1, "it is counted");
	cr_assert_eq(read_blob(FXT_KIND_LARGE_EVENT, "event").parts, 0);
	cr_assert_eq(read_blob(FXT_KIND_LARGE_EVENT, "other").parts, 1);
}

/* A thread that dies, or finds no room, in the middle of a record in fragments leaves nothing of it. */
Test(records, parts_that_are_never_finished)
{
	struct fx_reservation r;
	struct fx_thread *t;
	uint64_t *p;

	make_pattern();
	t = start();
	p = fx_record_reserve(t, FX_FRAGMENT_HEAD + 2, &r);
	cr_assert_not_null(p);
	p[1] = 77 | UINT64_C(4000) << 32;
	p[2] = 0;
	p[3] = fx_header_large_blob(4000, FXT_LARGE_BLOB_ATTACHMENT);
	fx_record_commit(t, p, FX_FRAGMENT_HEADER(FX_FRAGMENT_HEAD + 2), &r);
	cr_assert_eq(write_large(FXT_KIND_LARGE_ATTACHMENT, "whole", 50000, 0), 0);
	end();
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_LARGE_ATTACHMENT),
		     read_blob(FXT_KIND_LARGE_ATTACHMENT, "whole").parts);
	check_blob(FXT_KIND_LARGE_ATTACHMENT, "whole", 50000, 0, 2, 4);
}

/* A circular buffer turns over records in fragments: what is kept is whole, and the newest. */
Test(records, large_attachments_in_a_circular_buffer)
{
	unsigned kept = 0;
	char name[16];

	make_pattern();
	start_mode(FX_MODE_CIRCULAR);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "c%03u", i);
		cr_assert_eq(write_large(FXT_KIND_LARGE_ATTACHMENT, name, 25000, 0), 0);
	}
	cr_assert_eq(end().dropped, 0);
	for (unsigned i = 0; i < 100; i++) {
		struct blob b;

		snprintf(name, sizeof(name), "c%03u", i);
		b = read_blob(FXT_KIND_LARGE_ATTACHMENT, name);
		cr_assert(b.parts == 0 ? kept == 0 : b.parts == 1 && b.size == 25000,
			  "%s: %zu bytes", name, b.size);
		kept += b.parts;
	}
	cr_assert_gt(kept, 4, "%u are kept of a buffer of 256 KiB", kept);
	cr_assert_lt(kept, 12);
}

/* One that has no room at all, or runs out of it, is lost as a whole. */
Test(records, large_attachments_in_a_full_buffer)
{
	unsigned written = 0;
	char name[16];

	make_pattern();
	start_mode(FX_MODE_ONESHOT);
	cr_assert_eq(write_large(FXT_KIND_LARGE_ATTACHMENT, "huge", 250000, 0), -ENOSPC);
	for (; written < 20; written++) {
		snprintf(name, sizeof(name), "f%02u", written);
		if (write_large(FXT_KIND_LARGE_ATTACHMENT, name, 30000, 0) < 0)
			break;
	}
	cr_assert_lt(written, 20);
	cr_assert_eq(end().dropped, 2);
	for (unsigned i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%02u", i);
		cr_assert_eq(read_blob(FXT_KIND_LARGE_ATTACHMENT, name).parts, i < written);
	}
	cr_assert_eq(read_blob(FXT_KIND_LARGE_ATTACHMENT, "huge").parts, 0);
}

/* Several threads write blobs at once: their parts come between one another's. */
static void *write_blobs(void *context)
{
	uintptr_t id = (uintptr_t)context;
	char name[16];

	engine_await(FX_CAT_USER);
	for (unsigned i = 0; i < 10; i++) {
		uint64_t head[5] = {fx_header_large_blob(0, FXT_LARGE_BLOB_ATTACHMENT)};
		size_t size = 40000 + id * 1000;

		snprintf(name, sizeof(name), "t%u-%u", (unsigned)id, i);
		head[1] = FXT_PUT(LARGE_ATTACHMENT_CATEGORY, fx_ref_inline(8)) |
			  FXT_PUT(LARGE_ATTACHMENT_NAME, fx_ref_inline(strlen(name)));
		memcpy(&head[2], "category", 8);
		fx_bytes_write(&head[3], name, strlen(name));
		head[4] = size;
		cr_assert_eq(fx_record_write(fx_self, head, 5, pattern, size), 0);
	}
	fx_thread_exit();
	return NULL;
}

Test(records, large_attachments_of_several_threads)
{
	pthread_t threads[4];

	make_pattern();
	start();
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, write_blobs, (void *)i);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(end().dropped, 0);
	for (unsigned i = 0; i < 4; i++) {
		char name[16];

		for (unsigned k = 0; k < 10; k++) {
			snprintf(name, sizeof(name), "t%u-%u#", i, k);
			check_blob(FXT_KIND_LARGE_ATTACHMENT, name, 40000 + i * 1000, 0, 2, 3);
		}
	}
}

/* --- Events ---------------------------------------------------------------------------------- */

static bool trace(struct fx_site *site, const char *category, const char *name)
{
	struct fx_thread *t = fx_site_on(site, category);
	struct fx_reservation r;
	uint64_t *p;

	if (!t)
		return false;
	p = fx_record_reserve(t, 2, &r);
	cr_assert_not_null(p);
	p[1] = fx_thread_now(t);
	fx_record_commit(t, p,
			 FX_EVENT_HEADER(FX_EVENT_INSTANT, 2, 0, fx_string_literal(t, category),
					 fx_string_literal(t, name)),
			 &r);
	return true;
}

Test(records, multiple_categories)
{
	static struct fx_site sites[3];

	start();
	cr_assert(trace(&sites[0], "one", "first"));
	cr_assert(trace(&sites[1], "two", "second"));
	cr_assert(trace(&sites[0], "one", "third"));
	cr_assert_not(trace(&sites[2], "syscall", "fourth"), "is not on");
	cr_assert_eq(end().events, 3);
	cr_assert_str_eq(archive_find_event(archive_path(), FXT_EVENT_INSTANT, "first").category,
			 "one");
	cr_assert_str_eq(archive_find_event(archive_path(), FXT_EVENT_INSTANT, "second").category,
			 "two");
	cr_assert_str_eq(archive_find_event(archive_path(), FXT_EVENT_INSTANT, "third").category,
			 "one");
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_INSTANT, "fourth"), 0);
}

static void find_argument(const struct fxt_record *record, void *context)
{
	unsigned *found = context;
	char want[32];

	if (record->kind != FXT_KIND_EVENT)
		return;
	snprintf(want, sizeof(want), "temporary %u", *found);
	cr_assert_eq(record->nargs, 1);
	cr_assert(fxt_string_equals(&record->args[0].string, want));
	++*found;
}

/* Arguments live as long as the call: the next ones may stand in the same memory. */
Test(records, temporaries_as_arguments)
{
	char temporary[32], name[32];
	unsigned found = 0;

	start();
	for (unsigned i = 0; i < 100; i++) {
		struct fxt_record r = {
		    .kind = FXT_KIND_EVENT,
		    .nargs = 1,
		    .event = {.type = FXT_EVENT_INSTANT,
			      .thread = this_thread(),
			      .timestamp = fx_thread_now(fx_self),
			      .category = text("category")},
		};

		snprintf(temporary, sizeof(temporary), "temporary %u", i);
		snprintf(name, sizeof(name), "event %u", i);
		r.event.name = text(name);
		r.args[0] = (struct fxt_arg){
		    .type = FXT_ARG_STRING, .name = text("value"), .string = text(temporary)};
		cr_assert_eq(write_record(&r, NULL, 0), 0);
		memset(temporary, 0x5a, sizeof(temporary));
		memset(name, 0x5a, sizeof(name));
	}
	cr_assert_eq(end().events, 100);
	archive_each(archive_path(), find_argument, &found);
	cr_assert_eq(found, 100);
}

/* --- What the manager tells ------------------------------------------------------------------ */

struct waiter {
	pthread_t thread;
	enum fx_phase heard[6];
	int results[6];
	unsigned count;
};

static void *wait_for_phases(void *context)
{
	struct waiter *w = context;
	struct fx_observer o = {0};

	for (unsigned i = 0; i < 6; i++) {
		w->results[i] = fx_observer_wait(&o, UINT64_C(20000000000), &w->heard[i]);
		fx_store_release(&w->count, i + 1);
	}
	return NULL;
}

/* Quick sessions that nobody looks at would be heard of as one. */
static void await_heard(const struct waiter *w, unsigned count)
{
	for (unsigned tries = 0; tries < 4000 && fx_load_acquire(&w->count) < count; tries++)
		usleep(5000);
}

/* Two starts and stops, as a thread of the program hears of them. */
Test(records, observers_are_told_by_the_manager)
{
	static const enum fx_phase order[] = {FX_PHASE_STARTED, FX_PHASE_STOPPING,
					      FX_PHASE_STOPPED};
	struct waiter w = {.count = 0};

	pthread_create(&w.thread, NULL, wait_for_phases, &w);
	start();
	await_heard(&w, 1);
	cr_assert_eq(control_stop(link_fd, true), 0);
	await_heard(&w, 3);
	cr_assert_eq(control_start(link_fd, FX_RETAIN), 0);
	await_heard(&w, 4);
	end();
	pthread_join(w.thread, NULL);
	for (unsigned i = 0; i < 6; i++) {
		cr_assert_eq(w.results[i], 0);
		cr_assert_eq(w.heard[i], order[i % 3], "signal %u", i);
	}
}

Test(records, an_alert_reaches_a_client)
{
	struct fx_msg_request request;
	struct fx_msg_alert alert;

	start();
	cr_assert_eq(fx_engine_alert("fourteen bytes", 14), 0);
	control_send(link_fd, FX_MSG_WATCH_ALERT, &request, sizeof(request), -1);
	control_receive(link_fd, FX_MSG_ALERT, &alert, sizeof(alert));
	cr_assert_str_eq(alert.name, "fourteen bytes");
	cr_assert_eq(alert.pid, (uint32_t)getpid());
	end();
}

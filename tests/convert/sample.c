/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "tests/convert/sample.h"

enum {
	CAPACITY = 1 << 16, /* words */
	PID = 10,
	TID = 11,
};

static struct fx_encoder *current;

static void must(int r)
{
	if (r < 0) {
		fprintf(stderr, "sample: %s\n", strerror(-r));
		abort();
	}
}

static void put(const struct fxt_record *record)
{
	must(fx_record_encode(current, record));
}

static struct fxt_string text(const char *text)
{
	return fx_string_inline(text, strlen(text));
}

/* --- Events ----------------------------------------------------------------------------------- */

static struct fxt_record event_at(unsigned pid, unsigned tid, enum fxt_event_type type,
				  const char *name, uint64_t ts)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};

	record.event.type = (uint8_t)type;
	record.event.thread = (struct fxt_thread){.pid = pid, .tid = tid};
	record.event.timestamp = ts;
	record.event.category = text("test");
	record.event.name = text(name);
	return record;
}

static void put_event(unsigned tid, enum fxt_event_type type, const char *name, uint64_t ts,
		      uint64_t extra)
{
	struct fxt_record record = event_at(PID, tid, type, name, ts);

	record.event.extra = extra;
	put(&record);
}

static void complete(const char *name, uint64_t start, uint64_t end)
{
	put_event(TID, FXT_EVENT_DURATION_COMPLETE, name, start, end);
}

static void complete_on(unsigned tid, const char *name, uint64_t start, uint64_t end)
{
	put_event(tid, FXT_EVENT_DURATION_COMPLETE, name, start, end);
}

static void begin(const char *name, uint64_t ts)
{
	put_event(TID, FXT_EVENT_DURATION_BEGIN, name, ts, 0);
}

static void end(const char *name, uint64_t ts)
{
	put_event(TID, FXT_EVENT_DURATION_END, name, ts, 0);
}

static void instant_on(unsigned tid, const char *name, uint64_t ts)
{
	put_event(tid, FXT_EVENT_INSTANT, name, ts, 0);
}

static void instant(const char *name, uint64_t ts)
{
	instant_on(TID, name, ts);
}

static void flow(unsigned tid, enum fxt_event_type type, uint64_t ts, uint64_t id)
{
	put_event(tid, type, "arrow", ts, id);
}

/* --- Arguments -------------------------------------------------------------------------------- */

static struct fxt_arg *add_arg(struct fxt_record *record, enum fxt_arg_type type, const char *name)
{
	struct fxt_arg *arg = &record->args[record->nargs++];

	arg->type = (uint8_t)type;
	arg->name = text(name);
	return arg;
}

static void add_int(struct fxt_record *record, const char *name, int32_t value)
{
	add_arg(record, FXT_ARG_INT32, name)->int32 = value;
}

/* --- The samples ------------------------------------------------------------------------------ */

/* Complete records stand where the slices ended; the parents come first. */
static void make_nesting(void)
{
	complete("leaf", 20, 30);
	complete("leaf", 30, 40);
	complete("middle", 15, 40);
	instant("tick", 50);
	complete("outer", 10, 60);
	complete("next", 60, 70);
}

/* Of equal starts the longer is outside, of equal slices the one written later. */
static void make_equal_starts(void)
{
	complete("short", 10, 20);
	complete("long", 10, 30);
	complete("inner", 40, 50);
	complete("same", 40, 50);
}

/* Slices without length follow one another and do not nest. */
static void make_zero_lengths(void)
{
	complete("first", 10, 10);
	complete("second", 10, 10);
	complete("around", 10, 20);
	complete("last", 20, 20);
}

/* Begin and end records, with the arguments of both; an end without a name ends the innermost. */
static void make_pairs(void)
{
	struct fxt_record record;

	begin("outer", 10);
	record = event_at(PID, TID, FXT_EVENT_DURATION_BEGIN, "inner", 20);
	add_int(&record, "given", 1);
	put(&record);
	record = event_at(PID, TID, FXT_EVENT_DURATION_END, "inner", 30);
	add_int(&record, "result", 2);
	put(&record);
	begin("inner", 30);
	end("inner", 40);
	end("outer", 40);
	begin("outer", 50);
	begin("inner", 60);
	end("", 70);
	end("", 80);
}

/* An end without a begin is dropped; begins without an end last as long as what is around them. */
static void make_unmatched(void)
{
	end("never begun", 5);
	begin("main", 10);
	complete("call", 20, 30);
	begin("inside a call", 45);
	complete("second call", 40, 50);
	begin("blocked", 60);
	end("also never begun", 65);
}

/* The later of two slices that cross is cut. */
static void make_overlap(void)
{
	complete("first", 10, 30);
	complete("second", 20, 40);
	complete("third", 30, 50);
}

/* A pair that crosses the end of a complete slice is cut there; an outer end ends what is inside. */
static void make_crossing_pair(void)
{
	begin("crosses", 20);
	complete("around", 10, 30);
	end("crosses", 40);
	begin("outer", 50);
	begin("lost", 55);
	end("outer", 60);
}

/* Two threads: one exactly as deep as can be shown, one deeper. */
static void make_deep(void)
{
	for (unsigned i = 0; i < 512; i++)
		complete_on(TID, "deep", 1000 - i, 2000 + i);
	for (unsigned i = 0; i < 600; i++)
		complete_on(TID + 1, "deeper", 1000 - i, 2000 + i);
}

/* More events of one time than can nest. */
static void make_many_instants(void)
{
	complete("around", 5, 15);
	for (unsigned i = 0; i < 600; i++)
		instant("crowd", 10);
	complete("after", 20, 30);
}

/* Each type of argument. */
static void make_arguments(void)
{
	struct fxt_record record = event_at(PID, TID, FXT_EVENT_DURATION_COMPLETE, "call", 10);

	record.event.end_time = 20;
	add_arg(&record, FXT_ARG_NULL, "null");
	add_int(&record, "int32", -1);
	add_arg(&record, FXT_ARG_UINT32, "uint32")->uint32 = UINT32_MAX;
	add_arg(&record, FXT_ARG_INT64, "int64")->int64 = INT64_MIN;
	add_arg(&record, FXT_ARG_UINT64, "uint64")->uint64 = UINT64_MAX;
	add_arg(&record, FXT_ARG_DOUBLE, "double")->real = 0.5;
	add_arg(&record, FXT_ARG_STRING, "string")->string = text("a \"quoted\" \\ text\n");
	add_arg(&record, FXT_ARG_STRING, "empty")->string = text("");
	add_arg(&record, FXT_ARG_POINTER, "pointer")->pointer = 0xdeadbeef;
	add_arg(&record, FXT_ARG_KOID, "koid")->koid = 4711;
	add_arg(&record, FXT_ARG_BOOL, "true")->boolean = true;
	add_arg(&record, FXT_ARG_BOOL, "false")->boolean = false;
	add_arg(&record, FXT_ARG_BLOB, "blob")->blob = (struct fxt_bytes){"abc", 3};
	put(&record);
}

/* Two stacks with functions in common, one of them twice; and a third one of another thread. */
static void make_stacks(void)
{
	static const char *const stacks[] = {"inner\nouter\nmain", "main", "inner\nmain"};
	static const unsigned char uses[][2] = {{TID, 1}, {TID, 2}, {TID, 1}, {TID + 1, 3}};

	for (unsigned i = 0; i < 3; i++)
		must(fx_encode_string(current, i + 1, stacks[i], strlen(stacks[i])));
	for (unsigned i = 0; i < 4; i++) {
		struct fxt_record record =
		    event_at(PID, uses[i][0], FXT_EVENT_DURATION_COMPLETE, "call", 10 * (i + 1));

		record.event.end_time = record.event.timestamp + 5;
		add_arg(&record, FXT_ARG_STRING, "stack")->string = fx_string_indexed(uses[i][1]);
		put(&record);
	}
}

/* Names and values that are no UTF-8, hold zeros, control characters, nothing. */
static void make_bad_text(void)
{
	struct fxt_record record = event_at(PID, TID, FXT_EVENT_INSTANT, "\xff\xc3\xa9\x01", 10);

	record.event.category = fx_string_inline("a\0b", 3);
	add_arg(&record, FXT_ARG_STRING, "cut \xe2\x82")->string =
	    fx_string_inline("x\0\xf0\x9f\x98\x80\xed\xa0\x80", 9);
	put(&record);
	instant("", 20);
}

/* A flow from inside one slice to inside another. */
static void make_flow_slices(void)
{
	flow(TID, FXT_EVENT_FLOW_BEGIN, 15, 7);
	complete_on(TID, "sender", 10, 20);
	flow(TID + 1, FXT_EVENT_FLOW_STEP, 35, 7);
	complete_on(TID + 1, "relay", 30, 40);
	flow(TID, FXT_EVENT_FLOW_END, 55, 7);
	complete_on(TID, "receiver", 50, 60);
	complete_on(TID, "main", 5, 70);
}

/* A flow belongs to the slice or instant that stands just before it at the same time. */
static void make_flow_anchors(void)
{
	instant_on(TID, "signal", 15);
	flow(TID, FXT_EVENT_FLOW_BEGIN, 15, 1);
	flow(TID, FXT_EVENT_FLOW_BEGIN, 15, 2);
	complete_on(TID, "around", 10, 20);
	complete_on(TID + 1, "wait", 30, 40);
	flow(TID + 1, FXT_EVENT_FLOW_END, 40, 1);
	complete_on(TID + 1, "around", 25, 40);
	begin("begun", 50);
	flow(TID, FXT_EVENT_FLOW_END, 50, 2);
	end("begun", 60);
}

/* The one who waits began before the one who wakes him: the arrow must not turn round. */
static void make_flow_backwards(void)
{
	complete_on(TID, "unlock", 50, 60);
	flow(TID, FXT_EVENT_FLOW_BEGIN, 60, 1);
	flow(TID + 1, FXT_EVENT_FLOW_END, 61, 1);
	complete_on(TID + 1, "lock", 10, 65);
}

/* An id belongs to the process that began it; two may use the same one, and it may be used again. */
static void make_flow_processes(void)
{
	static const struct {
		unsigned pid;
		enum fxt_event_type type;
		uint64_t ts;
		uint64_t id;
	} flows[] = {
	    {10, FXT_EVENT_FLOW_BEGIN, 10, 5}, {20, FXT_EVENT_FLOW_END, 20, 5},
	    {10, FXT_EVENT_FLOW_BEGIN, 30, 6}, {20, FXT_EVENT_FLOW_BEGIN, 40, 6},
	    {10, FXT_EVENT_FLOW_END, 50, 6},   {20, FXT_EVENT_FLOW_END, 60, 6},
	    {10, FXT_EVENT_FLOW_BEGIN, 70, 5}, {20, FXT_EVENT_FLOW_END, 80, 5},
	};

	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		struct fxt_record record = event_at(
		    flows[i].pid, flows[i].pid, FXT_EVENT_DURATION_COMPLETE, "slice", flows[i].ts);

		record.event.end_time = flows[i].ts + 5;
		put(&record);
		record = event_at(flows[i].pid, flows[i].pid, flows[i].type, "arrow", flows[i].ts);
		record.event.id = flows[i].id;
		put(&record);
	}
}

/* Flows without slices around them get an instant to hold them. */
static void make_flow_alone(void)
{
	flow(TID, FXT_EVENT_FLOW_BEGIN, 10, 1);
	flow(TID + 1, FXT_EVENT_FLOW_END, 20, 1);
	flow(TID, FXT_EVENT_FLOW_END, 30, 99);
}

/* Operations over threads; two of one name at one time; one nested; one never ended. */
static void make_asyncs(void)
{
	struct fxt_record record = event_at(PID, TID, FXT_EVENT_ASYNC_BEGIN, "request", 10);

	record.event.id = 1;
	add_int(&record, "size", 3);
	put(&record);
	put_event(TID, FXT_EVENT_ASYNC_BEGIN, "request", 20, 2);
	put_event(TID, FXT_EVENT_ASYNC_BEGIN, "lookup", 25, 1);
	put_event(TID + 1, FXT_EVENT_ASYNC_INSTANT, "progress", 30, 1);
	put_event(TID + 1, FXT_EVENT_ASYNC_END, "lookup", 35, 1);
	put_event(TID + 1, FXT_EVENT_ASYNC_END, "request", 40, 1);
	put_event(TID, FXT_EVENT_ASYNC_BEGIN, "request", 50, 3);
	put_event(TID, FXT_EVENT_ASYNC_END, "request", 60, 2);
	put_event(TID, FXT_EVENT_ASYNC_END, "request", 70, 9);
}

/* Operations of one id that cross; one that another process ends. */
static void make_async_crossing(void)
{
	struct fxt_record record;

	put_event(TID, FXT_EVENT_ASYNC_BEGIN, "a", 10, 1);
	put_event(TID, FXT_EVENT_ASYNC_BEGIN, "b", 20, 1);
	put_event(TID, FXT_EVENT_ASYNC_END, "a", 30, 1);
	put_event(TID, FXT_EVENT_ASYNC_END, "b", 40, 1);
	put_event(TID, FXT_EVENT_ASYNC_BEGIN, "shared", 50, 2);
	record = event_at(PID + 10, TID + 10, FXT_EVENT_ASYNC_END, "shared", 60);
	record.event.id = 2;
	put(&record);
}

/* Several values, several ids, units, numbers of each type, what is no number. */
static void make_counters(void)
{
	struct fxt_record record = event_at(PID, TID, FXT_EVENT_COUNTER, "heap", 10);

	add_arg(&record, FXT_ARG_UINT64, "bytes")->uint64 = 4096;
	add_arg(&record, FXT_ARG_INT64, "blocks")->int64 = -2;
	put(&record);
	record.event.timestamp = 20;
	record.args[0].uint64 = UINT64_MAX;
	put(&record);
	record = event_at(PID, TID, FXT_EVENT_COUNTER, "load", 30);
	record.event.counter_id = 3;
	add_arg(&record, FXT_ARG_DOUBLE, "wait_ns")->real = 1.5;
	add_arg(&record, FXT_ARG_STRING, "name")->string = text("no number");
	put(&record);
}

static void make_scopes(void)
{
	for (unsigned scope = FXT_SCOPE_THREAD; scope <= FXT_SCOPE_GLOBAL; scope++) {
		struct fxt_record record =
		    event_at(PID, TID, FXT_EVENT_INSTANT, "instant", 10 + scope);

		record.event.has_scope = true;
		record.event.scope = scope;
		put(&record);
	}
}

static void make_logs(void)
{
	struct fxt_record record = {.kind = FXT_KIND_LOG};

	complete("around", 5, 20);
	record.log.thread = (struct fxt_thread){.pid = PID, .tid = TID};
	record.log.timestamp = 10;
	record.log.message = text("first line\nsecond line");
	put(&record);
}

static void make_large_event(void)
{
	struct fxt_record record = {.kind = FXT_KIND_LARGE_EVENT};
	char *payload = calloc(1, 40000);

	record.large_blob.thread = (struct fxt_thread){.pid = PID, .tid = TID};
	record.large_blob.timestamp = 10;
	record.large_blob.category = text("test");
	record.large_blob.name = text("picture");
	record.large_blob.payload = (struct fxt_bytes){payload, 40000};
	add_int(&record, "width", 100);
	put(&record);
	free(payload);
}

static void put_switch(uint64_t ts, unsigned cpu, unsigned out, unsigned state, unsigned in)
{
	struct fxt_record record = {.kind = FXT_KIND_CONTEXT_SWITCH};

	record.scheduling.cpu = (uint16_t)cpu;
	record.scheduling.timestamp = ts;
	record.scheduling.outgoing_state = (uint8_t)state;
	record.scheduling.outgoing.tid = out;
	record.scheduling.incoming.tid = in;
	add_int(&record, "outgoing_weight", out ? 120 : INT32_MIN);
	add_int(&record, "incoming_weight", in ? 120 : INT32_MIN);
	put(&record);
}

/* Two processors, one idle at first; a thread is woken by another. */
static void make_scheduling(void)
{
	struct fxt_record record = {.kind = FXT_KIND_THREAD_WAKEUP};

	must(fx_encode_thread_name(current, PID, TID, "worker", strlen("worker")));
	put_switch(10, 0, 0, FXT_THREAD_STATE_NEW, TID);
	put_switch(20, 0, TID, FXT_THREAD_STATE_BLOCKED, 0);
	record.scheduling.timestamp = 30;
	record.scheduling.cpu = 1;
	record.scheduling.incoming.tid = TID;
	add_int(&record, "weight", 120);
	add_arg(&record, FXT_ARG_KOID, "waker")->koid = TID + 1;
	put(&record);
	put_switch(40, 1, TID + 1, FXT_THREAD_STATE_RUNNING, TID);
	put_switch(50, 1, TID, FXT_THREAD_STATE_DEAD, TID + 1);
	put_switch(60, 1, TID + 1, FXT_THREAD_STATE_BLOCKED, 0);
}

/* A switch was lost: the thread that leaves is not the one that came. */
static void make_sched_gap(void)
{
	put_switch(10, 0, 0, FXT_THREAD_STATE_NEW, TID);
	put_switch(30, 0, TID + 1, FXT_THREAD_STATE_BLOCKED, TID);
	put_switch(40, 4096, TID, FXT_THREAD_STATE_BLOCKED, TID + 1);
}

/* The older record, whose threads are indices. */
static void make_legacy_scheduling(void)
{
	struct fxt_record record = {.kind = FXT_KIND_LEGACY_SWITCH};

	must(fx_encode_thread(current, 1, PID, TID));
	must(fx_encode_thread(current, 2, PID, TID + 1));
	for (unsigned i = 0; i < 2; i++) {
		record.scheduling.timestamp = 10 + 10 * i;
		record.scheduling.outgoing_state = FXT_THREAD_STATE_SUSPENDED;
		record.scheduling.outgoing_priority = 10;
		record.scheduling.incoming_priority = 20;
		record.scheduling.outgoing.ref = (uint8_t)(1 + i);
		record.scheduling.incoming.ref = (uint8_t)(2 - i);
		put(&record);
	}
}

/* Indices of strings and threads mean something else later on. */
static void make_redefined(void)
{
	static const char *const names[] = {"first", "second", "third"};

	for (unsigned i = 0; i < 3; i++) {
		struct fxt_record record =
		    event_at(PID, TID, FXT_EVENT_DURATION_COMPLETE, "", 30 - 10 * i);

		must(fx_encode_string(current, 1, names[i], strlen(names[i])));
		must(fx_encode_thread(current, 1, PID, TID + i / 2));
		record.event.name = fx_string_indexed(1);
		record.event.thread.ref = 1;
		record.event.end_time = record.event.timestamp + 5;
		add_arg(&record, FXT_ARG_STRING, "again")->string = fx_string_indexed(1);
		put(&record);
	}
}

/* Two providers with tables and clocks of their own, in turns; one of them begins anew. */
static void make_two_providers(void)
{
	struct fxt_record record = event_at(PID, TID, FXT_EVENT_INSTANT, "", 10);

	record.event.name = fx_string_indexed(1);
	must(fx_encode_string(current, 1, "one", 3));
	must(fx_encode_provider_info(current, 2, "second", 6));
	must(fx_encode_initialization(current, 1000));
	must(fx_encode_string(current, 1, "two", 3));
	put(&record);
	must(fx_encode_provider_section(current, 1));
	put(&record);
	must(fx_encode_provider_info(current, 1, "sample", 6));
	must(fx_encode_string(current, 1, "anew", 4));
	record.event.timestamp = 30;
	put(&record);
}

static void make_names(void)
{
	must(fx_encode_process_name(current, PID, "program", 7));
	must(fx_encode_thread_name(current, PID, PID, "main", 4));
	must(fx_encode_thread_name(current, PID, TID, "old", 3));
	instant("here", 10);
	must(fx_encode_thread_name(current, PID, TID, "worker", 6));
	must(fx_encode_process_name(current, PID + 10, "silent", 6));
}

/* Names that are none: empty, of objects that are neither process nor thread, of threads whose process is
 * not said. What has no time stands at the first process that its provider named. */
static void make_objects(void)
{
	struct fxt_record record = {.kind = FXT_KIND_KERNEL_OBJECT};

	must(fx_encode_process_name(current, PID, "program", 7));
	must(fx_encode_process_name(current, PID + 10, "child", 5));
	must(fx_encode_process_name(current, PID, "", 0));
	must(fx_encode_thread_name(current, PID, TID, "worker", 6));
	must(fx_encode_thread_name(current, PID, TID, "", 0));
	instant("here", 10);
	record.kernel_object.koid = TID;
	record.kernel_object.name = text("nobody");
	record.kernel_object.type = FXT_OBJECT_THREAD;
	put(&record);
	add_arg(&record, FXT_ARG_UINT64, "process")->uint64 = PID;
	put(&record);
	record.args[0].type = FXT_ARG_KOID;
	record.kernel_object.type = FXT_OBJECT_THREAD + 1;
	put(&record);
	must(fx_encode_provider_event(current, 1, FXT_PROVIDER_BUFFER_FULL));
}

/* Ids that no Linux process has. */
static void make_foreign_ids(void)
{
	struct fxt_record record = event_at(PID, 0, FXT_EVENT_DURATION_COMPLETE, "virtual", 10);

	record.event.thread.tid = UINT64_C(1) << 63 | 5;
	record.event.end_time = 20;
	put(&record);
	record.event.thread.pid = UINT64_C(1) << 40;
	put(&record);
	record.event.thread = (struct fxt_thread){0};
	put(&record);
}

static void make_buffer_full(void)
{
	complete("work", 10, 20);
	must(fx_encode_provider_event(current, 1, FXT_PROVIDER_BUFFER_FULL));
	complete("work", 30, 40);
}

static void put_blob(const void *data, size_t size)
{
	struct fxt_record record = {.kind = FXT_KIND_BLOB};

	record.blob.type = FXT_BLOB_PERFETTO;
	record.blob.name = text("perfetto");
	record.blob.payload = (struct fxt_bytes){data, size};
	put(&record);
}

/* Packets of Perfetto in two blobs, cut in the middle of one; they use sequence 5. */
static void make_embedded(void)
{
	static const unsigned char packet[] = {
	    0x0a, 7,	      /* a packet */
	    0x50, 5,	      /* its sequence */
	    0x68, 3,	      /* its flags */
	    0xb8, 0x05, 0x01, /* the first of its sequence */
	};

	put_blob(packet, 4);
	instant("beside", 10);
	put_blob(packet + 4, sizeof(packet) - 4);
}

static void make_bad_embedded(void)
{
	put_blob("no packets", 10);
	instant("beside", 10);
}

/* Times that Perfetto cannot hold, and an end before its start. */
static void make_bad_times(void)
{
	instant("too late", UINT64_MAX);
	complete("turned round", 20, 10);
	instant("good", 30);
}

/* A machine that has been up for long: beyond what doubles of microseconds hold. */
static void make_late(void)
{
	uint64_t base = UINT64_C(9000000000000000001);

	complete("inner", base + 1, base + 3);
	complete("outer", base, base + 3);
	complete("next", base + 3, base + 4);
}

/* The last record is cut off. */
static void make_truncated(void)
{
	complete("whole", 10, 20);
	complete("cut", 30, 40);
	current->used -= 2;
}

static void complete_of(const char *category, const char *name, size_t length, uint64_t start,
			uint64_t end)
{
	struct fxt_record record = event_at(PID, TID, FXT_EVENT_DURATION_COMPLETE, "", start);

	record.event.category = text(category);
	record.event.name = fx_string_inline(name, length);
	record.event.end_time = end;
	put(&record);
}

/* Names that would mean something to a browser, a shell or a reader of lines, one inside another. */
static void make_hostile(void)
{
	static const char *const names[] = {
	    "<script>alert(1)</script>",
	    "]]><script>alert(2)</script>",
	    "\"onload='alert(3)' x=\"",
	    "&lt;b&gt; &#60;i&#62;",
	    "a;b 12",
	    "two\nfn=(9) lines\r\n0 77",
	    "\x1b[31mred\x07\x7f\xc2\x9b",
	    "\xff\xfe\xc0\xaf cut \xe2\x82",
	    "\xe2\x80\xaeright\xe2\x80\xa8line\xef\xbf\xbf",
	    "",
	    "(1)",
	    "$(id) `id` ' \" \\ %s%n",
	    "javascript:alert(4)",
	};

	must(fx_encode_process_name(current, PID, "<b>&'\";\n", 8));
	must(fx_encode_thread_name(current, PID, TID, "</text><script>", 15));
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		complete_of("<c>&", names[i], strlen(names[i]), 10 + i, 1000 - i);
	complete_of("test", "null\0byte", 9, 1100, 1200);
}

/* A thread that waits in a call, and elsewhere has its processor taken. */
static void make_processor(void)
{
	put_switch(5, 0, 0, FXT_THREAD_STATE_NEW, TID);
	put_switch(42, 0, TID, FXT_THREAD_STATE_BLOCKED, 0);
	put_switch(58, 1, 0, FXT_THREAD_STATE_NEW, TID);
	complete_of("syscall", "read", 4, 40, 60);
	put_switch(80, 1, TID, FXT_THREAD_STATE_RUNNING, TID + 1);
	put_switch(90, 1, TID + 1, FXT_THREAD_STATE_RUNNING, TID);
	complete_of("function", "outer", 5, 10, 100);
	put_switch(120, 1, TID, FXT_THREAD_STATE_BLOCKED, 0);
	complete_of("function", "later", 5, 130, 140);
}

static void make_nothing(void)
{
}

/* --- By name ---------------------------------------------------------------------------------- */

struct sample sample_make(const char *name)
{
	static const struct {
		const char *name;
		void (*make)(void);
	} makers[] = {
#define SAMPLE_MAKER(name) {#name, make_##name},
	    SAMPLES(SAMPLE_MAKER)
#undef SAMPLE_MAKER
	};
	struct sample sample = {.name = name};
	struct fx_encoder encoder;

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		if (strcmp(makers[i].name, name) != 0)
			continue;
		sample.words = calloc(CAPACITY, sizeof(uint64_t));
		if (!sample.words)
			abort();
		fx_encoder_init(&encoder, sample.words, CAPACITY);
		current = &encoder;
		must(fx_encode_magic(current));
		must(fx_encode_provider_info(current, 1, "sample", 6));
		must(fx_encode_initialization(current, 1000000000));
		makers[i].make();
		sample.size = encoder.used * sizeof(uint64_t);
	}
	return sample;
}

void sample_free(struct sample *sample)
{
	free(sample->words);
	sample->words = NULL;
}

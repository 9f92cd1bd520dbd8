#!/bin/bash
# SPDX-License-Identifier: MIT
# Macros of a program's own, as sources for Fuchsia have them: TRACE_DECLARE_ARGS, TRACE_NUM_ARGS, TRACE_COMPLETE_ARGS and the
# functions of <lib/trace-engine/context.h>, in C and C++, with 0 to 15 arguments; of virtual threads at their times; nothing of it
# without a tracer, without the category, and with NTRACE.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need nm

include="-I$FX_SRCDIR/include -I$FX_SRCDIR/include/fxtrace/fuchsia"

cat >own.h <<'END'
#include <lib/trace-engine/context.h>
#include <lib/trace-engine/instrumentation.h>
#include <lib/trace/event.h>
#include <lib/trace/event_args.h>
#include <stdio.h>
#include <unistd.h>
#define OWN(kind, category, name, number, ...)                                                 \
	do {                                                                                   \
		trace_string_ref_t category_ref, name_ref;                                     \
		trace_thread_ref_t thread_ref;                                                 \
		trace_context_t *context =                                                     \
		    trace_acquire_context_for_category(category, &category_ref);               \
		if (context) {                                                                 \
			TRACE_DECLARE_ARGS(context, args, ##__VA_ARGS__);                      \
			size_t count = TRACE_NUM_ARGS(args);                                   \
			trace_context_register_current_thread(context, &thread_ref);           \
			trace_context_register_string_literal(context, name, &name_ref);       \
			TRACE_COMPLETE_ARGS(context, args, count);                             \
			trace_context_write_##kind##_event_record(                             \
			    context, trace_ticks(), &thread_ref, &category_ref, &name_ref,     \
			    number, args, count);                                              \
			trace_release_context(context);                                        \
		}                                                                              \
	} while (0)
END
cat >own.c <<'END'
#include "own.h"
static trace_site_t site;
static void duration(trace_vthread_id_t id, const char *name, uint64_t begin, uint64_t end)
{
	trace_string_ref_t category, what;
	trace_thread_ref_t thread;
	trace_context_t *context = trace_acquire_context_for_category_cached("own", &site, &category);
	if (!context)
		return;
	TRACE_DECLARE_ARGS(context, begun, "text", TA_STRING("begin"));
	TRACE_DECLARE_ARGS(context, nothing);
	if (id)
		trace_context_register_vthread(context, 0, "device", id, &thread);
	else
		trace_context_register_current_thread(context, &thread);
	trace_context_register_string_literal(context, name, &what);
	trace_context_write_duration_begin_event_record(context, begin, &thread, &category, &what, begun, TRACE_NUM_ARGS(begun));
	trace_context_write_duration_end_event_record(context, end, &thread, &category, &what, nothing, TRACE_NUM_ARGS(nothing));
	trace_release_context(context);
}
/* Complete durations: of the thread within what is open, outside of what has ended, and of nonsense; of a virtual thread. */
static void complete(const char *name, trace_vthread_id_t id, uint64_t begin, uint64_t end)
{
	trace_string_ref_t category, what;
	trace_thread_ref_t thread;
	trace_context_t *context = trace_acquire_context_for_category("own", &category);
	if (!context)
		return;
	TRACE_DECLARE_ARGS(context, args, "text", TA_STRING("whole"), "n", TA_INT32(5));
	trace_context_register_current_thread(context, &thread);
	if (id)
		trace_context_register_vthread(context, 0, "device", id, &thread);
	trace_context_register_string_literal(context, name, &what);
	trace_context_write_duration_event_record(context, begin, end, &thread, &category, &what, args, TRACE_NUM_ARGS(args));
	trace_release_context(context);
}
static void completes(void)
{
	uint64_t before = trace_ticks(), inner;
	TRACE_DURATION("own", "outer");
	inner = trace_ticks();
	{
		TRACE_DURATION("own", "earlier");
	}
	complete("around earlier", 0, inner, trace_ticks());
	complete("longer than outer", 0, before, trace_ticks());
	{
		TRACE_DURATION("own", "later");
		complete("from the first moment on", 0, 0, trace_ticks());
	}
	complete("of the future", 0, UINT64_MAX, 0);
	complete("whole of the device", 9, before, before + 500);
}
static void payloads(void)
{
	static const char bytes[5000] = "payload", text[] = "said by a log, and this not";
	trace_string_ref_t category, name = {"blob"}, attached = {"attached"}, old = {"old"};
	trace_thread_ref_t thread;
	trace_context_t *context = trace_acquire_context_for_category("own", &category);
	if (!context)
		return;
	TRACE_DECLARE_ARGS(context, args, "n", TA_INT32(6));
	trace_context_register_current_thread(context, &thread);
	trace_context_write_blob_event_record(context, 1, &thread, &category, &name, bytes, sizeof(bytes), args, TRACE_NUM_ARGS(args));
	trace_context_write_blob_attachment_record(context, &category, &attached, bytes, 100);
	trace_context_write_blob_record(context, TRACE_BLOB_TYPE_DATA, &old, bytes, 7);
	trace_context_write_log_record(context, 1, &thread, text, 13);
	trace_release_context(context);
}
#define A "a", TA_INT32(1)
#define A5 A, A, A, A, A
int main(void)
{
	trace_flow_id_t id = trace_generate_nonce();
	uint64_t t = trace_ticks();
	trace_context_t *any = trace_acquire_context();
	OWN(instant, "own", "none", TRACE_SCOPE_PROCESS);
	OWN(instant, "own", "fifteen", TRACE_SCOPE_PROCESS, A5, A5, A5);
	OWN(instant, "other", "unwanted", TRACE_SCOPE_THREAD, A);
	OWN(counter, "own", "counter", 3, "x", TA_DOUBLE(0.5), "y", TA_UINT64(7));
	OWN(async_begin, "own", "async", id, A);
	OWN(async_instant, "own", "async", id);
	OWN(async_end, "own", "async", id);
	TRACE_DURATION_BEGIN("own", "around");
	OWN(flow_begin, "own", "flow", id, A);
	OWN(flow_step, "own", "flow", id);
	OWN(flow_end, "own", "flow", id);
	TRACE_DURATION_END("own", "around");
	for (int i = 0; i < 3; i++)
		duration(0, "of the thread", 1, 2);
	duration(9, "of the device", t + 100, t + 200);
	completes();
	payloads();
	if (any) {
		TRACE_DECLARE_ARGS(any, args, "held by", TA_STRING("the test"));
		trace_string_ref_t name;
		trace_thread_ref_t thread;
		trace_context_register_current_thread(any, &thread);
		trace_context_register_string_literal(any, "table", &name);
		trace_context_write_kernel_object_record_for_handle(any, 0, args, TRACE_NUM_ARGS(args));
		trace_context_write_userspace_object_record(any, 4096, &thread, &name, args, TRACE_NUM_ARGS(args));
		trace_context_send_alert(any, "own alert");
		trace_release_context(any);
	}
	printf("%d %d %d\n", trace_is_enabled(), trace_is_category_enabled("own"), trace_is_category_enabled("other"));
	return 0;
}
END
cat >own.cc <<'END'
#include "own.h"
#include <string>
template <typename T> static void say(const T &value)
{
	OWN(instant, "own", "said", TRACE_SCOPE_THREAD, "value", value, "copy", std::string("a copy of ") + "text", "none", nullptr);
}
int main()
{
	OWN(instant, "own", "none", TRACE_SCOPE_PROCESS);
	OWN(counter, "own", "counter", 3, "x", 0.5, "y", 7u);
	say(42);
	say(std::string("a string"));
	printf("%d %d %d\n", trace_is_enabled(), trace_is_category_enabled("own"), trace_is_category_enabled("other"));
}
END

declared_in_c() {
	local compiler optimise compilers="gcc clang"

	! is_emulated || compilers= # they make programs of this machine
	for compiler in "$FX_CC" $compilers; do
		command -v "${compiler%% *}" >/dev/null || continue
		for optimise in -O0 -O2; do
			# shellcheck disable=SC2086 # several words
			$compiler $include -std=gnu11 -Wall -Wextra -Werror $optimise -o own own.c || fail "$compiler $optimise: does not compile"
			expect_ok ./own
			expect_line '^0 0 0$' out
			expect_ok "$FXTRACE" run -q -c own -o trace.fxt -- ./own </dev/null
			expect_line '^1 1 0$' out
			expect_clean trace.fxt
			list_archive trace.fxt
			expect_events 1 'type == "instant" && name == "none" && NF == 9'
			expect_events 1 'type == "instant" && name == "fifteen" && NF == 24'
			expect_events 0 'name == "unwanted"'
			expect_events 1 'type == "counter" && name == "counter" && has("x=0.5") && has("y=7")'
			expect_events 3 'type ~ /^async/ && name == "async"'
			expect_events 3 'type ~ /^flow/ && name == "flow"'
			expect_events 3 'type == "begin" && name == "of the thread" && has("text=begin")'
			expect_events 3 'type == "end" && name == "of the thread"'
			expect_events 1 'type == "begin" && name == "of the device" && thread == "device"'
			expect_events 4 'type == "complete" && has("text=whole") && has("n=5") && end >= start'
			expect_events 1 'type == "begin" && name == "whole of the device" && thread == "device" && has("n=5")'
			expect_events 1 'type == "end" && name == "whole of the device" && thread == "device"'
			# The first lies around what had ended, all four in what is open, and none crosses another.
			awk -F'\t' '$1 == "complete" && $6 == "own" { start[$7] = $8; end[$7] = $9 }
				function inside(a, b) { if (start[a] < start[b] || end[a] > end[b]) { print a " is not inside " b; bad = 1 } }
				END { inside("earlier", "around earlier"); inside("around earlier", "outer"); inside("longer than outer", "outer")
					inside("from the first moment on", "later"); inside("later", "outer"); inside("of the future", "outer")
					if (start["around earlier"] >= start["earlier"]) { print "it was cut"; bad = 1 }
					exit bad }' events >nested || fail "$(cat nested): $(grep complete events)"
			"$FXTRACE" dump trace.fxt >said
			expect_line 'large-event .*name="blob".*size=5000.*"n":int32=6' said
			expect_line 'large-attachment .*name="attached".*size=100' said
			expect_line 'blob .*name="old".*size=7' said
			expect_line 'log .*message="said by a log"$' said
			expect_line 'kernel-object .*name="/dev/null".*held by' said
			expect_line 'userspace-object .*name="table".*held by' said
		done
	done
}

declared_in_cxx() {
	local standard

	for standard in gnu++17 gnu++20; do
		# shellcheck disable=SC2086 # several words
		$FX_CXX $include -std=$standard -Wall -Wextra -Werror -O1 -o own++ own.cc || fail "$standard: does not compile"
		expect_ok ./own++
		expect_line '^0 0 0$' out
		expect_ok "$FXTRACE" run -q -c own -o trace.fxt -- ./own++
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 1 'name == "none" && NF == 9'
		expect_events 1 'name == "said" && has("value=42") && has("copy=a copy of text")'
		expect_events 1 'name == "said" && has("value=a string")'
		expect_events 1 'type == "counter" && has("x=0.5") && has("y=7")'
	done
}

declared_with_ntrace() {
	local source compiler

	for source in own.c own.cc; do
		compiler="$FX_CC -std=gnu11"
		[ "$source" = own.c ] || compiler="$FX_CXX -std=gnu++17"
		# shellcheck disable=SC2086 # several words
		$compiler $include -DNTRACE -Wall -Wextra -Werror -Wno-unused -O1 -o none "$source" || fail "$source: does not compile with NTRACE"
		! nm none | grep -i fxtrace || fail "$source: NTRACE leaves something"
		expect_ok "$FXTRACE" run -q -c own -o trace.fxt -- ./none
		expect_line '^0 0 0$' out
	done
}

declared_in_c
declared_in_cxx
declared_with_ntrace

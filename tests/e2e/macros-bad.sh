#!/bin/bash
# SPDX-License-Identifier: MIT
# What makes no sense has its defined end in the macros of <fxtrace/event.h>: values of a wrong type, names that are NULL, full of control
# characters or 40,000 bytes long, a sixteenth argument, durations that are closed in the wrong order, or never, or were never begun.
# `BAD INPUT' of fxtrace_event(3) says what comes of each.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
include="-I$FX_SRCDIR/include -I$FX_SRCDIR/include/fxtrace/fuchsia"

# run_bad PROGRAM: it runs as it does untraced, and what comes of it can be shown in every way, without a control character on a terminal.
run_bad() {
	expect_ok "./$1"
	expect_ok "$FXTRACE" run -q -o trace.fxt -- "./$1"
	cp err told
	expect_line '^well$' out
	expect_clean trace.fxt
	for format in perfetto json html; do
		expect_ok "$FXTRACE" convert -f $format trace.fxt "out.$format"
	done
	expect_ok "$FXTRACE" report trace.fxt
	expect_no_control out
	"$FXTRACE" dump trace.fxt >said || fail "dump"
	expect_no_control said
	list_archive trace.fxt
}

expect_no_control() {
	! grep -qP '[\x01-\x08\x0b-\x1f\x7f]' "$1" || fail "a control character reaches the terminal: $(grep -P '[\x01-\x08\x0b-\x1f\x7f]' "$1" | head -n 3 | cat -v)"
}

# programs NAME: the source NAME.c, as C and as C++, optimised and not, one after the other; what is expected of each is the function expect_NAME.
programs() {
	local optimise

	cp "$1.c" "$1.cc"
	for optimise in -O0 -O2; do
		for source in "$1.c" "$1.cc"; do
			# shellcheck disable=SC2086 # several words
			compile "$1" $include -w $optimise "$source"
			run_bad "$1"
			"expect_$1"
		done
	done
}

# cases: the numbers by which the program tells its cases, of the events that are there.
cases() {
	awk -F'\t' '$6 == "bad" { for (i = 10; i <= NF; i++) if ($i ~ /^case=/) print substr($i, 6) }' events | sort -n | xargs
}

# --- Values of wrong types ------------------------------------------------------------------------------------

# refused LANGUAGE VALUE: no compiler takes it, without any option.
refused() {
	local compiler all="$FX_CC gcc clang"

	[ "$1" = c ] || all="$FX_CXX g++ clang++"
	echo "#include <fxtrace/event.h>
		int x; double d; struct apart { int n; } apart;
		int main(void) { TRACE_INSTANT(\"bad\", \"type\", TRACE_SCOPE_THREAD, \"value\", $2); return 0; }" >"no.$1"
	for compiler in $all; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2086 # several words
		! $compiler $include -w -c -o no.o "no.$1" >compile.log 2>&1 || fail "$compiler takes $2"
	done
}

wrong_types() {
	for value in 'TA_INT32("text")' 'TA_UINT32(&x)' 'TA_INT64("text")' 'TA_UINT64(&x)' 'TA_KOID(&x)' 'TA_DOUBLE("text")' 'TA_STRING(d)' \
		'TA_CHAR_ARRAY(d, 3)' 'TA_INT32(apart)' 'TA_BOOL(apart)' 'apart'; do
		refused c "$value"
		refused cc "$value"
	done
	for value in x d '"text"' '&x'; do
		refused c "$value" # where no type is deduced
	done
	for value in 'TA_STRING(5)' 'TA_STRING(&x)' 'TA_CHAR_ARRAY(5, 5)'; do
		refused cc "$value" # C's compilers may only warn
	done
	cat >types.c <<'END'
#include <fxtrace/event.h>
#include <stdio.h>
int main(void)
{
	static char bytes[4];
	/* Types that the format does not have: each has no value, and the rest of the event is what it is. */
	for (uint32_t type = 10; type < 80; type++) {
		TRACE_INSTANT("bad", "unknown", TRACE_SCOPE_THREAD, "first", TA_INT32(1), "odd", fxtrace_value_of(type, 5, 7), "after", TA_INT64(-2));
		TRACE_ASYNC_INSTANT("bad", "unknown", 7, "odd", fxtrace_value_of(type, 5, 7), "after", TA_INT64(-2));
		TRACE_COUNTER("bad", "unknown", 7, "odd", fxtrace_value_of(type, 5, 7), "after", TA_INT64(-2));
		TRACE_BLOB_EVENT("bad", "unknown", bytes, sizeof(bytes), "odd", fxtrace_value_of(type, 5, 7), "after", TA_INT64(-2));
		{
			TRACE_DURATION("bad", "unknown", "odd", fxtrace_value_of(type, 5, 7), "after", TA_INT64(-2));
		}
	}
	TRACE_INSTANT("bad", "scope", (int)77, "case", TA_INT32(1));
	TRACE_COUNTER("bad", "no curve", 1, "text", TA_STRING("no number"), "case", TA_INT32(2));
	TRACE_COUNTER("bad", "no series", 1);
	TRACE_BLOB((unsigned)4711, "no such type", bytes, sizeof(bytes));
	printf("well\n");
	return 0;
}
END
	programs types
}
expect_types() {
	expect_events 70 'type == "instant" && name == "unknown" && has("first=1") && has("odd=null") && has("after=-2")'
	expect_events 70 'type == "async-instant" && name == "unknown" && has("odd=null") && has("after=-2")'
	expect_events 70 'type == "complete" && name == "unknown" && has("odd=null") && has("after=-2") && end >= start'
	# Of a counter the numbers stay.
	expect_events 70 'type == "counter" && name == "unknown" && has("after=-2") && NF == 10'
	expect_equal 70 "$(grep -c 'large-event.*unknown.*after' said)" "events with bytes"
	expect_equal '1 2' "$(cases)" "cases"
	expect_events 1 'type == "counter" && name == "no curve" && has("case=2") && NF == 10'
	expect_events 1 'type == "counter" && name == "no series"'
	expect_no_line 'no such type' said
}

# --- Names that are none ----------------------------------------------------------------------------------------

null_names() {
	cat >null.c <<'END'
#include <fxtrace/event.h>
#include <stdio.h>
static char *volatile nothing;
#define NOTHING ((const char *)nothing)
#ifdef __cplusplus
#include <string_view>
#define NO_TEXT std::string_view()
#else
#define NO_TEXT NOTHING
#endif
TRACE_CATEGORY(NOTHING, NOTHING);
TRACE_CATEGORY("bad", NOTHING);
int main(void)
{
	uint64_t now = TRACE_TICKS();
	(void)now;
	TRACE_INSTANT("bad", NOTHING, TRACE_SCOPE_THREAD, "case", TA_INT32(1));
	TRACE_INSTANT("bad", "", TRACE_SCOPE_THREAD, "case", TA_INT32(2));
	TRACE_INSTANT("bad", "no key", TRACE_SCOPE_THREAD, NOTHING, TA_INT32(5), "", TA_INT32(6), "case", TA_INT32(3));
	TRACE_INSTANT("bad", "no text", TRACE_SCOPE_THREAD, "text", TA_STRING(NOTHING), "chars", TA_CHAR_ARRAY(NOTHING, 5), "case", TA_INT32(4));
	{
		TRACE_DURATION("bad", NOTHING, "case", TA_INT32(5));
	}
	TRACE_DURATION_BEGIN("bad", NOTHING, "case", TA_INT32(6));
	TRACE_DURATION_END("bad", NOTHING);
	TRACE_ASYNC_BEGIN("bad", NOTHING, 1, "case", TA_INT32(7));
	TRACE_ASYNC_END("bad", NOTHING, 1);
	TRACE_COUNTER("bad", NOTHING, 1, NOTHING, TA_INT32(8), "case", TA_INT32(8));
	TRACE_VTHREAD_DURATION_BEGIN("bad", NOTHING, NOTHING, 1, now, "case", TA_INT32(9));
	TRACE_VTHREAD_DURATION_END("bad", NOTHING, NOTHING, 1, now + 1000);
	TRACE_BLOB_EVENT("bad", NOTHING, nothing, 100, "case", TA_INT32(10));
	TRACE_BLOB_ATTACHMENT("bad", NOTHING, nothing, 100);
	TRACE_BLOB(TRACE_BLOB_TYPE_DATA, NOTHING, nothing, 100);
	TRACE_USERSPACE_OBJECT("bad", nothing, NOTHING, "case", TA_INT32(11));
	TRACE_KERNEL_OBJECT(-1);
	TRACE_LOG("bad", NO_TEXT);
	TRACE_ALERT("bad", NOTHING);
	TRACE_ALERT("bad", "");
	TRACE_FLOW_BEGIN("bad", NOTHING, 1, "case", TA_INT32(12));
	TRACE_FLOW_END("bad", NOTHING, 1);
	/* Without a category it belongs to the one that has no name. */
	TRACE_INSTANT(NOTHING, "no category", TRACE_SCOPE_THREAD, "n", TA_INT32(1));
	{
		TRACE_DURATION(NOTHING, "no category", "n", TA_INT32(2));
	}
	TRACE_INSTANT("", "no category", TRACE_SCOPE_THREAD, "n", TA_INT32(3));
	(void)TRACE_CATEGORY_ENABLED(NOTHING);
	printf("well\n");
	return 0;
}
END
	programs null
}
expect_null() {
	expect_equal '1 2 3 4 5 6 7 8 9 12' "$(cases)" "cases"
	expect_events 8 'category == "bad" && name == "" && /case=/'
	expect_events 1 'name == "no key" && has("=5") && has("=6")'
	expect_events 1 'name == "no text" && has("text=null") && has("chars=null")'
	for n in 1 2 3; do
		expect_events 1 "category == \"\" && name == \"no category\" && has(\"n=$n\")"
	done
	expect_line 'large-event.*case.*int32=10' said
	expect_line 'userspace-object.*case.*int32=11' said
}

# --- Too many arguments --------------------------------------------------------------------------------------------

# They do not compile, in C nor in C++, and the compiler is told why; nor does a value without its key, or thirty arguments. Where a program fills an array itself, the first fifteen count.
sixteen_arguments() {
	local sixteen="" thirty="" i source compiler macro why

	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		sixteen="$sixteen, \"k$i\", TA_INT32($i)"
	done
	thirty=$sixteen${sixteen%%, \"k15\"*}
	for arguments in "$sixteen" "$thirty" ', "key"' ', "key", TA_INT32(1), "key"'; do
		why='arguments come as key, value'
		[ ${#arguments} -lt 100 ] || why='an event has 15 arguments at most'
		for macro in 'INSTANT("bad", "sixteen", TRACE_SCOPE_THREAD' 'DURATION("bad", "sixteen"' 'DURATION_BEGIN("bad", "sixteen"' \
			'COUNTER("bad", "sixteen", 1' 'FLOW_END("bad", "sixteen", 1' 'BLOB_EVENT("bad", "sixteen", "bytes", 5' \
			'VTHREAD_COUNTER("bad", "sixteen", "device", 1, 2, 3' 'USERSPACE_OBJECT("bad", (void *)0, "sixteen"'; do
			for source in no.c no.cc; do
				echo "#include <fxtrace/event.h>
				int main(void) { TRACE_$macro$arguments); return 0; }" >$source
				compiler=$FX_CC
				[ $source = no.c ] || compiler=$FX_CXX
				# shellcheck disable=SC2086 # several words
				! $compiler $include -w -c -o no.o $source >compile.log 2>&1 || fail "$source compiles with: $macro$arguments"
				grep -q "error: static.*$why" compile.log || fail "$source, $macro$arguments: it is not said why: $(cat compile.log)"
			done
		done
	done
	cat >sixteen.c <<'END'
#include <fxtrace/context.h>
#include <stdio.h>
int main(void)
{
	static const char *const keys[40] = {"case", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "k10", "k11", "k12", "k13", "k14", "k15"};
	trace_arg_t args[40];
	trace_thread_ref_t thread;
	trace_string_ref_t category, name;
	trace_context_t *context = trace_acquire_context_for_category("bad", &category);

	for (int i = 0; i < 40; i++)
		fxtrace_fill(&args[i], keys[i < 16 ? i : 15], TA_INT32(i));
	if (context) {
		trace_context_register_current_thread(context, &thread);
		trace_context_register_string_literal(context, "sixteen", &name);
		args[0].value = TA_INT32(16);
		trace_context_write_instant_event_record(context, 0, &thread, &category, &name, TRACE_SCOPE_THREAD, args, 16);
		args[0].value = TA_INT32(40);
		trace_context_write_counter_event_record(context, 0, &thread, &category, &name, 1, args, 40);
		trace_context_write_blob_event_record(context, 0, &thread, &category, &name, "bytes", 5, args, 40);
		trace_release_context(context);
	}
	printf("well\n");
	return 0;
}
END
	programs sixteen
}
expect_sixteen() {
	expect_equal '16 40' "$(cases)" "cases"
	expect_events 2 'name == "sixteen" && has("k14=14") && NF == 9 + 15'
	expect_line 'large-event.*sixteen.*k14.*int32=14' said
	expect_no_line 'k15' said
}

# --- Long texts ------------------------------------------------------------------------------------------------------

strings_of_40_kilobytes() {
	cat >long.c <<'END'
#include <fxtrace/event.h>
#include <stdio.h>
#include <string.h>
static char category[40001], name[40001], key[40001], text[40001];
int main(void)
{
	uint64_t now = TRACE_TICKS();
	(void)now;
	memset(category, 'c', 40000);
	memset(name, 'n', 40000);
	memset(key, 'k', 40000);
	/* Characters of two bytes: none is cut in two. */
	for (int i = 0; i < 40000; i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	TRACE_INSTANT("bad", name, TRACE_SCOPE_THREAD, "case", TA_INT32(1));
	TRACE_INSTANT("bad", "texts", TRACE_SCOPE_THREAD, "long", TA_STRING(text), "chars", TA_CHAR_ARRAY(text, 40000), "case", TA_INT32(2));
	TRACE_INSTANT("bad", "keys", TRACE_SCOPE_THREAD, key, TA_INT32(5), "case", TA_INT32(3));
	TRACE_INSTANT("bad", name, TRACE_SCOPE_THREAD, key, TA_STRING(text), key, TA_STRING(text), key, TA_STRING(text), "case", TA_INT32(4));
	{
		TRACE_DURATION("bad", name, "long", TA_STRING(text), "case", TA_INT32(5));
	}
	TRACE_COUNTER("bad", name, 1, key, TA_INT32(5), "case", TA_INT32(6));
	TRACE_VTHREAD_DURATION_BEGIN("bad", name, name, 1, now, "case", TA_INT32(7));
	TRACE_VTHREAD_DURATION_END("bad", name, name, 1, now + 1000);
	TRACE_BLOB_EVENT("bad", name, text, 40000, "case", TA_INT32(8));
	TRACE_BLOB_ATTACHMENT("bad", name, text, 40000);
	TRACE_BLOB(TRACE_BLOB_TYPE_DATA, "short", text, 20000);
	TRACE_BLOB(TRACE_BLOB_TYPE_DATA, "too long", text, 40000);
	TRACE_USERSPACE_OBJECT("bad", text, name, "case", TA_INT32(9));
	TRACE_LOG("bad", text);
	TRACE_ALERT("bad", name);
	TRACE_INSTANT(category, "in a long category", TRACE_SCOPE_THREAD);
	printf("well\n");
	return 0;
}
END
	programs long
}
expect_long() {
	expect_equal '1 2 3 4 5 6 7' "$(cases)" "cases"
	# Names and keys have 32000 bytes, as the format allows, texts what is left of about 1000, a log 32 KB, and of bytes there are all.
	awk -F'\t' '/case=[14567]/ && length($7) != 32000 { exit 1 }' events || fail "names are not cut to what the format has"
	awk -F'\t' '/case=2/ { for (i = 10; i <= NF; i++) if ($i ~ /^long=/) n = length($i) } END { exit !(n > 400 && n < 1000) }' events ||
		fail "the text is not cut to what a record has"
	expect_events 1 'category ~ /^c+$/ && name == "in a long category"'
	expect_equal 40000 "$(sed -n 's/.* large-event .* size=\([0-9]*\) .*/\1/p' said | awk '{ n += $1 } END { print n + 0 }')" "bytes of the event"
	expect_equal 40000 "$(sed -n 's/.* large-attachment .* size=\([0-9]*\) .*/\1/p' said | awk '{ n += $1 } END { print n + 0 }')" "bytes of the attachment"
	expect_line 'blob.*short' said
	expect_no_line 'too long' said
	python3 - <<'PY' || fail "the log, or cut characters"
import json, subprocess, os
lines = subprocess.run([os.environ.get("FXTRACE_TESTED", "fxtrace"), "dump", "--json", "trace.fxt"], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
logs = [r for r in map(json.loads, lines.splitlines()) if r["kind"] == "log" and "\u00e4" in json.dumps(r, ensure_ascii=False)]
assert len(logs) == 1, logs
text = max((v for v in logs[0].values() if isinstance(v, str)), key=len)
assert set(text) == {"\u00e4"} and 16000 <= len(text) <= 16384, len(text)
PY
}

# --- Control characters ----------------------------------------------------------------------------------------------

names_with_control_characters() {
	cat >control.c <<'END'
#include <fxtrace/event.h>
#include <stdio.h>
#define ODD "a\n\r\t\033[2J\033]0;b\007\001\177"
TRACE_CATEGORY("odd" ODD, "described" ODD);
int main(void)
{
	uint64_t now = TRACE_TICKS();
	(void)now;
	TRACE_INSTANT("bad", ODD, TRACE_SCOPE_THREAD, "case", TA_INT32(1));
	TRACE_INSTANT("bad", "no UTF-8: \xff\xfe\xc3", TRACE_SCOPE_THREAD, "text", TA_STRING("\xed\xa0\x80\xc0\x80"), "case", TA_INT32(2));
	TRACE_INSTANT("bad", "keys", TRACE_SCOPE_THREAD, ODD, TA_STRING(ODD), "nul", TA_CHAR_ARRAY("x\0y", 3), "case", TA_INT32(3));
	{
		TRACE_DURATION("bad", ODD, ODD, TA_STRING(ODD), "case", TA_INT32(4));
	}
	TRACE_COUNTER("bad", ODD, 1, ODD, TA_INT32(5), "case", TA_INT32(5));
	TRACE_VTHREAD_DURATION_BEGIN("bad", ODD, ODD, 1, now, "case", TA_INT32(6));
	TRACE_VTHREAD_DURATION_END("bad", ODD, ODD, 1, now + 1000);
	TRACE_BLOB_ATTACHMENT("bad", ODD, "bytes", 5);
	TRACE_BLOB(TRACE_BLOB_TYPE_DATA, ODD, "bytes", 5);
	TRACE_USERSPACE_OBJECT("bad", &now, ODD, ODD, TA_INT32(7));
	TRACE_LOG("bad", ODD);
	TRACE_ALERT("bad", ODD);
	TRACE_INSTANT("odd" ODD, "in an odd category", TRACE_SCOPE_THREAD);
	printf("well\n");
	return 0;
}
END
	programs control
}
expect_control() {
	expect_equal 6 "$(grep -c 'case.*int32=[1-6]' said)" "cases"
	expect_line 'in an odd category' said
	# The archive has each byte as it was said; whoever shows it escapes it.
	expect_equal 1 "$(LC_ALL=C grep -ac $'described a' trace.fxt >/dev/null; LC_ALL=C grep -aoc $'\033\[2J' trace.fxt | awk '{ print ($1 > 0) }')" \
		"bytes of the archive"
	expect_ok "$FXTRACE" query --csv trace.fxt "select count(*) from slice where category = 'bad' and hex(name) like '610A0D091B5B324A%'"
	[ "$(tail -n 1 out | tr -d '"\r')" -ge 2 ] || fail "names in queries: $(cat out)"
	expect_ok python3 -c 'import json; json.load(open("out.json"))'
}

# --- The wrong order -----------------------------------------------------------------------------------------------

scopes_closed_in_the_wrong_order() {
	cat >order.c <<'END'
#include <fxtrace/event.h>
#include <stdio.h>
int main(void)
{
	TRACE_DURATION_BEGIN("bad", "first");
	TRACE_DURATION_BEGIN("bad", "second");
	TRACE_DURATION_END("bad", "first");
	TRACE_DURATION_END("bad", "second");
	TRACE_DURATION_END("bad", "never begun");
	TRACE_DURATION_BEGIN("bad", "never ended");
	{
		TRACE_DURATION("bad", "scope");
		TRACE_DURATION_BEGIN("bad", "leaves its scope");
	}
	TRACE_DURATION_END("bad", "leaves its scope");
	TRACE_DURATION_BEGIN("bad", "ends inside");
	{
		TRACE_DURATION("bad", "goes on");
		TRACE_DURATION_END("bad", "ends inside");
		TRACE_INSTANT("bad", "between", TRACE_SCOPE_THREAD);
	}
	for (int i = 0; i < 3; i++) {
		TRACE_DURATION("bad", "around many");
		for (int n = 0; n < 400; n++)
			TRACE_DURATION_BEGIN("bad", "one of many");
	}
	TRACE_ASYNC_BEGIN("bad", "async", 1);
	TRACE_ASYNC_BEGIN("bad", "async", 2);
	TRACE_ASYNC_END("bad", "async", 1);
	TRACE_ASYNC_END("bad", "async", 2);
	TRACE_ASYNC_END("bad", "async", 3);
	TRACE_FLOW_END("bad", "flow", 4);
	TRACE_FLOW_BEGIN("bad", "flow", 4);
	TRACE_INSTANT("bad", "the end", TRACE_SCOPE_THREAD);
	printf("well\n");
	return 0;
}
END
	programs order
}
expect_order() {
	expect_events 1 'type == "instant" && name == "the end"'
	# Readers make them nest; what was never begun is left out.
	expect_ok "$FXTRACE" query --csv trace.fxt "select name, dur >= 0 from slice where category = 'bad' and name in ('first', 'second', 'never begun', 'never ended', 'scope', 'leaves its scope') order by ts"
	expect_equal 'first second never ended scope leaves its scope' "$(tail -n +2 out | cut -d, -f1 | tr -d '"\r' | xargs)" "durations in the wrong order"
	# What begins in a block ends with it.
	expect_ok "$FXTRACE" query --csv trace.fxt "select a.ts + a.dur <= b.ts + b.dur from slice a, slice b where a.name = 'leaves its scope' and b.name = 'scope'"
	expect_equal 1 "$(tail -n 1 out | tr -d '"\r')" "a duration that leaves its block"
	# What goes on when that has ended which it began in begins with its end.
	expect_ok "$FXTRACE" query --csv trace.fxt "select b.ts = a.ts + a.dur and b.dur > 0 from slice a, slice b where a.name = 'ends inside' and b.name = 'goes on'"
	expect_equal 1 "$(tail -n 1 out | tr -d '"\r')" "a duration that outlives what it began in"
	expect_events 3 'type == "complete" && name == "around many"'
	expect_loss block-ended $((1 + 1 + 3 * 400)) told
	expect_events 2 'type == "async-begin" && name == "async"'
	expect_events 2 'type == "async-end" && name == "async"'
}

need python3
export FXTRACE_TESTED=$FXTRACE
wrong_types
null_names
sixteen_arguments
strings_of_40_kilobytes
names_with_control_characters
scopes_closed_in_the_wrong_order

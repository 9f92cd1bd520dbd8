#!/bin/bash
# SPDX-License-Identifier: MIT
# Fuchsia's own example of TRACE_DURATION gives the record that its page promises, in C, in C++ and with NTRACE; and what makes no sense
# has its defined end: names that are NULL, empty, full of control characters or very long, texts that are NULL, more than 15 arguments,
# durations that are closed in the wrong order, or never, or were never begun.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
include="-I$FX_SRCDIR/include -I$FX_SRCDIR/include/fxtrace/fuchsia"

# run_with COMMAND...
run_with() {
	expect_ok "$FXTRACE" run -q -o trace.fxt "$@"
	cp out told
	expect_clean trace.fxt
	list_archive trace.fxt
}

# --- The example --------------------------------------------------------------------------------------

examples_of_the_page() {
	printf '%s\n' '#include <trace/event.h>' '#ifdef __cplusplus' '#include <string>' '#define TEXT std::string' '#define A(x) x' '#define B(x) x' \
		'#else' '#define TEXT const char *' '#define A(x) TA_INT32(x)' '#define B(x) TA_STRING(x)' '#endif' \
		'static void DoSomething(int a, TEXT b) { TRACE_DURATION("example", "DoSomething", "a", A(a), "b", B(b)); }' \
		'int main(void) { DoSomething(7, "seven"); return 0; }' >example.c
	cp example.c example.cc
	for source in example.c example.cc; do
		# shellcheck disable=SC2086 # several words
		compile example $include -Wall -Wextra -Werror "$source"
		run_with ./example
		expect_events 1 'type == "complete" && category == "example" && name == "DoSomething" && has("a=7") && has("b=seven") && end >= start'
		# shellcheck disable=SC2086 # several words
		compile example $include -Wall -Wextra -Werror -Wno-unused-parameter -DNTRACE "$source"
		run_with ./example
		expect_events 0 'category == "example"'
	done
}

# --- What makes no sense --------------------------------------------------------------------------------

cat >bad.c <<'END'
#include <fxtrace/event.h>
#include <stdio.h>
#include <string.h>
static char *volatile nothing;
static char long_name[40001], text[40001];
int main(void)
{
	memset(long_name, 'n', 40000);
	memset(text, 't', 40000);
	TRACE_INSTANT("bad", (const char *)nothing, TRACE_SCOPE_THREAD, "case", TA_INT32(1));
	TRACE_INSTANT("bad", "", TRACE_SCOPE_THREAD, "case", TA_INT32(2));
	TRACE_INSTANT("bad", long_name, TRACE_SCOPE_THREAD, "case", TA_INT32(3));
	TRACE_INSTANT("bad", "a\n\033[2Jb\001", TRACE_SCOPE_THREAD, "case", TA_INT32(4));
	TRACE_INSTANT("bad", "no UTF-8: \xff\xfe", TRACE_SCOPE_THREAD, "case", TA_INT32(5));
	TRACE_INSTANT("bad", "texts", TRACE_SCOPE_THREAD, "null", TA_STRING((const char *)nothing), "long", TA_STRING(text), "after", TA_INT32(6));
	TRACE_INSTANT("bad", "scope", (int)77, "case", TA_INT32(7));
	{
		TRACE_DURATION("bad", (const char *)nothing, "case", TA_INT32(8));
	}
	TRACE_DURATION_BEGIN("bad", "first");
	TRACE_DURATION_BEGIN("bad", "second");
	TRACE_DURATION_END("bad", "first");
	TRACE_DURATION_END("bad", "second");
	TRACE_DURATION_END("bad", "never begun");
	TRACE_DURATION_BEGIN("bad", "never ended");
	TRACE_INSTANT("bad", "the end", TRACE_SCOPE_THREAD);
	printf("well\n");
	return 0;
}
END

what_makes_no_sense() {
	for optimise in -O0 -O2; do
		# shellcheck disable=SC2086 # several words
		compile bad $include -w $optimise bad.c
		expect_ok ./bad
		run_with ./bad
		expect_line '^well$' told
		for n in 1 2 3 4 5 7; do
			expect_events 1 "type == \"instant\" && category == \"bad\" && has(\"case=$n\")"
		done
		expect_events 1 'type == "complete" && category == "bad" && has("case=8")'
		expect_events 2 'type == "instant" && name == "" && (has("case=1") || has("case=2"))'
		expect_events 1 'name == "texts" && has("null=null") && has("after=6")'
		awk -F'\t' '/case=3/ { exit !(length($7) > 200 && length($7) < 40000) }' events || fail "the long name is not cut"
		expect_events 1 'type == "instant" && name == "the end"'
		# Readers make them nest; what was never begun is left out.
		expect_ok "$FXTRACE" query --csv trace.fxt "select name, dur >= 0 from slice where category = 'bad' and name in ('first', 'second', 'never begun', 'never ended') order by ts"
		expect_equal 'first second never ended' "$(tail -n +2 out | cut -d, -f1 | tr -d '"\r' | xargs)" "durations in the wrong order"
		for format in perfetto json; do
			expect_ok "$FXTRACE" convert -f $format trace.fxt out.$format
		done
		"$FXTRACE" dump trace.fxt >said
		! grep -qP '\x1b' said || fail "a control character reaches the terminal"
	done
}

# More than 15 arguments do not compile, in C nor in C++; nor does a value without its key.
what_does_not_compile() {
	local sixteen="" i

	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		sixteen="$sixteen, \"k$i\", TA_INT32($i)"
	done
	for arguments in "$sixteen" ', "key"'; do
		for source in no.c no.cc; do
			echo "#include <fxtrace/event.h>
			int main(void) { TRACE_INSTANT(\"bad\", \"sixteen\", TRACE_SCOPE_THREAD$arguments); return 0; }" >$source
			compiler=$FX_CC
			[ $source = no.c ] || compiler=$FX_CXX
			# shellcheck disable=SC2086 # several words
			! $compiler $include -w -c -o no.o $source >compile.log 2>&1 || fail "$source compiles with: $arguments"
		done
	done
}

examples_of_the_page
what_makes_no_sense
what_does_not_compile

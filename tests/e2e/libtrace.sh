#!/bin/bash
# SPDX-License-Identifier: MIT
# The conformance list for <fxtrace/event.h>: each macro with 0 to 15 arguments and each type of argument, in C, in C without
# optimisation and in C++, by gcc and clang: record by record what the program says; and with NTRACE nothing.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3 nm

include=-I$FX_SRCDIR/include

# One source for both languages, and what its records have to be: KIND NAME ARGUMENTS.
python3 - <<'PY'
values = [("null", "TA_NULL()", None), ("bool", "TA_BOOL(1)", True), ("int32", "TA_INT32(-32)", -32),
    ("uint32", "TA_UINT32(4000000032u)", 4000000032), ("int64", "TA_INT64(-6400000000)", -6400000000),
    ("uint64", "TA_UINT64(18446744073709551615u)", 18446744073709551615), ("double", "TA_DOUBLE(0.5)", 0.5),
    ("string", 'TA_CHAR_ARRAY("charsX", 5)', "chars"), ("string", 'TA_STRING("text")', "text"),
    ("pointer", "TA_POINTER((void *)4096)", "0x1000"), ("koid", "TA_KOID(9)", 9), ("string", 'TA_STRING_LITERAL("literal")', "literal")]
numbers = [v for v in values if v[0] in ("int32", "uint32", "int64", "uint64", "double")]
# macro, what stands before the arguments, kind of record; a name is the macro's and the number of arguments
macros = [("DURATION", "", "complete"), ("DURATION_BEGIN", "", "begin"), ("DURATION_END", "", "end"),
    ("INSTANT", ", TRACE_SCOPE_THREAD", "instant"), ("COUNTER", ", 1", "counter"),
    ("ASYNC_BEGIN", ", 2", "async-begin"), ("ASYNC_INSTANT", ", 2", "async-instant"), ("ASYNC_END", ", 2", "async-end"),
    ("FLOW_BEGIN", ", 3", "flow-begin"), ("FLOW_STEP", ", 3", "flow-step"), ("FLOW_END", ", 3", "flow-end"),
    ("BLOB_EVENT", ", bytes, sizeof bytes", "large-event"),
    ("VTHREAD_DURATION_BEGIN", ', "virtual", 5, t', "begin"), ("VTHREAD_DURATION_END", ', "virtual", 5, t', "end"),
    ("VTHREAD_FLOW_BEGIN", ', "virtual", 5, 6, t', "flow-begin"), ("VTHREAD_FLOW_STEP", ', "virtual", 5, 6, t', "flow-step"),
    ("VTHREAD_FLOW_END", ', "virtual", 5, 6, t', "flow-end"), ("VTHREAD_COUNTER", ', "virtual", 5, 7, t', "counter")]
functions, expected = [], []
def arguments(count, kind):
    of = numbers if kind == "counter" else values
    return [("k%d" % i, *of[(i + count) % len(of)]) for i in range(count)]
def say(name, kind, args):
    expected.append(" ".join([kind, name] + ["%s:%s=%s" % (k, t, v) for k, t, _, v in args]))
def texts(args):
    return "".join(', "%s", %s' % (k, text) for k, _, text, _ in args)
for count in range(16):
    lines = []
    # The end is what its begin is called: both have to be there for it.
    for macro, before, kind in macros:
        args = arguments(count, kind)
        name = macro.replace("_END", "").replace("_BEGIN", "").replace("_STEP", "") + "_%d" % count
        lines.append('\t{ TRACE_%s("c", "%s"%s%s); }' % (macro, name, before, texts(args)))
        say(name, kind, args)
        if kind.startswith("flow"):
            say(name, "instant", []) # no duration is around it
    for macro in "BEGIN", "STEP", "END":
        args = arguments(count, "complete")
        lines.append('\tTRACE_INSTAFLOW_%s("c", "insta_%d", "%s_%d", 4%s);' % (macro, count, macro, count, texts(args)))
        say("insta_%d" % count, "flow-" + macro.lower(), [])
        say("%s_%d" % (macro, count), "complete", args)
    args = arguments(count, "complete")
    lines.append('\tTRACE_USERSPACE_OBJECT("c", bytes, "object_%d"%s);' % (count, texts(args)))
    say("object_%d" % count, "userspace-object", args)
    lines.append('\tTRACE_KERNEL_OBJECT(memory%s);' % texts(args))
    say("/memfd:pages (deleted)", "kernel-object", args)
    # One for each: compilers take longer than twice the time for one that is twice as long.
    functions.append("__attribute__((noinline)) static void with_%d(uint64_t t, int memory)\n{\n\t(void)t;\n\t(void)memory;\n%s\n}\n" % (count, "\n".join(lines)))
say("attached", "large-attachment", [])
say("older", "blob", [])
say("", "log", [])
open("all.c", "w").write("""#include <fxtrace/event.h>
#include <stdio.h>
#include <sys/mman.h>
TRACE_CATEGORY("described", "what it is");
static char bytes[20];
%s
int main(void)
{
	uint64_t t = TRACE_TICKS();
	int memory = memfd_create("pages", 0);
	(void)t;
	(void)memory;
	(void)bytes;
%s
	TRACE_BLOB_ATTACHMENT("c", "attached", bytes, sizeof bytes);
	TRACE_BLOB(TRACE_BLOB_TYPE_DATA, "older", bytes, sizeof bytes);
	TRACE_LOG("c", "a line");
	TRACE_ALERT("c", "fourteen bytes");
	printf("%%d %%d %%d %%d %%d\\n", TRACE_ENABLED(), TRACE_CATEGORY_ENABLED("c"), TRACE_NONCE() != 0, t != 0, TRACE_KOID(memory) != 0);
	return 0;
}
""" % ("\n".join(functions), "\n".join("\twith_%d(t, memory);" % count for count in range(16))))
open("expected", "w").write("".join(line + "\n" for line in sorted(expected)))
PY
cp all.c all.cc

said() {
	"$FXTRACE" dump --json trace.fxt | python3 -c '
import json, sys
lines = []
for r in map(json.loads, sys.stdin):
    kind, name = r["kind"], r.get("name", "")
    if kind == "event" and r.get("category") == "c" or kind in ("large-event", "large-attachment", "blob", "log", "userspace-object") or kind == "kernel-object" and r["type"] == "vmo":
        if not name.startswith("fxtrace:"): # of the manager
            lines.append(" ".join([r["type"] if kind == "event" else kind, name] +
                ["%s:%s=%s" % (a["name"], a["type"], a["value"]) for a in r.get("args", [])]))
for line in sorted(lines):
    print(line)'
}

# compilers LANGUAGE: those that are there.
compilers() {
	local compiler all="$FX_CC gcc clang"

	[ "$1" = c ] || all="$FX_CXX g++ clang++"
	! is_emulated || all=${all%% *} # others make programs of this machine
	for compiler in $all; do
		! command -v "$compiler" >/dev/null || echo "$compiler"
	done | sort -u
}

# says SOURCE OPTION...: each record is there, by each compiler.
says() {
	local source=$1 compiler language=${1#*.}

	shift
	for compiler in $(compilers "$language"); do
		"$compiler" "$include" -D_GNU_SOURCE "$@" -Wall -Wextra -pedantic -Werror -o all "$source" >compile.log 2>&1 ||
			fail "$compiler $*: $(head -n 5 compile.log)"
		expect_ok ./all
		expect_line '^0 0 0 0 0$' out
		expect_ok "$FXTRACE" run -q --on-full block -c c -o trace.fxt -- ./all
		expect_line '^1 1 1 1 1$' out
		expect_clean trace.fxt
		said >shown
		expect_same_file expected shown
	done
}

# leaves_nothing SOURCE OPTION...
leaves_nothing() {
	local source=$1 compiler language=${1#*.}

	shift
	for compiler in $(compilers "$language"); do
		"$compiler" "$include" -D_GNU_SOURCE -DNTRACE "$@" -Wall -Wextra -pedantic -Werror -o all "$source" >compile.log 2>&1 ||
			fail "$compiler -DNTRACE $*: $(head -n 5 compile.log)"
		expect_ok "$FXTRACE" run -q -c c -o trace.fxt -- ./all
		expect_line '^0 0 0 0 0$' out
		! nm all | grep -i fxtrace || fail "$compiler $*: NTRACE leaves something"
		said >shown
		expect_equal '' "$(cat shown)" "records with NTRACE"
	done
}

libtrace_in_c() {
	says all.c -std=c11 -O2
}

libtrace_in_c_with_ntrace() {
	leaves_nothing all.c -std=c11 -O2
}

libtrace_in_c_without_optimisation() {
	says all.c -std=c11 -O0
}

libtrace_in_c_without_optimisation_with_ntrace() {
	leaves_nothing all.c -std=c11 -O0
}

libtrace_in_cxx() {
	says all.cc -std=c++17 -O2
	says all.cc -std=c++20 -O0
}

libtrace_in_cxx_with_ntrace() {
	leaves_nothing all.cc -std=c++17 -O2
}

libtrace_in_c
libtrace_in_c_with_ntrace
libtrace_in_c_without_optimisation
libtrace_in_c_without_optimisation_with_ntrace
libtrace_in_cxx
libtrace_in_cxx_with_ntrace

#!/bin/bash
# SPDX-License-Identifier: MIT
# The conformance list for <fxtrace/event.h>: each macro with 0 to 15 arguments and each type of argument, in C, in C without
# optimisation and in C++, by gcc and clang: record by record what the program says; and with NTRACE an object file that does not differ from one of a source without macros.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

include=-I$FX_SRCDIR/include

# One source for both languages, and what its records have to be: KIND NAME ARGUMENTS, and what else there is; and the source without macros.
python3 - <<'PY'
import re
values = [("null", "TA_NULL()", None), ("bool", "TA_BOOL(1)", True), ("int32", "TA_INT32(-32)", -32),
    ("uint32", "TA_UINT32(4000000032u)", 4000000032), ("int64", "TA_INT64(-6400000000)", -6400000000),
    ("uint64", "TA_UINT64(18446744073709551615u)", 18446744073709551615), ("double", "TA_DOUBLE(0.5)", 0.5),
    ("string", 'TA_CHAR_ARRAY("charsX", 5)', "chars"), ("string", 'TA_STRING("text")', "text"),
    ("pointer", "TA_POINTER((void *)4096)", "0x1000"), ("koid", "TA_KOID(9)", 9), ("string", 'TA_STRING_LITERAL("literal")', "literal")]
numbers = [v for v in values if v[0] in ("int32", "uint32", "int64", "uint64", "double")]
# macro, what stands before the arguments, kind of record, what else is in it; a name is the macro's and the number of arguments
payload = "payload:" + b"bytes".ljust(20, b"\0").hex()
macros = [("DURATION", "", "complete", ""), ("DURATION_BEGIN", "", "begin", ""), ("DURATION_END", "", "end", ""),
    ("INSTANT", ", TRACE_SCOPE_THREAD", "instant", ""), ("INSTANT", ", TRACE_SCOPE_PROCESS", "instant", "scope:process"),
    ("INSTANT", ", TRACE_SCOPE_GLOBAL", "instant", "scope:global"), ("COUNTER", ", 1", "counter", "counter_id:1"),
    ("ASYNC_BEGIN", ", 2", "async-begin", "id:2"), ("ASYNC_INSTANT", ", 2", "async-instant", "id:2"), ("ASYNC_END", ", 2", "async-end", "id:2"),
    ("FLOW_BEGIN", ", 3", "flow-begin", "id:3"), ("FLOW_STEP", ", 3", "flow-step", "id:3"), ("FLOW_END", ", 3", "flow-end", "id:3"),
    ("BLOB_EVENT", ", bytes, sizeof bytes", "large-event", payload),
    ("VTHREAD_DURATION_BEGIN", ', "virtual", 5, t', "begin", "virtual"), ("VTHREAD_DURATION_END", ', "virtual", 5, t', "end", "virtual"),
    ("VTHREAD_FLOW_BEGIN", ', "virtual", 5, 6, t', "flow-begin", "id:6 virtual"),
    ("VTHREAD_FLOW_STEP", ', "virtual", 5, 6, t', "flow-step", "id:6 virtual"),
    ("VTHREAD_FLOW_END", ', "virtual", 5, 6, t', "flow-end", "id:6 virtual"),
    ("VTHREAD_COUNTER", ', "virtual", 5, 7, t', "counter", "counter_id:7 virtual")]
functions, expected = [], []
def arguments(count, kind):
    of = numbers if kind == "counter" else values
    return [("k%d" % i, *of[(i + count) % len(of)]) for i in range(count)]
def say(name, kind, args, more):
    expected.append(" ".join([kind, name] + ["%s:%s=%s" % (k, t, v) for k, t, _, v in args] + more.split()))
def texts(args):
    return "".join(', "%s", %s' % (k, text) for k, _, text, _ in args)
for count in range(16):
    lines = []
    # The end is what its begin is called: both have to be there for it.
    for macro, before, kind, more in macros:
        args = arguments(count, kind)
        name = macro.replace("_END", "").replace("_BEGIN", "").replace("_STEP", "") + "_%d" % count
        lines.append('\t{ TRACE_%s("c", "%s"%s%s); }' % (macro, name, before, texts(args)))
        say(name, kind, args, more)
        if kind.startswith("flow"):
            say(name, "instant", [], "virtual" if "virtual" in more else "") # no duration is around it
    for macro in "BEGIN", "STEP", "END":
        args = arguments(count, "complete")
        lines.append('\tTRACE_INSTAFLOW_%s("c", "insta_%d", "%s_%d", 4%s);' % (macro, count, macro, count, texts(args)))
        say("insta_%d" % count, "flow-" + macro.lower(), [], "id:4")
        say("%s_%d" % (macro, count), "complete", args, "")
    args = arguments(count, "complete")
    lines.append('\tTRACE_USERSPACE_OBJECT("c", bytes, "object_%d"%s);' % (count, texts(args)))
    say("object_%d" % count, "userspace-object", args, "")
    lines.append('\tTRACE_KERNEL_OBJECT(memory%s);' % texts(args))
    say("/memfd:pages (deleted)", "kernel-object", args, "")
    # One for each: compilers take longer than twice the time for one that is twice as long.
    functions.append("__attribute__((noinline)) static void with_%d(uint64_t t, int memory)\n{\n\t(void)t;\n\t(void)memory;\n%s\n}\n" % (count, "\n".join(lines)))
say("attached", "large-attachment", [], payload)
say("older", "blob", [], payload)
say("", "log", [], "message:a_line")
text = """#include <fxtrace/event.h>
#include <stdio.h>
#include <sys/mman.h>
TRACE_CATEGORY("described", "what it is");
static char bytes[20] = "bytes";
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
	TRACE_LOG("c", "a_line");
	TRACE_ALERT("c", "fourteen bytes");
	printf("%%d %%d %%d %%d %%d\\n", TRACE_ENABLED(), TRACE_CATEGORY_ENABLED("c"), TRACE_NONCE() != 0, t != 0, TRACE_KOID(memory) != 0);
	return 0;
}
""" % ("\n".join(functions), "\n".join("\twith_%d(t, memory);" % count for count in range(16)))
open("all.c", "w").write(text)
text = re.sub(r"^\t?(\{ )?TRACE_.*\n", "", text.replace("<fxtrace/event.h>", "<stdint.h>"), flags=re.M)
open("bare.c", "w").write(re.sub(r"TRACE_(NONCE|TICKS|KOID)\(\w*\)", "UINT64_C(0)", re.sub(r"TRACE_(CATEGORY_)?ENABLED\([^)]*\)", "0", text)))
open("expected", "w").write("".join(line + "\n" for line in sorted(expected)))
PY
cp all.c all.cc
! grep -n TRACE bare.c || fail "macros are left"

said() {
	"$FXTRACE" dump --json trace.fxt | python3 -c '
import json, sys
lines = []
for r in map(json.loads, sys.stdin):
    kind, name = r["kind"], r.get("name", "")
    if kind == "event" and r.get("category") == "c" or kind in ("large-event", "large-attachment", "blob", "log", "userspace-object") or kind == "kernel-object" and r["type"] == "vmo":
        if not name.startswith("fxtrace:"): # of the manager
            lines.append(" ".join([r["type"] if kind == "event" else kind, name] +
                ["%s:%s=%s" % (a["name"], a["type"], a["value"]) for a in r.get("args", [])] +
                ["%s:%s" % (k, r[k]) for k in ("scope", "counter_id", "id", "message", "payload") if k in r] +
                ["virtual"] * (r.get("tid", r.get("pid")) != r.get("pid"))))
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
		# Of the same name, which stands in the object.
		for with in all bare; do
			mkdir -p "of-$with" && cp "$with.c" "of-$with/source.$language" && (cd "of-$with" &&
				"$compiler" "$include" -D_GNU_SOURCE -DNTRACE "$@" -c -o ../$with.o source.$language) ||
				fail "$compiler: $with"
		done
		cmp all.o bare.o || fail "$compiler $*: NTRACE leaves something in the object file"
		expect_ok "$FXTRACE" run -q -c c -o trace.fxt -- ./all
		expect_line '^0 0 0 0 0$' out
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

#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of any bytes: every reader and every format shows the same UTF-8, two names never become one, and no terminal
# gets to see what it would obey.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3

# Two functions have names of 3,000 bytes that differ in the last one.
target bytes bytes.c "-DLONG_NAME=\"$(printf 'n%.0s' {1..2999})\""
name=$(printf 'prog\xe9\x1b[31m')
cp bytes "$name"

expect_ok "$FXTRACE" run -c function,syscall,thread,process -o trace.fxt -- "./$name"
cp err summary
expect_clean trace.fxt
expect_ok "$FXTRACE" dump trace.fxt
cp out dump.txt
expect_ok "$FXTRACE" dump --json trace.fxt
cp out dump.json
expect_ok "$FXTRACE" convert -f json trace.fxt trace.json
expect_ok "$FXTRACE" convert -f perfetto trace.fxt trace.pftrace

cat >look.py <<'END'
import json

functions = ["caf\\xE9", "caf\\xE8", "over\\xC0\\xAF", "half\\xED\\xA0\\x80", "cut\\xE6\\x99", "größe"]
files = ["f\\xE9", "f\\xC0\\xAF", "f\\xED\\xA0\\x80", "f\\xE6\\x99", "f\\xF4\\x90\\x80\\x80", "f\\x5CxE9",
         "f\\n", "größe", "f\x1b[31m", "f\u009b"]
others = ["th\\xE9\\xFF", "prog\\xE9\x1b[31m"]


def texts(value, found):
    """All the strings of a JSON value."""
    if isinstance(value, dict):
        for v in value.values():
            texts(v, found)
    elif isinstance(value, list):
        for v in value:
            texts(v, found)
    elif isinstance(value, str):
        found.add(value)
    return found


def want(where, found):
    for text in functions + files + others:
        assert text in found, f"{where} has no {text!r}: {sorted(found)}"
    longs = [t for t in found if t.startswith("nnnn")]
    assert len(longs) == 2 and len(set(longs)) == 2, f"{where}: long names: {longs}"
    assert not any("\ufffd" in t for t in found), f"{where} has a replacement character"


def read(path):
    return open(path, encoding="utf-8", errors="strict", newline="\n").read()


want("dump", texts([json.loads(line) for line in read("dump.json").split("\n") if line], set()))
want("JSON", texts(json.loads(read("trace.json")), set()))
data = open("trace.pftrace", "rb").read()
for text in functions + files + others:
    assert text.encode() in data, f"Perfetto's has no {text!r}"
for path in ["dump.txt", "dump.json", "summary"]:
    for c in read(path):
        assert c == "\n" or (ord(c) >= 0x20 and not 0x7F <= ord(c) < 0xA0), f"{path} has {c!r}"
END
python3 look.py || fail "see above"

# What the program is called stands in messages as it is, and can be asked for.
latin=$(printf 'latin\xe9')
cp bytes "$latin"
expect_ok "$FXTRACE" run -c "$latin/function" -o asked.fxt -- "./$latin"
expect_no_line 'no process knew' err
expect_ok "$FXTRACE" run -c nobody -o none.fxt -- "./$name"
expect_line ': \./prog\\xE9\\x1B\[31m did nothing of the categories' err

#!/bin/bash
# SPDX-License-Identifier: MIT
# What holds libfxtrace-reader together with programs that were made before it, and after: the layout of what they share, and
# a program that is run with a later library, which has more of all that may become more.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

not_sanitized "a library is made without the sanitizer's"
need python3

# --- The layout is what it was ------------------------------------------------------------------------

python3 "$FX_SRCDIR/tests/format/abi.py" "$FX_SRCDIR" >layout.c || fail "no layout"
compile layout -I "$FX_SRCDIR/include" layout.c
./layout >layout.now
grep -v '^#' "$FX_SRCDIR/tests/format/abi.tbl" >layout.then
expect_same_file layout.then layout.now

# --- A later library ------------------------------------------------------------------------------------

# Its headers: members behind the last one where record.h allows it, kinds, faults.
mkdir later
cp -r "$FX_SRCDIR"/{include,format,base,lists} later
python3 - <<'END' || fail "the headers have changed"
import re


def change(header, *changes):
    path = f"later/include/fxtrace/{header}.h"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for before, after in changes:
        text, count = re.subn(before, after, text, count=1, flags=re.S | re.M)
        assert count == 1, (path, before)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


more = r"\1\tuint64_t later[5];\n};"
change("record",
       (r"(^struct fxt_record \{\n.*?)^\};", more),
       (r"(^struct fxt_provider \{\n.*?)^\};", more),
       (r'X\(LARGE_ATTACHMENT, "large-attachment"\)', r'X(LARGE_ATTACHMENT, "large-attachment") X(LATER, "later")'))
change("reader",
       (r"(^struct fxt_mapping \{\n.*?)^\};", more),
       (r"(^struct fxt_fault \{\n.*?)^\};", more),
       (r'(X\(MEMORY_LIMIT, [^)]*\))', r'\1 X(LATER, "later", "")'))
change("batch",
       (r"(^struct fxt_row \{\n.*?)^\};", more),
       (r"(^struct fxt_batch \{\n.*?)^\};", more))
END
# shellcheck disable=SC2046 # a list of files
compile later/libfxtrace-reader.so.0 -shared -fPIC -O1 -std=gnu11 -D_GNU_SOURCE -I "$FX_BUILDDIR" -I later -I later/include \
	-Wl,-soname,libfxtrace-reader.so.0 "-Wl,--version-script=$FX_SRCDIR/format/libfxtrace-reader.map" \
	later/format/*.c later/lists/*.c later/base/escape.c $(pkg-config --libs zlib libzstd 2>/dev/null || echo -lz -lzstd)

mkdir now
cp "$FX_BUILDDIR/.libs/libfxtrace-reader.so.0" now
ln -s libfxtrace-reader.so.0 now/libfxtrace-reader.so
compile client -Wall -Wextra -I "$FX_SRCDIR/include" "$FX_SRCDIR/tests/e2e/reader_client.c" -L now -lfxtrace-reader
for when in now later; do
	LD_LIBRARY_PATH=$PWD/$when expect_ok ./client $when.fxt
	mv out $when.out
	expect_clean $when.fxt
done
expect_line 'process=process thread=thread module=module.so faults=0' now.out
expect_line '^decoded 4 time=77 arg=6 cut=0 fault=-1$' now.out
expect_no_line overwritten now.out
expect_same_file now.out later.out
expect_same_file now.fxt later.fxt

# Python's package, too.
for when in now later; do
	PYTHONPATH=$FX_SRCDIR/python PYTHONDONTWRITEBYTECODE=1 FXTRACE_READER_LIBRARY=$when/libfxtrace-reader.so.0 \
		expect_ok python3 -c 'import fxtrace; print([(e.name, e.args, e.end) for e in fxtrace.open("now.fxt")])'
	mv out $when.out
done
expect_line 'key' now.out
expect_same_file now.out later.out

# --- Symbols have versions ---------------------------------------------------------------------------------

need readelf
readelf --dyn-syms -W "$FX_BUILDDIR/.libs/libfxtrace-reader.so.0" | awk '$7 != "UND" && $8 ~ /^fxt_/ { print $8 }' >exported
expect_no_line '^[^@]*$' exported
sed -n 's/^\t\(fxt_.*\);$/\1@@FXTRACE_READER_0/p' "$FX_SRCDIR/format/libfxtrace-reader.map" | sort >mapped
sort exported >exported.sorted
expect_same_file mapped exported.sorted

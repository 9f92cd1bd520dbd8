#!/bin/bash
# SPDX-License-Identifier: MIT
# What Perfetto is given of a program looks alike on every machine and with every C library: the same slices, nested
# the same, with the same arguments and arrows (expected/picture.txt).
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
target picture picture.c
expect_ok "$FXTRACE" run -q -o trace.fxt -- ./picture
expect_clean trace.fxt
expect_ok "$FXTRACE" convert trace.fxt trace.pftrace
"$FX_BUILDDIR/tests/convert/show_perfetto" <trace.pftrace >text || fail "trace.pftrace is malformed"
python3 "$FX_SRCDIR/tests/e2e/picture.py" <text >picture || fail "no picture of it"
# Before glibc 2.34 libpthread makes a thread by a call of clone(), which is libc's, and recorded.
glibc_since 34 || sed -i '/ begin process:clone /d' picture
diff "$FX_SRCDIR/tests/e2e/expected/picture.txt" picture >differs ||
	fail "the picture is another:"$'\n'"$(cat differs)"

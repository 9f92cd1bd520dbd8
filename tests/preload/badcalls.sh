#!/bin/bash
# SPDX-License-Identifier: MIT
# A function with a wrapper returns the same value and leaves the same errno as without, inert and traced,
# or crashes in the same way, however bad its arguments.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

program=$FX_BUILDDIR/tests/preload/targets/badcalls
expect_ok "$program"
cp out plain
[ "$(wc -l <plain)" -gt 300 ] || fail "$(wc -l <plain) calls"
expect_line '^openat: -1 14$' plain

expect_ok env FXTRACE_DISABLE=1 LD_PRELOAD="$LIBFXTRACE" "$program"
expect_same_file plain out
expect_ok "$FXTRACE" run -q -c '*' -o trace.fxt -- "$program"
expect_same_file plain out
expect_clean trace.fxt

#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that is killed inside a blocking call shows that call, to its end.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

"$FXTRACE" run -q -o trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/block" >out &
runner=$!
wait_for 10 test -s out || fail "the program did not start"
wait_for 5 grep -q pipe "/proc/$(cat out)/wchan" || sleep 1 # some kernels do not tell
kill -9 "$(cat out)"
status=0
wait "$runner" || status=$?
expect_equal 137 "$status" "status of a killed program"
expect_clean trace.fxt
expect_ok "$FXTRACE" dump trace.fxt
expect_line 'type=complete.*name="read"' out

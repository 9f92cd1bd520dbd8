#!/bin/bash
# SPDX-License-Identifier: MIT
# The heap counter ends where the program's own count does, but for each thread's last share; with
# category malloc every call is shown.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" run -q -o trace.fxt -- "$FX_BUILDDIR/tests/preload/heap"
read -r bytes blocks <out
expect_ok "$FXTRACE" dump trace.fxt
last=$(grep 'type=counter.*name="heap"' out | tail -n 1)
shown_bytes=$(sed 's/.*"bytes":[a-z0-9]*=\(-*[0-9]*\).*/\1/' <<<"$last")
shown_blocks=$(sed 's/.*"blocks":[a-z0-9]*=\(-*[0-9]*\).*/\1/' <<<"$last")

# The program has some blocks besides (its standard output, its threads').
near() {
	local difference=$(($2 - $1))

	[ "$difference" -gt "-$3" ] && [ "$difference" -lt "$3" ] || fail "heap $4: $2, really $1"
}
near "$bytes" "$shown_bytes" 40000 bytes
near "$blocks" "$shown_blocks" 600 blocks

expect_ok "$FXTRACE" run -q -c malloc -o trace.fxt -- "$FX_BUILDDIR/tests/preload/heap"
expect_ok "$FXTRACE" dump trace.fxt
[ "$(grep -c 'name="malloc".*"size":uint32=1000,' out)" -ge 2666 ] || fail "mallocs are missing"
[ "$(grep -c 'name="realloc"' out)" -ge 400 ] || fail "reallocs are missing"
expect_line 'name="calloc".*"count":uint32=10, "size":uint32=200, "ret":pointer=0x' out

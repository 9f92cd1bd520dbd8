#!/bin/bash
# SPDX-License-Identifier: MIT
# Sixteen threads contend for locks of every kind and say who let whom go: every wait in the trace has an arrow,
# from the right thread (referee.py). FX_ROUNDS repeats it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

waits=0
for _ in $(seq "${FX_ROUNDS:-2}"); do
	expect_ok "$FXTRACE" run -q -b 64M --on-full block -o trace.fxt -- \
		"$FX_BUILDDIR/tests/preload/referee" 16 4000
	mv out log
	expect_clean trace.fxt
	expect_ok "$FXTRACE" dump --json trace.fxt
	mv out dump
	python3 "$FX_SRCDIR/tests/preload/referee.py" log dump >judged || fail "$(cat judged)"
	tail -n 1 judged
	waits=$((waits + $(awk 'END { print $1 }' judged)))
done
[ "$waits" -ge 100 ] || fail "only $waits waits: that tries nothing"

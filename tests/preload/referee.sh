#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads contend for locks of every kind and say who let whom go: every wait in the trace has an arrow,
# from the right thread (referee.py). FX_ROUNDS repeats it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

waits=0
for round in $(seq "${FX_ROUNDS:-2}"); do
	# Some, or so many that releases are stopped in the middle.
	players=$((round % 2 ? 16 : 64))
	expect_ok "$FXTRACE" run -q -b 64M --on-full block -o trace.fxt -- \
		"$FX_BUILDDIR/tests/preload/targets/referee" $players $((64000 / players))
	mv out log
	expect_clean trace.fxt
	expect_ok "$FXTRACE" dump --json trace.fxt
	mv out dump
	python3 "$FX_SRCDIR/tests/preload/referee.py" log dump >judged || fail "$(cat judged)"
	tail -n 1 judged
	waits=$((waits + $(awk 'END { print $1 }' judged)))
done
[ "$waits" -ge 100 ] || fail "only $waits waits: that tries nothing"

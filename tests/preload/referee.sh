#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads contend for locks of every kind and say who let whom go: every wait in the trace has an arrow,
# from the right thread (referee.py). FX_ROUNDS repeats it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

waits=0
for round in $(seq "${FX_ROUNDS:-3}"); do
	# Some, or so many that releases are stopped in the middle. By the program's own clock, so that each wait is seen for
	# what it is; and by the one that is usual.
	players=$((round % 2 ? 16 : 64))
	exact=exact
	[ $((round % 3)) -ne 0 ] || exact=
	expect_ok "$FXTRACE" run -q ${exact:+--clock boottime} -b 64M --on-full block -o trace.fxt -- \
		"$FX_BUILDDIR/tests/preload/targets/referee" $players $((64000 / players))
	mv out log
	expect_clean trace.fxt
	expect_ok "$FXTRACE" dump --json trace.fxt
	mv out dump
	python3 "$FX_SRCDIR/tests/preload/referee.py" log dump $exact >judged || fail "$(cat judged)"
	tail -n 1 judged
	waits=$((waits + $(awk 'END { print $1 }' judged)))
done
[ "$waits" -ge 100 ] || fail "only $waits waits: that tries nothing"

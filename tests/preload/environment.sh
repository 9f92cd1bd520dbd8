#!/bin/bash
# SPDX-License-Identifier: MIT
# Children are traced whatever environment they are given, and none is under --no-follow. A program
# sees its own environment, with what hands the tracer on.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# processes: how many there are in trace.fxt.
processes() {
	"$FXTRACE" dump trace.fxt | grep -c ' provider-info '
}

children=$FX_BUILDDIR/tests/preload/targets/children
expect_ok "$FXTRACE" run -q -o trace.fxt -- "$children"
all=$(processes)
# 3 forks, 2 vforked programs at most, 3 spawned, a shell, 9 that exec (twice registered), 80 forks.
[ "$all" -ge 100 ] || fail "only $all of the processes are in the trace"

expect_ok "$FXTRACE" run -q --no-follow -o trace.fxt -- "$children"
expect_equal 1 "$(processes)" "processes under --no-follow"

expect_ok "$FXTRACE" run -q -o trace.fxt -- \
	sh -c 'echo "$FXTRACE_SOCKET"; exec env -i ONE=1 FXTRACE_SOCKETS=none "$0"' "$(command -v env)"
cp out seen
expect_line '^ONE=1$' seen
expect_line "^LD_PRELOAD=.*libfxtrace" seen
expect_equal 1 "$(grep -c '^LD_PRELOAD=' seen)" "LD_PRELOADs"
# The same manager's, and not one that a program without it would start for itself.
expect_equal "FXTRACE_SOCKET=$(head -n 1 seen)" "$(grep '^FXTRACE_SOCKET=' seen)" "handed on"
expect_line "^FXTRACE_SOCKETS=none\$" seen

# What the program preloads itself stays, behind ours.
expect_ok "$FXTRACE" run -q -o trace.fxt -- env LD_PRELOAD=/does/not/exist.so "$(command -v env)"
expect_line "^LD_PRELOAD=.*libfxtrace\.so.*:/does/not/exist\.so$" out

expect_ok env FXTRACE_DISABLE=1 LD_PRELOAD="$LIBFXTRACE" env -i "$(command -v env)"
expect_equal "" "$(cat out)" "environment made by an inert tracer"

#!/bin/bash
# SPDX-License-Identifier: MIT
# How many instructions the macros of <fxtrace/event.h> cost, whatever else the machine does: without a tracer, where a site is a
# load and a branch, with their category off, and recorded.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "x86-64 counts here"
[ "${FX_CLOCK:-counter}" = counter ] || skip "another clock costs other instructions"
not_sanitized "the sanitizer's instructions are counted, too"
expect_ok "$FXTRACE" run -q -c function --clock counter -o clock.fxt -- true

# Other compilers than those of the figures may need more, but not half as many again.
part=150
readelf -p .comment "$LIBFXTRACE" 2>/dev/null | grep -q 'GCC: (Debian 12\.' && ! readelf -p .comment "$LIBFXTRACE" | grep -q clang &&
	grep -q '^CFLAGS = .*-O2' "$FX_BUILDDIR/Makefile" && part=100

# expect_steps MOST...: of an instant, a counter, a duration, one with two integers, and a counter of a virtual thread.
expect_steps() {
	local name counted

	for name in instant counter duration two_integers elsewhere; do
		counted=$(sed -n "s/^$name //p" counted)
		[ "${counted:-0}" -gt 0 ] || fail "$name is not counted: $(cat counted)"
		[ $((counted * 100)) -le $(($1 * part)) ] || fail "$name: $counted instructions; $1 are allowed ($part %)"
		shift
	done
	xargs <counted
}

for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	$compiler -O2 "-I$FX_SRCDIR/include" -o steps "$FX_SRCDIR/tests/preload/targets/event_steps.c" || fail "cannot compile"
	# A load, a test and a branch. (Clang has room on the stack at once.)
	./steps >counted || fail "status $?"
	if [ $compiler = clang ]; then expect_steps 5 7 5 7 7; else expect_steps 3 3 3 3 3; fi
	"$FXTRACE" run -q --clock counter -c other -o off.fxt -- ./steps >counted || fail "status $?"
	if [ $compiler = clang ]; then expect_steps 11 13 11 13 13; else expect_steps 9 9 9 9 9; fi
	"$FXTRACE" run -q --clock counter -c steps -o on.fxt -- ./steps >counted || fail "status $?"
	expect_steps 103 140 174 301 560
	expect_clean on.fxt
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that try results, errors, cancellation, signals and children print the same alone, with an
# inert libfxtrace.so, and traced, by default and in every category. Threads print in any order.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

for target in early errnos locks oldcond cancel signals children lodgers; do
	program=$FX_BUILDDIR/tests/preload/targets/$target
	expect_ok "$program"
	sort -o "$target.plain" out
	[ -s "$target.plain" ] || fail "$target printed nothing"

	expect_ok env FXTRACE_DISABLE=1 LD_PRELOAD="$LIBFXTRACE" "$program"
	sort -o out out
	expect_same_file "$target.plain" out

	for categories in '#default' '*'; do
		expect_ok "$FXTRACE" run -q -b 64M -c "$categories" -o trace.fxt -- "$program"
		sort -o out out
		expect_same_file "$target.plain" out
		expect_clean trace.fxt
	done
done

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

# A call that an older kernel has not got has read nothing.
compile nosys -O1 -w -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/nosys.c"
if ./nosys old true; then
	expect_ok ./nosys old "$program"
	cp out plain
	expect_line '^epoll_pwait2: -1 38$' plain
	expect_ok "$FXTRACE" run -q -c '*' -o trace.fxt -- ./nosys old "$program"
	expect_same_file plain out
else
	echo "a filter of system calls is not allowed here: older kernels are not tried"
fi

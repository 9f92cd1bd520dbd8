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

# Functions that look names up in files do not read the name where these say nothing.
empty() { # COMMAND...: where they do
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m sh -c 'for file in protocols rpc services networks; do
		[ ! -e /etc/$file ] || mount --bind /dev/null /etc/$file || exit 77
	done; exec "$@"' sh "$@"
}
if [ "$(id -u)" -eq 0 ] && empty true 2>/dev/null; then
	expect_ok empty "$program"
	cp out plain
	expect_ok empty "$FXTRACE" run -q -c '*' -o trace.fxt -- "$program"
	expect_same_file plain out
else
	echo "no namespaces can be made here: empty files are not tried"
fi

# A call that an older kernel has not got has read nothing.
compile nosys -O1 -w -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/nosys.c"
if ./nosys old true; then
	expect_ok ./nosys old "$program"
	cp out plain
	! glibc_since 35 || expect_line '^epoll_pwait2: -1 38$' plain
	expect_ok "$FXTRACE" run -q -c '*' -o trace.fxt -- ./nosys old "$program"
	expect_same_file plain out
else
	echo "a filter of system calls is not allowed here: older kernels are not tried"
fi

#!/bin/bash
# SPDX-License-Identifier: MIT
# libfxtrace.so exports the functions of the wrapper table, the compiler's two hooks, what profilers' calls lead to (-pg), what the gates of our plugin and of
# <fxtrace/event.h> lead to, what <fxtrace/alert.h> looks for and what `fxtrace attach' calls, nothing else; libc has every one of the table; and the strings of the table fit their place.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need nm

{
	cat "$FX_BUILDDIR/preload/wrappers.list"
	printf '__cyg_profile_func_%s\n' enter exit
	printf '__fxtrace_%s\n' calls events
	printf "%s\n" mcount _mcount __fentry__
	echo fxtrace_alert_raise
	printf 'fxtrace_late_%s\n' begin end
} | sort >want
nm -D --defined-only "$LIBFXTRACE" | sed 's/.* //; s/@.*//' | sort >got
expect_same_file want got
[ "$(wc -l <want)" -gt 60 ] || fail "the table is nearly empty"
expect_equal "" "$(sort "$FX_BUILDDIR/preload/wrappers.list" | uniq -d)" "functions that stand twice"

# Before glibc 2.34 libc is several libraries.
libc=$(ldd "$LIBFXTRACE" | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')
for library in c.so.6 pthread.so.0 rt.so.1 dl.so.2 util.so.1; do
	[ ! -e "${libc%c.so.6}$library" ] || nm -D --defined-only "${libc%c.so.6}$library"
done | sed 's/.* //; s/@.*//' | sort -u >libc
expect_equal "" "$(grep -vE '^(__cyg_|__fxtrace_|fxtrace_|__fentry__)' want | comm -23 - libc)" "wrapped functions that libc has not"

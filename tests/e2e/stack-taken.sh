#!/bin/bash
# SPDX-License-Identifier: MIT
# How much of its stack tracing takes from a program: before its main(), at its first call, and where it makes children and
# becomes another program. Counted by what was written there, in bytes over those without tracing.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a sanitizer's frames are larger"
MOST=4096

# At once what it needs of libraries: the dynamic linker takes some kilobytes when it looks for a function.
target stack-taken stack-taken.c -pthread -Wl,-z,now
expect_ok ./stack-taken
mv out plain

expect_little() { # FXTRACE-OPTION...
	local step bytes before

	expect_ok "$FXTRACE" run -q -o trace.fxt "$@" -- ./stack-taken
	mv out traced
	expect_clean trace.fxt
	expect_equal "$(cut -d: -f1 plain)" "$(cut -d: -f1 traced)" "steps with $*"
	while IFS=: read -r step bytes before; do
		echo "$step: $before bytes plain, $bytes traced ($*)"
		[ $((bytes - before)) -le $MOST ] ||
			fail "$step takes $((bytes - before)) bytes of the program's stack, at most $MOST ($*)"
	done < <(paste -d: traced <(cut -d: -f2 plain))
	[ "$(sed -n 's/^function: //p' traced)" -gt "$(sed -n 's/^function: //p' plain)" ] || fail "nothing was counted"
}
expect_little
expect_little -c '#default,malloc,pthread:all'
export LARGE
LARGE=$(head -c 40000 /dev/zero | tr '\0' x)
expect_little

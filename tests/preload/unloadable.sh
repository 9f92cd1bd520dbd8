#!/bin/bash
# SPDX-License-Identifier: MIT
# A program whose sanitizer must be loaded first runs as it would without us, as the traced program and as
# a child of one, and is said to be untraced.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >program.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	free(malloc(10));
	puts("fine");
	return 7;
}
EOF
$FX_CC -fsanitize=address -o program program.c >compile.log 2>&1 && ./program >out 2>&1 ||
	[ $? -eq 7 ] || skip "no AddressSanitizer here"
readelf -d program | grep -q 'NEEDED.*san' || skip "$FX_CC links its sanitizer statically"

expect_status 7 "$FXTRACE" run -o trace.fxt -- ./program
expect_equal fine "$(cat out)" "output of a program with a sanitizer"
expect_line 'sanitizer' err
expect_no_line 'ASan' err

expect_ok "$FXTRACE" run -q -o trace.fxt -- sh -c './program; echo "status $?"; ./program 2>&1; env'
expect_no_line 'ASan' err
expect_line '^status 7$' out
expect_line '^LD_PRELOAD=.*libfxtrace' out
expect_clean trace.fxt

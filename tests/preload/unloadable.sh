#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that refuses this library runs as it would without us, as the traced program and as a child of
# one, and is said to be untraced.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# --- A sanitizer's library that is preloaded -------------------------------------------------------

# As its like does: nothing may stand before it.
cat >first.c <<'EOF'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void look(void)
{
	const char *list = getenv("LD_PRELOAD");

	if (!list || strncmp(list, "./libasan.so", 12) != 0)
		_exit(66);
}
EOF
compile libasan.so -shared -fPIC first.c
for command in 'env LD_PRELOAD=./libasan.so echo fine' 'LD_PRELOAD=./libasan.so /bin/echo fine'; do
	expect_ok "$FXTRACE" run -o trace.fxt -- sh -c "$command; exit \$?"
	expect_equal fine "$(cat out)" "output of a program with a library of its own before all others"
	expect_line 'not traced: LD_PRELOAD=./libasan.so: LD_PRELOAD names a sanitizer.*; run it without that' err
	expect_clean trace.fxt
done
expect_ok env LD_PRELOAD=./libasan.so "$FXTRACE" run -o trace.fxt -- /bin/echo fine
expect_equal fine "$(cat out)" "output of a program with a library of its own before all others"
expect_line 'nothing was traced: /bin/echo: LD_PRELOAD names a sanitizer' err

# --- Another C library -----------------------------------------------------------------------------

if command -v musl-gcc >/dev/null; then
	echo '#include <stdio.h>
	int main(void) { puts("fine"); return 7; }' >other.c
	musl-gcc -o other other.c || fail "cannot compile with musl"
	expect_status 7 "$FXTRACE" run -o trace.fxt -- ./other
	expect_equal fine "$(cat out)" "output of a program of another libc"
	expect_line 'nothing was traced: ./other: .*another C library' err
	expect_status 7 "$FXTRACE" run -o trace.fxt -- sh -c './other; exit $?'
	expect_equal fine "$(cat out)" "output of a program of another libc"
	expect_line 'not traced: ./other: .*another C library' err
	expect_no_line relocating err
	expect_clean trace.fxt
fi

# --- A sanitizer that the program is linked with ----------------------------------------------------

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

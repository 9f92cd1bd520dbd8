#!/bin/bash
# SPDX-License-Identifier: MIT
# What runs before the program: functions that .preinit_array names, constructors of libraries that it is linked with
# and its own are recorded, each call; and children of a program that has started a manager for itself find it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a program with a sanitizer runs without the library"

glibc_since 34 || skip "this libc has its libpthread initialised first"

cat >library.c <<'CODE'
void leaf(void);
void leaf(void) {}
__attribute__((constructor)) static void library(void) { leaf(); }
CODE
cat >program.c <<'CODE'
#include <stdio.h>
#include <stdlib.h>
void leaf(void);
static void earliest(int argc, char **argv, char **envp)
{
	(void)argc, (void)argv, (void)envp;
	leaf();
}
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = earliest;
__attribute__((constructor)) static void own(void) { leaf(); }
int main(void)
{
	leaf();
	return system("printf '%s\\n' \"$FXTRACE_SOCKET\"") != 0;
}
CODE
compile libbefore.so -finstrument-functions -shared -fPIC library.c
compile program -finstrument-functions program.c -L. -lbefore -Wl,-rpath,"$PWD"

cat >want <<'WANT'
1 earliest
1 library
4 leaf
1 main
1 own
WANT
sort -k 2 -o want want
# calls: how often each function was called.
calls() {
	expect_ok "$FXTRACE" dump "$1"
	sed -n 's/.* event type=complete .*category="function".* name="\([a-z]*\)".*/\1/p' out | sort |
		uniq -c | sed 's/^ *//' >got
	expect_same_file want got
}

expect_ok "$FXTRACE" run -q -o trace.fxt -- ./program
expect_clean trace.fxt
calls trace.fxt
expect_line 'provider-info .*name="program"' out

# Alone, with a manager of its own.
expect_ok env FXTRACE_OUTPUT=alone.fxt LD_PRELOAD="$LIBFXTRACE" ./program
expect_line '.' out
is_complete() {
	"$FXTRACE" check alone.fxt && "$FXTRACE" dump alone.fxt | grep -q 'name="main"'
}
wait_for 60 is_complete || fail "no archive of a private manager"
calls alone.fxt

#!/bin/bash
# SPDX-License-Identifier: MIT
# An unmodified compiler and make: the same objects, every process of the build in the archive.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need make gcc
# This may run under a make of its own.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
export CCACHE_DISABLE=1 # it may be what is called gcc

cat >unit.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int twice(int x) { return 2 * x; }
int main(int argc, char **argv) { return printf("%d\n", twice(argc > 1 ? atoi(argv[1]) : 21)) < 0; }
END
expect_ok gcc -O2 -g -c unit.c -o plain.o
expect_unharmed 0 gcc -O2 -g -c unit.c -o unit.o
expect_same_file plain.o unit.o
list_archive trace.fxt
for name in gcc cc1 as; do
	grep -q "	$name\(-[0-9]*\)\?\$" processes || grep -q "	.*-$name" processes ||
		fail "no process $name: $(cat processes)"
done
expect_events 1+ 'process == "cc1" && name ~ /^open/ && /path=[^\t]*unit.c/'
expect_unharmed 0 gcc -O2 unit.c -o unit
expect_equal 42 "$(./unit)" "what the compiled program says"
echo 'int broken(' >broken.c
expect_unharmed 1 gcc -c broken.c
expect_same_file plain.err traced.err

# The jobserver of make -j is a pipe that its children inherit.
{
	printf 'all: %s\n\t@cat $^ | sort -n\n' "$(seq -f made/%g 40 | tr '\n' ' ')"
	printf 'made/%%: | made\n\t@echo $* >$@.new; expr $* + 1 >/dev/null; mv $@.new $@\n'
	printf 'made:\n\t@mkdir made\n'
} >Makefile
expect_unharmed 0 sh -c 'rm -rf made; make -j4'
list_archive trace.fxt
for name in expr mv; do
	expect_equal 40 "$(grep -c "	$name\$" processes)" "processes of $name"
done

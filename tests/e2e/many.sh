#!/bin/bash
# SPDX-License-Identifier: MIT
# Hundreds of processes in one run, none missing.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# As many as it says, each under a name that tells them apart from the shells.
cp "$(type -P true)" ./short_lived
expect_ok "$FXTRACE" run -q -o trace.fxt -- bash -c '
	for ((i = 0; i < 200; i++)); do ./short_lived; done'
expect_clean trace.fxt
list_archive trace.fxt
expect_equal 200 "$(grep -c '	short_lived$' processes)" "processes, one after another"

expect_ok "$FXTRACE" run -q -o trace.fxt -- bash -c '
	for ((i = 0; i < 200; i++)); do ./short_lived & echo $!; done; wait'
sort -n out >started
expect_clean trace.fxt
list_archive trace.fxt
grep '	short_lived$' processes | cut -f1 | sort -n >recorded
expect_same_file started recorded

# Forked children that run no other program, and do nothing worth an event.
expect_ok "$FXTRACE" run -q -o trace.fxt -- bash -c '
	for ((i = 0; i < 100; i++)); do (exit 3) & echo $!; done; wait; echo "$$"'
sort -n out >started
list_archive trace.fxt
cut -f1 processes | sort -n >recorded
expect_same_file started recorded

need make
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
{
	printf 'all: %s\n' "$(seq -f t%g 200 | tr '\n' ' ')"
	printf 't%%:\n\t@./short_lived $@; ./short_lived $@\n'
} >Makefile
expect_ok "$FXTRACE" run -q -o trace.fxt -- make -j8
expect_clean trace.fxt
list_archive trace.fxt
expect_equal 400 "$(grep -c '	short_lived$' processes)" "processes of make -j8"

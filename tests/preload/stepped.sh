#!/bin/bash
# SPDX-License-Identifier: MIT
# A signal handler that makes a call comes at an instruction of the hooks, each in turn, and returns or leaves by siglongjmp(): each call
# that has begun has one record, and none is lost, in each of the hooks' ways.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "x86-64 steps here"

compile stepped -O2 -g -finstrument-functions "$FX_SRCDIR/tests/preload/targets/stepped.c" -ldl
for options in "" "--no-trace no_such" "--when leaf" "--min-duration 1ns"; do
	for way in "entries return" "ends return" "entries jump" "ends jump"; do
		# shellcheck disable=SC2086 # words
		"$FXTRACE" run -q -c function -b 16M --on-full block $options -o trace.fxt -- ./stepped $way >said || fail "$way: status $?"
		expect_clean trace.fxt
		"$FXTRACE" dump trace.fxt >dump
		while read -r name least most; do
			# (What lies in no call of leaf is left out then.)
			[[ $options != --when* || $name = leaf ]] || continue
			count=$(grep -c "name=\"$name\"" dump)
			[ "$count" -ge "$least" ] && [ "$count" -le "$most" ] ||
				fail "$way $options: $count calls of $name, not $least to $most"
			echo "$way $options: $name $count of $least to $most"
		done <said
	done
done

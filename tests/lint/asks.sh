#!/bin/sh
# SPDX-License-Identifier: MIT
# Each system call that the library makes in a traced program stands in preload/host/asks.def, where filters are asked about
# it; and what stands there is made, or said there to be the dynamic linker's. What makes a manager, faults for tests and
# the program's own vfork are not asked about: no filter is there then, or it is the program that calls.
. "$(dirname "$0")/lib.sh"

table=preload/host/asks.def
linkers='mprotect'

grep -v '^ *[/ ][*]' $table | sed -n 's/^FX_ASK([^,]*, *\([a-z0-9_]*\),.*/\1/p' | sort -u >"$lint_tmp/listed"
lint_files '*.[ch]' | grep -E '^(base|engine/provider|preload)/' |
	grep -vE '^(base/fault\.c|preload/boot/private\.c|preload/wrap/(vfork|confine)\.c|preload/host/filter\.c)$' |
	while IFS= read -r file; do
		grep -oE '\bSYS_[a-z0-9_]+' "$file" | sed "s|^SYS_||; s|\$| $file|"
	done | sort -u >"$lint_tmp/made"
{
	[ -s "$lint_tmp/listed" ] || echo "$table: has no rows"
	while read -r call file; do
		grep -qx "$call" "$lint_tmp/listed" || echo "$file: makes $call, which $table does not list"
	done <"$lint_tmp/made"
	while read -r call; do
		grep -q "^$call " "$lint_tmp/made" || [ "$call" = $linkers ] ||
			echo "$table: lists $call, which nobody makes"
	done <"$lint_tmp/listed"
} >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

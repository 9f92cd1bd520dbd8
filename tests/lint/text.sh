#!/bin/sh
# SPDX-License-Identifier: MIT
# What no file may hold: marks of unfinished work, paths of one machine, stray blanks; and
# scripts can be executed.
. "$(dirname "$0")/lib.sh"

marks='TO''DO|FIX''ME|XX''X'
paths='/ho''me/[a-z]|/ro''ot/|/wo''rk/|/tm''p/w/'

lint_files '*' >"$lint_tmp/files"
{
	xargs grep -nIE "\\b($marks)\\b" <"$lint_tmp/files" | sed 's/$/ [unfinished]/'
	xargs grep -nIE "$paths" <"$lint_tmp/files" | sed 's/$/ [path of one machine]/'
	xargs grep -nIE '[[:blank:]]$' <"$lint_tmp/files" | sed 's/$/ [blank at end of line]/'
	lint_files '*.sh' | grep -v '/lib\.sh$' | while IFS= read -r file; do
		[ -x "$file" ] || ! head -n 1 "$file" | grep -q '^#!' ||
			echo "$file:1: begins with #! and cannot be executed"
	done
} >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

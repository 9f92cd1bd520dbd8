#!/bin/sh
# SPDX-License-Identifier: MIT
# Every row of doc/PITFALLS.md names tests that exist and are part of `make check', or gives the answer
# that it has none to show.
. "$(dirname "$0")/lib.sh"
. "$lint_here/tests-lib.sh"

table=doc/PITFALLS.md
[ -r "$table" ] || { echo "$table: not found"; exit 1; }

# One line a test: NUMBER FILE [FUNCTION]. A row is WHAT GOES WRONG | WHAT FXTRACE DOES | TESTS or `stated'.
awk -F ' *[|] *' '
	!/^[|]/ || /^[|] *(-|What can go wrong)/ { next }
	NF != 5 || $2 == "" || $3 == "" { print FILENAME ":" FNR ": not three columns" >bad; next }
	$4 == "stated" { next }
	$4 == "" { print FILENAME ":" FNR ": neither a test nor `stated`" >bad }
	{
		n = split($4, tests, / *, */)
		for (i = 1; i <= n; i++) {
			gsub(/`/, "", tests[i])
			print FNR, tests[i]
		}
	}
' bad="$lint_tmp/bad" "$table" >"$lint_tmp/tests"
[ -e "$lint_tmp/bad" ] || : >"$lint_tmp/bad"
[ -s "$lint_tmp/tests" ] || echo "$table: names no test" >>"$lint_tmp/bad"

while read -r number file test rest; do
	[ -z "$rest" ] || echo "$table:$number: not FILE [FUNCTION]: $file $test $rest"
	lint_test_fails "$file" "$test" | sed "s|^|$table:$number: |"
done <"$lint_tmp/tests" >>"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

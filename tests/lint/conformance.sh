#!/bin/sh
# SPDX-License-Identifier: MIT
# Every line of tests/conformance.tbl names tests that exist, are not disabled, and are part of
# `make check'.
. "$(dirname "$0")/lib.sh"
. "$lint_here/tests-lib.sh"

table=tests/conformance.tbl
[ -r "$table" ] || { echo "$table: not found"; exit 1; }

# One line a test: NUMBER FILE TEST. What has not three fields is said at once.
awk -F ' *[|] *' '
	/^#/ || /^$/ { next }
	NF != 3 || $1 == "" || $2 == "" || $3 == "" { print FILENAME ":" FNR ": not AREA | TEXT | FILE TEST" >bad; next }
	seen[$1, $2]++ { print FILENAME ":" FNR ": stands here twice" >bad }
	{
		n = split($3, tests, / *, */)
		for (i = 1; i <= n; i++)
			print FNR, tests[i]
	}
' bad="$lint_tmp/bad" "$table" >"$lint_tmp/tests"
[ -e "$lint_tmp/bad" ] || : >"$lint_tmp/bad"
[ -s "$lint_tmp/tests" ] || echo "$table: names no test" >>"$lint_tmp/bad"

while read -r number file test rest; do
	[ -n "$test" ] && [ -z "$rest" ] || {
		echo "$table:$number: not FILE TEST: $file $test $rest"
		continue
	}
	lint_test_fails "$file" "$test" | sed "s|^|$table:$number: |"
done <"$lint_tmp/tests" >>"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

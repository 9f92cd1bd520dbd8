#!/bin/sh
# SPDX-License-Identifier: MIT
# Every line of tests/conformance.tbl names tests that exist, are not disabled, and are part of
# `make check'.
. "$(dirname "$0")/lib.sh"

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

# What the fragments of the Makefile run: the words of TESTS and of the lists that it is made of.
find . -name Makemodule.am ! -path './build*' -exec cat {} + |
	awk '/\\$/ { sub(/\\$/, ""); printf "%s", $0; next } { print }' |
	grep -E '^(TESTS|[a-z_0-9]+_tests) *[+]?=' | tr -s ' \t' '\n' >"$lint_tmp/runs"

# fails FILE TEST: says why the test is none.
fails() {
	[ -f "$1" ] || {
		echo "there is no $1"
		return
	}
	case $1 in
	*.sh)
		grep -qx "$1" "$lint_tmp/runs" || echo "$1 is no part of make check"
		grep -qE "^$2\(\)" "$1" && grep -qE "^([^#]*[^#a-z0-9_])?$2( |;|$)" "$1" ||
			echo "$1 has no function $2 that it calls"
		;;
	*)
		grep -qx "${1%.*}" "$lint_tmp/runs" || echo "$1 is no part of make check"
		# A test's attributes may stand on the lines below.
		tr '\n' ' ' <"$1" | grep -oE "Test\(([^,()]*, )?[^,()]*, $2[,)][^{]*" >"$lint_tmp/test" ||
			echo "$1 has no test $2"
		! grep -q 'disabled' "$lint_tmp/test" || echo "$1: $2 is disabled"
		;;
	esac
}

while read -r number file test rest; do
	[ -n "$test" ] && [ -z "$rest" ] || {
		echo "$table:$number: not FILE TEST: $file $test $rest"
		continue
	}
	fails "$file" "$test" | sed "s|^|$table:$number: |"
done <"$lint_tmp/tests" >>"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

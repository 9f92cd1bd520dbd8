#!/bin/sh
# SPDX-License-Identifier: MIT
# Every row of doc/PITFALLS.md, and of the table of doc/FAULTS.md that says by what a promise is shown, names tests that
# exist and are part of `make check', or gives the answer that it has none to show.
. "$(dirname "$0")/lib.sh"
. "$lint_here/tests-lib.sh"

set -- doc/PITFALLS.md doc/FAULTS.md
for table; do
	[ -r "$table" ] || { echo "$table: not found"; exit 1; }
done

# One line a test: TABLE:NUMBER FILE [FUNCTION]. A row is WHAT | WHAT FXTRACE DOES | TESTS or `stated', below a head with
# the last column `Shown by'.
awk -F ' *[|] *' '
	!/^[|]/ { here = 0; next }
	$4 == "Shown by" { here = 1; next }
	!here || /^[|] *-/ { next }
	NF != 5 || $2 == "" || $3 == "" { print FILENAME ":" FNR ": not three columns" >bad; next }
	$4 == "stated" { next }
	$4 == "" { print FILENAME ":" FNR ": neither a test nor `stated`" >bad }
	{
		n = split($4, tests, / *, */)
		for (i = 1; i <= n; i++) {
			gsub(/`/, "", tests[i])
			print FILENAME ":" FNR, tests[i]
			named[FILENAME]++
		}
	}
	END {
		for (i = 1; i < ARGC; i++)
			if (ARGV[i] ~ /^doc/ && !named[ARGV[i]])
				print ARGV[i] ": names no test" >bad
	}
' bad="$lint_tmp/bad" "$@" >"$lint_tmp/tests"
[ -e "$lint_tmp/bad" ] || : >"$lint_tmp/bad"

while read -r row file test rest; do
	[ -z "$rest" ] || echo "$row: not FILE [FUNCTION]: $file $test $rest"
	lint_test_fails "$file" "$test" | sed "s|^|$row: |"
done <"$lint_tmp/tests" >>"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

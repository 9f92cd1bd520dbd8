# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Whether a test that a table names is there and is run; to be read after lib.sh.

# What the fragments of the Makefile run: the words of TESTS and of the lists that it is made of.
find . -name Makemodule.am ! -path './build*' -exec cat {} + |
	awk '/\\$/ { sub(/\\$/, ""); printf "%s", $0; next } { print }' |
	grep -E '^(TESTS|[a-z_0-9]+_(tests|scripts)) *[+]?=' | tr -s ' \t' '\n' >"$lint_tmp/runs"

# lint_test_fails FILE [TEST]: says why the test is none.
lint_test_fails() {
	[ -f "$1" ] || {
		echo "there is no $1"
		return
	}
	[ -n "$2" ] || {
		grep -qxe "$1" -e "${1%.c}" "$lint_tmp/runs" || echo "$1 is no part of make check"
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

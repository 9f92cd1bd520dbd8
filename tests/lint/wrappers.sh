#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/WRAPPERS.md names the very results and options that the generator of the wrappers takes, and the generator refuses
# others.
. "$(dirname "$0")/lib.sh"

lint_files '*.awk' | xargs grep -l '^function option(' >"$lint_tmp/parsers"
[ -s "$lint_tmp/parsers" ] || { echo "no file has function option()"; exit 99; }
xargs cat <"$lint_tmp/parsers" >"$lint_tmp/parser"

# words FROM TO: what stands at the beginnings of the regular expressions between these two lines.
words() {
	sed -n "/$1/,/$2/p" "$lint_tmp/parser" | grep -oE '/\^\(?[a-z|]+|word == "[a-z]+"' | grep -oE '[a-z|]+' | grep -v '^word$' |
		tr '|' '\n' | sort -u
}

# documented HEADING: the first words of the table below it.
documented() {
	sed -n "/^## $1\$/,/^## /p" doc/WRAPPERS.md | sed -n 's/^| `\([a-z]*\).*/\1/p' | sort -u
}

compare() { # WHAT HEADING FROM TO
	words "$3" "$4" >"$lint_tmp/code"
	documented "$2" >"$lint_tmp/page"
	[ -s "$lint_tmp/code" ] || echo "$(cat "$lint_tmp/parsers"): no $1 found"
	comm -23 "$lint_tmp/code" "$lint_tmp/page" | sed "s|^|doc/WRAPPERS.md: does not have the $1 |"
	comm -13 "$lint_tmp/code" "$lint_tmp/page" | sed "s|^|doc/WRAPPERS.md: has a $1 that the generator does not know: |"
}

{
	compare option 'An option' '^function option(' 'unknown option'
	compare result 'A result' 'n = split(substr(line, bar' 'unknown result'
} >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

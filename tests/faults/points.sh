#!/bin/sh
# SPDX-License-Identifier: MIT
# The points of base/fault.def: each stands in the code, none there is without a line, doc/FAULTS.md has
# the same table, and the product knows nothing of them. (That each is reached: run.sh.)
. "$(dirname "$0")/../lint/lib.sh"

sed -nE 's/^FX_FAULT_POINT\(([a-z_]+), ([a-z]+), ([0-9]+), "(.*)"\)$/\1|\2|\4/p' base/fault.def >"$lint_tmp/table"
[ -s "$lint_tmp/table" ] || { echo "base/fault.def: no points"; exit 1; }
cut -d'|' -f1 "$lint_tmp/table" | LC_ALL=C sort >"$lint_tmp/defined"
lint_files '*.c' '*.h' | grep -v '^base/fault' |
	xargs grep -ohE 'FX_FAULT(_IS_SET|_SHIFT)?\([a-z_]+\)' |
	sed 's/.*(\(.*\))/\1/' | LC_ALL=C sort -u >"$lint_tmp/used"

{
	uniq -d "$lint_tmp/defined" | sed 's|^|base/fault.def: twice: |'
	grep -c '^FX_FAULT_POINT' base/fault.def | grep -qx "$(wc -l <"$lint_tmp/table")" ||
		echo 'base/fault.def: a line of another form'
	LC_ALL=C comm -23 "$lint_tmp/defined" "$lint_tmp/used" | sed 's|^|base/fault.def: nowhere in the code: |'
	LC_ALL=C comm -13 "$lint_tmp/defined" "$lint_tmp/used" | sed 's|^|not in base/fault.def: |'
	awk -F'|' '{ printf "| `%s` | %s | %s |\n", $1, $2, $3 }' "$lint_tmp/table" >"$lint_tmp/want"
	grep '^| `' doc/FAULTS.md | diff "$lint_tmp/want" - | sed 's|^|doc/FAULTS.md: |'
	for file in .libs/libfxtrace.so fxtrace; do
		grep -c FXTRACE_FAULT "${FX_BUILDDIR:-build}/$file" | grep -qx 0 ||
			echo "$file: has points in it"
	done
} >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

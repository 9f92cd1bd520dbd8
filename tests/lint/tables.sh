#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of doc/PROTOCOL.md and doc/BUFFER.md are true: each offset, size and number becomes an
# assertion for the compiler. And they are complete: each field of the shared structures has its row, and each value of
# their enumerations: a message, a cause of loss.
. "$(dirname "$0")/lib.sh"

documents='doc/PROTOCOL.md doc/BUFFER.md'
headers='engine/layout.h protocol/messages.h'

# | offset | size | `field` | ... below the name of a structure, and | `FX_NAME` | number | ...
# shellcheck disable=SC2086 # lists of files
awk -F ' *[|] *' '
	!/^[|]/ && match($0, /`struct fx_[a-z_]+`/) {
		type = substr($0, RSTART + 1, RLENGTH - 2)
	}
	{ where = "\"" FILENAME ":" FNR ": " }
	/^[|] [0-9]+ [|] [0-9]+ [|] `[a-z0-9_]+` [|]/ {
		field = $4
		gsub(/`/, "", field)
		print "_Static_assert(offsetof(" type ", " field ") == " $2 ", " where type "." field ": offset\");"
		if ($3 != 0)
			print "_Static_assert(sizeof(((" type " *)0)->" field ") == " $3 ", " where type "." field ": size\");"
		print type, field >rows
	}
	/^[|] `FX_[A-Z_0-9]+` [|] (0x)?[0-9a-f]+ [|]/ {
		name = $2
		gsub(/`/, "", name)
		print "_Static_assert(" name " == " $3 ", " where name "\");"
	}
' rows="$lint_tmp/rows" $documents >"$lint_tmp/assertions"

# Fields of the structures: the last word before the semicolon, without array and attribute.
# shellcheck disable=SC2086
awk '
	/^struct fx_[a-z_]+ [{]/ { type = "struct " $2 }
	/^[}]/ { type = "" }
	type != "" && /^\t[a-z]/ {
		sub(/ __attribute__.*;/, ";")
		sub(/[[][^]]*[]];/, ";")
		if (match($0, /[a-z0-9_]+;/))
			print type, substr($0, RSTART, RLENGTH - 1), FILENAME ":" FNR
	}
' $headers >"$lint_tmp/fields"

# Values: those of enumerations that say their number, and those that a list X(SYMBOL, number, ...) makes.
# shellcheck disable=SC2086
awk '
	BEGIN {
		prefix["FX_MESSAGES"] = "FX_MSG_"
		prefix["FX_SESSION_STATES"] = "FX_SESSION_"
		prefix["FX_CONTROL_ERRORS"] = "FX_CONTROL_"
		prefix["FX_CATEGORIES"] = "FX_CAT_"
	}
	/^#define [A-Z_]+[(]X[)]/ {
		list = $2
		sub(/[(].*/, "", list)
	}
	/^\tX[(][A-Z_]+, [0-9]+,/ && list in prefix {
		sub(/^\tX[(]/, "")
		sub(/,.*/, "")
		print prefix[list] $0, FILENAME ":" FNR
	}
	/^\tFX_[A-Z_0-9]+ =/ { print $1, FILENAME ":" FNR }
' $headers >"$lint_tmp/values"

[ -s "$lint_tmp/rows" ] && [ -s "$lint_tmp/fields" ] || {
	echo "$documents: no tables, or no structures in $headers"
	exit 1
}

{
	printf '#include "%s"\n' stddef.h $headers base/clock.h
	cat "$lint_tmp/assertions"
} >"$lint_tmp/tables.c"
# The compiler may come with options of its own.
# shellcheck disable=SC2086
${FX_CC:-cc} -fsyntax-only -D_GNU_SOURCE -I. -Iinclude "$lint_tmp/tables.c" 2>&1 |
	grep -E 'error' | sed 's/^[^ ]* error: //' >"$lint_tmp/bad"
while read -r struct name field where; do
	grep -qx "$struct $name $field" "$lint_tmp/rows" ||
		echo "$where: $struct $name.$field stands in no table of $documents"
done <"$lint_tmp/fields" >>"$lint_tmp/bad"
while read -r name where; do
	# shellcheck disable=SC2086
	grep -qE "^[|] \`$name\` [|]" $documents || echo "$where: $name stands in no table of $documents"
done <"$lint_tmp/values" >>"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

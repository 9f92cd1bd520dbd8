#!/bin/sh
# SPDX-License-Identifier: MIT
# A static function's name says which one it is, to grep and in a backtrace: no two sources that are shipped have one of
# the same name. The names of sources have hyphens between their words.
. "$(dirname "$0")/lib.sh"

lint_files '*.c' '*.h' | grep / | grep -vE '^(bench|examples|include|tests)/' >"$lint_tmp/files"
[ -s "$lint_tmp/files" ] || { echo "no sources found"; exit 99; }

# A definition: its first line begins with static, or with fx_hot, which is that and inlined; a line with a brace alone
# follows the parameters.
xargs awk '
FNR == 1 { pending = "" }
/^(static|fx_hot) / && /[A-Za-z_0-9]+\(/ {
	pending = $0
	sub(/\(.*/, "", pending)
	sub(/.*[^A-Za-z_0-9]/, "", pending)
	line = FNR
}
/;[ \t]*$/ && pending != "" && !/^{/ { pending = "" }
/^{/ && pending != "" {
	if (pending != "ElfW" && pending in place && place[pending] !~ "^" FILENAME ":")
		printf "%s:%d: %s() stands in %s too\n", FILENAME, line, pending, place[pending]
	else
		place[pending] = FILENAME ":" line
	pending = ""
}' <"$lint_tmp/files" >"$lint_tmp/bad"
grep '_[^/]*$' "$lint_tmp/files" | sed 's/$/:1: words of the name of a file have hyphens between them/' >>"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

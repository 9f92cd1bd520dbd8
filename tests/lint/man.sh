#!/bin/sh
# SPDX-License-Identifier: MIT
# Every command has a man page, and the page names the very options that --help lists; groff has
# nothing to say against it.
. "$(dirname "$0")/lib.sh"

fxtrace=${FX_BUILDDIR:?}/fxtrace

long_options() {
	sed 's/\\-/-/g' | grep -oE -e '(^|[^[:alnum:]-])--[a-z][a-z-]*' | grep -oE -e '--[a-z-]+' | sort -u
}

# The commands without help itself, whose page is fxtrace(1)
"$fxtrace" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | grep -vx help >"$lint_tmp/commands"

while IFS= read -r command; do
	page=man/fxtrace-$command.1
	if [ ! -f "$page" ]; then
		echo "$page: no such page"
		continue
	fi
	grep -qF "fxtrace\\-$command(1)" man/fxtrace.1 ||
		grep -qF ".BR fxtrace\\-$command (1)" man/fxtrace.1 ||
		echo "man/fxtrace.1: does not refer to fxtrace-$command(1)"
	"$fxtrace" "$command" --help | long_options >"$lint_tmp/help"
	[ -s "$lint_tmp/help" ] || echo "fxtrace $command --help: lists no option"
	long_options <"$page" >"$lint_tmp/page"
	comm -23 "$lint_tmp/help" "$lint_tmp/page" | sed "s|^|$page: does not name |"
	comm -13 "$lint_tmp/help" "$lint_tmp/page" | grep -vxE -e '--(help|version)' |
		sed "s|^|$page: names an option that fxtrace $command does not have: |"
	# Letters, as the tables have them
	"$fxtrace" help --options "$command" | cut -f 1 | grep -x -e '-.' >"$lint_tmp/help"
	sed -n '/^\.SH OPTIONS/,/^\.SH EX/s/\\-/-/gp' "$page" | grep -oE '^\.(B|BR|BI) -[[:alnum:]]([ ",]|$)' |
		sed 's/^\.[BRI]* \(-.\).*/\1/' >"$lint_tmp/page"
	sort "$lint_tmp/help" "$lint_tmp/page" "$lint_tmp/page" | uniq -u |
		sed "s|^|$page: its options do not have the letter |"
done <"$lint_tmp/commands" >"$lint_tmp/bad"

if command -v groff >/dev/null; then
	for page in man/*.[1-8] "${FX_BUILDDIR:?}"/man/*.3; do
		groff -man -Tutf8 -ww -z "$page" 2>&1
	done >>"$lint_tmp/bad"
fi
lint_end "$lint_tmp/bad"

#!/bin/bash
# SPDX-License-Identifier: MIT
# The completion for bash: commands, options of a command, and nothing where a file is meant.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/client/fxtrace.bash"

# completed WORD...: what is offered for the last word, sorted, on one line.
completed() {
	COMP_WORDS=("$FXTRACE" "$@")
	COMP_CWORD=$#
	_fxtrace
	[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
}

expect_equal "help " "$(completed hel)" "completion of 'hel'"
expect_equal "--version " "$(completed --ver)" "completion of '--ver'"
expect_equal "" "$(completed help hel)" "completion of an argument"
expect_equal "" "$(completed run -- --ver)" "completion behind --"

"$FXTRACE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | sort >commands
expect_equal "$(tr '\n' ' ' <commands)" "$(completed '')" "completion of nothing"
while IFS= read -r command; do
	[ "$command" = help ] || expect_equal "--version " "$(completed "$command" --vers)" \
		"completion of '$command --vers'"
done <commands

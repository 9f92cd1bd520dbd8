#!/bin/sh
# SPDX-License-Identifier: MIT
# What is advised exists: every option that a table of findings, losses or refusals names is one of some command's, and
# every `fxtrace COMMAND' that a message names is a command, with the options behind it.
. "$(dirname "$0")/lib.sh"

fxtrace=${FX_BUILDDIR:?}/fxtrace

"$fxtrace" help --commands | cut -f 1 >"$lint_tmp/commands"
while IFS= read -r command; do
	"$fxtrace" help --options "$command" | cut -f 1 | sed "s/^/$command /"
done <"$lint_tmp/commands" | grep -e ' --' >"$lint_tmp/options"
[ -s "$lint_tmp/options" ] || { echo "no options found"; exit 99; }

{
	# Tables
	for table in client/facts.def client/clashes.def base/loadable.def manager/settings/losses.def; do
		sed 's|^ \*.*||' "$table" | grep -oE -e '"[^"]*"' | grep -oE -e '--[a-z][a-z-]*[a-z]' | sort -u |
			while IFS= read -r option; do
				grep -q -e " $option\$" "$lint_tmp/options" || echo "$table: no command has $option"
			done
	done
	# Messages
	lint_files '*.c' '*.h' '*.def' | grep -E '^(base|client|manager|convert|report|query|archives|measure)/' |
		xargs grep -ohE -e '(`|see )fxtrace [a-z][a-z-]*( --[a-z-]+)*' | sed 's/^[^f]*fxtrace //' | sort -u |
		while read -r command options; do
			grep -qx -e "$command" "$lint_tmp/commands" || echo "a message names no command: fxtrace $command"
			for option in $options; do
				grep -qx -e "$command $option" "$lint_tmp/options" ||
					echo "a message names no option: fxtrace $command $option"
			done
		done
} >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"

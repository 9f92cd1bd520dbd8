# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Completion of fxtrace, fxtrace-run and fxtrace-manager for bash. What there is to complete it
# asks the program, so that it is never behind.

_fxtrace_commands() {
	"$1" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

_fxtrace_options() {
	"$@" --help 2>/dev/null | grep -oE -e '(^| )--?[a-zA-Z][a-z-]*' | tr -d ' '
}

_fxtrace() {
	local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} i words=
	local -a command=("$program")

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			# What follows is a command line of its own.
			declare -F _command_offset >/dev/null && _command_offset $((i + 1))
			return
		fi
	done
	if [[ ${program##*/} == fxtrace && $COMP_CWORD -gt 1 ]]; then
		command+=("${COMP_WORDS[1]}")
	fi
	if [[ $current == -* ]]; then
		words=$(_fxtrace_options "${command[@]}")
	elif [[ ${program##*/} == fxtrace && $COMP_CWORD -eq 1 ]]; then
		words=$(_fxtrace_commands "$program")
	fi
	# An empty reply falls back on the names of files.
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -o default -F _fxtrace fxtrace fxtrace-run fxtrace-manager

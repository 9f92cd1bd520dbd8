# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Completion of fxtrace, fxtrace-run and fxtrace-manager for bash. What there is to complete it
# asks the program, so that it is never behind (client/completion.h).

# _fxtrace_ask PROGRAM QUESTION...: the first words of the answer's lines.
_fxtrace_ask() {
	"$1" help "${@:2}" 2>/dev/null | cut -f 1
}

# _fxtrace_value OPTION: the words that it takes, for $current; what stands before a comma stays.
_fxtrace_value() {
	local before='' words

	words=$(_fxtrace_ask "$program" --values "$command" "$1")
	[[ $current != *,* ]] || before=${current%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${current##*,}")
}

_fxtrace() {
	local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} command='' i
	local last=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	case ${program##*/} in
	fxtrace-*)
		command=${program##*-} program=${program%-*}
		;;
	*)
		[[ $COMP_CWORD -eq 1 ]] || command=${COMP_WORDS[1]}
		;;
	esac
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			# What follows is a command line of its own.
			declare -F _command_offset >/dev/null && _command_offset $((i + 1))
			return
		fi
	done
	# bash makes three words of --format=svg, and of a:b.
	if [[ $current == = ]]; then
		last=$current current=
	fi
	[[ $last != = ]] || last=${COMP_WORDS[COMP_CWORD - 1]}
	[[ $last != = ]] || last=${COMP_WORDS[COMP_CWORD - 2]}
	# An empty reply falls back on the names of files.
	if [[ -z $command && $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--help --version' -- "$current")
	elif [[ -z $command || ($command == help && $COMP_CWORD -eq 2) ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_fxtrace_ask "$program" --commands)" -- "$current")
	elif [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_fxtrace_ask "$program" --options "$command")" -- "$current")
	elif [[ $last == -* ]]; then
		_fxtrace_value "$last"
	fi
}

complete -o default -F _fxtrace fxtrace fxtrace-run fxtrace-manager

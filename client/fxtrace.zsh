#compdef fxtrace fxtrace-run fxtrace-manager
# SPDX-License-Identifier: MIT
# Completion for zsh, installed as _fxtrace. What there is to complete it asks the program
# (client/completion.h).

# _fxtrace_ask QUESTION...: the lines of the answer, in the array lines.
_fxtrace_ask() {
	lines=("${(@f)$(_call_program answer ${(q)program} help "${(@q)@}" 2>/dev/null)}")
	lines=(${lines:#})
}

# _fxtrace_describe WHAT QUESTION...: offers the words of the answer with their help.
_fxtrace_describe() {
	local what=$1 line
	local -a lines words_with_help

	shift
	_fxtrace_ask "$@"
	for line in $lines; do
		words_with_help+=("${${line%%$'\t'*}//:/\\:}:${line##*$'\t'}")
	done
	(( $#words_with_help )) && _describe -t values "$what" words_with_help
}

# _fxtrace_value OPTION: one of a list, or a file where it may be anything.
_fxtrace_value() {
	compset -P '*,'
	_fxtrace_describe "value of $1" --values "$command" "$1" || _files
}

_fxtrace() {
	local program=$words[1] command line name argument text
	local -a lines specs

	if [[ ${program:t} == fxtrace-* ]]; then
		command=${program##*-} program=${program%-*}
	elif (( CURRENT == 2 )); then
		_fxtrace_describe command --commands
		return
	else
		command=$words[2]
		shift words
		(( CURRENT-- ))
	fi
	if [[ $command == help ]]; then
		(( CURRENT != 2 )) || _fxtrace_describe command --commands
		return
	fi
	_fxtrace_ask --options "$command"
	for line in $lines; do
		name=${line%%$'\t'*}
		text=${${line##*$'\t'}//\]/\\]}
		argument=${${line#*$'\t'}%%$'\t'*}
		case $name:$argument in
		*:) specs+=("*${name}[$text]") ;;
		--*) specs+=("*${name}=[$text]:${argument//:/\\:}: _fxtrace_value $name") ;;
		*) specs+=("*${name}+[$text]:${argument//:/\\:}: _fxtrace_value $name") ;;
		esac
	done
	case $command in
	run | record | doctor) specs+=('(-)1:program: _command_names -e' '*::arguments: _normal') ;;
	*) specs+=('*:file:_files') ;;
	esac
	_arguments -s -S : $specs
}

_fxtrace "$@"

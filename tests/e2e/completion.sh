#!/bin/bash
# SPDX-License-Identifier: MIT
# The completion for bash, zsh and fish: commands, options of a command, what options take, and nothing where
# a file is meant.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/client/fxtrace.bash"

# completed WORD...: what is offered for the last word, sorted, on one line.
completed() {
	COMP_WORDS=("$FXTRACE" "$@")
	COMP_CWORD=$#
	_fxtrace
	[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
}

# --- What the shells ask for ---

"$FXTRACE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | sort >commands
"$FXTRACE" help --commands | cut -f 1 | sort >listed
expect_same_file commands listed
while IFS= read -r command; do
	expect_ok "$FXTRACE" help --options "$command"
	[ "$command" != help ] || continue
	expect_equal 3 "$(awk -F '\t' '{ print NF }' out | sort -u)" "fields of the options of $command"
	grep -oE '^--[a-z-]+' out | sort >listed
	"$FXTRACE" "$command" --help | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p' | sort >options
	[ -s options ] || fail "$command --help lists no options"
	expect_same_file options listed
	expect_equal "--version " "$(completed "$command" --vers)" "completion of '$command --vers'"
done <commands
expect_one_error 2 "$FXTRACE" help --options nonsense
expect_ok "$FXTRACE" help --values run --no-such
expect_equal 0 "$(wc -c <out)" "values of an option that is not there"

# All that is offered is taken.
: >empty.fxt
"$FXTRACE" run -q -o some.fxt true || fail "cannot trace true"
for option in --categories --buffering-mode --on-full --records --stacks; do
	expect_ok "$FXTRACE" help --values run "$option"
	[ -s out ] || fail "no values of $option"
	cut -f 1 out >values
	while IFS= read -r value; do
		rm -f this.fxt
		# Stacks are of what is recorded.
		expect_ok "$FXTRACE" run -q -o this.fxt -c '#default,malloc,pthread:all,stdio:all' "$option" "$value" true
	done <values
done
expect_ok "$FXTRACE" help --values report --color
expect_equal "always never auto " "$(cut -f 1 out | tr '\n' ' ')" "values of --color"
for option in --format --weight --group; do
	expect_ok "$FXTRACE" help --values convert "$option"
	[ -s out ] || fail "no values of $option"
	cut -f 1 out >values
	while IFS= read -r value; do
		set -- -f svg "$option" "$value"
		[ "$option" != --format ] || set -- -f "$value"
		expect_ok "$FXTRACE" convert "$@" some.fxt converted
	done <values
done

# --- bash ---

expect_equal "help " "$(completed hel)" "completion of 'hel'"
expect_equal "--version " "$(completed --ver)" "completion of '--ver'"
expect_equal "replay report " "$(completed help rep)" "completion of help's argument"
expect_equal "" "$(completed help run rep)" "completion of what help does not take"
expect_equal "" "$(completed run -- --ver)" "completion behind --"
expect_equal "$(tr '\n' ' ' <commands)" "$(completed '')" "completion of nothing"
expect_equal "block drop " "$(completed run --on-full '')" "completion of a value"
expect_equal "block " "$(completed run --on-full = b)" "completion of a value behind ="
expect_equal "block drop " "$(completed run --on-full =)" "completion of no value behind ="
expect_equal "svg " "$(completed convert -f sv)" "completion of a letter's value"
expect_equal "syscall,heap " "$(completed run -c syscall,he)" "completion within a list"
expect_equal "" "$(completed run -o bl)" "completion of a file"
expect_equal "block drop " "$(COMP_WORDS=("$FXTRACE-run" --on-full '') COMP_CWORD=2; _fxtrace
	printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ')" "completion of fxtrace-run"

# --- fish ---

mkdir path home && ln -s "$FXTRACE" path/fxtrace && ln -s "$FXTRACE" path/fxtrace-run
: >blot

# fish_completed LINE: what fish offers for its last word, without help, sorted, on one line.
fish_completed() {
	HOME=$PWD/home PATH=$PWD/path:$PATH fish --no-config -c \
		"source '$FX_SRCDIR/client/fxtrace.fish'; complete -C '$1'" | cut -f 1 | sort | tr '\n' ' '
}

if command -v fish >/dev/null; then
	expect_equal "help " "$(fish_completed 'fxtrace hel')" "fish: completion of 'hel'"
	expect_equal "$(tr '\n' ' ' <commands)" "$(fish_completed 'fxtrace ')" "fish: completion of nothing"
	expect_equal "--buffer-size --buffering-mode " "$(fish_completed 'fxtrace run --buf')" "fish: completion of an option"
	expect_equal "block drop " "$(fish_completed 'fxtrace-run --on-full ')" "fish: completion of a value"
	expect_equal "--format=svg " "$(fish_completed 'fxtrace convert --format=sv')" "fish: completion behind ="
	expect_equal "syscall,heap " "$(fish_completed 'fxtrace run -c syscall,he')" "fish: completion within a list"
	expect_equal "blot " "$(fish_completed 'fxtrace report blo')" "fish: completion of a file"
	expect_equal "replay report " "$(fish_completed 'fxtrace help rep')" "fish: completion of help's argument"
	expect_equal "fxtrace-run " "$(fish_completed 'fxtrace run -- fxtrace-r')" "fish: completion behind --"
else
	echo "fish is not installed"
fi

# --- zsh ---

# zsh_completed LINE...: what an interactive zsh makes of each of these lines once TAB is pressed at its end.
zsh_completed() {
	cat >drive.zsh <<'EOF'
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell "PS1= fpath=($PWD/functions \$fpath); autoload -U compinit && compinit -u -D; zstyle ':completion:*' menu no
fxtrace_show() { print -r -- \"<\$BUFFER>\" >>shown; BUFFER= }; zle -N fxtrace_show; bindkey '^X' fxtrace_show; touch ready"
integer tries=0
while [[ ! -e ready ]] && (( tries++ < 600 )); do sleep 0.1; zpty -r -t shell >/dev/null; done
for line; do
	lines=$(wc -l <shown)
	zpty -w -n shell "$line"$'\t\x18'
	tries=0
	while (( $(wc -l <shown) == lines )) && (( tries++ < 600 )); do sleep 0.05; while zpty -r -t shell; do :; done >/dev/null; done
done
zpty -d shell
EOF
	rm -f ready && : >shown
	HOME=$PWD/home PATH=$PWD/path:$PATH TERM=dumb zsh -f drive.zsh "$@" >zsh.out 2>&1
	cat shown
}

if command -v zsh >/dev/null; then
	mkdir functions && cp "$FX_SRCDIR/client/fxtrace.zsh" functions/_fxtrace
	zsh_completed 'fxtrace conv' 'fxtrace help conv' 'fxtrace run --buffer-s' 'fxtrace-run --on-full d' 'fxtrace convert --format=sv' \
		'fxtrace run -c syscall,he' 'fxtrace report blo' 'fxtrace run -- fxtrace-r' >got
	cat >want <<'EOF'
<fxtrace convert >
<fxtrace help convert >
<fxtrace run --buffer-size=>
<fxtrace-run --on-full drop >
<fxtrace convert --format=svg >
<fxtrace run -c syscall,heap >
<fxtrace report blot >
<fxtrace run -- fxtrace-run >
EOF
	expect_same_file want got
else
	echo "zsh is not installed"
fi

#!/bin/sh
# SPDX-License-Identifier: MIT
# newcomer.sh [root|sudo|plain...]: README's commands, copied out of it, run in order in a system that has never seen fxtrace: by
# root, by a user with sudo, and by one without, for whom root does what quickstart asks for; what they print is held to what
# README shows (tests/document.sh). Exit status 0: nothing was found; 77: this machine cannot.
set -u
cd "$(dirname "$0")/.." || exit 99
top=$PWD
. tests/roots.sh
. tests/document.sh
alone "$@"
command -v python3 >/dev/null || cannot "python3 is not installed"

# A user for each way, and the tree in the user's home: what git would have cloned, as it is now.
arrive() {
	case $1 in
	root) user=root ;;
	*)
		user=newcomer
		within newcomer useradd -m -s /bin/bash "$user" || return 1
		;;
	esac
	if [ "$1" = sudo ]; then
		apt_get newcomer install sudo || return 1
		echo "$user ALL=(ALL) NOPASSWD: ALL" >"$roots/newcomer/etc/sudoers.d/newcomer"
	fi
	home=$(within newcomer getent passwd "$user" | cut -d : -f 6)
	mkdir "$roots/newcomer$home/fxtrace" &&
		git ls-files -co --exclude-standard | while IFS= read -r file; do
			[ ! -f "$file" ] || printf '%s\n' "$file"
		done | tar -cf - -T - | tar -xf - -C "$roots/newcomer$home/fxtrace" --no-same-owner &&
		within newcomer chown -R "$user:" "$home/fxtrace"
}

# What quickstart has told the shell to say first.
told=
take_advice() {
	line=$(sed -n 's/^    \(PATH=[^ ]*\)$/\1/p' printed | tail -n 1)
	[ -z "$line" ] || told=$line
}

# ask_root: does what quickstart has said that root has to; fails if it has not said so.
ask_root() {
	line=$(sed -n 's/.*as root run: \(apt-get install .*\)$/\1/p' printed | tail -n 1)
	[ -n "$line" ] || return 1
	say "$way: root is asked for: $(printf '%s' "$line" | wc -w) words of apt-get"
	# shellcheck disable=SC2086 # a command line
	apt_get newcomer ${line#apt-get } >root.log 2>&1
}

# A browser's user ends what waits for a browser.
type_in() {
	case $1 in
	'fxtrace view '*) set -- "timeout --preserve-status -s INT 5 $1 || test \$? -eq 130" ;;
	esac
	as_user newcomer "$user" "cd fxtrace; $told
$1" >printed 2>&1
}

# As README has it, from the first command to the last.
follow() {
	total=0
	while [ -f "step.$((total + 1))" ]; do
		total=$((total + 1))
		command=$(cat "step.$total")
		status=0
		type_in "$command" || status=$?
		if [ "$status" -ne 0 ] && [ "$way" = plain ] && ask_root; then
			status=0
			type_in "$command" || status=$?
		fi
		cp printed "printed.$total"
		case $command in
		./quickstart*) take_advice ;;
		esac
		if [ "$status" -ne 0 ] || ! document_matches "shown.$total" printed; then
			say "$way: $command: status $status, and it prints:" >&2
			tail -n 40 printed >&2
			say "instead of:" >&2
			cat "shown.$total" >&2
			return 1
		fi
	done
	# Progress is a screen at most.
	lines=$(wc -l <printed.1)
	[ "$lines" -le 24 ] || {
		say "$way: ./quickstart prints $lines lines" >&2
		return 1
	}
}

base_root || die "cannot make a system in $roots"
[ $# -gt 0 ] || set -- root sudo plain
failures=0
for way in "$@"; do
	rm -rf "${roots:?}/$way" && mkdir -p "$roots/$way" && cd "$roots/$way" || exit 99
	read -r _ _ steps <<-END
		$(document_steps "$top/README.md")
	END
	[ "$steps" -ge 20 ] || die "README.md has $steps commands"
	cd "$top" || exit 99
	layer newcomer
	logged "$roots/$way.log" apt_get newcomer update || die "apt-get update failed"
	remember newcomer || die "ccache cannot be installed"
	arrive "$way" >"$roots/$way.log" 2>&1 || die "cannot make a user"
	cd "$roots/$way" || exit 99
	told=
	if follow; then
		say "$way: $total commands print what README.md shows"
	else
		failures=$((failures + 1))
	fi
	cd "$top" || exit 99
	layer_end newcomer
done
[ "$failures" -eq 0 ]

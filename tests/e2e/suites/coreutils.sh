# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The tests of the coreutils, a directory at a time, with programs built from the source package.

coreutils_make() {
	FORCE_UNSAFE_CONFIGURE=1 ./configure -q CFLAGS=-O1 && make -s CFLAGS='-O1 -w'
}

coreutils_list() {
	source_tree coreutils || return
	(cd "$tree/tests" && for group in */; do
		set -- "$group"*.sh "$group"*.pl
		[ ! -e "$1" ] || echo "${group%/}"
	done)
}

# What goes by the clock or by memory that is left, looks at every system call (strace) or preloads a library of
# its own in place of ours.
coreutils_left_out='timeout|sleep|time-style|limit|gdb|strace|LD_PRELOAD|ulimit|vmem|inotify|dos-hard-links'

coreutils_run() {
	local group=$1 status=0 tests

	shift
	tests=$(cd "$tree" && find "tests/$group" -maxdepth 1 '(' -name '*.sh' -o -name '*.pl' ')' | sort |
		xargs grep -LE "$coreutils_left_out" | tr '\n' ' ')
	(cd "$tree" && find tests -name '*.trs' -delete &&
		within 1800 "$@" make -s check-TESTS TESTS="$tests") >log 2>&1 || status=$?
	(cd "$tree" && find "tests/$group" -name '*.trs' -exec grep -H '^:test-result' {} +)
	echo "status $status"
}

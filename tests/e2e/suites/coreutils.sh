# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The tests of the coreutils, with programs built from the source package: their scripts, in the surroundings that
# their makefile gives them.

# shellcheck disable=SC2034 # for suites.sh
coreutils_apart=yes

coreutils_make() {
	# shellcheck disable=SC2016 # make's
	FORCE_UNSAFE_CONFIGURE=1 ./configure -q CFLAGS=-O1 && make -s CFLAGS='-O1 -w' &&
		make -s --eval='suite: ; $(file >suite.env,$(TESTS_ENVIRONMENT)) $(file >suite.tests,$(TESTS))' suite
}

# What goes by the clock or by memory that is left, looks at every system call (strace) or preloads a library of
# its own in place of ours. Those of factor are made while its makefile runs them: they are not here.
coreutils_left_out='timeout|sleep|time-style|limit|gdb|strace|LD_PRELOAD|ulimit|vmem|inotify|dos-hard-links'

coreutils_list() {
	source_tree coreutils || return
	(cd "$tree" && tr ' ' '\n' <suite.tests | grep -E '\.(sh|pl)$' | grep -v '^tests/factor/' | sort -u |
		xargs grep -LE "$coreutils_left_out")
}

coreutils_run() {
	local test=$1 status=0 interpreter=(bash)

	shift
	[ "${test%.pl}" = "$test" ] ||
		interpreter=(perl -w -I./tests -MCuSkip -MCoreutils "-MCuTmpdir qw($test)")
	# Its room is made beside the sources, and goes with it.
	(cd "$tree" && tst=$test within 300 "$@" bash -c "$(cat suite.env) \"\$@\"" sh "${interpreter[@]}" "$test") \
		>log 2>&1 || status=$?
	echo "status $status"
}
